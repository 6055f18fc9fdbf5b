// What files of a worktree hold, by the ids that git has for it.

import { lstatSync, readFileSync } from 'node:fs';
import { lateCrypto } from '../late-crypto.ts';
import { BYTES, placeOf } from './byte-names.ts';
import type { Run } from './workshop-git.ts';

/** A file as git has it, its name in bytes from the top. */
export type Held = { readonly mode: string; readonly id: string; readonly name: string };

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '"': '\\"', '\\': '\\\\' };

/** A name as a line for `--stdin-paths`: quoted, so that a line end in it is none of the list's. */
export function quotedName(name: string): string {
  return `"${name.replaceAll(/["\\\n\r]/g, (char) => ESCAPES[char] ?? '')}"\n`;
}

/** Ids of these files, in their order; null where git cannot tell. */
export async function hashesOf(top: string, names: readonly string[], run: Run): Promise<readonly string[] | null> {
  if (names.length === 0) return [];
  const input = names.map(quotedName).join('');
  const { exitCode, stdout } = await run.try(top, ['hash-object', '--stdin-paths'], { input, ...BYTES });
  return exitCode === 0 ? stdout.trim().split('\n') : null;
}

/** The id that git has for what a file holds as it is, where it is the file of that mode. */
function idAsIs(top: string, { mode, id, name }: Held): string | null {
  const place = placeOf(top, name);
  try {
    const stat = lstatSync(place);
    if (!stat.isFile() || ((stat.mode & 0o100) !== 0) !== (mode === '100755')) return null;
    const content = readFileSync(place);
    // No filter changes it; of one that is only meant to be added git has this id as well.
    if (content.length === 0) return null;
    const hash = lateCrypto().createHash(id.length === 40 ? 'sha1' : 'sha256');
    return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
  } catch {
    return null;
  }
}

/**
 * Whether the file is, byte for byte, what git has of it. Where git says that they differ, they would only once it had gone
 * through a filter, such as one for line endings that came after it: nobody has changed it.
 */
export function isUntouched(top: string, held: Held): boolean {
  return held.mode.startsWith('100') && idAsIs(top, held) === held.id;
}
