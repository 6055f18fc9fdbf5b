// The repository that the Git remote of a directory names.

import { messageOf, ToolError } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { tryGit } from './git.ts';
import { parseRemoteUrl, type Remote } from './rules/repository.ts';

/** What `origin` names, or the only remote. Rejects once the signal is aborted. */
export async function detectRemote(directory: string, signal?: AbortSignal): Promise<Remote> {
  try {
    const run = async (...args: string[]) => {
      const { stdout } = await tryGit(args, { cwd: directory, signal });
      signal?.throwIfAborted();
      return stdout;
    };
    const names = (await run('remote')).split('\n').filter((name) => name !== '');
    if (names.length === 0) return { kind: 'none', says: 'has no Git remote to read it from' };
    const name = names.includes('origin') ? 'origin' : names.length === 1 ? names[0] : undefined;
    if (name === undefined)
      return { kind: 'none', says: `has the Git remotes ${oneLine(names.join(', '))}, none of them called origin` };
    const url = await run('remote', 'get-url', name);
    const found = parseRemoteUrl(url);
    if (found !== undefined) return { kind: 'repository', ...found };
    // An address may hold a password.
    const shown = oneLine(url.replace(/\/\/[^@/\s]*@/, '//'));
    return { kind: 'none', says: `has the Git remote ${name} at ${shown}, which names no <owner>/<repo> of a service` };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ToolError)) throw error;
    return { kind: 'none', says: `cannot be asked for its Git remote: ${oneLine(messageOf(error))}` };
  }
}
