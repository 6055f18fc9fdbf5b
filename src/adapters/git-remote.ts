// The repository's slug from the Git remote of a directory.

import { spawnSync } from 'node:child_process';
import { parseRemoteUrl, type RepoSlug } from '../domain/repository.ts';
import { cloneEnvironment } from './git.ts';

/** The slug that `origin` names, or the only remote; undefined when there is none. */
export function detectSlug(directory: string): RepoSlug | undefined {
  const run = (...args: string[]) =>
    spawnSync('git', args, { cwd: directory, encoding: 'utf8', env: cloneEnvironment(process.env) }).stdout ?? '';
  const names = run('remote')
    .split('\n')
    .filter((name) => name !== '');
  const name = names.includes('origin') ? 'origin' : names.length === 1 ? names[0] : undefined;
  return name === undefined ? undefined : parseRemoteUrl(run('remote', 'get-url', name))?.slug;
}
