// The directory of a project's own state, outside of the project.

import { join } from 'node:path';
import { stateHome } from '../base/files/state-home.ts';
import { hashOf } from '../base/keys.ts';
import type { Environment } from '../base/rules/environment.ts';

/** So long a file's name may be nearly everywhere. */
const NAME_MAX = 200;

/** Below the state directory of the person. */
export function projectState(root: string, env: Environment): string {
  const name = encodeURIComponent(root);
  return join(stateHome(env), 'toolcrew', 'projects', name.length <= NAME_MAX ? name : hashOf(root));
}
