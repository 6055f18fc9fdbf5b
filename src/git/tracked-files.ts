// The files of a project, as Git knows them.

import { tryGit } from './git.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** The mode of a submodule in an index. */
export const SUBMODULE = '160000';

/** What was installed for agents is none of the work. */
const INSTALLED = /^\.(?:tool|claude)\/|^\.mcp\.json$/;

/** Tracked paths and new ones that are not ignored, from the root; none where there is no repository. */
export async function trackedFiles(root: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await tryGit(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBytes: MAX_BYTES,
  });
  return exitCode === 0
    ? [...new Set(stdout.split('\0').filter((path) => path !== '' && !INSTALLED.test(path)))].sort()
    : [];
}

/** Directories whose files are another repository's, from the root; none where there is no repository. */
export async function submodulesOf(root: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await tryGit(['ls-files', '-z', '--stage'], { cwd: root, maxBytes: MAX_BYTES });
  if (exitCode !== 0) return [];
  return stdout.split('\0').flatMap((row) => {
    const [facts = '', path = ''] = row.split('\t');
    return facts.startsWith(SUBMODULE) ? [path] : [];
  });
}
