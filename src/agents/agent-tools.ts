// The definitions of agents that a project or its user brings: whether there is one, and the list of tools in it.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';

/** The text of a front matter, of which the host reads as little as this. */
const FRONT = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** One line with commas, or a list below; hooks load no reader of YAML for it. */
export function toolsIn(text: string): readonly string[] | null {
  const lines = (FRONT.exec(text)?.[1] ?? '').split(/\r?\n/);
  const at = lines.findIndex((line) => /^tools[ \t]*:/.test(line));
  if (at === -1) return null;
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => !/^[ \t]*-[ \t]/.test(line));
  const below = rest.slice(0, end === -1 ? rest.length : end).map((line) => line.replace(/^[ \t]*-/, ''));
  const inline = (lines[at] ?? '').replace(/^tools[ \t]*:/, '').replace(/^[ \t]*\[(.*)\][ \t]*$/, '$1');
  return [...inline.split(','), ...below]
    .map((tool) => tool.trim().replace(/^["']|["']$/g, ''))
    .filter((tool) => tool !== '');
}

/** Whether the project, or the user for all projects, has a file that is called like the agent. */
export function hasAgentFile(root: string, agent: string, env: Environment): boolean {
  const own = env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude');
  return [join(root, '.claude'), own].some((place) => existsSync(join(place, 'agents', `${agent}.md`)));
}

/** Null: the project has no definition of that agent, or one without a list. */
export function agentTools(root: string, agent: string): readonly string[] | null {
  try {
    return toolsIn(readFileSync(join(root, '.claude', 'agents', `${agent}.md`), 'utf8'));
  } catch {
    return null;
  }
}
