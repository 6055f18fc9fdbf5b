// Runtime settings of teammates without a daemon: section `tool` of WORKFLOW.md, with defaults.

import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import type { IsolationMode, Runtime } from '../../agents/rules/runtime.ts';
import { decode } from '../../base/config/decode.ts';
import { parseFrontMatter } from '../../base/config/front-matter.ts';
import type { CommandLine } from '../../base/rules/command-line.ts';
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

/** The section alone: other keys may be wrong. */
const file = z.object({ tool });

function sectionOf(path: string): unknown {
  if (!existsSync(path)) return {};
  const { data } = parseFrontMatter(readFileSync(path, 'utf8'), path);
  return typeof data === 'object' && data !== null && 'tool' in data ? (data.tool ?? {}) : {};
}

/** The keys `tool.*` of a workflow file, with their defaults; the file may be missing. Throws `ToolError`. */
export function readToolSection(path: string): ToolSection {
  const about = { path, whole: 'front matter' };
  const { tool: read } = decode(file, { tool: sectionOf(path) }, about, (input) => input);
  const { runtime, command, env, permission_mode: permissionMode, allowed_tools: allowedTools } = read;
  const { stall_timeout_ms: stallTimeoutMs, turn_timeout_ms: turnTimeoutMs } = read;
  const { start_timeout_ms: startTimeoutMs, isolation } = read;
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
