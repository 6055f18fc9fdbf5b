// Which hook hangs on which event of the host, in the form that its version can read.

/**
 * `script`: each hook is a program of its own, which every supported version knows.
 * `resident`: what follows every tool call asks the team's server, which is there already; from 2.1.118.
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
   * Asked of the resident server where that can be. When that is gone the host lets the call through, in some versions for
   * the rest of the session: beside what `refuses`, a shell looks whether it lives, and starts the script when it does not.
   */
  readonly resident?: 'tells' | 'refuses';
  /** In seconds; the action goes on when it has passed, so what can refuse keeps the host's own 600. */
  readonly timeout?: number;
  readonly does: string;
};

/** What changes files. */
const FILE_TOOLS = 'Write|Edit|MultiEdit|NotebookEdit|Bash';

/** Spawns, the host's own team and task tools, and those of the team's server in both spellings. */
const TEAM_TOOLS =
  'Agent|Task|TeamCreate|TeamDelete|SendMessage|TaskCreate|TaskUpdate|TaskList|TaskGet|mcp__team__.*|mcp__plugin_tool_team__.*';

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
    resident: 'refuses',
    does: 'refuses writes to files of others',
  },
  {
    event: 'PreToolUse',
    script: 'pre-tool-use',
    matcher: TEAM_TOOLS,
    does: 'stamps the caller into calls of the team, and refuses spawns nobody has registered',
  },
  {
    event: 'PostToolUse',
    script: 'post-tool-use',
    resident: 'tells',
    timeout: 30,
    does: 'delivers unread messages, and binds agents to members',
  },
  {
    event: 'PostToolUseFailure',
    script: 'post-tool-use',
    resident: 'tells',
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

/** Looks whether the resident server lives, and has the compiled guard decide when it does not. */
export const GUARD = 'guard.sh';

/** The scripts there are, each once. */
export const HOOK_SCRIPTS: readonly string[] = [...new Set(HOOK_TABLE.map(({ script }) => script))];

export const TEAM_SERVER = 'team';

/** What the resident server is told of a call; the host fills in each placeholder, `tool_input` as JSON in a text. */
const RESIDENT_INPUT = Object.fromEntries(
  [
    ['event', 'hook_event_name'],
    ['spawned_agent_id', 'tool_response.agentId'],
    ...['tool_name', 'tool_input', 'tool_use_id', 'agent_id', 'agent_type', 'session_id', 'cwd', 'transcript_path'].map(
      (name) => [name, name],
    ),
  ].map(([name, field]) => [name, `\${${field}}`]),
);

export type HookGroup = {
  readonly matcher?: string;
  readonly hooks: readonly Readonly<Record<string, unknown>>[];
};

/** @param command how a file of the hooks is started from where they are written down */
export function hookGroups(
  form: HookForm,
  command: (file: string) => string,
): readonly { readonly event: HookEvent; readonly script: string; readonly group: HookGroup }[] {
  return HOOK_TABLE.map(({ event, script, matcher, resident, timeout }) => {
    const asked = { type: 'mcp_tool', server: TEAM_SERVER, tool: 'Hook', input: RESIDENT_INPUT };
    const isAsked = form === 'resident' && resident !== undefined;
    const actions = !isAsked
      ? [{ type: 'command', command: command(`${script}.js`) }]
      : [asked, ...(resident === 'refuses' ? [{ type: 'command', command: command(GUARD) }] : [])];
    const hooks = actions.map((action) => ({ ...action, ...(timeout === undefined ? {} : { timeout }) }));
    return { event, script, group: { ...(matcher === undefined ? {} : { matcher }), hooks } };
  });
}

/** The plugin's hooks/hooks.json: what every version can read, since one file serves all. */
export function pluginHooks(): string {
  const hooks: Record<string, HookGroup[]> = {};
  for (const { event, group } of hookGroups('script', (name) => `node "\${CLAUDE_PLUGIN_ROOT}/dist/hooks/${name}"`))
    hooks[event] = [...(hooks[event] ?? []), group];
  return `${JSON.stringify({ description: 'Teams of agents: who may do what, and what is told to whom.', hooks }, null, 2)}\n`;
}

/** The plugin's manifest: its team server runs from the package itself. */
export function pluginManifest(version: string): string {
  const server = { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/dist/hooks/team-server.js`], alwaysLoad: true };
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
