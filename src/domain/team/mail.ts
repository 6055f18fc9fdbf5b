// Messages as a member gets to see them.

import { visibleLines } from '../text.ts';
import { UNMEASURED } from './claims.ts';
import type { Message, TeamState } from './state.ts';

/** What a member has not read, in the order in which it was sent. */
export function unreadOf(state: TeamState, name: string): readonly Message[] {
  return (state.unread.get(name) ?? []).flatMap((seq) => state.messages[seq - 1] ?? []);
}

/** One message in one line. */
export function messageLine(message: Message): string {
  const { seq, from, type, content, inReplyTo, isUnmeasured } = message;
  const words = typeof content === 'string' ? content : JSON.stringify(content);
  const reply = inReplyTo === null ? '' : ` (in reply to #${inReplyTo})`;
  const claim = isUnmeasured === true ? ` (${UNMEASURED})` : '';
  return `#${seq} from ${from}, ${type}${claim}${reply}: ${visibleLines(words).replaceAll('\n', ' ')}`;
}
