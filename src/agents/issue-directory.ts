// The directory of one issue among those of a root.

import { join } from 'node:path';

/** `<state>/issues/<n>`: the files of one issue. */
export function issueDirectory(stateDir: string, issue: number): string {
  return join(stateDir, 'issues', String(issue));
}
