// Settings of an agent: runtime, mode, permissions, isolation, time limits. Section `tool` of WORKFLOW.md gives them.

import type { CommandLine } from '../../base/rules/command-line.ts';

type RuntimeRules = {
  /** Descriptions of the runtime and of its `tool.command`, for the schema of WORKFLOW.md. */
  readonly description: string;
  readonly commandDescription: string;
  /** The program without `tool.command`; null: none. */
  readonly program: 'required' | readonly [string] | null;
  /** Whether it can be a teammate. */
  readonly isTeammate: boolean;
};

const TABLE = {
  claude: {
    description: 'Claude Code',
    commandDescription: 'the program (default claude)',
    program: ['claude'],
    isTeammate: true,
  },
  command: {
    description: 'any program, the prompt on its standard input',
    commandDescription: 'the program, required',
    program: 'required',
    isTeammate: true,
  },
  patch: {
    description: 'applies the diffs in the issue',
    commandDescription: 'the command that must pass before the pull request',
    program: null,
    isTeammate: false,
  },
} as const satisfies Readonly<Record<string, RuntimeRules>>;

export type Runtime = keyof typeof TABLE;

export const RUNTIMES: Readonly<Record<Runtime, RuntimeRules>> = TABLE;

export const RUNTIME_NAMES = Object.keys(TABLE) as readonly Runtime[];

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
