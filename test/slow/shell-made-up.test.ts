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

/** The same programs each time; another number for others. */
const SEED = Number(process.env.SHELL_SEED ?? 1);

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
  it('run no command that was not seen', () => {
    const setting = 'x=ab; l=(p q);\n';
    let ran = 0;
    let runs = 0;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const program = countingProgram(seed);
        // what runs in the background may still write after its program ended
        runs += 1;
        const record = join(root, `record-${runs}`);
        const env = { PATH: process.env.PATH ?? '', HOME: root, RECORD: record };
        runBash(`t() { echo "$1" >> "$RECORD"; }; ${setting}${program}`, root, env);
        const effects = readShell(setting + program, { cwd: root, home: root, env, ...fileView });
        if (effects.unresolved.length > 0) return;
        const seen = new Set(effects.commands.filter(([name]) => name === 't').map(([, number]) => number));
        const numbers = (fileView.readText(record) ?? '').split('\n').filter((line) => line !== '');
        ran += numbers.length;
        const missed = numbers.filter((number) => !seen.has(number));
        assert.deepEqual(missed, [], JSON.stringify(program));
      }),
      { numRuns: 150, seed: SEED },
    );
    assert.ok(ran > 100);
  });

  it('write no file that was not said', () => {
    let written = 0;
    let count = 0;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const program = writingProgram(seed);
        count += 1;
        const own = join(root, `own-${count}`);
        const cwd = join(own, 'root');
        for (const path of ['a/c/d', 'b/c']) mkdirSync(join(cwd, path), { recursive: true });
        mkdirSync(join(own, 'home'));
        symlinkSync('../b', join(cwd, 'a/l'));
        writeFileSync(join(cwd, 'b/c/file'), '');
        const env = { PATH: process.env.PATH ?? '', HOME: join(own, 'home'), R: cwd, d: 'a', e: 'b' };
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
      { numRuns: 250, seed: SEED },
    );
    assert.ok(written > 100);
  });
});
