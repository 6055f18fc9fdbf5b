// Commits of a clone where an agent has been, fetched into a repository of the daemon's.

import { join } from 'node:path';
import type { Clone } from '../../../git/clone.ts';
import { explain, type GitOptions, launchCommand, tryGit } from '../../../git/git.ts';
import { gitFailure } from './git-failure.ts';

/**
 * Fetches a commit or ref of a clone into a ref. What reads the clone runs where the agent ran; what comes from there is
 * checked like anything from a stranger. False: the clone ends early, at a commit that is not here, and nothing came.
 */
export async function fetchFromClone(clone: Clone, source: string, ref: string, options: GitOptions): Promise<boolean> {
  const { path, launch, timeoutMs } = clone;
  const words = ['-c', 'uploadpack.allowAnySHA1InWant=true', 'upload-pack'];
  const reader = launch === undefined ? [] : [`--upload-pack=${launchCommand(launch, 'git', words)}`];
  const args = [
    ...['-c', 'fetch.fsckObjects=true', '-c', 'protocol.version=2', 'fetch', '--quiet', '--no-tags'],
    ...['--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance', ...reader],
    join(path, '.git'),
    `+${source}:${ref}`,
  ];
  const result = await tryGit(args, { ...options, timeoutMs, marks: launch !== undefined });
  options.signal?.throwIfAborted();
  // Git calls that a success.
  if (/shallow roots are not allowed/.test(result.stderr)) return false;
  if (result.exitCode === 0) return true;
  throw gitFailure('fetch', result, explain(result.stderr || result.stdout));
}
