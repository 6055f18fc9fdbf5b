// Texts about questions of agents: the comment that asks, and what the agent is told of answers and other messages.

import { clip, fence, oneLine, visibleLines } from '../../base/rules/text.ts';
import type { Message, Question } from '../rules/message.ts';
import { cutBody, MAX_BODY } from './tracker-texts.ts';

/** So much goes into one prompt; what is left comes with the next one. */
const MOST_TEXT = 60_000;
/** So much is kept of one message. */
export const MAX_MESSAGE = 20_000;

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A time in the largest unit that it is a whole number of, like `14 days`. */
export function timeWords(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1];
  const count = ms / size;
  return unit === 'ms' || count === 1 ? `${count} ${unit}` : `${count} ${unit}s`;
}

/**
 * The comment that asks.
 * @param timeoutMs so long the issue waits; 0: for ever
 */
/** @param failedLabel what the issue gets without an answer; null: in a round on a pull request, it gets none */
export function questionComment({ text }: Question, timeoutMs: number, failedLabel: string | null): string {
  const without = failedLabel === null ? 'the agent does not go on' : `it gets the label \`${failedLabel}\``;
  const end = timeoutMs === 0 ? '' : ` Without an answer within ${timeWords(timeoutMs)}, ${without}.`;
  const place = failedLabel === null ? 'here, or on the issue' : 'in a comment on this issue';
  return [
    'The agent has a question:',
    cutBody(visibleLines(text), MAX_BODY - 1_000),
    `Answer ${place}. The answer counts if you may write to this repository. The agent then goes on in the same session; until then the issue waits.${end}`,
  ].join('\n\n');
}

function messageText({ author, text, question }: Message, isRepeated: boolean): string {
  const who = author === null ? 'The operator of the daemon' : oneLine(author, 60);
  const head = `### ${who} ${question === null ? 'wrote to you' : 'answered'}`;
  const asked = question === null || isRepeated ? [] : [`You had asked:\n\n${fence(visibleLines(question))}`];
  return [head, ...asked, fence(clip(visibleLines(text.trim()), MAX_MESSAGE))].join('\n\n');
}

/** As many messages as one prompt takes, at least one. A question stands before the first of its answers. */
export function messagesFor(messages: readonly Message[]): { readonly text: string; readonly keys: readonly string[] } {
  const intro =
    'People who may write to this repository, or who run the daemon, wrote this to you. Take it into account and go on with the task.';
  let text = intro;
  const keys: string[] = [];
  let asked: string | null = null;
  for (const message of messages) {
    const part = messageText(message, message.question === asked);
    if (keys.length > 0 && text.length + part.length > MOST_TEXT) break;
    asked = message.question;
    text += `\n\n${part}`;
    keys.push(message.key);
  }
  return { text, keys };
}
