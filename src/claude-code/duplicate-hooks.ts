// Detection of duplicate hooks: the plugin's hooks must not answer an event if the project has our hooks installed.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';

/** Hook script that an installation names in the host's settings; earlier versions added `.js`. */
const SCRIPT = '.tool/hooks/session-start';

/** Hook type unknown to hosts before 2.1.118: they ignore the whole settings file. */
const ASKING = '"mcp_tool"';

/** Text of the settings if they name our installed hooks, else null. The host reads them from its start directory. */
function ownSettings(root: string): string | null {
  try {
    const text = readFileSync(join(root, '.claude', 'settings.json'), 'utf8').replace(/^\uFEFF/, '');
    if (!text.includes(`/${SCRIPT}`) || ![SCRIPT, `${SCRIPT}.js`].some((path) => existsSync(join(root, path))))
      return null;
    // Hosts ignore settings that are not valid JSON.
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

export function hasOwnHooks(root: string): boolean {
  return ownSettings(root) !== null;
}

/** Naming form of agents and tools: the plugin's, unless the project has its own installation. */
export function formOf(env: Environment, cwd: string): 'project' | 'plugin' {
  return env.CLAUDE_PLUGIN_ROOT === undefined || hasOwnHooks(env.CLAUDE_PROJECT_DIR ?? cwd) ? 'project' : 'plugin';
}

/**
 * Whether a plugin's hook leaves its event to the project's hooks, provided the host has read those.
 * @param transcript of the session
 */
export async function isDuplicateHook(env: Environment, cwd: string, transcript: string | null): Promise<boolean> {
  if (env.CLAUDE_PLUGIN_ROOT === undefined) return false;
  const settings = ownSettings(env.CLAUDE_PROJECT_DIR ?? cwd);
  if (settings === null || !settings.includes(ASKING)) return settings !== null;
  return (await import('./host-version.ts')).supportsResidentHooks(transcript, env);
}
