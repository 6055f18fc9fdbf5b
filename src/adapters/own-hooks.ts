// Whether the hooks of a plugin are one set too many: where the project has ours installed, the same event would be
// answered twice, by two that know nothing of each other.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an installation puts into the host's settings, and where that points to; an earlier one's ended with `.js`. */
const SCRIPT = '.tool/hooks/session-start';

/** A kind of hook that hosts before 2.1.118 do not know: they leave the whole file out that holds one. */
const ASKING = '"mcp_tool"';

/** The settings that name our hooks, as the host reads them: those beside the directory that it was started in. */
function ownSettings(root: string): string | null {
  try {
    const text = readFileSync(join(root, '.claude', 'settings.json'), 'utf8').replace(/^\uFEFF/, '');
    if (!text.includes(`/${SCRIPT}`) || ![SCRIPT, `${SCRIPT}.js`].some((path) => existsSync(join(root, path))))
      return null;
    // What is no JSON no host reads.
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

export function hasOwnHooks(root: string): boolean {
  return ownSettings(root) !== null;
}

/** By whose names agents and tools are called: a plugin's, unless the project has its own as well. */
export function formOf(env: Environment, cwd: string): 'project' | 'plugin' {
  return env.CLAUDE_PLUGIN_ROOT === undefined || hasOwnHooks(env.CLAUDE_PROJECT_DIR ?? cwd) ? 'project' : 'plugin';
}

/**
 * Whether a hook of ours leaves its event to those of the project, which the host that raised it has read.
 * @param transcript of the session
 */
export async function isSpare(env: Environment, cwd: string, transcript: string | null): Promise<boolean> {
  if (env.CLAUDE_PLUGIN_ROOT === undefined) return false;
  const settings = ownSettings(env.CLAUDE_PROJECT_DIR ?? cwd);
  if (settings === null || !settings.includes(ASKING)) return settings !== null;
  return (await import('./host-version.ts')).knowsAskingHooks(transcript, env);
}
