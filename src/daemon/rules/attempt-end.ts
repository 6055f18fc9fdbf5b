// The decision on an ended attempt: retry, publish or give up; pure.

import type { CutOff } from '../../agents/rules/cut-off.ts';
import type { Expiry } from '../../agents/rules/expiry.ts';
import { LONGEST_QUOTA_MS } from '../../agents/rules/quota.ts';
import { messageIn, type Refusal, refusal } from '../../base/rules/codes.ts';
import { assertNever } from '../../base/rules/errors.ts';
import { LEAD_CODES } from '../../team/rules/codes/lead-codes.ts';
import { FOLLOW_CODES } from './codes/follow-codes.ts';
import { QUEUE_CODES } from './codes/queue-codes.ts';
import { WORK_CODES } from './codes/work-codes.ts';
import type { AttemptOutcome, IssueOutcome } from './record.ts';
import { outageDelayMs, retryDelayMs } from './retry.ts';
import { standIn } from './review.ts';
import type { Entry } from './state.ts';

/** Why the daemon ended an agent itself. The first cause counts. */
export type EndCause =
  | Expiry
  | CutOff
  | { readonly kind: 'cancelled'; readonly outcome: IssueOutcome; readonly updatedAt: string }
  /** An operator paused the issue. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'shutdown' }
  /** The daemon died under it; the next one says so. */
  | { readonly kind: 'died' };

export type AttemptEnd = {
  readonly cause: EndCause | null;
  /** How the agent ended by itself. `runtime`: it could not work at all. */
  readonly agent: {
    readonly ok: boolean;
    readonly words: string;
    readonly fault: 'agent' | 'runtime';
  };
  /** Until when the runtime has no quota, as `quotaEnd` gives it. */
  readonly quotaUntil: number | null;
  readonly head: string | null;
  /** Whether that commit was not there before the attempt. */
  readonly isNewHead: boolean;
  /** Why what it left could not be read; null when it was. That is not the same as nothing being there. */
  readonly unread: string | null;
  /** The ref under which uncommitted changes were saved. */
  readonly savedAs: string | null;
  readonly askedDone: boolean;
  /** Whether people wrote something that no agent was given. */
  readonly hasMessages: boolean;
  readonly costUsd: number;
  readonly turns: number;
  /** It was handed out to other machines: there its agent waits for a worker, or may be at work still. */
  readonly mayGoOn?: boolean;
};

export type AttemptLimits = {
  readonly maxAttempts: number;
  readonly maxTurns: number;
  readonly maxRetryBackoffMs: number;
  readonly maxCostUsd: number | null;
  readonly onQuota: QuotaMode;
};

/** An attempt that ran into a used-up quota: it waits until that is there again, or the issue fails. */
export const QUOTA_MODES = ['wait', 'fail'] as const;
export type QuotaMode = (typeof QUOTA_MODES)[number];

/** Daemons with one account do not go on at the same moment. */
const QUOTA_JITTER_MS = 60_000;

export type Verdict = {
  readonly outcome: AttemptOutcome;
  readonly reason: string;
  readonly next: 'publish' | 'retry' | 'give_up' | 'stop' | 'ask';
  readonly head: string | null;
  readonly retryAt: number | null;
  /** Until then no attempt of the runtime starts, ms since the epoch; null: nothing keeps them. */
  readonly quotaUntil: number | null;
};

/** The daemon may die or stop under an issue's agent less often than this in a row; each further time counts against the issue. */
export const MAX_INTERRUPTIONS = 10;

/** An attempt that could not work costs the issue nothing, but not for ever: about a day at the default back-off. */
export const MAX_OUTAGES = 300;

function withoutCommit(end: AttemptEnd, limits: AttemptLimits): Refusal {
  const said = end.agent.ok ? end.agent.words.trim() : '';
  return refusal(WORK_CODES.no_commit_made, {
    ...(end.turns >= limits.maxTurns ? { turns: end.turns } : {}),
    ...(end.savedAs === null ? {} : { saved_as: end.savedAs }),
    ...(said === '' ? {} : { said }),
  });
}

/** Why the daemon itself ended the attempt. */
export function reasonOf(cause: EndCause): Refusal {
  switch (cause.kind) {
    case 'stalled':
      return refusal(LEAD_CODES.agent_stalled, { seconds: cause.afterMs / 1000, setting: 'tool.stall_timeout_ms' });
    case 'turn_timeout':
      return refusal(LEAD_CODES.turn_timed_out, { seconds: cause.afterMs / 1000 });
    case 'cancelled':
      if (cause.outcome === 'done') return refusal(FOLLOW_CODES.round_taken_over, {});
      return refusal(cause.outcome === 'closed' ? WORK_CODES.issue_closed : WORK_CODES.active_label_removed, {});
    case 'paused':
      return refusal(WORK_CODES.issue_paused, {});
    case 'shutdown':
      return refusal(WORK_CODES.daemon_stopped, {});
    case 'died':
      return refusal(WORK_CODES.daemon_died, {});
    case 'lost':
      return refusal(QUEUE_CODES.worker_lost, { worker: cause.worker });
    case 'returned':
      return refusal(QUEUE_CODES.worker_returned_work, { worker: cause.worker });
    default:
      return assertNever(cause);
  }
}

const OUTCOMES: Readonly<Record<EndCause['kind'], AttemptOutcome>> = {
  stalled: 'stalled',
  turn_timeout: 'timed_out',
  cancelled: 'cancelled',
  paused: 'interrupted',
  shutdown: 'interrupted',
  died: 'interrupted',
  lost: 'interrupted',
  returned: 'interrupted',
};

/** A reason may be the words of an agent, of any form. */
function then(reason: string, next: Refusal): string {
  return `${reason}${/[.!?]$/.test(reason) ? '' : '.'} ${messageIn(next)}`;
}

function cents(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}

function describe(end: AttemptEnd, limits: AttemptLimits): { outcome: AttemptOutcome; reason: string } {
  if (end.cause !== null) return { outcome: OUTCOMES[end.cause.kind], reason: messageIn(reasonOf(end.cause)) };
  // Whoever handed its work in is answerable for a workspace that cannot be read any more.
  if (end.unread !== null && (end.agent.ok || end.askedDone)) return { outcome: 'failed', reason: end.unread };
  // An agent that has committed could work, whatever its program says at the end. A used-up quota ends work under way as well.
  if (!end.agent.ok) {
    const isOutage = end.agent.fault === 'runtime' && (end.quotaUntil !== null || !end.isNewHead);
    return { outcome: isOutage ? 'unavailable' : 'failed', reason: end.agent.words };
  }
  return { outcome: 'failed', reason: messageIn(withoutCommit(end, limits)) };
}

/**
 * Until when no attempt of a runtime starts whose quota is used up, ms since the epoch; null: nothing is to be waited for.
 * No quota is away for longer than `LONGEST_QUOTA_MS`: a later time is none to wait for.
 * @param quotaAt when the runtime says that it is there again, ms since the epoch
 * @param random a number in [0, 1)
 */
export function quotaEnd(quotaAt: number | undefined, now: number, random: number): number | null {
  if (quotaAt === undefined || quotaAt <= now || quotaAt - now > LONGEST_QUOTA_MS) return null;
  return quotaAt + Math.round(random * QUOTA_JITTER_MS);
}

/**
 * Decides what follows an attempt.
 * @param now ms since the epoch
 * @param random a number in [0, 1), for the back-off's jitter
 */
export function judgeAttempt(
  entry: Entry,
  end: AttemptEnd,
  limits: AttemptLimits,
  now: number,
  random: number,
): Verdict {
  const succeeded = { outcome: 'succeeded', reason: end.agent.words, quotaUntil: null } as const;
  const isSpent = limits.maxCostUsd !== null && end.costUsd >= limits.maxCostUsd;
  const asks = entry.question?.isOpen === true && end.cause?.kind !== 'cancelled';
  // What is committed waits for the answer as well. Without any money left, nothing can be done with an answer.
  if (asks && !isSpent) return { ...succeeded, next: 'ask', head: null, retryAt: null };
  const mayPublish = end.unread === null && end.cause?.kind !== 'cancelled' && !asks;
  const endedWell = end.cause === null && end.agent.ok;
  // The agent's word that it is done holds even if its process ends badly afterwards, or the daemon does.
  const isHandedIn = mayPublish && (end.askedDone || (endedWell && end.head !== null));
  const isTold = !end.hasMessages || isSpent;
  if (isHandedIn && isTold && end.head !== null)
    return { ...succeeded, next: 'publish', head: end.head, retryAt: null };
  // An agent that ended badly has failed: what people wrote is told after the pause.
  if (isHandedIn && !isTold && endedWell) return { ...succeeded, next: 'retry', head: null, retryAt: now };
  const { outcome, reason } = describe(end, limits);
  const verdict = (next: Verdict['next'], retryAt: number | null): Verdict => ({
    outcome,
    reason,
    next,
    head: null,
    retryAt,
    quotaUntil: null,
  });
  const giveUp = (words: string): Verdict => {
    // The reviewed commit was handed in as finished: the pull request says why the findings have no answer.
    const reviewed = standIn(entry, words)?.head ?? null;
    if (reviewed !== null) return { ...verdict('publish', null), reason: words, head: reviewed };
    const kept = end.head === null ? null : refusal(WORK_CODES.commits_kept, { commit: end.head.slice(0, 12) });
    return { ...verdict('give_up', null), reason: kept === null ? words : then(words, kept) };
  };
  // It said that nothing has to change: another attempt would only say so again.
  if (isHandedIn && isTold) return { ...giveUp(messageIn(withoutCommit(end, limits))), outcome: 'failed' };
  if (outcome === 'cancelled') return verdict('stop', null);
  if (end.cause?.kind === 'paused') return verdict('retry', now);
  if (limits.maxCostUsd !== null && isSpent) {
    const values = { spent: cents(end.costUsd), limit: limits.maxCostUsd };
    const spent = refusal(WORK_CODES.issue_cost_reached, values);
    return { ...giveUp(then(reason, spent)), outcome: 'failed' };
  }
  if (outcome === 'interrupted' && entry.interruptions + 1 < MAX_INTERRUPTIONS) {
    // A restart of the daemon goes on at once. An agent that takes it down each time does not decide how often.
    const isAtOnce = entry.interruptions === 0 || end.mayGoOn === true;
    const pause = isAtOnce ? 0 : outageDelayMs(entry.interruptions, limits.maxRetryBackoffMs, random);
    return verdict('retry', now + pause);
  }
  if (outcome === 'unavailable' && end.quotaUntil !== null) {
    const until = new Date(end.quotaUntil).toISOString();
    const spent = then(reason, refusal(WORK_CODES.runtime_quota_spent, { until }));
    if (limits.onQuota === 'fail') return { ...giveUp(spent), outcome: 'failed' };
    return { ...verdict('retry', end.quotaUntil), reason: spent, quotaUntil: end.quotaUntil };
  }
  if (outcome === 'unavailable') {
    const outages = entry.outages + 1;
    if (outages >= MAX_OUTAGES) return giveUp(then(reason, refusal(WORK_CODES.outages_exhausted, { count: outages })));
    return verdict('retry', now + outageDelayMs(outages, limits.maxRetryBackoffMs, random));
  }
  const failures = entry.failures + 1;
  if (failures >= limits.maxAttempts) return giveUp(reason);
  return verdict('retry', now + retryDelayMs(failures, limits.maxRetryBackoffMs, random));
}
