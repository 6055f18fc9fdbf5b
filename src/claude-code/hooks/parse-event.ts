// A hook's input as a host hands it over, decoded.

import { got } from '../../base/rules/text.ts';
import type { HostEvent, HostEventName } from '../../team/operations/host-event.ts';

type Fields = Readonly<Record<string, unknown>>;

const EVENTS: readonly HostEventName[] = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'TeammateIdle',
  'TaskCompleted',
];

/** What failed is over as well: to us one event, to the host two. */
const FAILED = 'PostToolUseFailure';

/** An event as the host calls it, which wants to hear that name again. */
export type RaisedName = HostEventName | typeof FAILED;

export type Raised = { readonly event: HostEvent; readonly raised: RaisedName };

export type Parsed = ({ readonly ok: true } & Raised) | { readonly ok: false; readonly problem: string };

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : textOf(value);
}

/**
 * Decodes what came on standard input.
 * @param expected the event that the script is for; taken where the input names none
 */
export function parseEvent(text: string, expected: HostEventName, cwd: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: `standard input: expected the JSON of a ${expected} event, got ${got(text)}` };
  }
  return isFields(value)
    ? parseFields(value, expected, cwd)
    : { ok: false, problem: `standard input: expected an object, got ${got(value)}` };
}

/** The same for what is an object already. */
export function parseFields(fields: Fields, expected: HostEventName, cwd: string): Parsed {
  const came = fields.hook_event_name ?? expected;
  const named = came === FAILED ? 'PostToolUse' : came;
  const name = EVENTS.find((event) => event === named);
  if (name === undefined)
    return { ok: false, problem: `hook_event_name: expected ${expected}, got ${got(came)}: this event is not known` };
  if (name !== expected) return { ok: false, problem: `hook_event_name: this script is for ${expected}, got ${name}` };
  const taskId = idOf(fields.task_id);
  return {
    ok: true,
    raised: came === FAILED ? came : name,
    event: {
      name,
      session: textOf(fields.session_id) ?? '',
      cwd: textOf(fields.cwd) ?? cwd,
      agentId: textOf(fields.agent_id),
      agentType: textOf(fields.agent_type),
      tool: textOf(fields.tool_name) ?? '',
      toolUseId: textOf(fields.tool_use_id),
      input: isFields(fields.tool_input) ? fields.tool_input : {},
      failure: came === 'PostToolUseFailure' ? (textOf(fields.error) ?? 'no reason given') : null,
      prompt: textOf(fields.prompt) ?? '',
      source: textOf(fields.source) ?? '',
      transcript: textOf(fields.transcript_path),
      teammate: textOf(fields.teammate_name),
      team: textOf(fields.team_name),
      task: taskId === null ? null : { id: taskId, subject: textOf(fields.task_subject) ?? '' },
    },
  };
}
