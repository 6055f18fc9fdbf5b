// The repository that the Git remote of a directory names.

import { spawnSync } from 'node:child_process';
import { oneLine } from '../base/rules/text.ts';
import { cloneEnvironment } from './git.ts';
import { parseRemoteUrl, type Remote } from './rules/repository.ts';

/** What `origin` names, or the only remote. */
export function detectRemote(directory: string): Remote {
  const run = (...args: string[]) =>
    spawnSync('git', args, { cwd: directory, encoding: 'utf8', env: cloneEnvironment(process.env) }).stdout ?? '';
  const names = run('remote')
    .split('\n')
    .filter((name) => name !== '');
  if (names.length === 0) return { kind: 'none', says: 'has no Git remote to read it from' };
  const name = names.includes('origin') ? 'origin' : names.length === 1 ? names[0] : undefined;
  if (name === undefined)
    return { kind: 'none', says: `has the Git remotes ${oneLine(names.join(', '))}, none of them called origin` };
  const url = run('remote', 'get-url', name);
  const found = parseRemoteUrl(url);
  if (found !== undefined) return { kind: 'repository', ...found };
  // An address may hold a password.
  const shown = oneLine(url.replace(/\/\/[^@/\s]*@/, '//'));
  return { kind: 'none', says: `has the Git remote ${name} at ${shown}, which names no <owner>/<repo> of a service` };
}
