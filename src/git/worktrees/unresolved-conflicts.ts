// Files of a writer in which a conflict was committed as git had left it.

import { join } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';
import { holdsConflict } from '../rules/conflict-markers.ts';
import type { RunGit } from '../worktree-git.ts';

/** Larger files hold no conflict that somebody could settle. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Those of the files, from the root of a worktree, that hold a conflict, and in a commit do not. */
export async function unresolvedIn(
  root: string,
  files: readonly string[],
  commit: string,
  runGit: RunGit,
): Promise<readonly string[]> {
  const marked = files.filter((file) => holdsConflict(readRegular(join(root, file), MOST_BYTES) ?? ''));
  const before = marked.map((file) => runGit.try(root, ['show', `${commit}:./${file}`]));
  const texts = (await Promise.all(before)).map(({ exitCode, stdout }) => (exitCode === 0 ? stdout : ''));
  return marked.filter((_, index) => !holdsConflict(texts[index] ?? ''));
}
