// Our shell and the program of the write guard, as `tool init` places them, and programs that play it.

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARD_PROGRAM, PACKED_PROGRAM } from '../../src/guard/guard-program.ts';
import { packProgram } from '../../src/guard/packed-program.ts';
import { shellScript } from '../../src/guard/rules/ticket.ts';
import { type Cleanup, tempDir } from './temp.ts';

/** @returns the shell's path */
export function shellIn(directory: string, guard: string): string {
  const shell = join(directory, 'bash');
  mkdirSync(directory, { recursive: true });
  copyFileSync(guard, join(directory, GUARD_PROGRAM));
  writeFileSync(shell, shellScript('/bin/bash'), { mode: 0o755 });
  return shell;
}

/** Plays a guard that works: the trial's foreign file cannot be made. */
export const PLAYED_GUARD = '#!/bin/sh\nshift 3\nmkdir foreign; "$@"; code=$?; rmdir foreign; exit "$code"\n';

/** A directory of packed programs, whose program for this machine is a script. */
export function packedScript(t: Cleanup, script: string): string {
  const from = tempDir(t);
  writeFileSync(join(from, PACKED_PROGRAM), packProgram(Buffer.from(script)));
  return from;
}
