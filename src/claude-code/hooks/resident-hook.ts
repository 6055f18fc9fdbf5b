// A hook that calls the resident server instead of starting a process: the same decision, as text.

import { refusal } from '../../base/rules/codes.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { asLine } from '../../base/rules/text.ts';
import { type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { onPostToolUse } from '../answers/on-post-tool-use.ts';
import { onPreToolUse } from '../answers/on-pre-tool-use.ts';
import { reject } from '../answers/rejection.ts';
import type { JoinedCalls } from '../joined-calls.ts';
import type { Resident } from '../resident.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { RESIDENT_FIELDS } from './hook-fields.ts';
import { invalidInput } from './invalid-input.ts';
import { parseFields } from './parse-event.ts';
import { type Rendered, renderJson } from './render-answer.ts';

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

async function answerTo({ context }: Resident, calls: JoinedCalls, event: HostEvent): Promise<Rendered> {
  const answer = await (event.name === 'PreToolUse' ? onPreToolUse(context, event) : onPostToolUse(context, event));
  if (answer.kind !== 'caller') return answer;
  if (answer.caller === null) return SILENT;
  calls.expect(answer.caller);
  return { kind: 'grant' };
}

/** Answers one call of a hook with what a compiled hook would print. The guard fails closed, delivery fails open. */
export async function answerResident(resident: Resident, calls: JoinedCalls, given: Fields): Promise<string> {
  const expected = given.event === 'PreToolUse' ? 'PreToolUse' : 'PostToolUse';
  const parsed = parseFields(fieldsOf(given), expected, process.cwd());
  let answer: Rendered;
  try {
    if (!parsed.ok) throw new ToolError(invalidInput(parsed.invalid));
    const { event } = parsed;
    if (event.tool === '' || event.session === '') throw new Error('the hook names no tool or no session');
    resident.announce(event.session, event.transcript);
    answer = await answerTo(resident, calls, event);
  } catch (error) {
    if (expected === 'PostToolUse') return '{}';
    answer = reject(
      refusal(HOOK_CODES.guard_cannot_decide, { event: expected, said: asLine(messageOf(error)).replace(/\.$/, '') }),
    );
  }
  return JSON.stringify(renderJson(answer, parsed.ok ? parsed.raised : expected) ?? {});
}
