// Attempts that an earlier process of the daemon left without an end are judged, and work of other machines is brought.

import type { Clock, Logger } from '../base/ports.ts';
import { messageIn, refusal } from '../base/rules/codes.ts';
import { collectWork, NO_WORK } from './collect-work.ts';
import type { BringWork, Journal, Leftovers, Workspaces } from './ports.ts';
import { quietTask } from './publish/publish.ts';
import { messagesOf } from './rules/asking.ts';
import { type EndCause, judgeAttempt } from './rules/attempt-end.ts';
import { QUEUE_CODES } from './rules/codes/queue-codes.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { type Entry, type StandingOrder, spentOf } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

export type RecoveryOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly workspaces: Workspaces;
  readonly leftovers: Leftovers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly bringWork?: BringWork | undefined;
  /** Throws where no other machine can make attempts at what the default branch holds. */
  readonly requireCarried?: ((signal: AbortSignal) => Promise<void>) | undefined;
};
type Bringing = Pick<RecoveryOptions, 'bringWork' | 'requireCarried' | 'journal' | 'log'>;

/** An order of an operator counts, although the daemon died before it was carried out. */
function causeOf(order: StandingOrder | undefined): EndCause {
  if (order === undefined) return { kind: 'died' };
  return order === 'pause' ? { kind: 'paused' } : { kind: 'cancelled', outcome: 'label_removed', updatedAt: '' };
}

/** Asks for the work of the last attempt, if that was another machine's. */
async function bringWorkOf({ bringWork, log }: Bringing, entry: Entry, signal: AbortSignal): Promise<void> {
  const fields = { issue: entry.number, attempt: entry.attempt };
  await bringWork?.(entry, null, signal, async (ms) => {
    const values = { issue: entry.number, seconds: Math.ceil(ms / 1000) };
    log.log('warn', 'agent', refusal(QUEUE_CODES.work_awaited, values), fields);
  });
}

/** A round on a pull request begins at what is pushed, unless an attempt at it came before. */
function beginsAtPushed({ follow, failures, interruptions, outages, sentBack, question }: Entry): boolean {
  return follow !== null && failures + interruptions + outages === 0 && sentBack === null && question === null;
}

/**
 * Before another attempt that may be another machine's: it can have what the default branch holds, and commits that the last
 * one handed in on another machine, and that were not pushed, are here. An end of the signal is no failure of the first.
 */
export async function readyToCarry(options: Bringing, issue: number, signal: AbortSignal): Promise<void> {
  await options.requireCarried?.(signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (options.bringWork === undefined) return;
  const entry = options.journal.state.entries.get(issue);
  if (entry !== undefined && entry.attempt > 0 && !beginsAtPushed(entry)) await bringWorkOf(options, entry, signal);
}

/** Gives an attempt that nobody sees through any more its end. Does nothing for an issue without one. */
export async function endInterruptedAttempt(
  options: RecoveryOptions,
  entry: Entry,
  signal: AbortSignal,
): Promise<void> {
  if (entry.phase !== 'running' || entry.run === null) return;
  const { leftovers, log, journal, clock, workspaces, workflow, random } = options;
  const ended = await leftovers.end(entry.run.id);
  const fields = { issue: entry.number, attempt: entry.attempt };
  const what = refusal(WORK_CODES.attempt_cut_off, { ...fields, ...(ended === 0 ? {} : { count: ended }) });
  log.log('warn', 'agent', what, fields);
  if (entry.askedDone) await bringWorkOf(options, entry, signal);
  if (signal.aborted) return;
  // An agent that said it was done had nothing left to do: its work is published, not done again.
  const left = entry.askedDone ? await collectWork(workspaces, clock, quietTask(entry), signal) : NO_WORK;
  const verdict = judgeAttempt(
    entry,
    {
      cause: causeOf(journal.state.orders.get(entry.number)),
      agent: { ok: false, words: messageIn(refusal(WORK_CODES.daemon_died, {})), fault: 'agent' },
      ...left,
      isNewHead: false,
      quotaUntil: null,
      askedDone: entry.askedDone,
      hasMessages: messagesOf(journal.state, entry.number).length > 0,
      costUsd: spentOf(entry).cost_usd,
      turns: entry.running.turns,
      mayGoOn: options.bringWork !== undefined && entry.effects[`agent:${entry.attempt}`] !== undefined,
    },
    workflow().agent,
    clock.now(),
    random(),
  );
  await journal.append({
    type: 'attempt_ended',
    issue: entry.number,
    outcome: verdict.outcome,
    reason: verdict.reason,
    usage: entry.running,
    head: verdict.head,
    next: verdict.next,
    retry_at: verdict.retryAt,
    ...(journal.state.orders.get(entry.number) === 'pause' ? { paused: true } : {}),
  });
}
