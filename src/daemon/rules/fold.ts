// The fold: each record of the journal takes the state one step on. A record that is not valid at its place changes nothing.

import { NO_USAGE } from '../../agents/rules/usage.ts';
import { assertNever } from '../../base/rules/errors.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { clip } from '../../base/rules/text.ts';
import { ask, closed, deliver, dropMessages, leaveUnanswered, takeMessages } from './asking.ts';
import { MAX_INTERRUPTIONS } from './attempt-end.ts';
import { useMore } from './cost.ts';
import { withFinishedIssue } from './finished-issues.ts';
import {
  beginFollowing,
  failToPublish,
  goOn,
  noticePerson,
  sendBack,
  takeBaseIn,
  takePushed,
  withoutTip,
} from './fold-publishing.ts';
import { pullRequestKey } from './next-step.ts';
import type { JournalRecord } from './record.ts';
import { answered, hearFindings, takeReview, withNoted } from './review.ts';
import { isAnswering } from './review-state.ts';
import {
  release,
  solveConflict,
  survey,
  takenBase,
  touch,
  withOpened,
  withoutIdle,
  withoutPull,
  withPushed,
} from './serialize.ts';
import { type Completed, type DaemonState, type Entry, spentOf, withCompleted, withEntry } from './state.ts';
import { afterAttempt, steer, withoutOrder } from './steering.ts';

function change(state: DaemonState, issue: number, update: (entry: Entry) => Entry | undefined): DaemonState {
  const entry = state.entries.get(issue);
  const next = entry === undefined ? undefined : update(entry);
  return next === undefined ? state : withEntry(state, next);
}

/** Characters of the last words that a pull request may show. */
const CLAIM_MAX = 1_000;

function claim(state: DaemonState, record: Stored<Extract<JournalRecord, { type: 'claimed' }>>): DaemonState {
  const earlier = state.entries.get(record.issue);
  if (earlier !== undefined && earlier.phase !== 'parked' && earlier.phase !== 'reviving') return state;
  const resumed = earlier !== undefined && earlier.life === record.life;
  const fresh: Entry = {
    number: record.issue,
    title: record.title,
    url: record.url,
    life: record.life,
    branch: record.branch,
    stateLabels: record.state_labels,
    labelEvent: record.label_event,
    claimedAt: record.at,
    phase: 'claimed',
    attempt: resumed ? earlier.attempt : 0,
    failures: 0,
    interruptions: 0,
    outages: 0,
    run: null,
    runtime: resumed ? earlier.runtime : null,
    workspace: resumed
      ? earlier.workspace
      : (state.cleanups.get(record.issue)?.directory ?? earlier?.workspace ?? null),
    sessionId: resumed ? earlier.sessionId : null,
    retryAt: null,
    lastError: resumed ? earlier.lastError : null,
    stepError: null,
    handedIn: resumed ? earlier.handedIn : 0,
    sentBack: resumed ? earlier.sentBack : null,
    askedPullRequest: null,
    askedDone: false,
    claim: null,
    question: null,
    version: '',
    heard: resumed ? earlier.heard : 0,
    head: null,
    evidence: null,
    rounds: 0,
    serial: null,
    review: null,
    pullRequest: resumed ? earlier.pullRequest : null,
    follow: null,
    pushed: resumed ? earlier.pushed : [],
    effects: {},
    spent: resumed ? earlier.spent : NO_USAGE,
    running: NO_USAGE,
    team: resumed ? earlier.team : null,
    finished: null,
  };
  const cleanups = new Map(state.cleanups);
  cleanups.delete(record.issue);
  return { ...withEntry(state, fresh), cleanups };
}

function endAttempt(
  state: DaemonState,
  record: Stored<Extract<JournalRecord, { type: 'attempt_ended' }>>,
): DaemonState {
  const used = useMore(state, record.issue, record.at, record.usage);
  const isCancelled = state.orders.get(record.issue) === 'cancel';
  return change(isCancelled ? withoutOrder(used, record.issue) : used, record.issue, (entry) => {
    if (entry.phase !== 'running') return undefined;
    const { outcome } = record;
    const interruptions = outcome === 'interrupted' ? entry.interruptions + 1 : 0;
    const failed =
      outcome === 'failed' ||
      outcome === 'stalled' ||
      outcome === 'timed_out' ||
      (outcome === 'interrupted' && record.paused !== true && interruptions >= MAX_INTERRUPTIONS);
    return {
      ...withNoted(entry),
      ...afterAttempt(entry, record.next, isCancelled, record.reason),
      run: null,
      failures: failed ? entry.failures + 1 : entry.failures,
      interruptions: record.paused === true ? entry.interruptions : interruptions,
      outages:
        record.paused === true
          ? entry.outages
          : outcome !== 'unavailable'
            ? 0
            : record.quota_until === undefined
              ? entry.outages + 1
              : entry.outages,
      retryAt: record.retry_at,
      lastError: record.outcome === 'succeeded' ? null : record.reason,
      head: record.head,
      ...(outcome === 'succeeded'
        ? { handedIn: entry.handedIn + 1, sentBack: null, claim: clip(record.reason, CLAIM_MAX) }
        : {}),
      team: record.team ?? entry.team,
      review: answered(entry.review, record),
      askedPullRequest: record.next === 'publish' || isAnswering(entry.review) ? entry.askedPullRequest : null,
      askedDone: record.next === 'publish' && entry.askedDone,
      question: record.next === 'ask' ? entry.question : closed(entry.question),
    };
  });
}

/** Whether a pull request is open is to be asked again: people may have closed the one that is known. */
function unasked(entry: Entry): Entry {
  const { [pullRequestKey(entry)]: _, ...effects } = entry.effects;
  return { ...entry, effects };
}

function finishEffect(state: DaemonState, record: Extract<JournalRecord, { type: 'effect_finished' }>): DaemonState {
  if (record.effect === 'workspace_remove') {
    const cleanups = new Map(state.cleanups);
    cleanups.delete(record.issue);
    return change({ ...state, cleanups }, record.issue, (entry) => ({ ...entry, workspace: null }));
  }
  const { result } = record;
  const finished = change(state, record.issue, (entry) => {
    // What a review waits for is recorded within its effect.
    const stepError = record.effect === 'review' ? entry.stepError : null;
    const next: Entry = { ...entry, stepError, effects: { ...entry.effects, [record.key]: 'finished' } };
    switch (record.effect) {
      case 'agent':
        return entry.run === null || typeof result.pid !== 'number'
          ? next
          : { ...next, run: { ...entry.run, pid: result.pid } };
      case 'push':
        return typeof result.sha === 'string'
          ? {
              ...unasked(next),
              ...withoutTip(next),
              pushed: [...entry.pushed.filter((sha) => sha !== result.sha), result.sha].slice(-20),
            }
          : next;
      case 'pull_request': {
        const { number, url } = result;
        return typeof number === 'number' && typeof url === 'string' ? { ...next, pullRequest: { number, url } } : next;
      }
      case 'take_base':
        return takenBase(next, result);
      case 'workspace':
      case 'hook':
      case 'gate':
      case 'review':
      case 'evidence':
      case 'review_request':
      case 'reply':
      case 'comment':
      case 'label_add':
      case 'label_remove':
      case 'workspace_remove':
        return next;
      default:
        return assertNever(record.effect);
    }
  });
  if (record.effect === 'pull_request') return withOpened(finished, record.issue);
  return record.effect === 'push' && typeof result.sha === 'string'
    ? withPushed(finished, record.issue, result.sha)
    : finished;
}

function finish(state: DaemonState, record: Stored<Extract<JournalRecord, { type: 'finished' }>>): DaemonState {
  const entry = state.entries.get(record.issue);
  if (entry === undefined) return state;
  const over = record.outcome === 'done' || record.outcome === 'closed';
  if (entry.phase === 'parked' && !over) return state;
  const entries = new Map(state.entries);
  const cleanups = new Map(state.cleanups);
  let { past } = state;
  if (over) {
    entries.delete(record.issue);
    past = withFinishedIssue(past, record.issue, {
      life: entry.life,
      labelEvent: entry.labelEvent,
      updatedAt: record.updated_at,
      outcome: record.outcome,
    });
    if (entry.workspace !== null)
      cleanups.set(record.issue, { directory: entry.workspace, branch: entry.branch, saved: [] });
  } else {
    const spent = spentOf(entry);
    entries.set(record.issue, {
      ...entry,
      phase: 'parked',
      run: null,
      retryAt: null,
      stepError: null,
      spent,
      running: NO_USAGE,
      effects: {},
      evidence: null,
      review: null,
      question: null,
      follow: null,
      team: null,
      finished: { outcome: record.outcome, updatedAt: record.updated_at, at: record.at },
    });
  }
  const row: Completed = {
    number: entry.number,
    title: entry.title,
    url: entry.url,
    life: entry.life,
    outcome: record.outcome,
    attempts: entry.attempt,
    branch: entry.branch,
    pullRequest: entry.pullRequest,
    reason: entry.lastError,
    startedAt: entry.claimedAt,
    finishedAt: record.at,
    spent: spentOf(entry),
    team: entry.team,
  };
  // A parked issue that is closed later is over without having been worked on again: no second row.
  const rows = entry.phase === 'parked' ? state.completed : withCompleted(state.completed, row);
  const counts =
    entry.phase === 'parked' ? state.counts : { ...state.counts, [record.outcome]: state.counts[record.outcome] + 1 };
  const kept = over ? dropMessages(state, record.issue) : state;
  return { ...withoutOrder(kept, record.issue), entries, cleanups, past, completed: rows, counts };
}

/** One step of the fold. Total: any record on any state gives a state. */
export function fold(state: DaemonState, record: Stored<JournalRecord>): DaemonState {
  const next = step(state, record);
  return 'issue' in record ? withoutIdle(next, record.issue) : next;
}

function step(state: DaemonState, record: Stored<JournalRecord>): DaemonState {
  switch (record.type) {
    case 'claimed':
      return claim(state, record);
    case 'attempt_started':
      return change(state, record.issue, (entry) =>
        (entry.phase === 'claimed' || entry.phase === 'retrying') && record.attempt > entry.attempt
          ? {
              ...withNoted(unasked(entry)),
              phase: 'running',
              attempt: record.attempt,
              run: { id: record.run, attempt: record.attempt, startedAt: record.at, pid: null },
              runtime: record.runtime,
              workspace: record.workspace,
              retryAt: null,
              // What the author asked for before the review still holds.
              askedPullRequest: isAnswering(entry.review) ? entry.askedPullRequest : null,
              askedDone: false,
              version: entry.version || (record.version ?? ''),
            }
          : undefined,
      );
    case 'effect_started':
      return change(state, record.issue, (entry) => ({
        ...(record.effect === 'review' ? withNoted(entry) : entry),
        effects: { ...entry.effects, [record.key]: 'started' },
      }));
    case 'effect_finished':
      return finishEffect(state, record);
    case 'effect_failed':
      return change(state, record.issue, (entry) => {
        // A comment may stand there although no answer came: it stays begun, so that it is looked for before the next try.
        if (record.effect === 'comment') return undefined;
        const { [record.key]: _, ...effects } = entry.effects;
        return { ...entry, effects };
      });
    case 'session':
      return change(state, record.issue, (entry) => ({ ...entry, sessionId: record.session_id }));
    case 'usage':
      return useMore(state, record.issue, record.at, record.usage);
    case 'asked_pull_request':
      return change(state, record.issue, (entry) =>
        entry.phase === 'running'
          ? { ...entry, askedPullRequest: { title: record.title, body: record.body } }
          : undefined,
      );
    case 'asked_done':
      return change(state, record.issue, (entry) =>
        entry.phase === 'running' ? { ...entry, askedDone: true } : undefined,
      );
    case 'asked_question':
      return change(state, record.issue, (entry) => ask(entry, record));
    case 'unanswered':
      return change(state, record.issue, (entry) => leaveUnanswered(entry, record));
    case 'messages':
      return takeMessages(state, record);
    case 'delivered':
      return change(deliver(state, record), record.issue, (entry) => hearFindings(entry, record.keys));
    case 'attempt_ended':
      return endAttempt(state, record);
    case 'publish_failed':
      return change(state, record.issue, (entry) => failToPublish(entry, record));
    case 'measured':
      return change(state, record.issue, (entry) => ({ ...entry, evidence: record.evidence }));
    case 'reviewed':
      return takeReview(state, record);
    case 'sent_back':
      return change(state, record.issue, (entry) => sendBack(entry, record, record.at));
    case 'touched':
      return touch(state, record);
    case 'released':
      return release(state, record);
    case 'base_conflict':
      return change(state, record.issue, (entry) => solveConflict(entry, record));
    case 'surveyed':
      return survey(state, record);
    case 'pull_request_over':
      return withoutPull(state, record);
    case 'following':
      // An order on the attempt that handed the work in is done with.
      return withoutOrder(
        withOpened(
          change(state, record.issue, (entry) => beginFollowing(entry, record.updated_at, record.at)),
          record.issue,
        ),
        record.issue,
      );
    case 'continued':
      return change(state, record.issue, (entry) => goOn(entry, record, record.at));
    case 'others_pushed':
      return withPushed(
        change(state, record.issue, (entry) => takePushed(entry, record, record.at)),
        record.issue,
        record.commit,
      );
    case 'base_wanted':
      return change(state, record.issue, (entry) => takeBaseIn(entry, record, record.at));
    case 'awaits_person':
      return change(state, record.issue, (entry) => noticePerson(entry, record));
    case 'follow_stopped':
      return change(state, record.issue, (entry) =>
        entry.phase === 'following' && entry.follow !== null
          ? { ...entry, follow: { ...entry.follow, stopped: record.reason } }
          : undefined,
      );
    case 'saved': {
      const cleanup = state.cleanups.get(record.issue);
      if (cleanup === undefined) return state;
      const saved = [...new Set([...cleanup.saved, ...record.lines])];
      return { ...state, cleanups: new Map(state.cleanups).set(record.issue, { ...cleanup, saved }) };
    }
    case 'finished':
      return finish(state, record);
    case 'steered':
      return steer(state, record);
    case 'snapshot':
      return state;
    default:
      return assertNever(record);
  }
}
