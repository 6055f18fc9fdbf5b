// Path of the user's settings of Claude Code, which the guard protects from every teammate.

import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';

/** The user's directory of the host: `$CLAUDE_CONFIG_DIR`, or `~/.claude`. */
export function hostConfigDirectory(env: Environment): string {
  return env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude');
}

/** The user's own settings of the host. */
export function hostSettingsFile(env: Environment): string {
  return join(hostConfigDirectory(env), 'settings.json');
}
