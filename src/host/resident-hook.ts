// A hook that calls the resident server instead of starting a process: the same decision, as text.

import { RESIDENT_FIELDS } from '../adapters/resident-fields.ts';
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
function fieldsOf(given: Fields): Fields {
  const fields = Object.fromEntries(Object.entries(RESIDENT_FIELDS).map(([name, field]) => [field, given[name]]));
  return { ...fields, tool_input: parsedInput(fields.tool_input) };
}

function answerTo(resident: Resident, event: HostEvent): Promise<HookAnswer> {
  return event.name === 'PreToolUse' ? beforeTool(resident.context, event) : afterTool(resident.context, event);
}

/** Answers one call of a hook with what a compiled hook would print. The guard fails closed, delivery fails open. */
export async function answerResident(resident: Resident, given: Fields): Promise<string> {
  const expected = given.event === 'PreToolUse' ? 'PreToolUse' : 'PostToolUse';
  const parsed = parseFields(fieldsOf(given), expected, process.cwd());
  let answer: HookAnswer;
  try {
    if (!parsed.ok) throw new Error(parsed.problem);
    const { event } = parsed;
    if (event.tool === '' || event.session === '') throw new Error('the hook names no tool or no session');
    resident.announce(event.session);
    answer = await answerTo(resident, event);
  } catch (error) {
    if (expected === 'PostToolUse') return '{}';
    answer = {
      kind: 'reject',
      reason: `toolcrew: the guard cannot decide whether this is allowed, so it is refused: ${asLine(messageOf(error))}`,
    };
  }
  return JSON.stringify(renderJson(answer, parsed.ok ? parsed.raised : expected) ?? {});
}
