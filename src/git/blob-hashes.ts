// Git blob ids of worktree files, and the comparison of a file with its blob.

import { lstatSync, readFileSync } from 'node:fs';
import { lazyCrypto } from '../base/lazy-crypto.ts';
import { BYTES, pathBytes } from './byte-names.ts';
import type { RunGit } from './worktree-git.ts';

/** A tracked file; `name` is in bytes (latin1), relative to the top. */
export type TrackedFile = { readonly mode: string; readonly id: string; readonly name: string };

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '"': '\\"', '\\': '\\\\' };

/** A line for `--stdin-paths`, quoted so that a newline in the name does not end it. */
export function quotedName(name: string): string {
  return `"${name.replaceAll(/["\\\n\r]/g, (char) => ESCAPES[char] ?? '')}"\n`;
}

/** Blob ids of these files, in their order; null when git fails. */
export async function hashesOf(
  top: string,
  names: readonly string[],
  runGit: RunGit,
): Promise<readonly string[] | null> {
  if (names.length === 0) return [];
  const input = names.map(quotedName).join('');
  const { exitCode, stdout } = await runGit.try(top, ['hash-object', '--stdin-paths'], { input, ...BYTES });
  return exitCode === 0 ? stdout.trim().split('\n') : null;
}

/** Blob id of the file's raw content, without filters; null for another mode, an empty or an unreadable file. */
function idAsIs(top: string, { mode, id, name }: TrackedFile): string | null {
  const place = pathBytes(top, name);
  try {
    const stat = lstatSync(place);
    if (!stat.isFile() || ((stat.mode & 0o100) !== 0) !== (mode === '100755')) return null;
    const content = readFileSync(place);
    // No filter changes an empty file. Git also uses its id for `git add --intent-to-add`.
    if (content.length === 0) return null;
    const hash = lazyCrypto().createHash(id.length === 40 ? 'sha1' : 'sha256');
    return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
  } catch {
    return null;
  }
}

/**
 * Whether the file equals its blob byte for byte. Git may still report a change if a filter, such as one for line
 * endings, was configured after the commit: nobody has edited the file.
 */
export function isUntouched(top: string, held: TrackedFile): boolean {
  return held.mode.startsWith('100') && idAsIs(top, held) === held.id;
}
