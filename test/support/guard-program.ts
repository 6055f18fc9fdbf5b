// The write guard, compiled for tests: as it ships, and with the compiler's own checks.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { execaSync } from 'execa';

const WARNINGS = ['-std=c11', '-Wall', '-Wextra', '-Werror'];
const CHECKS = ['-g', '-O1', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

let directory: string | undefined;

function compiled(source: string, name: string, options: readonly string[]): string {
  if (directory === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'toolcrew-guard-'));
    after(() => rmSync(made, { recursive: true, force: true }));
    directory = made;
  }
  const program = join(directory, name);
  execaSync`cc ${[...WARNINGS, ...options]} -o ${program} ${source}`;
  return program;
}

/** The guard itself. */
export const writeGuard = (): string => compiled('native/write-guard.c', 'write-guard', ['-O2']);

/** The guard with checks of memory and arithmetic. */
export const checkedGuard = (): string => compiled('native/write-guard.c', 'checked-guard', CHECKS);

/** Answers questions with the guard's functions, checked; see programs/ask-guard.c. */
export const askingGuard = (): string => compiled('test/support/programs/ask-guard.c', 'ask', CHECKS);

/** Puts questions to it, and gives the answers in order. */
export function ask(program: string, policy: string, questions: readonly string[]): readonly string[] {
  const input = questions.map((one) => `${one}\n`).join('');
  return execaSync(program, [policy], { input, env: { ASAN_OPTIONS: 'detect_leaks=0' }, lines: true }).stdout;
}
