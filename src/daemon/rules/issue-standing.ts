// An issue's standing with the daemon that runs, in words; pure.

import type { AttemptOutcome } from './record.ts';

/** In place of the phase `gate`: the checks have not begun. */
export const GATE_WAITS = 'gate_waits';
/** In place of the phase `review`: another try is waited for. */
export const REVIEW_WAITS = 'review_waits';

/** What is being done for an issue, by its phase. */
const PHASE_WORDS: Readonly<Record<string, string>> = {
  claimed: 'found',
  workspace: 'making a workspace',
  after_create: 'cloning',
  before_run: 'syncing with main',
  agent: 'agent at work',
  after_run: 'agent at work',
  collect: 'collecting its work',
  gate: 'running the checks',
  publishing: 'opening the pull request',
  giving_up: 'giving up',
};

export function phaseWords(phase: string): string {
  return PHASE_WORDS[phase] ?? phase.replace('_', ' ');
}

/** How an attempt ended, after "the attempt". */
export function outcomeWords(outcome: AttemptOutcome): string {
  switch (outcome) {
    case 'interrupted':
    case 'cancelled':
      return `was ${outcome}`;
    case 'unavailable':
      return 'found its runtime unavailable';
    default:
      return outcome.replace('_', ' ');
  }
}

export type Standing = {
  readonly queued: { readonly reason: string } | null;
  readonly asking: {
    readonly since: string;
    readonly question: string;
    readonly paused?: boolean | undefined;
  } | null;
  readonly following: {
    readonly waits_for: string;
    readonly pull_request: { readonly number: number } | null;
  } | null;
  readonly running: { readonly phase: string; readonly attempt: number; readonly last_error: string | null } | null;
  /** `waits_for`: why it does not start although it is due; missing from daemons before that. */
  readonly retrying: { readonly due_at: string | null; readonly waits_for?: string | null | undefined } | null;
};

/** Null: nothing waits for it or is under way. */
export function standingWords({ queued, asking, following, running, retrying }: Standing): string | null {
  if (queued !== null) return `it waits: ${queued.reason}`;
  if (asking !== null) {
    const paused = asking.paused === true ? 'it is paused by tool pause, and' : 'it';
    return `${paused} waits for an answer since ${asking.since}: ${asking.question}`;
  }
  if (following !== null)
    return `pull request #${following.pull_request?.number ?? '?'} is followed and waits: ${following.waits_for}`;
  if (running?.phase === GATE_WAITS)
    return `the checks on attempt ${running.attempt} wait until those of other issues have ended`;
  if (running?.phase === REVIEW_WAITS)
    return `the review of attempt ${running.attempt} waits: ${running.last_error ?? 'it was cut off'}`;
  if (running !== null) return `attempt ${running.attempt}: ${phaseWords(running.phase)}`;
  if (retrying?.waits_for) return `the next attempt waits: ${retrying.waits_for}`;
  if (retrying !== null) return `the next attempt is due at ${retrying.due_at ?? 'the next poll'}`;
  return null;
}
