// The directory of a project's own state, outside of the project.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { hashOf } from './keys.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** So long a file's name may be nearly everywhere. */
const NAME_MAX = 200;

/** Below the state directory of the person. */
export function projectState(root: string, env: Environment): string {
  const base = env.XDG_STATE_HOME ?? join(env.HOME ?? homedir(), '.local', 'state');
  const name = encodeURIComponent(root);
  return join(base, 'toolcrew', 'projects', name.length <= NAME_MAX ? name : hashOf(root));
}
