// The files of a project, as Git knows them.

import { tryGit } from './git.ts';

/** What was installed for agents is none of the work. */
const INSTALLED = /^\.(?:tool|claude)\/|^\.mcp\.json$/;

/** Tracked paths and new ones that are not ignored, from the root; none where there is no repository. */
export async function trackedFiles(root: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await tryGit(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBytes: 64 * 1024 * 1024,
  });
  return exitCode === 0
    ? [...new Set(stdout.split('\0').filter((path) => path !== '' && !INSTALLED.test(path)))].sort()
    : [];
}
