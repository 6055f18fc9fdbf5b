// Commits of a workspace that may be held by a tag alone.

import { type Clone, commitOf } from '../../git/clone.ts';
import { readTags } from '../../git/git-directory.ts';
import type { Mirror } from './mirror/mirror.ts';

/** So many tags are looked at, those made last first: a repository may have any number from its remote. */
const MAX_TAGS = 10_000;

/** What the tags stand on that the remote does not have. */
export async function taggedHeads(clone: Clone, mirror: Mirror, signal: AbortSignal): Promise<readonly string[]> {
  const heads = new Set<string>();
  for (const { ref, sha } of await readTags(clone.path, MAX_TAGS)) {
    if (await mirror.hasRef(ref, sha)) continue;
    // One that cannot be read is named as it is, and keeps the workspace.
    heads.add((await commitOf(clone, sha, signal)) ?? sha);
  }
  return [...heads];
}
