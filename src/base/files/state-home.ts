// The user's directory for state, by the XDG Base Directory Specification.

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../rules/environment.ts';

/** `$XDG_STATE_HOME`, which counts only as an absolute path; else `~/.local/state`. */
export function stateHome({ XDG_STATE_HOME: given = '', HOME: home }: Environment): string {
  return isAbsolute(given) ? given : join(home ?? homedir(), '.local', 'state');
}
