// What bash runs and writes is seen before it runs, for programs that nobody thought of.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { fileView } from '../../src/adapters/shell/file-view.ts';
import { readShell } from '../../src/adapters/shell/read-shell.ts';
import { isCovered } from '../adapters/shell/decide.ts';
import { countingProgram, writingProgram } from '../adapters/shell/made-up.ts';
import { changedPaths, list } from '../adapters/shell/scratch-project.ts';

const DAY = 86_400_000;

/** The same programs each time and others each day, or those of one number; a failure names its seed. */
const SEEDS =
  process.env.SHELL_SEED === undefined ? [1, Math.floor(Date.now() / DAY)] : [Number(process.env.SHELL_SEED)];

let root: string;

before(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-made-up-')));
});

after(() => rmSync(root, { recursive: true, force: true }));

type Environment = Readonly<Record<string, string>>;

function runBash(program: string, cwd: string, env: Environment): void {
  try {
    execFileSync('bash', ['-c', program], { cwd, env, stdio: 'ignore', timeout: 10_000 });
  } catch {
    // many of them end with a failure
  }
}

describe('programs made up from templates', () => {
  for (const seed of SEEDS) {
    it(`run no command that was not seen (${seed})`, () => {
      const setting = 'x=ab; l=(p q);\n';
      let ran = 0;
      let runs = 0;
      fc.assert(
        fc.property(fc.nat(), (number) => {
          const program = countingProgram(number);
          // what runs in the background may still write after its program ended
          runs += 1;
          const record = join(root, `record-${seed}-${runs}`);
          const env = { PATH: process.env.PATH ?? '', HOME: root, SHELL: '/bin/bash', RECORD: record };
          runBash(`t() { echo "$1" >> "$RECORD"; }; ${setting}${program}`, root, env);
          const effects = readShell(setting + program, { cwd: root, home: root, env, ...fileView });
          if (effects.unresolved.length > 0) return;
          const seen = new Set(effects.commands.filter(([name]) => name === 't').map(([, number]) => number));
          const found = (fileView.readText(record) ?? '').split('\n').filter((line) => line !== '');
          ran += found.length;
          const missed = found.filter((one) => !seen.has(one));
          assert.deepEqual(missed, [], JSON.stringify(program));
        }),
        { numRuns: 100, seed },
      );
      assert.ok(ran > 60);
    });

    it(`write no file that was not said (${seed})`, () => {
      let written = 0;
      let count = 0;
      fc.assert(
        fc.property(fc.nat(), (number) => {
          const program = writingProgram(number);
          count += 1;
          const own = join(root, `own-${seed}-${count}`);
          const cwd = join(own, 'root');
          for (const path of ['a/c/d', 'b/c']) mkdirSync(join(cwd, path), { recursive: true });
          mkdirSync(join(own, 'home'));
          symlinkSync('../b', join(cwd, 'a/l'));
          writeFileSync(join(cwd, 'b/c/file'), '');
          const env = {
            PATH: process.env.PATH ?? '',
            HOME: join(own, 'home'),
            SHELL: '/bin/bash',
            R: cwd,
            d: 'a',
            e: 'b',
          };
          const effects = readShell(program, { cwd, home: env.HOME, env, ...fileView });
          if (effects.unresolved.length > 0) return;
          const seen = new Map(list(own));
          runBash(program, cwd, env);
          const changed = changedPaths(seen, list(own));
          written += changed.length;
          const missed = changed.filter((path) => !isCovered(path, effects));
          assert.deepEqual(missed, [], JSON.stringify(program));
          rmSync(own, { recursive: true, force: true });
        }),
        { numRuns: 170, seed },
      );
      assert.ok(written > 60);
    });
  }
});
