// Settings with the hooks of a teammate that runs as its own process. Its identity comes from the environment.

import { shellWord } from '../base/rules/command-line.ts';
import { EXIT_REFUSED, GUARD_SCRIPT, type HookGroup, hookGroups } from './hook-table.ts';

/**
 * The guard of writes, and mail with each tool. What a session or a sub-agent does when it begins and ends is left out: the
 * lead decides between turns.
 */
const EVENTS: readonly string[] = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];

/**
 * As JSON for `--settings`. Programs, not the resident server: that would need a mark in the project whose shell looks for
 * it, and every version reads them.
 * @param directory of the compiled hooks
 */
export function memberSettings(directory: string): string {
  const program = shellWord(process.execPath);
  const commands = {
    script: (name: string) => `${program} ${shellWord(`${directory}/${name}.js`)}`,
    watcher: `sh ${shellWord(`${directory}/${GUARD_SCRIPT}`)}`,
    refusal: EXIT_REFUSED,
  };
  const hooks: Record<string, HookGroup[]> = {};
  for (const { event, group } of hookGroups('script', commands))
    if (EVENTS.includes(event)) hooks[event] = [...(hooks[event] ?? []), group];
  return JSON.stringify({ hooks });
}
