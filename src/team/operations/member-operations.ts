// Operations of every member: messages, mail, leases.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { ToolError } from '../../base/rules/errors.ts';
import { clip } from '../../base/rules/text.ts';
import { ownerOf, SHARED } from '../../guard/rules/ownership.ts';
import type { TeamLog } from '../ports.ts';
import { changeRequest, leaseCall, quotedPath } from '../rules/calls.ts';
import { judgeClaim, UNMEASURED, unmeasuredClaims } from '../rules/claims.ts';
import { MESSAGES_CODES } from '../rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../rules/codes/operations-codes.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { WRITES_CODES } from '../rules/codes/writes-codes.ts';
import { ruleOf } from '../rules/guard.ts';
import { isModelLed, type Message, type TeamState } from '../rules/log/state.ts';
import { asksForWork, messageLine, unreadOf } from '../rules/mail.ts';
import { checkMessage, EVERYBODY, findRecipient, judgeRoute, LEAD, type MessageType } from '../rules/message.ts';
import type { Input } from '../rules/operation.ts';
import { unreadRequests } from '../rules/requested-work.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { type Answer, appendRequired, refuse, type TeamCaller, type TeamContext, tellLead } from './context.ts';
import { startableTasks, unblockedSince } from './task-operations.ts';

const LEASE_MINUTES = 30;
const LEASE_MINUTES_MAX = 120;
/** More than one report of progress within this time is too many. */
const PROGRESS_MS = 60_000;

/** Whose the file of a message about a change is; null when it is shared or nobody's. */
async function ownerFor(context: Pick<TeamContext, 'inside' | 'settings'>, content: unknown): Promise<string | null> {
  if (typeof content !== 'object' || content === null || !('file' in content)) return null;
  const path = context.inside(String(content.file));
  if (path === null)
    return refuse(WORK_CODES.path_outside_project, { field: 'content.file', path: clip(String(content.file), 80) });
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

export async function sendMessage(
  context: Pick<TeamContext, 'inside' | 'settings' | 'now' | 'teamWorktrees'>,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
): Promise<Answer> {
  const { state } = log;
  const members = addressees(state);
  const recipient = findRecipient(input.text('recipient'), members);
  const checked = checkMessage(input.text('type'), input.raw('content'));
  const problems = [...(recipient.ok ? [] : [recipient.problem]), ...(checked.ok ? [] : checked.problems)];
  if (!recipient.ok || !checked.ok)
    return refuse(OPERATIONS_CODES.input_invalid, { operation: 'SendMessage', problems });
  const { type, content } = checked;
  const { name: to } = recipient;
  if (to === caller.name) refuse(OPERATIONS_CODES.recipient_is_sender, { recipient: to });
  const owner = type === 'change_request' || type === 'change_completed' ? await ownerFor(context, content) : null;
  // Where its owner is not started yet, it may be asked for there, or of the lead.
  const isThere = owner !== null && state.members.has(owner);
  const isKnown = members.some(({ name, isOver }) => name === owner && !isOver);
  const owned = owner === null || (isKnown && (isThere || to === owner)) ? owner : LEAD;
  const verdict = judgeRoute(type, caller.name, to, owned);
  if (verdict.kind === 'refused') throw new ToolError(verdict.refusal);
  if (type === 'quality_gate_passed' && state.gate !== null && !state.gate.ok)
    refuse(OPERATIONS_CODES.gate_not_passed, {});
  if (type === 'quality_gate_passed' && state.gate === null && isMeasured(await context.settings()))
    refuse(OPERATIONS_CODES.gate_not_measured, {});
  const [waiting] = type === 'quality_gate_passed' ? unreadRequests(state, caller.name) : [];
  if (waiting !== undefined)
    refuse(OPERATIONS_CODES.request_unread, {
      ...{ type: waiting.type, message: waiting.seq, from: waiting.from, to: waiting.to },
    });
  const overstated = judgeClaim(type, content, state.gate);
  if (overstated !== null) throw new ToolError(overstated);
  const warnings = [
    ...(verdict.kind === 'unusual' ? [textOf(verdict.refusal)] : []),
    ...unmeasuredClaims(type, content, state.gate).map(textOf),
    ...(type === 'progress' && tooFrequent(state, caller.name, context.now())
      ? [textOf(refusal(OPERATIONS_CODES.progress_too_frequent, {}))]
      : []),
  ];
  const before = startableTasks(state);
  const { id } = await appendRequired(log, {
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
  if (type === 'quality_gate_passed' && (await context.teamWorktrees()) === null) await passGate(log, caller.name);
  if (sent?.isUnmeasured === true)
    warnings.push(`nothing has been measured yet: the message is delivered as "${UNMEASURED}"`);
  return {
    message: sent?.seq ?? null,
    to,
    recipients: [...(sent?.receipts.keys() ?? [])],
    state: 'queued',
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(await tellStopped(log, caller, to, type)),
    ...(await unblockedSince(log, before, caller.name)),
  };
}

/** Whoever has stopped reads nothing until its lead starts it again. */
async function tellStopped(log: TeamLog, { name: by }: TeamCaller, to: string, type: MessageType): Promise<Answer> {
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
export async function readInbox(log: TeamLog, { name }: TeamCaller, show: Show): Promise<Answer> {
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

export async function leaseFile(
  context: Pick<TeamContext, 'inside' | 'placeOf' | 'settings' | 'now' | 'placeLeases'>,
  log: TeamLog,
  caller: TeamCaller,
  input: Input,
): Promise<Answer> {
  const path = context.inside(input.text('path'));
  if (path === null) return refuse(WORK_CODES.path_outside_project, { field: 'path', path: input.text('path') });
  const { name, epoch } = caller;
  if (input.flag('release')) {
    // With its holder's last task it was given back already.
    const isHeld = (log.state.leases.get(path)?.until ?? 0) > context.now();
    if (isHeld) await appendRequired(log, { type: 'lease_released', path, by: name, epoch });
    context.placeLeases(log.state.team, log.state.leases, context.now());
    return { path, state: 'released' };
  }
  if (caller.kind === 'member' && caller.member.readOnly) refuse(WRITES_CODES.member_read_only, { member: name });
  if (caller.kind === 'lead' && (await context.settings()).delegateMode)
    refuse(WRITES_CODES.lead_takes_no_lease, { path });
  if (/\/\s*$|\*/.test(input.text('path')))
    refuse(MESSAGES_CODES.parameter_invalid, {
      ...{ field: 'path', expected: "the path of one file from the project's root", got: input.text('path') },
    });
  const place = context.placeOf(path);
  if (place.isDirectory)
    refuse(WRITES_CODES.directory_not_leasable, { path, kind: 'a', call: changeRequest(LEAD, path) });
  // Written is what a link leads to, by the rules that hold there.
  if (place.path.startsWith('/')) refuse(OPERATIONS_CODES.path_leads_outside, { path, target: place.path });
  if (place.path !== path)
    refuse(OPERATIONS_CODES.path_is_link, { path, target: place.path, call: leaseCall(place.path) });
  const rule = ruleOf(path);
  if (rule !== null) refuse(WRITES_CODES.path_protected, { path, what: rule });
  const { owner, pattern } = ownerOf(path, (await context.settings()).ownership);
  if (owner === name) return { path, state: 'own', note: 'You own it: no lease is needed.' };
  if (owner !== null && owner !== SHARED)
    refuse(WRITES_CODES.lease_of_owned_path, {
      ...{ path, owner, ...(pattern === null ? {} : { pattern }) },
      ask: log.state.members.has(owner) ? `Send ${owner}` : `${owner} is not in this team: send ${LEAD}`,
    });
  const minutes = input.count('minutes') ?? LEASE_MINUTES;
  if (minutes > LEASE_MINUTES_MAX)
    refuse(MESSAGES_CODES.parameter_invalid, {
      ...{ field: 'minutes', expected: `1 to ${LEASE_MINUTES_MAX}`, got: String(minutes) },
    });
  const now = context.now();
  const held = log.state.leases.get(path);
  if (held !== undefined && held.member !== name && held.until > now)
    refuse(WRITES_CODES.lease_not_free, {
      ...{ path, holder: held.member, until: held.until },
      call: `FileLease {"path":${quotedPath(path)},"release":true}`,
    });
  const until = now + minutes * 60_000;
  await appendRequired(log, { type: 'lease_taken', path, until, reason: input.maybe('reason') ?? '', by: name, epoch });
  context.placeLeases(log.state.team, log.state.leases, now);
  return { path, state: 'leased', until: new Date(until).toISOString() };
}
