// Settings of an agent: runtime, mode, permissions, isolation, time limits. Section `tool` of WORKFLOW.md gives them.

import type { CommandLine } from '../../base/rules/command-line.ts';

export const RUNTIMES = ['claude', 'command', 'patch'] as const;

export type Runtime = (typeof RUNTIMES)[number];

/** One agent or a team for an issue; `auto` chooses by the issue. */
export const WORK_MODES = ['agent', 'team', 'auto'] as const;

export type WorkMode = (typeof WORK_MODES)[number];

export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions', 'auto'] as const;

export type PermissionMode = (typeof PERMISSION_MODES)[number];

export const ISOLATION_MODES = ['auto', 'off', 'required'] as const;

export type IsolationMode = (typeof ISOLATION_MODES)[number];

/** Settings of a run: the section `tool` of WORKFLOW.md. Times in ms. */
export type AgentSettings = {
  readonly runtime: Runtime;
  readonly command: CommandLine | null;
  /** null: no agent's text is passed on. */
  readonly agent: string | null;
  readonly mode: WorkMode;
  /** 0: never. */
  readonly stallTimeoutMs: number;
  readonly turnTimeoutMs: number;
  readonly startTimeoutMs: number;
  readonly permissionMode: PermissionMode;
  readonly allowedTools: readonly string[];
  readonly isolation: IsolationMode;
  /** Names of further environment variables that agents get. */
  readonly env: readonly string[];
};
