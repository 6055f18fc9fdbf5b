// What the resident server is told of a tool call: the name of each field in its hook, and in a hook's standard input.

export const RESIDENT_FIELDS: Readonly<Record<string, string>> = {
  event: 'hook_event_name',
  session: 'session_id',
  cwd: 'cwd',
  agent: 'agent_id',
  type: 'agent_type',
  tool: 'tool_name',
  id: 'tool_use_id',
  input: 'tool_input',
  transcript: 'transcript_path',
  error: 'error',
};
