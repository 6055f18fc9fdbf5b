// What the host's tools are to a team.

const WRITERS: readonly string[] = [
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Bash',
  // A command that is watched; some versions report it to hooks as Bash.
  'Monitor',
  // Of neither is known what it writes.
  'PowerShell',
  'REPL',
];
/** `Workflow` starts agents by a script of its own. */
const SPAWNERS: readonly string[] = ['Task', 'Agent', 'Workflow'];
/** Tools of the host that ours take the place of while a team stands. */
const HOSTS_OWN: readonly string[] = [
  'TeamCreate',
  'TeamDelete',
  'SendMessage',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TaskGet',
];
/** In the host's auto mode an agent ends its run by a call of this, whatever its SubagentStop hook says to that later. */
const ENDS_RUN = 'SubagentHandback';
/** They have the host take a text for a prompt of the user's later. */
const SCHEDULERS: readonly string[] = ['CronCreate', 'ScheduleWakeup', 'RemoteTrigger'];
const OURS = /^mcp__(?:plugin_tool_)?team__/;

export type ToolKind = 'write' | 'spawn' | 'ours' | 'hosts' | 'end' | 'later' | 'other';

/** The one call of the team's server that is made before there is a team. */
export function beginsTeam(tool: string): boolean {
  return OURS.test(tool) && tool.endsWith('__TeamCreate');
}

/** What a tool's call is to the guard. */
export function kindOfTool(tool: string): ToolKind {
  if (WRITERS.includes(tool)) return 'write';
  if (SPAWNERS.includes(tool)) return 'spawn';
  if (OURS.test(tool)) return 'ours';
  if (tool === ENDS_RUN) return 'end';
  if (SCHEDULERS.includes(tool)) return 'later';
  return HOSTS_OWN.includes(tool) ? 'hosts' : 'other';
}
