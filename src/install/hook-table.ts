// Hooks by event of the host, in the form that its version can read.

import { RESIDENT_FIELDS } from '../claude-code/hooks/hook-fields.ts';

/**
 * `script`: each hook is a program of its own, which every supported version knows.
 * `resident`: what runs at every tool call asks the team's server, which is there already; from 2.1.118.
 */
export type HookForm = 'script' | 'resident';

/** Events that the oldest supported version knows: a single one it does not know would silently switch off a whole file. */
export type HookEvent =
  | 'SessionStart'
  | 'UserPromptSubmit'
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PostToolUseFailure'
  | 'SubagentStart'
  | 'SubagentStop'
  | 'Stop'
  | 'TeammateIdle'
  | 'TaskCompleted';

export type HookRow = {
  readonly event: HookEvent;
  /** The compiled script, without `.js`. */
  readonly script: string;
  /** On which tools; absent: on all. */
  readonly matcher?: string;
  /**
   * Asked of the resident server where that can be. When the server is gone the host lets every call through, in some
   * versions for the rest of the session: what refuses is `watched`, by a small script beside it that then decides. A call
   * that goes to that server needs no watcher: the server itself refuses it.
   */
  readonly resident?: 'watched' | 'alone';
  /** What it cannot judge does not happen: hosts take every other exit code than 2 for a yes. */
  readonly failsClosed?: true;
  /** In seconds. The host lets the action go on after it, so a hook that alone refuses keeps the host's own 600. */
  readonly timeout?: number;
  readonly does: string;
};

// The host compares a matcher of plain names as a whole. With any other character in it, it searches for a part of a name:
// `TaskList|mcp__x__.*` hits `mcp__team__TaskList` as well.

/** What changes files. */
const FILE_TOOLS = 'Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|REPL';

/** Spawns, prompts for later, what ends an agent's run, and the host's own team and task tools. */
const TEAM_TOOLS =
  'Agent|Task|Workflow|SubagentHandback|CronCreate|ScheduleWakeup|RemoteTrigger|TeamCreate|TeamDelete|SendMessage|TaskCreate|TaskUpdate|TaskList|TaskGet';

/** The tools of the project's team server, which a hook of the project can ask. */
const OUR_TOOLS = 'mcp__team__.*';

/** The same of a plugin's, which no hook can ask. */
const OUR_PLUGIN_TOOLS = 'mcp__plugin_tool_team__.*';

/** No two rows look at the same call before it: of two hooks that rewrite one call, the host takes whichever ends last. */
export const HOOK_TABLE: readonly HookRow[] = [
  {
    event: 'SessionStart',
    script: 'session-start',
    timeout: 30,
    does: 'tells a session of the team that is under way',
  },
  {
    event: 'UserPromptSubmit',
    script: 'user-prompt-submit',
    timeout: 60,
    does: 'reads the commands as they were typed, decides, and answers with the next steps',
  },
  {
    event: 'PreToolUse',
    script: 'pre-tool-use',
    matcher: FILE_TOOLS,
    resident: 'watched',
    failsClosed: true,
    does: 'refuses writes to files of others',
  },
  {
    event: 'PreToolUse',
    script: 'pre-tool-use',
    matcher: TEAM_TOOLS,
    failsClosed: true,
    does: 'refuses spawns that nobody has registered and ends that come too early',
  },
  {
    event: 'PreToolUse',
    script: 'pre-tool-use',
    matcher: OUR_TOOLS,
    resident: 'alone',
    failsClosed: true,
    does: 'names the caller to the team server, which refuses a call without one',
  },
  {
    event: 'PreToolUse',
    script: 'pre-tool-use',
    matcher: OUR_PLUGIN_TOOLS,
    failsClosed: true,
    does: 'signs the caller into calls of the team server of a plugin',
  },
  {
    event: 'PostToolUse',
    script: 'post-tool-use',
    resident: 'alone',
    timeout: 30,
    does: 'delivers unread messages, and binds agents to members',
  },
  {
    event: 'PostToolUseFailure',
    script: 'post-tool-use',
    resident: 'alone',
    timeout: 30,
    does: 'delivers unread messages after calls that failed, which the event above leaves out',
  },
  { event: 'SubagentStart', script: 'subagent-start', timeout: 30, does: 'gives an agent its part in the team' },
  { event: 'SubagentStop', script: 'subagent-stop', does: 'gives an agent that ends the work that is left' },
  { event: 'Stop', script: 'stop', timeout: 60, does: 'tells the lead what is still open' },
  { event: 'TeammateIdle', script: 'teammate-idle', does: 'gives a teammate that is idle the work that is left' },
  {
    event: 'TaskCompleted',
    script: 'task-completed',
    does: 'has the gate look at a task before it counts as completed',
  },
];

/** The scripts there are, each once. */
export const HOOK_SCRIPTS: readonly string[] = [...new Set(HOOK_TABLE.map(({ script }) => script))];

export const TEAM_SERVER = 'team';

/** Script that decides when the resident guard does not answer. */
export const GUARD_SCRIPT = 'guard.sh';

/** What the resident server is told of a call; the host fills in each field. */
const RESIDENT_INPUT = Object.fromEntries(
  Object.entries(RESIDENT_FIELDS).map(([name, field]) => [name, `\${${field}}`]),
);

export type HookGroup = {
  readonly matcher?: string;
  readonly hooks: readonly Readonly<Record<string, unknown>>[];
};

type Commands = {
  /** How a compiled script is started from where the hooks are written down. */
  readonly script: (name: string) => string;
  readonly watcher: string;
  /** What is left to do where the watcher did not say yes, or is not there. */
  readonly refusal: string;
};

/**
 * Seconds to wait for an answer of the server; a stopped server never answers. The host takes no answer for a yes. The shell
 * beside the server refuses while the server is stopped, and a slow server answers sooner than this.
 */
const WATCHED_SECONDS = 30;

/** Shell text that refuses the call. */
export const EXIT_REFUSED = 'exit 2';

function actions(
  { script, resident, failsClosed }: HookRow,
  form: HookForm,
  { script: scriptOf, watcher, refusal }: Commands,
): Readonly<Record<string, unknown>>[] {
  const command = (...texts: readonly string[]) => ({ type: 'command', command: texts.join(' || ') });
  if (form === 'script' || resident === undefined) {
    const own = scriptOf(script);
    return [failsClosed === true ? command(own, `${watcher} $?`, refusal) : command(own)];
  }
  const asked = { type: 'mcp_tool', server: TEAM_SERVER, tool: 'Hook', input: RESIDENT_INPUT };
  return resident === 'watched' ? [{ ...asked, timeout: WATCHED_SECONDS }, command(watcher, refusal)] : [asked];
}

export function hookGroups(
  form: HookForm,
  commands: Commands,
): readonly { readonly event: HookEvent; readonly script: string; readonly group: HookGroup }[] {
  return HOOK_TABLE.map((row) => {
    const { event, script, matcher, timeout } = row;
    const limit = timeout === undefined ? {} : { timeout };
    const hooks = actions(row, form, commands).map((action) => ({ ...action, ...limit }));
    return { event, script, group: { ...(matcher === undefined ? {} : { matcher }), hooks } };
  });
}

/** The plugin's hooks/hooks.json: what every version can read, since one file serves all. */
export function pluginHooks(): string {
  const hooks: Record<string, HookGroup[]> = {};
  const place = `"\${CLAUDE_PLUGIN_ROOT}/dist/hooks`;
  const commands = {
    script: (name: string) => `node ${place}/${name}.js"`,
    watcher: `sh ${place}/${GUARD_SCRIPT}"`,
    refusal: EXIT_REFUSED,
  };
  for (const { event, group } of hookGroups('script', commands)) hooks[event] = [...(hooks[event] ?? []), group];
  return `${JSON.stringify({ description: 'Teams of agents: who may do what, and what is told to whom.', hooks }, null, 2)}\n`;
}

/** The plugin's manifest: its team server runs from the package itself. */
export function pluginManifest(version: string): string {
  const server = { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/dist/hooks/team-server.js`] };
  const manifest = {
    name: 'tool',
    version,
    description: 'Teams of agents on one task: roles, owned files, a shared task list, messages and a quality gate.',
    author: { name: 'The toolcrew contributors' },
    license: 'MIT',
    mcpServers: { [TEAM_SERVER]: server },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
