// Questions of agents, and texts of people for agents: what their records change.

import type { Stored } from '../../base/rules/stored-record.ts';
import { clip } from '../../base/rules/text.ts';
import { givenUp } from './given-up.ts';
import { labelAddKey, labelRemoveKey } from './label-keys.ts';
import type { Message, Question } from './message.ts';
import { isUnpublished } from './next-step.ts';
import type { JournalRecord } from './record.ts';
import { isInReview, standIn } from './review.ts';
import { type DaemonState, type Entry, withEntry } from './state.ts';

type Of<T extends JournalRecord['type']> = Stored<Extract<JournalRecord, { type: T }>>;

/** So much of a question is kept with its answer. */
const QUESTION_KEPT = 2_000;

export function closed(question: Question | null): Question | null {
  return question === null ? null : { ...question, isOpen: false };
}

/** The label of an earlier question may have been put on and taken off: both are done anew. */
export function ask(entry: Entry, { text, label, at }: Of<'asked_question'>): Entry | undefined {
  if (entry.phase !== 'running') return undefined;
  const { [labelAddKey(label)]: _, [labelRemoveKey(label)]: __, ...effects } = entry.effects;
  const question = { attempt: entry.attempt, text, label, at, isOpen: true };
  return { ...entry, question, effects, askedDone: false };
}

export function leaveUnanswered(entry: Entry, { reason }: Of<'unanswered'>): Entry | undefined {
  if (entry.phase !== 'asking') return undefined;
  const over = { lastError: reason, stepError: null, question: closed(entry.question) };
  return { ...entry, ...(standIn(entry, reason) ?? givenUp(entry, reason)), ...over };
}

/** Where the issue waits for words of people, the work goes on. */
function goOn(entry: Entry, { heard, at }: Of<'messages'>): Entry {
  const next = { ...entry, heard: Math.max(entry.heard, heard ?? 0), question: closed(entry.question) };
  if (entry.phase === 'asking') return { ...next, phase: 'retrying', retryAt: at, stepError: null };
  const { phase, follow } = entry;
  // What is handed in and not published yet goes back to the agent.
  if (phase === 'held_back' || isInReview(entry) || isUnpublished(entry))
    return { ...next, phase: 'retrying', retryAt: at, stepError: null, head: null };
  if (phase !== 'following' || follow === null || follow.stopped !== null) return next;
  const round = { ...follow, told: null, reviewers: [], noticed: null };
  return { ...next, phase: 'retrying', retryAt: at, version: '', follow: round };
}

function withMessages(state: DaemonState, issue: number, messages: readonly Message[]): DaemonState {
  const all = new Map(state.messages);
  if (messages.length === 0) all.delete(issue);
  else all.set(issue, messages);
  return { ...state, messages: all };
}

export function messagesOf(state: DaemonState, issue: number): readonly Message[] {
  return state.messages.get(issue) ?? [];
}

/** They wait for the issue's next turn. An answer is kept with its question: a runtime may have no session. */
export function takeMessages(state: DaemonState, record: Of<'messages'>): DaemonState {
  const { issue } = record;
  const entry = state.entries.get(issue);
  const question = entry?.question?.isOpen === true ? clip(entry.question.text, QUESTION_KEPT) : null;
  const added = record.messages.map((one, index) => ({ ...one, key: `${record.id}:${index}`, question }));
  const next = withMessages(state, issue, [...messagesOf(state, issue), ...added]);
  return entry === undefined ? next : withEntry(next, goOn(entry, record));
}

export function deliver(state: DaemonState, { issue, keys }: Of<'delivered'>): DaemonState {
  const left = messagesOf(state, issue).filter(({ key }) => !keys.includes(key));
  return withMessages(state, issue, left);
}

/** Nothing is left of an issue that is over. */
export function dropMessages(state: DaemonState, issue: number): DaemonState {
  return state.messages.has(issue) ? withMessages(state, issue, []) : state;
}
