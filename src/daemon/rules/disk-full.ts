// A full disk: how it shows. It is nobody's failure, and ends when somebody makes room.

import { ToolError } from '../../base/rules/errors.ts';

const CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** The words of libc, as git and the programs of a hook print them. */
export function saysDiskFull(words: string): boolean {
  return /No space left on device|Disk quota exceeded/i.test(words);
}

/** Whether the system had no room, or git or a hook failed with its words for that. */
export function isDiskFull(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && CODES.has(String(at.code))) return true;
    if (at instanceof ToolError && (at.kind === 'hook' || at.kind === 'git') && saysDiskFull(at.message)) return true;
  }
  return false;
}
