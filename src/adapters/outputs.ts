// Which of the paths that a call would write lie in directories that Git ignores.

import { dirname } from 'node:path';
import type { Target } from '../domain/team/guard.ts';
import { tryGit } from './git/git.ts';

/** Long enough for a question about names; who waits is a tool call. */
const ASKED_MS = 5_000;

/** The directory that a target is, or becomes, or lies in; null: the project itself, or outside of it. */
function placeOf({ path, tree, directory }: Target): string | null {
  const place = tree || (directory ?? null) !== null ? path : dirname(path);
  return path.startsWith('/') || place === '.' ? null : place;
}

/** A directory with a file in it that Git has is not ignored. */
export async function outputsAmong(root: string, targets: readonly Target[]): Promise<ReadonlySet<string>> {
  const places = new Set(targets.map(placeOf).filter((place) => place !== null));
  if (places.size === 0) return new Set();
  // So that none is taken for a pattern; the first is the project.
  const input = ['.', ...places].map((place) => `./${place}/\0`).join('');
  const options = { cwd: root, input, timeoutMs: ASKED_MS };
  const { exitCode, stdout } = await tryGit(['check-ignore', '-z', '--stdin'], options);
  const ignored = new Set(stdout.split('\0'));
  // In a repository that ignores the whole project nothing is told apart.
  if (exitCode !== 0 || ignored.has('././')) return new Set();
  return new Set(targets.flatMap((target) => (ignored.has(`./${placeOf(target)}/`) ? target.path : [])));
}
