// Projects for the quality gate to measure: copies of the fixtures, and programs that play a toolchain that is too heavy.

import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execaSync } from 'execa';
import { GATE_CODES } from '../../src/gate/rules/gate-codes.ts';
import {
  type Check,
  type CheckResult,
  DEFAULT_QUALITY,
  type GateResult,
  type QualitySettings,
} from '../../src/gate/rules/quality.ts';
import { createChecks } from '../../src/gate/run/checks.ts';
import type { CheckSandbox } from '../../src/gate/run/command.ts';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { type Cleanup, tempDir } from './temp.ts';

/** A rejected completion: the message of the gate with the code of the operation. */
export const NOT_ACCEPTED = { ...GATE_CODES.gate_rejected, code: WORK_CODES.work_not_accepted.code };

const FIXTURES = join(dirname(dirname(fileURLToPath(import.meta.url))), 'fixtures', 'checks');

export function fixtureText(name: string): string {
  return readFileSync(join(FIXTURES, name), 'utf8');
}

export type TestProject = {
  readonly root: string;
  readonly cacheDirectory: string;
  readonly write: (path: string, text: string) => void;
  /** Replaces text that has to be there. */
  readonly edit: (path: string, from: string, to: string) => void;
  /** Puts a program on the PATH of the checks: a shell script. */
  readonly program: (name: string, script: string) => void;
  readonly gate: (settings?: Partial<QualitySettings>, more?: Partial<Gate>) => Promise<GateResult>;
  /** What the checks ran and printed, so far. */
  readonly said: () => string;
};

type Gate = {
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly env: Record<string, string>;
  readonly patienceMs: number;
  /** Makes the place where the commands run; given the directory of its programs. */
  readonly sandbox: (root: string, bin: string) => Promise<CheckSandbox>;
};

/** A fixture by name, or a directory with nothing in it; a Git repository. */
export function testProject(t: Cleanup, fixture: string | null): TestProject {
  const place = tempDir(t);
  const root = join(place, 'project');
  const bin = join(place, 'bin');
  mkdirSync(root);
  mkdirSync(bin);
  if (fixture !== null) cpSync(join(FIXTURES, fixture), root, { recursive: true });
  execaSync`git init -q ${root}`;
  const cacheDirectory = join(place, 'cache');
  let said = '';
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  return {
    root,
    cacheDirectory,
    write,
    edit: (path, from, to) => {
      const text = readFileSync(join(root, path), 'utf8');
      if (!text.includes(from)) throw new Error(`${path}: expected ${from} in it`);
      write(path, text.replace(from, to));
    },
    program: (name, script) => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    gate: (
      settings = {},
      { signal = new AbortController().signal, now = Date.now, env = {}, patienceMs, sandbox } = {},
    ) =>
      createChecks({
        root,
        cacheDirectory,
        now,
        env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, ...env },
        ...(patienceMs === undefined ? {} : { patienceMs }),
        ...(sandbox === undefined ? {} : { openSandbox: () => sandbox(root, bin) }),
        output: (text) => {
          said += text;
        },
      }).run({ ...DEFAULT_QUALITY, ...settings }, signal),
    said: () => said,
  };
}

export function checkOf(result: GateResult, check: Check): CheckResult {
  const found = result.checks.find((one) => one.check === check);
  if (found === undefined) throw new Error(`no result of ${check}`);
  return found;
}

/** `tests: failed`, and so on, of all that failed. */
export function failures(result: GateResult): readonly Check[] {
  return result.checks.filter((check) => check.outcome === 'failed').map((check) => check.check);
}

/** A shell script that prints a file of the fixtures and ends so. */
export function prints(output: string, exitCode: number): string {
  return `cat '${join(FIXTURES, 'outputs', output)}'; exit ${exitCode}`;
}

/** A shell line that copies a report of the fixtures. */
export function copies(report: string, to: string): string {
  return `cp '${join(FIXTURES, 'reports', report)}' ${to}`;
}

/** Settings with these commands, the others found. */
export function commands(given: Partial<QualitySettings['commands']>): Pick<QualitySettings, 'commands'> {
  return { commands: { ...DEFAULT_QUALITY.commands, ...given } };
}

/** A shell command that leaves a report of one covered line. */
export const LCOV = "printf 'TN:\\nSF:a.js\\nDA:1,1\\nend_of_record\\n' > lcov.info";
