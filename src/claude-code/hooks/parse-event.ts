// A hook's input as a host hands it over, decoded.

import { isObject } from '../../base/rules/values.ts';
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
export type HookEventName = HostEventName | typeof FAILED;

export type ParsedEvent = { readonly event: HostEvent; readonly raised: HookEventName };

/** What `invalid-input.ts` puts into words: hooks load neither the table of codes nor the patterns of visible text. */
export type InvalidInput = {
  readonly field: string;
  readonly expected: string;
  readonly came: unknown;
  readonly note: string;
};

export type Parsed = ({ readonly ok: true } & ParsedEvent) | { readonly ok: false; readonly invalid: InvalidInput };

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : textIn(value);
}

function invalid(field: string, expected: string, came: unknown, note = ''): Parsed {
  return { ok: false, invalid: { field, expected, came, note } };
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
    return invalid('standard input', `the JSON of a ${expected} event`, text);
  }
  return isObject(value) ? parseFields(value, expected, cwd) : invalid('standard input', 'an object', value);
}

/** The same for what is an object already. */
export function parseFields(fields: Fields, expected: HostEventName, cwd: string): Parsed {
  const came = fields.hook_event_name ?? expected;
  const named = came === FAILED ? 'PostToolUse' : came;
  const name = EVENTS.find((event) => event === named);
  if (name === undefined) return invalid('hook_event_name', expected, came, ', which is not known');
  if (name !== expected) return invalid('hook_event_name', `${expected}, which this script is for`, name);
  const taskId = idOf(fields.task_id);
  return {
    ok: true,
    raised: came === FAILED ? came : name,
    event: {
      name,
      session: textIn(fields.session_id) ?? '',
      cwd: textIn(fields.cwd) ?? cwd,
      agentId: textIn(fields.agent_id),
      agentType: textIn(fields.agent_type),
      tool: textIn(fields.tool_name) ?? '',
      toolUseId: textIn(fields.tool_use_id),
      input: isObject(fields.tool_input) ? fields.tool_input : {},
      failure: came === 'PostToolUseFailure' ? (textIn(fields.error) ?? 'no reason given') : null,
      prompt: textIn(fields.prompt) ?? '',
      source: textIn(fields.source) ?? '',
      transcript: textIn(fields.transcript_path),
      teammate: textIn(fields.teammate_name),
      team: textIn(fields.team_name),
      task: taskId === null ? null : { id: taskId, subject: textIn(fields.task_subject) ?? '' },
    },
  };
}
