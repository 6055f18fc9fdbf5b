// Operations of every member: messages, mail, leases.

import { got } from '../../base/rules/text.ts';
import { ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { TeamLog } from '../ports.ts';
import { judgeClaim, UNMEASURED, unmeasuredClaims } from '../rules/claims.ts';
import { ruleOf } from '../rules/guard.ts';
import { isModelLed, type Message, type TeamState } from '../rules/log/state.ts';
import { asksForWork, messageLine, unreadOf } from '../rules/mail.ts';
import { checkMessage, EVERYBODY, findRecipient, judgeRoute, LEAD, type MessageType } from '../rules/message.ts';
import type { Input } from '../rules/operation.ts';
import { unreadRequests } from '../rules/requested-work.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { type Answer, must, refuse, type Somebody, type TeamContext, tellLead } from './context.ts';
import { beginnable, freedSince } from './task-operations.ts';

const LEASE_MINUTES = 30;
const LEASE_MINUTES_MAX = 120;
/** More than one report of progress within this time is too many. */
const PROGRESS_MS = 60_000;

/** Whose the file of a message about a change is; null when it is shared or nobody's. */
async function ownerFor(context: TeamContext, content: unknown): Promise<string | null> {
  if (typeof content !== 'object' || content === null || !('file' in content)) return null;
  const path = context.inside(String(content.file));
  if (path === null)
    return refuse(`content.file: expected a path inside the project, from its root, got ${got(content.file)}`);
  const { owner } = ownerOf(path, (await context.settings()).ownership);
  return owner === SHARED ? null : owner;
}

function tooFrequent(state: TeamState, from: string, now: number): boolean {
  return state.messages.some(
    (message) => message.from === from && message.type === 'progress' && now - message.sentAt < PROGRESS_MS,
  );
}

/** Whether completing a task has it measured. */
function isMeasured({ hooks: { taskCompleted } }: TeamSettings): boolean {
  return taskCompleted.enabled && taskCompleted.requireQualityCheck;
}

/** Whom mail may be for: whoever is a member, and the roles that are still to be started. */
function addressees({ members, purpose }: TeamState): readonly { readonly name: string; readonly isOver: boolean }[] {
  const roles = (purpose?.roles ?? []).filter((role) => !members.has(role)).map((name) => ({ name, isOver: false }));
  return [...[...members.values()].map(({ name, phase }) => ({ name, isOver: phase === 'over' })), ...roles];
}

export async function sendMessage(context: TeamContext, log: TeamLog, caller: Somebody, input: Input): Promise<Answer> {
  const { state } = log;
  const members = addressees(state);
  const recipient = findRecipient(input.text('recipient'), members);
  const checked = checkMessage(input.text('type'), input.raw('content'));
  const problems = [...(recipient.ok ? [] : [recipient.problem]), ...(checked.ok ? [] : checked.problems)];
  if (!recipient.ok || !checked.ok) return refuse(problems.join('\n'));
  const { type, content } = checked;
  const { name: to } = recipient;
  if (to === caller.name) refuse(`recipient: that is you; expected another name`);
  const owner = type === 'change_request' || type === 'change_completed' ? await ownerFor(context, content) : null;
  // Where its owner is not started yet, it may be asked for there, or of the lead.
  const isThere = owner !== null && state.members.has(owner);
  const isKnown = members.some(({ name, isOver }) => name === owner && !isOver);
  const owned = owner === null || (isKnown && (isThere || to === owner)) ? owner : LEAD;
  const verdict = judgeRoute(type, caller.name, to, owned);
  if (verdict.kind === 'refused') refuse(verdict.words);
  if (type === 'quality_gate_passed' && state.gate !== null && !state.gate.ok)
    refuse(
      'quality_gate_passed: the last measured checks failed. Ask for the missing work with coverage_required or change_request',
    );
  if (type === 'quality_gate_passed' && state.gate === null && isMeasured(await context.settings()))
    refuse('quality_gate_passed: nothing has been measured yet. The checks run when a writer completes a task');
  const [waiting] = type === 'quality_gate_passed' ? unreadRequests(state, caller.name) : [];
  if (waiting !== undefined)
    refuse(
      `quality_gate_passed: ${waiting.type} #${waiting.seq} of ${waiting.from} to ${waiting.to} is not read yet, and its request is part of your verdict. End your turn; you are asked again when it is done`,
    );
  const overstated = judgeClaim(type, content, state.gate);
  if (overstated !== null) refuse(overstated);
  const warnings = [
    ...(verdict.kind === 'unusual' ? [verdict.words] : []),
    ...unmeasuredClaims(type, content, state.gate),
    ...(type === 'progress' && tooFrequent(state, caller.name, context.now())
      ? ['send progress at most once a minute: each message interrupts others']
      : []),
  ];
  const before = beginnable(state);
  const { id } = await must(log, {
    type: 'message_sent',
    to,
    kind: type,
    content,
    in_reply_to: input.count('in_reply_to') ?? null,
    by: caller.name,
    epoch: caller.epoch,
  });
  const sent = log.state.messages.findLast((message) => message.id === id);
  // A lead that is code passes it, once nobody is at work any more.
  if (type === 'quality_gate_passed' && (await context.workshop()) === null) await passGate(log, caller.name);
  if (sent?.isUnmeasured === true)
    warnings.push(`nothing has been measured yet: the message is delivered as "${UNMEASURED}"`);
  return {
    message: sent?.seq ?? null,
    to,
    recipients: [...(sent?.receipts.keys() ?? [])],
    state: 'queued',
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(await tellStopped(log, caller, to, type)),
    ...(await freedSince(log, before, caller.name)),
  };
}

/** Whoever has stopped reads nothing until its lead starts it again. */
async function tellStopped(log: TeamLog, { name: by }: Somebody, to: string, type: MessageType): Promise<Answer> {
  const { members } = log.state;
  const isNew = to !== EVERYBODY && to !== LEAD && !members.has(to);
  const stopped = [...members.values()].filter(
    ({ name, phase }) => phase === 'stopped' && (to === EVERYBODY || to === name),
  );
  const names = isNew ? [to] : stopped.map(({ name }) => name);
  if (names.length === 0) return {};
  const isTold = by !== LEAD && asksForWork(type);
  const who = `${names.join(', ')} ${isNew ? 'is not started yet' : 'has stopped'}`;
  const start = isNew ? 'start it with Task' : 'start it again with Task';
  if (isTold)
    await tellLead(log, `${who} and has an unread ${type} from ${by}${isModelLed(log.state) ? `: ${start}` : ''}`);
  return {
    note: `${who}: it reads this after the lead starts it with Task${isTold ? `. ${LEAD} was told` : ''}`,
  };
}

async function passGate(log: TeamLog, by: string): Promise<void> {
  const reason = 'quality_gate_passed was sent';
  await log.append({ type: 'moved', event: 'gate_started', reason, by });
  await log.append({ type: 'moved', event: 'gate_passed', reason, by });
}

function shown(message: Message, name: string): Answer {
  const { seq, from, to, type, content, inReplyTo, sentAt, receipts, isUnmeasured } = message;
  const time = (at: number | null | undefined) => (at === null || at === undefined ? null : new Date(at).toISOString());
  const receipt = receipts.get(name);
  return {
    message: seq,
    from,
    ...(to === name ? {} : { to }),
    type,
    content,
    ...(isUnmeasured === true ? { note: UNMEASURED } : {}),
    ...(inReplyTo === null ? {} : { in_reply_to: inReplyTo }),
    queued_at: time(sentAt),
    delivered_at: time(receipt?.deliveredAt),
    read_at: time(receipt?.readAt),
  };
}

/** Writes down that a member was handed what it has not read: in the words that it begins with, or by its `Inbox`. */
export async function noteDelivered(log: TeamLog, name: string): Promise<void> {
  const seqs = unreadOf(log.state, name).flatMap(({ seq, receipts }) =>
    receipts.get(name)?.deliveredAt === null ? [seq] : [],
  );
  if (seqs.length > 0) await log.append({ type: 'mail_seen', member: name, seqs, how: 'delivered' }, { flush: false });
}

/** Shows an answer to whoever asked; rejects when it could not be shown. */
export type Show = (answer: Answer) => Promise<void>;

/** What was not shown stays unread. */
export async function readInbox(log: TeamLog, { name }: Somebody, show: Show): Promise<Answer> {
  await noteDelivered(log, name);
  const messages = unreadOf(log.state, name);
  const seqs = messages.map(({ seq }) => seq);
  const answer = { messages: messages.map((message) => shown(message, name)), unread: 0 };
  await show(answer);
  if (seqs.length > 0) await log.append({ type: 'mail_seen', member: name, seqs, how: 'read' });
  return answer;
}

/** Takes what a member has not read, as text for its conversation; null when there is none. It is read with that. */
export async function takeMail(log: TeamLog, name: string): Promise<string | null> {
  const messages = unreadOf(log.state, name);
  if (messages.length === 0) return null;
  await log.append({ type: 'mail_seen', member: name, seqs: messages.map(({ seq }) => seq), how: 'read' });
  return `toolcrew: ${messages.length} new message${messages.length === 1 ? '' : 's'} for ${name}:\n${messages.map(messageLine).join('\n')}`;
}

export async function leaseFile(context: TeamContext, log: TeamLog, caller: Somebody, input: Input): Promise<Answer> {
  const path = context.inside(input.text('path'));
  if (path === null)
    return refuse(`path: expected a path inside the project, from its root, got ${got(input.text('path'))}`);
  const { name, epoch } = caller;
  if (input.flag('release')) {
    // With its holder's last task it was given back already.
    const isHeld = (log.state.leases.get(path)?.until ?? 0) > context.now();
    if (isHeld) await must(log, { type: 'lease_released', path, by: name, epoch });
    context.placeLeases(log.state.team, log.state.leases, context.now());
    return { path, state: 'released' };
  }
  if (caller.kind === 'member' && caller.member.readOnly) refuse(`${name} is read-only: it takes no leases`);
  if (caller.kind === 'lead' && (await context.settings()).delegateMode)
    refuse(
      `${LEAD} delegates (delegate_mode) and writes only SPECs: it takes no leases. Give ${path} to a teammate with TaskCreate`,
    );
  if (/\/\s*$|\*/.test(input.text('path')))
    refuse(`path: a lease is for one file; expected its path from the project's root, got ${got(input.text('path'))}`);
  const place = context.placeOf(path);
  if (place.isDirectory) refuse(`path: a lease is for one file; ${path} is a directory`);
  // Written is what a link leads to, by the rules that hold there.
  if (place.path !== path)
    refuse(
      place.path.startsWith('/')
        ? `path: ${path} leads out of the project, to ${place.path}: no lease is possible there`
        : `path: ${path} leads to ${place.path}. Call FileLease {"path":${JSON.stringify(place.path)}}, and write it under that name`,
    );
  const rule = ruleOf(path);
  if (rule !== null) refuse(`${path} holds rules of the team (${rule}): nobody may write it, even with a lease`);
  const { owner, pattern } = ownerOf(path, (await context.settings()).ownership);
  if (owner === name) return { path, state: 'own', note: 'You own it: no lease is needed.' };
  if (owner !== null && owner !== SHARED)
    refuse(
      `${path} is ${owner}'s (${pattern}), and leases are for shared and unowned paths. ${log.state.members.has(owner) ? `Send ${owner} a change_request` : `${owner} is not in this team: send ${LEAD} a change_request`}`,
    );
  const minutes = input.count('minutes') ?? LEASE_MINUTES;
  if (minutes > LEASE_MINUTES_MAX) refuse(`minutes: expected 1 to ${LEASE_MINUTES_MAX}, got ${minutes}`);
  const now = context.now();
  const held = log.state.leases.get(path);
  if (held !== undefined && held.member !== name && held.until > now)
    refuse(
      `${path} is leased to ${held.member} until ${new Date(held.until).toISOString()}. It ends earlier if ${held.member} completes its task. Or ask ${held.member} to give it back with FileLease {"path":${JSON.stringify(path)},"release":true}`,
    );
  const until = now + minutes * 60_000;
  await must(log, { type: 'lease_taken', path, until, reason: input.maybe('reason') ?? '', by: name, epoch });
  context.placeLeases(log.state.team, log.state.leases, now);
  return { path, state: 'leased', until: new Date(until).toISOString() };
}
