// Directory for the state of one project, below the user's state directory.

import { join } from 'node:path';
import { stateHome } from '../base/files/state-home.ts';
import { hashOf } from '../base/keys.ts';
import type { Environment } from '../base/rules/environment.ts';

/** So long a file's name may be nearly everywhere. */
const NAME_MAX = 200;

/** Path of that directory. */
export function projectState(root: string, env: Environment): string {
  const name = encodeURIComponent(root);
  return join(stateHome(env), 'toolcrew', 'projects', name.length <= NAME_MAX ? name : hashOf(root));
}
