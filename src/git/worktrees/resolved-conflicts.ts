// The outcome of a conflict that a writer settled by a merge: per file, the side that its branch holds.

import type { Repository, RunGit } from '../worktree-git.ts';
import type { ResolvedFile } from './team-worktrees-port.ts';

/** The blob of a path in a commit; empty without one. */
async function blobAt(commit: string, file: string, { root }: Repository, runGit: RunGit): Promise<string> {
  return (await runGit.try(root, ['rev-parse', '--verify', '--quiet', `${commit}:./${file}`])).stdout.trim();
}

/**
 * Git's objects decide: the content at `to` is that of the writer's parent of the merge, that of the team's, or another.
 * @param files from the project's root; those on which no merge's parents differ are left out
 */
export async function resolvedBetween(
  head: string,
  to: string,
  files: readonly string[],
  repository: Repository,
  runGit: RunGit,
): Promise<readonly ResolvedFile[]> {
  const listed = await runGit.git(repository.top, ['rev-list', '--merges', '--parents', `${head}..${to}`]);
  const merges = listed.split('\n').map((line) => line.split(' ').slice(1));
  const settled: ResolvedFile[] = [];
  for (const path of files)
    for (const [own = '', team = ''] of merges.filter((parents) => parents.length === 2)) {
      const [mine, theirs, now] = await Promise.all([own, team, to].map((at) => blobAt(at, path, repository, runGit)));
      if (mine === theirs) continue;
      settled.push({ path, kept: now === mine ? 'own' : now === theirs ? 'team' : 'both' });
      break;
    }
  return settled;
}
