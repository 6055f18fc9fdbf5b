// Messages as a member gets to see them.

import { visibleLines } from '../../base/rules/text.ts';
import { UNMEASURED } from './claims.ts';
import type { Message, TeamState } from './log/state.ts';
import { MESSAGES, type MessageType } from './message.ts';

/** What a member has not read, in the order in which it was sent. */
export function unreadOf(state: TeamState, name: string): readonly Message[] {
  return (state.unread.get(name) ?? []).flatMap((seq) => state.messages[seq - 1] ?? []);
}

export function asksForWork(type: MessageType): boolean {
  return MESSAGES[type].asksForWork === true;
}

export type RecalledMember = { readonly name: string; readonly isNew: boolean; readonly mail: readonly Message[] };

/** Members that are not running and have unread messages that ask for work. They read them only when started. */
export function recalledMembers(state: TeamState): readonly RecalledMember[] {
  const { members, purpose } = state;
  const unstarted = (purpose?.roles ?? []).filter((role) => !members.has(role)).map((name) => ({ name, isNew: true }));
  const stopped = [...members.values()].flatMap(({ name, phase }) =>
    phase === 'stopped' ? [{ name, isNew: false }] : [],
  );
  return [...stopped, ...unstarted].flatMap((one) => {
    const mail = unreadOf(state, one.name).filter(({ type }) => asksForWork(type));
    return mail.length === 0 ? [] : [{ ...one, mail }];
  });
}

/** Text that names the unread messages. */
export function recallText(called: readonly RecalledMember[]): string {
  return called
    .map(({ name, isNew, mail }) => {
      const which = mail.map(({ seq, type, from }) => `${type} #${seq} of ${from}`).join(', ');
      return `${name} ${isNew ? 'is not started' : 'has stopped'} and has not read ${which}`;
    })
    .join('; ');
}

/** One message in one line. */
export function messageLine(message: Message): string {
  const { seq, from, type, content, inReplyTo, isUnmeasured } = message;
  const words = typeof content === 'string' ? content : JSON.stringify(content);
  const reply = inReplyTo === null ? '' : ` (in reply to #${inReplyTo})`;
  const claim = isUnmeasured === true ? ` (${UNMEASURED})` : '';
  return `#${seq} from ${from}, ${type}${claim}${reply}: ${visibleLines(words).replaceAll('\n', ' ')}`;
}
