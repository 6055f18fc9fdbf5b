// Takes an issue whose attempts are over to its end, step by step; what fails is tried again or handed back to the agent.

import type { Clock, Logger } from '../../base/ports.ts';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import type { BringWork, Journal, Tracker, Workspaces } from '../ports.ts';
import { FOLLOW_CODES } from '../rules/codes/follow-codes.ts';
import { QUEUE_CODES } from '../rules/codes/queue-codes.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { reactionTo } from '../rules/failure-answers.ts';
import { knownCommits, tipOf } from '../rules/follow.ts';
import { activeLabelsOf, hasLabel, type Issue, sameLabel, stateLabelsOf } from '../rules/issue.ts';
import { labelRemoveKey } from '../rules/label-keys.ts';
import { nextStep, type Step } from '../rules/next-step.ts';
import type { IssueOutcome } from '../rules/record.ts';
import { retryDelayMs } from '../rules/retry.ts';
import type { Entry } from '../rules/state.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import type { Workflow } from '../rules/workflow.ts';
import type { Serializer } from '../serializer.ts';
import { isGone } from './issue-gone.ts';
import type { Publisher } from './publish.ts';

export type FinisherOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly publisher: Publisher;
  readonly serializer: Pick<Serializer, 'check' | 'takeBase'>;
  readonly workspaces: Pick<Workspaces, 'goesOn'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Records that an issue is over. */
  readonly finish: (issue: number, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** Records that an issue is taken up again. */
  readonly claim: (issue: Issue, labelEvent: number | null) => Promise<void>;
  /** Sees to it that this machine has the commit to publish, where another one may have taken it in. */
  readonly bringWork?: BringWork | undefined;
  /** Has the work reviewed, or records why not; false: the next process does. */
  readonly review: (entry: Entry, step: Extract<Step, { kind: 'review' }>, signal: AbortSignal) => Promise<boolean>;
};

/** Between two tries of a step, however short the back-off of agents is set. */
const LEAST_PAUSE_MS = 1_000;
const OBSERVE_TRIES = 5;
const OBSERVE_PAUSE_MS = 1_000;
/** Of a step: how often it failed in a row, how often it was refused, and the reason that the log has already. */
type Tally = { failures: number; refusals: number; said: string | null };

/** Steps that read or publish the commits themselves. */
const WITH_COMMITS: readonly Step['kind'][] = ['gate', 'take_base', 'review', 'serialize', 'push', 'pull_request'];

type FallibleStep = Exclude<Step, { kind: 'send_back' | 'conclude' }>;
type SkippedStep = Extract<Step, { kind: 'comment' | 'evidence' | 'review_request' }>;

function isSkipped(step: Step): step is SkippedStep {
  return step.kind === 'comment' || step.kind === 'evidence' || step.kind === 'review_request';
}

/** The log's line for what came to its end: the issue, or a round on its pull request. */
function endOf(entry: Entry, label: string): string {
  const { number, follow, pullRequest } = entry;
  return follow === null || pullRequest === null
    ? `issue #${number} state changed to ${label}`
    : `issue #${number}: commit ${tipOf(entry)?.slice(0, 12) ?? '?'} is on pull request #${pullRequest.number}`;
}

function clear(tally: Tally): void {
  tally.failures = 0;
  tally.refusals = 0;
  tally.said = null;
}

export class Finisher {
  readonly #options: FinisherOptions;
  /** Commits that are known to be on this machine. */
  readonly #here = new Set<string>();

  constructor(options: FinisherOptions) {
    this.#options = options;
  }

  /** Takes step after step until an attempt is next or the issue is over; false when the signal ended it before. */
  async takeSteps(issue: number, signal: AbortSignal): Promise<boolean> {
    const { journal, publisher, serializer, workflow, log } = this.#options;
    const tally: Tally = { failures: 0, refusals: 0, said: null };
    /** State labels that people put on since the claim. */
    let added: readonly string[] = [];
    let said = false;
    for (;;) {
      const entry = journal.state.entries.get(issue);
      if (entry === undefined) return true;
      const { labels, gate, agent, review } = workflow();
      const shown = { ...entry, stateLabels: [...entry.stateLabels, ...added] };
      const step = nextStep(shown, labels, gate, {
        serializes: agent.serializePaths.length > 0,
        reviewer: review.agent,
      });
      if (step === undefined) return true;
      if (signal.aborted) return false;
      if (step.kind === 'send_back') {
        await this.#sendBack(entry);
        continue;
      }
      if (step.kind === 'conclude') {
        await this.#options.finish(issue, 'done', entry.follow?.updatedAt ?? '');
        return true;
      }
      try {
        if (WITH_COMMITS.includes(step.kind) && !(await this.#bring(entry, signal))) continue;
        const people = step.kind === 'push' ? await this.#lookBeforePush(entry, signal) : 'away';
        if (people === 'over') {
          await this.#options.finish(issue, 'done', entry.follow?.updatedAt ?? '');
          return true;
        }
        if (people === 'pushed') continue;
        if (step.kind === 'take_base') await serializer.takeBase(entry, step.key, signal);
        else if (step.kind === 'serialize') await serializer.check(entry, step.sha, signal);
        else if (step.kind === 'observe') {
          added = await this.#see(entry, step.label, signal);
          if (signal.aborted) return false;
          if (added.length === 0) return true;
        } else if (step.kind === 'review') {
          if (!(await this.#options.review(entry, step, signal))) return false;
        } else {
          if (step.kind === 'label_add' && !said) {
            said = true;
            this.#sayDone(entry);
          }
          await publisher.step(entry, step, signal);
        }
        clear(tally);
      } catch (error) {
        if (signal.aborted) return false;
        if (entry.phase === 'claimed' || entry.phase === 'retrying') {
          // A label of an earlier time that cannot be taken off is no reason not to work.
          const what = refusal(WORK_CODES.old_label_kept, { issue, said: messageOf(error) });
          log.log('warn', 'publish', what, { issue });
          return true;
        }
        await this.#fail(entry, step, error, tally, signal);
      }
    }
  }

  /** False: its commits are nowhere, and another attempt makes them again. */
  async #bring(entry: Entry, signal: AbortSignal): Promise<boolean> {
    const { bringWork, journal, log, clock } = this.#options;
    const { number: issue, head } = entry;
    if (bringWork === undefined || head === null || this.#here.has(head)) return true;
    const commit = head.slice(0, 12);
    const isHere = await bringWork(entry, head, signal, async (ms) => {
      const what = refusal(QUEUE_CODES.work_awaited, { issue, commit, seconds: Math.ceil(ms / 1000) });
      log.log('warn', 'publish', what, { issue });
      const why = { reason: textOf(what), next: 'again', retry_at: clock.now() + ms } as const;
      await journal.append({ type: 'publish_failed', issue, ...why });
    });
    signal.throwIfAborted();
    if (isHere) this.#here.add(head);
    else {
      const what = refusal(QUEUE_CODES.work_lost, { issue, commit });
      log.log('warn', 'publish', what, { issue });
      const why = { reason: textOf(what), next: 'retry', retry_at: clock.now(), lost: true } as const;
      await journal.append({ type: 'publish_failed', issue, ...why });
    }
    return isHere;
  }

  /** What people did to the pull request that a round worked on. `over`: closed or merged · `pushed`: it is recorded. */
  async #lookBeforePush(entry: Entry, signal: AbortSignal): Promise<'away' | 'over' | 'pushed'> {
    const { number: issue, follow, pullRequest, branch } = entry;
    const { tracker, log, journal, workspaces } = this.#options;
    const status =
      follow === null || pullRequest === null ? null : await tracker.feed?.read(pullRequest.number, signal);
    if (!status || pullRequest === null) return 'away';
    if (status.state !== 'open') {
      const values = { pull_request: pullRequest.number, issue, why: `it was ${status.state}` };
      log.log('warn', 'publish', refusal(FOLLOW_CODES.round_unpublished, values), { issue });
      return 'over';
    }
    const [from, commit] = [tipOf(entry), status.head];
    // Our push may have arrived before it was recorded.
    if (from === undefined || commit === entry.head || knownCommits(entry).includes(commit)) return 'away';
    const isJoined = await workspaces.goesOn(branch, from, commit, signal);
    if (isJoined === null) return 'away';
    if (isJoined) await journal.append({ type: 'others_pushed', issue, commit, joins: true });
    else {
      const reason = textOf(refusal(FOLLOW_CODES.branch_rewritten, { commit: commit.slice(0, 12) }));
      await journal.append({ type: 'publish_failed', issue, reason, next: 'give_up', retry_at: null });
    }
    return 'pushed';
  }

  #sayDone(entry: Entry): void {
    if (entry.phase !== 'publishing') return;
    const request = entry.pullRequest;
    const what = request === null ? 'no pull request' : `pull request #${request.number}`;
    this.#options.log.log('info', 'agent', `done, ${what}`, {
      issue: entry.number,
      pull_request: request?.number ?? null,
    });
  }

  /** What failed in the evidence is the agent's to mend, so often; then the issue is given up with the figures. */
  async #sendBack(entry: Entry): Promise<void> {
    const { journal, log, workflow } = this.#options;
    const { maxRounds } = workflow().gate;
    const issue = entry.number;
    const isOver = entry.rounds >= maxRounds;
    const said = entry.evidence?.rejection ?? '';
    const what = isOver
      ? refusal(WORK_CODES.gate_rounds_exhausted, { rounds: maxRounds, said })
      : refusal(WORK_CODES.gate_failed, { round: entry.rounds + 1, rounds: maxRounds, said });
    log.log('warn', 'publish', what, { issue });
    await journal.append({ type: 'sent_back', issue, reason: textOf(what), next: isOver ? 'give_up' : 'retry' });
  }

  /** What follows stands in the table of answers. */
  async #fail(entry: Entry, step: FallibleStep, error: unknown, tally: Tally, signal: AbortSignal): Promise<void> {
    const { journal, tracker, log, clock, random, workflow } = this.#options;
    const { agent } = workflow();
    const issue = entry.number;
    const reason = messageOf(error);
    const reaction = reactionTo(step.kind, error);
    if (reaction.do === 'look' && (await isGone(tracker, issue, entry.branch, signal))) {
      await this.#leave(entry, reason);
      return;
    }
    const now = clock.now();
    tally.failures += 1;
    tally.refusals = reaction.do === 'retry' ? tally.refusals + 1 : 0;
    const refused = reaction.do === 'retry' && tally.refusals >= reaction.atMost;
    if (refused && reaction.last === 'skip' && isSkipped(step)) {
      clear(tally);
      await this.#skip(entry, step, reason);
      return;
    }
    if (refused && entry.phase === 'asking' && step.kind === 'label_add') {
      clear(tally);
      const what = refusal(WORK_CODES.question_label_refused, { issue, label: step.label, said: reason });
      log.log('error', 'publish', what, { issue });
      await journal.append({ type: 'effect_finished', issue, effect: 'label_add', key: step.key, result: {} });
      return;
    }
    if (entry.phase === 'publishing' && (refused || reaction.do === 'ask_agent')) {
      const next = refused || entry.failures + 1 >= agent.maxAttempts ? 'give_up' : 'retry';
      const retryAt =
        next === 'retry' ? now + retryDelayMs(entry.failures + 1, agent.maxRetryBackoffMs, random()) : null;
      const what = refusal(WORK_CODES.issue_not_publishable, { issue, step: step.kind, said: reason });
      log.log('warn', 'publish', what, { issue });
      await journal.append({ type: 'publish_failed', issue, reason, next, retry_at: retryAt });
      clear(tally);
      return;
    }
    const asked = error instanceof TrackerError ? error.retryAt : null;
    const cap = Math.max(agent.maxRetryBackoffMs, LEAST_PAUSE_MS);
    const retryAt = asked ?? now + retryDelayMs(tally.failures, cap, random());
    if (reason !== tally.said) {
      tally.said = reason;
      const seconds = Math.ceil((retryAt - now) / 1000);
      const what = refusal(WORK_CODES.step_postponed, { issue, step: step.kind, seconds, said: reason });
      log.log('warn', 'publish', what, { issue });
    }
    await journal.append({ type: 'publish_failed', issue, reason, next: 'again', retry_at: retryAt });
    await clock.sleep(retryAt - now, signal);
  }

  /** The service takes no such text here: the log names what it would have, and the label follows. */
  async #skip(entry: Entry, { kind: effect, key }: SkippedStep, reason: string): Promise<void> {
    const { journal, log } = this.#options;
    const issue = entry.number;
    const why = entry.lastError === null ? {} : { why: entry.lastError };
    const what =
      effect === 'comment'
        ? refusal(WORK_CODES.comment_refused, { issue, said: reason, ...why })
        : effect === 'evidence'
          ? refusal(WORK_CODES.evidence_refused, { issue, said: reason })
          : refusal(FOLLOW_CODES.review_request_refused, { issue, said: reason });
    log.log('error', 'publish', what, { issue });
    await journal.append({ type: 'effect_finished', issue, effect, key, result: {} });
  }

  /** The issue is not there any more: nothing can be written on it. */
  async #leave(entry: Entry, reason: string): Promise<void> {
    const { log, finish } = this.#options;
    const what = refusal(WORK_CODES.issue_gone, { issue: entry.number, said: reason });
    log.log('warn', 'publish', what, { issue: entry.number });
    await finish(entry.number, 'closed', '');
  }

  #see(entry: Entry, label: string | null, signal: AbortSignal): Promise<readonly string[]> {
    if (label === null) return this.#letGo(entry, signal);
    return entry.phase === 'reviving' ? this.#claim(entry, label, signal) : this.#observe(entry, label, signal);
  }

  /** The active labels of a cancelled issue are off: it is over as if people had taken them off. */
  async #letGo(entry: Entry, signal: AbortSignal): Promise<readonly string[]> {
    const { tracker, finish, workflow } = this.#options;
    const issue = await tracker.readIssue(entry.number, signal);
    const shown = activeLabelsOf(issue?.labels ?? [], workflow().labels);
    const added = shown.filter((label) => entry.effects[labelRemoveKey(label)] !== 'finished');
    if (added.length > 0) return added;
    const isClosed = issue === null || issue.state === 'closed';
    await finish(entry.number, isClosed ? 'closed' : 'label_removed', issue?.updatedAt ?? '');
    return [];
  }

  /** The active label is on again: the issue is claimed, whoever put the label on. */
  async #claim(entry: Entry, label: string, signal: AbortSignal): Promise<readonly string[]> {
    const { tracker, finish, claim } = this.#options;
    const issue = await tracker.readIssue(entry.number, signal);
    const event = await tracker.readLabelEvent(entry.number, label, signal);
    if (issue === null || issue.state === 'closed') await finish(entry.number, 'closed', issue?.updatedAt ?? '');
    else await claim(issue, event?.id ?? null);
    return [];
  }

  /**
   * Reads the end label back from the tracker: only then the issue is over.
   * @returns other state labels that stand there and that the daemon did not take off yet; then it is not over
   */
  async #observe(entry: Entry, label: string, signal: AbortSignal): Promise<readonly string[]> {
    const { tracker, log, clock, finish, workflow } = this.#options;
    const { labels } = workflow();
    let issue: Issue | null = null;
    for (let tries = 0; tries < OBSERVE_TRIES; tries++) {
      issue = await tracker.readIssue(entry.number, signal);
      if (issue === null || hasLabel(issue.labels, label)) break;
      await clock.sleep(OBSERVE_PAUSE_MS, signal);
      if (signal.aborted) return [];
    }
    const shown = issue?.labels ?? [];
    const others = stateLabelsOf(shown, labels).filter((other) => !sameLabel(other, label));
    const added = others.filter((other) => entry.effects[labelRemoveKey(other)] !== 'finished');
    if (added.length > 0) return added;
    const fields = { issue: entry.number };
    if (hasLabel(shown, label)) log.log('info', 'poller', endOf(entry, label), fields);
    else log.log('warn', 'poller', refusal(WORK_CODES.label_not_shown, { ...fields, label }), fields);
    // An active label that was taken off and shows again may be somebody's new wish: who put it on when will tell.
    const wished = entry.labelEvent !== null && activeLabelsOf(shown, labels).length > 0;
    const updatedAt = wished ? '' : (issue?.updatedAt ?? '');
    const isFollowed =
      workflow().follow.until !== 'open' &&
      tracker.feed !== null &&
      entry.pullRequest !== null &&
      entry.phase === 'publishing';
    if (isFollowed)
      await this.#options.journal.append({ type: 'following', issue: entry.number, updated_at: updatedAt });
    else await finish(entry.number, entry.phase === 'publishing' ? 'done' : 'failed', updatedAt);
    return [];
  }
}
