// What `tool doctor` finds out about the repository's contents, in the copy that the daemon has of it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { tryGit } from '../adapters/git/git.ts';
import { cloneUrlOf } from '../adapters/github/clone-url.ts';
import { isPlainName, parseSubmodules, placeOfSubmodule } from '../domain/submodules.ts';
import { oneLine } from '../domain/text.ts';
import type { Workflow } from '../domain/workflow.ts';
import { type Check, ok, warn } from './check.ts';

/** No row where no copy is yet, and where the default branch has no submodules. */
export async function checkSubmodules({ stateDir, tracker, workspace }: Workflow): Promise<Check[]> {
  const copy = join(stateDir, 'repo.git');
  if (!existsSync(join(copy, 'HEAD'))) return [];
  const { stdout } = await tryGit(['config', '--blob', 'HEAD:.gitmodules', '--list', '-z'], { cwd: copy });
  const modules = parseSubmodules(stdout);
  if (modules.length === 0) return [];
  const count = modules.length === 1 ? '1 submodule' : `${modules.length} submodules`;
  if (!workspace.submodules) return [ok('submodules', `${count}, left empty (workspace.submodules: false)`)];
  const remote = cloneUrlOf(tracker.apiUrl, tracker.slug);
  const refused = modules.flatMap(({ name, path, url }) => {
    if (!isPlainName(name)) return [`${oneLine(path, 80)}: its name ${oneLine(name, 80)} is refused`];
    const place = placeOfSubmodule(url, remote, remote);
    return place.kind === 'address' ? [] : [`${oneLine(path, 80)}: its address ${oneLine(url, 120)} ${place.why}`];
  });
  if (refused.length === 0)
    return [ok('submodules', `${count}, filled from copies in ${join(stateDir, 'submodules')}`)];
  return [
    warn(
      'submodules',
      [`${count}, of which ${refused.length} stay empty:`, ...refused].join('\n'),
      'give them https addresses, or relative ones, in .gitmodules',
    ),
  ];
}
