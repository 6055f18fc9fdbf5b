// Commands of an operator on one issue: where each makes sense, and what its record changes.

import { messageIn, refusal } from '../../base/rules/codes.ts';
import { assertNever } from '../../base/rules/errors.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { closed } from './asking.ts';
import { FOLLOW_CODES } from './codes/follow-codes.ts';
import { WORK_CODES } from './codes/work-codes.ts';
import { givenUp } from './given-up.ts';
import { questionStep } from './next-step.ts';
import type { JournalRecord, Steer } from './record.ts';
import { isBeingReviewed, isInReview } from './review.ts';
import { letGo } from './serialize.ts';
import { type DaemonState, type Entry, type Phase, type StandingOrder, withEntry } from './state.ts';

/**
 * State of an issue as commands name it. `queued`: it carries the label and no attempt was made since. `handed_in`: its work
 * is measured, or is not published yet.
 */
export type Standing =
  | Phase
  | 'review'
  | 'handed_in'
  | 'queued'
  | 'paused'
  | 'done'
  | 'closed'
  | 'failed'
  | 'label_removed';

/** What an operator gives: a command, or a text for the agent. */
export type Order = Steer | 'tell';

const SENSE: Readonly<Record<Order, readonly Standing[]>> = {
  pause: ['queued', 'claimed', 'running', 'retrying', 'asking', 'held_back'],
  resume: ['paused'],
  cancel: [
    ...(['queued', 'paused', 'claimed', 'running', 'retrying', 'asking', 'publishing', 'following'] as const),
    ...(['held_back', 'review', 'handed_in', 'giving_up', 'reviving'] as const),
  ],
  retry: ['retrying', 'asking', 'held_back', 'review', 'failed', 'label_removed'],
  tell: [
    ...(['queued', 'paused', 'claimed', 'running', 'retrying', 'asking', 'held_back', 'review', 'following'] as const),
    ...(['handed_in', 'failed', 'label_removed', 'reviving'] as const),
  ],
};

export function makesSense(command: Order, standing: Standing): boolean {
  return SENSE[command].includes(standing);
}

/** States in which a command makes sense. */
export function statesFor(command: Order): readonly Standing[] {
  return SENSE[command];
}

/** Way on for who is refused; undefined: the states say it. */
export function wayOn(command: Order, standing: Standing): string | undefined {
  if (command !== 'tell') return undefined;
  if (standing === 'publishing' || standing === 'done')
    return 'When the issue is done, put its active label back on, then give the text again';
  return standing === 'giving_up' || standing === 'cancelling'
    ? 'Give the text again when the label of the issue has changed'
    : undefined;
}

/** Whether the daemon takes steps for an issue that no agent works on. */
export function isSettling(entry: Entry): boolean {
  const { phase, follow } = entry;
  if (phase === 'asking') return questionStep(entry) !== undefined;
  if (phase === 'following') return follow !== null && follow.stopped !== null;
  return phase === 'publishing' || phase === 'giving_up' || phase === 'cancelling' || phase === 'reviving';
}

/** Whether its next attempt or its review waits for a time: an order ends that. */
export function isWaiting(entry: Entry): boolean {
  return entry.phase === 'retrying' || (isInReview(entry) && !isBeingReviewed(entry));
}

/** Whether an attempt may start. */
export function mayStart(state: DaemonState, issue: number): boolean {
  const phase = state.entries.get(issue)?.phase;
  return (phase === 'claimed' || phase === 'retrying') && !state.orders.has(issue);
}

/** Whether the issue waits for its next attempt, for an answer, or for another change. */
export function isIdle(phase: Phase): boolean {
  return phase === 'claimed' || phase === 'retrying' || phase === 'asking' || phase === 'held_back';
}

/** Whether the issue waits for a resumption, and for nothing else before. */
export function isPaused(state: DaemonState, { number, phase }: Entry): boolean {
  const waits = phase === 'claimed' || phase === 'retrying' || phase === 'held_back';
  return state.orders.get(number) === 'pause' && waits;
}

function withOrder(state: DaemonState, issue: number, order: StandingOrder): DaemonState {
  return { ...state, orders: new Map(state.orders).set(issue, order) };
}

export function withoutOrder(state: DaemonState, issue: number): DaemonState {
  if (!state.orders.has(issue)) return state;
  const orders = new Map(state.orders);
  orders.delete(issue);
  return { ...state, orders };
}

const PHASES = {
  ...{ publish: 'publishing', retry: 'retrying', give_up: 'giving_up', stop: 'claimed', ask: 'asking' },
} as const satisfies Readonly<Record<string, Phase>>;

/** Where a cancelled issue stands. */
function cancelled(entry: Entry): Pick<Entry, 'phase' | 'follow'> {
  if (entry.follow === null) return { phase: 'cancelling', follow: null };
  return givenUp(entry, messageIn(refusal(FOLLOW_CODES.follow_cancelled, {})));
}

/** @param why reason of an attempt that failed */
export function afterAttempt(
  entry: Entry,
  next: keyof typeof PHASES,
  isCancelled: boolean,
  why: string,
): Pick<Entry, 'phase' | 'follow'> {
  if (isCancelled) return cancelled(entry);
  return next === 'give_up' ? givenUp(entry, why) : { phase: PHASES[next], follow: entry.follow };
}

function cancel(state: DaemonState, entry: Entry | undefined): DaemonState {
  switch (entry?.phase) {
    case 'running':
      return withOrder(state, entry.number, 'cancel');
    case 'claimed':
    case 'retrying':
    case 'asking':
    case 'publishing':
    case 'held_back':
    case 'giving_up':
    case 'reviving':
    case 'following':
      return withEntry(withoutOrder(state, entry.number), {
        ...entry,
        ...cancelled(entry),
        question: closed(entry.question),
        retryAt: null,
        stepError: null,
      });
    default:
      return state;
  }
}

function retry(state: DaemonState, entry: Entry | undefined, at: number): DaemonState {
  if (entry?.phase === 'retrying' && !state.orders.has(entry.number))
    return withEntry(state, { ...entry, failures: 0, interruptions: 0, outages: 0, retryAt: at });
  if (entry?.phase === 'asking' && !state.orders.has(entry.number)) {
    const lastError = messageIn(refusal(WORK_CODES.question_dropped, {}));
    return withEntry(state, { ...entry, phase: 'retrying', retryAt: at, lastError, question: closed(entry.question) });
  }
  if (entry?.phase === 'held_back' && !state.orders.has(entry.number)) return withEntry(state, letGo(entry, true));
  if (entry?.phase === 'publishing' && entry.review?.stage === 'open')
    return withEntry(state, { ...entry, retryAt: at });
  if (entry?.phase !== 'parked') return state;
  return withEntry(state, { ...entry, phase: 'reviving', retryAt: null, stepError: null, effects: {} });
}

function mayPause(phase: Phase): boolean {
  return phase === 'running' || phase === 'parked' || isIdle(phase);
}

/** A command at a place where it makes no sense changes nothing. */
export function steer(state: DaemonState, record: Stored<Extract<JournalRecord, { type: 'steered' }>>): DaemonState {
  const { issue } = record;
  const entry = state.entries.get(issue);
  switch (record.steer) {
    case 'pause': {
      const phase = entry?.phase ?? 'parked';
      return mayPause(phase) && !state.orders.has(issue) ? withOrder(state, issue, 'pause') : state;
    }
    case 'resume':
      return state.orders.get(issue) === 'pause' ? withoutOrder(state, issue) : state;
    case 'cancel':
      return cancel(state, entry);
    case 'retry':
      return retry(state, entry, record.at);
    default:
      return assertNever(record.steer);
  }
}
