// Runtime settings of teammates without a daemon: section `tool` of WORKFLOW.md, with defaults.

import { existsSync, readFileSync } from 'node:fs';
import type { IsolationMode, Runtime } from '../../agents/rules/runtime.ts';
import { parseFrontMatter } from '../../base/config/front-matter.ts';
import type { CommandLine } from '../../base/rules/command-line.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { tool } from './workflow-schema.ts';

export type ToolSection = {
  readonly runtime: Runtime;
  /** null: the runtime's default program. */
  readonly command: CommandLine | null;
  readonly stallTimeoutMs: number;
  readonly turnTimeoutMs: number;
  readonly startTimeoutMs: number;
  readonly isolation: IsolationMode;
  readonly permissionMode: string;
  readonly allowedTools: readonly string[];
  /** Names of further variables that agents get. */
  readonly env: readonly string[];
};

function sectionOf(path: string): unknown {
  if (!existsSync(path)) return {};
  const { data } = parseFrontMatter(readFileSync(path, 'utf8'), path);
  return typeof data === 'object' && data !== null && 'tool' in data ? (data.tool ?? {}) : {};
}

/** The keys `tool.*` of a workflow file, with their defaults; the file may be missing. Throws `ToolError`. */
export function readToolSection(path: string): ToolSection {
  const read = tool.safeParse(sectionOf(path));
  if (!read.success) {
    const problems = read.error.issues.map((issue) => `tool.${issue.path.join('.')}: ${issue.message}`);
    throw new ToolError('config', `${path}:\n${problems.join('\n')}`);
  }
  const { runtime, command, env, permission_mode: permissionMode, allowed_tools: allowedTools } = read.data;
  const { stall_timeout_ms: stallTimeoutMs, turn_timeout_ms: turnTimeoutMs } = read.data;
  const { start_timeout_ms: startTimeoutMs, isolation } = read.data;
  return {
    runtime,
    command,
    stallTimeoutMs,
    turnTimeoutMs,
    startTimeoutMs,
    isolation,
    permissionMode,
    allowedTools,
    env,
  };
}
