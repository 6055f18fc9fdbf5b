// Whether the hooks of a plugin are one set too many: where the project has ours installed, the same event would be
// answered twice, by two that know nothing of each other.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an installation puts into the host's settings, and where that points to. */
const SCRIPT = '.tool/hooks/session-start.js';

/** As the host reads it: the settings beside the directory that it was started in. */
export function hasOwnHooks(root: string): boolean {
  try {
    const text = readFileSync(join(root, '.claude', 'settings.json'), 'utf8');
    if (!text.includes(`/${SCRIPT}`) || !existsSync(join(root, SCRIPT))) return false;
    // What is no JSON no host reads.
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How a program of ours came into its host; `spare`: as a plugin, beside a project that has its own. */
export function formOf(env: Environment, cwd: string): 'project' | 'plugin' | 'spare' {
  if (env.CLAUDE_PLUGIN_ROOT === undefined) return 'project';
  return hasOwnHooks(env.CLAUDE_PROJECT_DIR ?? cwd) ? 'spare' : 'plugin';
}
