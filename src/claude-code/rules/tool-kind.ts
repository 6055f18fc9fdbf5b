// Kinds of tools for the guard: tools that write, spawn agents or schedule prompts, and tools of the team server.

const WRITERS: readonly string[] = [
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Bash',
  // Runs a watched command; some versions report it to hooks as Bash.
  'Monitor',
  // The writes of these two are unknown.
  'PowerShell',
  'REPL',
];
/** `Workflow` starts agents by a script of its own. */
const SPAWNERS: readonly string[] = ['Task', 'Agent', 'Workflow'];
/** Host tools that our tools replace while a team is active. */
const HOSTS_OWN: readonly string[] = [
  'TeamCreate',
  'TeamDelete',
  'SendMessage',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TaskGet',
];
/** In the host's auto mode a call of this tool ends an agent's run, even if the SubagentStop hook objects later. */
const ENDS_RUN = 'SubagentHandback';
/** Tools that make the host take a text for a user's prompt later. */
const SCHEDULERS: readonly string[] = ['CronCreate', 'ScheduleWakeup', 'RemoteTrigger'];
const OURS = /^mcp__(?:plugin_tool_)?team__/;

export type ToolKind = 'write' | 'spawn' | 'ours' | 'hosts' | 'end' | 'later' | 'other';

/** Whether the tool is TeamCreate of the team server, the only one that is called before a team exists. */
export function beginsTeam(tool: string): boolean {
  return OURS.test(tool) && tool.endsWith('__TeamCreate');
}

/** Kind of a tool call for the guard. */
export function kindOfTool(tool: string): ToolKind {
  if (WRITERS.includes(tool)) return 'write';
  if (SPAWNERS.includes(tool)) return 'spawn';
  if (OURS.test(tool)) return 'ours';
  if (tool === ENDS_RUN) return 'end';
  if (SCHEDULERS.includes(tool)) return 'later';
  return HOSTS_OWN.includes(tool) ? 'hosts' : 'other';
}
