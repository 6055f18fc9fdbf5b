// Directory of one issue below the state directory of the daemon: homes of its attempts, and their output.

import { join } from 'node:path';

/** `<state>/issues/<n>`: the files of one issue. */
export function issueDirectory(stateDir: string, issue: number): string {
  return join(stateDir, 'issues', String(issue));
}
