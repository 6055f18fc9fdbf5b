// A hook's input as a host hands it over, decoded.

import { type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { got } from '../../base/rules/text.ts';
import { isObject } from '../../base/rules/values.ts';
import type { HostEvent, HostEventName } from '../../team/operations/host-event.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';

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

/** `problem`: the text of the refusal. */
type Problem = { readonly problem: string; readonly refusal: Refusal };

export type Parsed = ({ readonly ok: true } & ParsedEvent) | ({ readonly ok: false } & Problem);

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : textIn(value);
}

function invalid(field: string, expected: string, got: string): Parsed {
  const one = refusal(HOOK_CODES.hook_input_invalid, { field, expected, got });
  return { ok: false, problem: textOf(one), refusal: one };
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
    return invalid('standard input', `the JSON of a ${expected} event`, got(text));
  }
  return isObject(value) ? parseFields(value, expected, cwd) : invalid('standard input', 'an object', got(value));
}

/** The same for what is an object already. */
export function parseFields(fields: Fields, expected: HostEventName, cwd: string): Parsed {
  const came = fields.hook_event_name ?? expected;
  const named = came === FAILED ? 'PostToolUse' : came;
  const name = EVENTS.find((event) => event === named);
  if (name === undefined) return invalid('hook_event_name', expected, `${got(came)}, which is not known`);
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
