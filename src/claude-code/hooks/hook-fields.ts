// Field names of a tool call: in the hook input of the resident server, and in the standard input of a hook.

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
