// A hook that calls the resident server instead of starting a process: the same decision, as text.

import type { Resident } from '../compose-team.ts';
import { messageOf } from '../domain/errors.ts';
import { asLine } from '../domain/text.ts';
import { afterTool } from '../engine/team/delivering.ts';
import type { HookAnswer, HostEvent } from '../engine/team/event.ts';
import { beforeTool } from '../engine/team/guarding.ts';
import { parseFields } from './parse-event.ts';
import { renderJson } from './render.ts';

type Fields = Readonly<Record<string, unknown>>;

function parsedInput(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the hook's entry in the settings fills in, under the names of a hook's standard input. */
function fieldsOf({ event, tool_input: input, ...rest }: Fields): Fields {
  return { ...rest, hook_event_name: event, tool_input: parsedInput(input) };
}

function answerTo(resident: Resident, event: HostEvent): Promise<HookAnswer> {
  return event.name === 'PreToolUse' ? beforeTool(resident.context, event) : afterTool(resident.context, event);
}

/** Answers one call of a hook with what a compiled hook would print. The guard fails closed, delivery fails open. */
export async function answerResident(resident: Resident, given: Fields): Promise<string> {
  const expected = given.event === 'PreToolUse' ? 'PreToolUse' : 'PostToolUse';
  if (typeof given.session_id === 'string') resident.announce(given.session_id);
  const parsed = parseFields(fieldsOf(given), expected, process.cwd());
  let answer: HookAnswer;
  try {
    if (!parsed.ok) throw new Error(parsed.problem);
    answer = await answerTo(resident, parsed.event);
  } catch (error) {
    if (expected === 'PostToolUse') return '{}';
    answer = {
      kind: 'reject',
      reason: `toolcrew: the guard cannot tell whether this may happen, so it does not: ${asLine(messageOf(error))}`,
    };
  }
  return JSON.stringify(renderJson(answer, parsed.ok ? parsed.raised : expected) ?? {});
}
