// What files of a worktree hold, by the ids that git has for it.

import { lstatSync, type Stats } from 'node:fs';
import { BYTES, placeOf } from './byte-names.ts';
import type { Run } from './workshop-git.ts';

/** A file as git has it, its name in bytes from the top. */
export type Held = { readonly mode: string; readonly id: string; readonly name: string };

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '"': '\\"', '\\': '\\\\' };

/** Ids of these files, in their order; null where git cannot tell. */
export async function hashesOf(
  top: string,
  names: readonly string[],
  run: Run,
  how: readonly string[] = [],
): Promise<readonly string[] | null> {
  if (names.length === 0) return [];
  // One to a line: quoted, so that a line end in a name is none of them.
  const input = names.map((name) => `"${name.replaceAll(/["\\\n\r]/g, (char) => ESCAPES[char] ?? '')}"\n`).join('');
  const { exitCode, stdout } = await run.try(top, ['hash-object', ...how, '--stdin-paths'], { input, ...BYTES });
  return exitCode === 0 ? stdout.trim().split('\n') : null;
}

function statOf(top: string, name: string): Stats | null {
  try {
    return lstatSync(placeOf(top, name));
  } catch {
    return null;
  }
}

/**
 * Those whose file is, byte for byte, what git has of it. Where git says that they differ, they would only once they had gone
 * through a filter, such as one for line endings that came after them: nobody has changed them.
 */
export async function untouched(top: string, files: readonly Held[], run: Run): Promise<ReadonlySet<string>> {
  const same = files.filter(({ mode, name }) => {
    const stat = mode.startsWith('100') ? statOf(top, name) : null;
    return stat?.isFile() === true && ((stat.mode & 0o100) !== 0) === (mode === '100755');
  });
  const names = same.map(({ name }) => name);
  const ids = (await hashesOf(top, names, run, ['--no-filters'])) ?? [];
  return new Set(same.filter(({ id }, index) => id === ids[index]).map(({ name }) => name));
}
