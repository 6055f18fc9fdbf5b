// Sending, delivery and receipts of messages in the fold.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import type { Stored } from '../../../base/rules/stored-record.ts';
import { isClaim } from '../claims.ts';
import { LOG_CODES } from '../codes/log-codes.ts';
import { MESSAGES_CODES } from '../codes/messages-codes.ts';
import { beginsOn, EVERYBODY, judgeRoute, LEAD, TOOLCREW } from '../message.ts';
import { askToEnd } from './fold-members.ts';
import { applySessionEvent, authorFault, type Draft, noteLifeSign } from './fold-state.ts';
import { announceReady } from './fold-tasks.ts';
import type { TeamRecord } from './record.ts';
import type { Receipt } from './state.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

export function takeMessage(draft: Draft, record: Of<'message_sent'>): Refusal | null {
  const { by, to, in_reply_to: inReplyTo, at } = record;
  const isNews = by === TOOLCREW;
  const fault = (isNews ? null : authorFault(draft, by, record.epoch)) ?? recipientFault(draft, to);
  if (fault !== null) return fault;
  const verdict = judgeRoute(record.kind, by, to);
  if (verdict.kind === 'refused') return verdict.refusal;
  if (inReplyTo !== null && (inReplyTo < 1 || inReplyTo > draft.messages.length))
    return refusal(MESSAGES_CODES.message_not_found, { message: inReplyTo });
  const there = [...draft.members.values()].filter((member) => member.phase !== 'over').map((member) => member.name);
  const recipients = to === EVERYBODY ? [...there, LEAD].filter((name) => name !== by) : [to];
  const seq = draft.messages.length + 1;
  draft.messages.push({
    seq,
    id: record.id,
    from: by,
    to,
    type: record.kind,
    content: record.content,
    inReplyTo,
    sentAt: at,
    receipts: new Map(recipients.map((name) => [name, { deliveredAt: null, readAt: null }])),
    ...(draft.gate === null && isClaim(record.kind) ? { isUnmeasured: true } : {}),
  });
  for (const name of recipients) {
    const unread = draft.unread.get(name);
    if (unread === undefined) draft.unread.set(name, [seq]);
    else unread.push(seq);
  }
  const readyFor = beginsOn(record.kind, by, to);
  if (readyFor !== null) announceReady(draft, { member: by, epoch: record.epoch }, readyFor);
  noteLifeSign(draft, by, at);
  if (by !== LEAD && !isNews) applySessionEvent(draft, 'work_began');
  if (record.kind === 'shutdown_request') askToEnd(draft, recipients, at);
  return null;
}

function recipientFault(draft: Draft, to: string): Refusal | null {
  if (to === EVERYBODY || to === LEAD) return null;
  const member = draft.members.get(to);
  // What is for a role of the pattern waits until somebody plays it.
  if (member === undefined)
    return draft.purpose?.roles.includes(to) === true
      ? null
      : refusal(LOG_CODES.member_unknown, { member: to, team: draft.team });
  return member.phase === 'over' ? refusal(LOG_CODES.member_ended, { member: to }) : null;
}

export function takeReceipt(draft: Draft, record: Of<'mail_seen'>): Refusal | null {
  const { member: name, how, at } = record;
  const read = new Set<number>();
  for (const seq of record.seqs) {
    const message = draft.messages[seq - 1];
    const receipt = message?.receipts.get(name);
    if (message === undefined || receipt === undefined) continue;
    const next: Receipt = {
      deliveredAt: receipt.deliveredAt ?? at,
      readAt: how === 'read' ? (receipt.readAt ?? at) : receipt.readAt,
    };
    draft.messages[seq - 1] = { ...message, receipts: new Map(message.receipts).set(name, next) };
    if (how === 'read') {
      read.add(seq);
      if (message.type === 'shutdown_request') noteShutdownRead(draft, name, at);
    }
  }
  if (read.size > 0) {
    const left = (draft.unread.get(name) ?? []).filter((seq) => !read.has(seq));
    draft.unread.set(name, left);
  }
  return null;
}

function noteShutdownRead(draft: Draft, name: string, at: number): void {
  const member = draft.members.get(name);
  if (member === undefined || member.shutdown === null) return;
  draft.members.set(name, { ...member, shutdown: { ...member.shutdown, readAt: member.shutdown.readAt ?? at } });
}
