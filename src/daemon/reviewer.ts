// Has a second agent review finished work, read-only, before it is published. Its findings go to the author once.

import type { AgentRole, RunEnd } from '../agents/ports.ts';
import { NO_USAGE, type Usage } from '../agents/rules/usage.ts';
import { Watchdog } from '../agents/watchdog.ts';
import { messageIn, type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { AttemptOptions } from './attempt.ts';
import { AttemptStatus } from './attempt-status.ts';
import { perform } from './effects.ts';
import type { Intake } from './intake.ts';
import { quietTask } from './publish/publish.ts';
import { reviewPrompt } from './publish/review-text.ts';
import { type EndCause, quotaEnd, reasonOf } from './rules/attempt-end.ts';
import { REVIEW_CODES } from './rules/codes/review-codes.ts';
import { type Finding, findingsIn } from './rules/findings.ts';
import type { Step } from './rules/next-step.ts';
import type { JournalRecord } from './rules/record.ts';
import { retryDelayMs } from './rules/retry.ts';
import { MAX_REVIEW_TRIES } from './rules/review.ts';
import { type Entry, spentOf } from './rules/state.ts';
import { TrackerError } from './rules/tracker-error.ts';
import type { Slots } from './slots.ts';

type Options = Omit<
  AttemptOptions,
  'publisher' | 'agentSocket' | 'leftovers' | 'renderPrompt' | 'onSlotFree' | 'listen'
>;

export type ReviewerOptions = Options & {
  readonly intake: Pick<Intake, 'costCap' | 'quotaEnd' | 'quotaPause'>;
  readonly slots: Pick<Slots, 'take'>;
  /** A wait for a quota is left to the next process. */
  readonly once?: boolean;
  /** What the agent is told by its name in a commit; a name that is not known is a refusal. */
  readonly readRole: (name: string, commit: string, signal: AbortSignal) => Promise<AgentRole | Refusal>;
};

/** So much of what a reviewer says is looked through for its list. */
const MAX_SAID = 200_000;

/** What is waited for is looked at so often: the settings, the limits and the quota may be others by then. */
const LOOK_MS = 30_000;
/** What a review has used is written down at most so often. */
const NOTE_MS = 10_000;

/** How a try ended. */
type Try =
  | { readonly kind: 'read'; readonly findings: readonly Finding[] }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'quota'; readonly why: string; readonly until: number }
  | { readonly kind: 'ended' };

type Reviewed = Extract<JournalRecord, { type: 'reviewed' }>;
type Decision = Pick<Reviewed, 'next' | 'findings' | 'reason' | 'retry_at' | 'failed'>;

export class Reviewer {
  readonly #options: ReviewerOptions;
  /** What the reviewers at work are doing, by issue. */
  readonly statuses = new Map<number, AttemptStatus>();

  constructor(options: ReviewerOptions) {
    this.#options = options;
  }

  /** Makes one try, leaves the review out, or waits a while for either; false: nothing goes on in this process. */
  readonly review = async (
    entry: Entry,
    { key, sha }: Extract<Step, { kind: 'review' }>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { journal, intake, slots, clock, workflow } = this.#options;
    const agent = workflow().review.agent ?? '';
    const pause = intake.quotaPause();
    if (pause !== null && entry.review === null)
      await this.#record(entry, agent, sha, NO_USAGE, this.#await(entry, intake.quotaEnd(), messageIn(pause)));
    if (pause !== null && this.#options.once === true) return false;
    const due = Math.max(entry.review === null ? 0 : (entry.retryAt ?? 0), intake.quotaEnd());
    if (due > clock.now()) {
      await clock.sleep(Math.min(due - clock.now(), LOOK_MS), signal);
      return true;
    }
    const spent = this.#spent(entry, NO_USAGE) ?? intake.costCap();
    if (spent !== null) {
      await this.#record(entry, agent, sha, NO_USAGE, this.#leaveOut(entry, messageIn(spent)));
      return true;
    }
    const free = await slots.take(signal);
    try {
      await perform(journal, entry.number, 'review', key, async () => {
        const status = new AttemptStatus(clock);
        const end = await this.#try(entry, agent, sha, status, signal);
        await this.#record(entry, agent, sha, status.used, this.#decide(entry, agent, end, status.used));
        signal.throwIfAborted();
      });
    } finally {
      this.statuses.delete(entry.number);
      free();
    }
    return true;
  };

  async #record(entry: Entry, agent: string, commit: string, usage: Usage, decision: Decision): Promise<void> {
    const { journal, onChange } = this.#options;
    await journal.append({ type: 'reviewed', issue: entry.number, agent, commit, usage, ...decision });
    onChange();
  }

  /** Why the issue may cost no more; null: it may. */
  #spent(entry: Entry, more: Usage): Refusal | null {
    const { maxCostUsd } = this.#options.workflow().agent;
    const cost = spentOf(entry).cost_usd + more.cost_usd;
    if (maxCostUsd === null || cost < maxCostUsd) return null;
    const spent = Math.round(cost * 100) / 100;
    return refusal(REVIEW_CODES.findings_kept_from_author, { spent, limit: maxCostUsd });
  }

  #warn(issue: number, what: Refusal): void {
    this.#options.log.log('warn', 'agent', what, { issue });
  }

  #leaveOut({ number: issue }: Entry, said: string): Decision {
    this.#warn(issue, refusal(REVIEW_CODES.review_left_out, { issue, said }));
    return { next: 'publish', findings: [], reason: said, retry_at: null };
  }

  /** The pause of the runtime holds the review, as it holds attempts: it may end early, and does not outlive the process. */
  #await({ number: issue }: Entry, end: number, said: string): Decision {
    const what = refusal(REVIEW_CODES.review_waits_for_quota, { issue, until: new Date(end).toISOString(), said });
    this.#warn(issue, what);
    return { next: 'again', findings: [], reason: messageIn(what), retry_at: null };
  }

  #decide(entry: Entry, agent: string, end: Try, usage: Usage): Decision {
    const { workflow, clock, log, random } = this.#options;
    const { number: issue } = entry;
    const limits = workflow().agent;
    switch (end.kind) {
      case 'ended':
        return { next: 'again', findings: [], reason: null, retry_at: null };
      case 'unknown':
        return this.#leaveOut(entry, end.why);
      case 'quota': {
        if (limits.onQuota === 'fail') return this.#leaveOut(entry, end.why);
        return this.#await(entry, end.until, end.why);
      }
      case 'failed': {
        const failures = (entry.review?.failures ?? 0) + 1;
        if (failures >= MAX_REVIEW_TRIES) return { ...this.#leaveOut(entry, end.why), failed: true };
        this.#warn(issue, refusal(REVIEW_CODES.review_failed, { issue, said: end.why }));
        const retryAt = clock.now() + retryDelayMs(failures, limits.maxRetryBackoffMs, random());
        return { next: 'again', findings: [], reason: end.why, retry_at: retryAt, failed: true };
      }
      case 'read': {
        const { findings } = end;
        log.log(
          'info',
          'agent',
          `issue #${issue}: the review of ${agent} has ${findings.length === 1 ? '1 finding' : `${findings.length} findings`}`,
          { issue },
        );
        if (findings.length === 0) return { next: 'publish', findings, reason: null, retry_at: null };
        const spent = this.#spent(entry, usage);
        if (spent !== null) return { next: 'publish', findings, reason: textOf(spent), retry_at: null };
        return { next: 'author', findings, reason: null, retry_at: null };
      }
    }
  }

  /** Whatever fails on the way is a failed try; what the service does not answer is asked again. */
  async #try(entry: Entry, agent: string, sha: string, status: AttemptStatus, signal: AbortSignal): Promise<Try> {
    try {
      return await this.#read(entry, agent, sha, status, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'ended' };
      if (error instanceof TrackerError) throw error;
      return { kind: 'failed', why: messageOf(error) };
    }
  }

  async #read(entry: Entry, agent: string, sha: string, status: AttemptStatus, signal: AbortSignal): Promise<Try> {
    const { tracker, workspaces, attemptOutputs } = this.#options;
    const { number: issue, title } = entry;
    const task = quietTask(entry);
    const changes = await workspaces.changes(task, sha, signal);
    const role = await this.#options.readRole(agent, changes.base, signal);
    if ('of' in role) return { kind: 'unknown', why: textOf(role) };
    const shown = (await tracker.readIssue(issue, signal)) ?? { number: issue, title, body: '' };
    const before = await workspaces.stateOf(task, signal);
    const output = attemptOutputs.open(issue, entry.life, entry.attempt);
    output.write(`--- review (${agent})\n`);
    this.statuses.set(issue, status);
    try {
      const { end, said, cause } = await this.#run(
        entry,
        role,
        reviewPrompt(shown, sha, changes),
        status,
        signal,
        (text) => output.write(text),
      );
      return this.#judge(agent, end, said, cause, signal);
    } finally {
      output.close();
      // The reviewer is over: what it did is put back even when the daemon ends.
      const { signal: unhurried } = new AbortController();
      if (await workspaces.putBack(task, before, unhurried))
        this.#warn(issue, refusal(REVIEW_CODES.reviewer_changed_files, { issue }));
    }
  }

  #judge(agent: string, end: RunEnd, said: string, cause: EndCause | null, signal: AbortSignal): Try {
    const { clock, random, workflow, onQuota } = this.#options;
    if (signal.aborted) return { kind: 'ended' };
    if (cause !== null) return { kind: 'failed', why: messageIn(reasonOf(cause)) };
    if (!end.ok) {
      const until = quotaEnd(end.quotaAt, clock.now(), random());
      if (until === null) return { kind: 'failed', why: end.words };
      if (workflow().agent.onQuota === 'wait') onQuota(workflow().tool.runtime, until);
      return { kind: 'quota', why: end.words, until };
    }
    const findings = findingsIn(end.words, said);
    if (findings === null) return { kind: 'failed', why: messageIn(refusal(REVIEW_CODES.reviewer_silent, { agent })) };
    return { kind: 'read', findings };
  }

  async #run(
    entry: Entry,
    role: AgentRole,
    prompt: string,
    status: AttemptStatus,
    signal: AbortSignal,
    output: (text: string) => void,
  ): Promise<{ readonly end: RunEnd; readonly said: string; readonly cause: EndCause | null }> {
    const { workspaces, workflow, clock, runner, newRun, log, onChange } = this.#options;
    const { tool, agent } = workflow();
    const { number: issue, attempt, life, title } = entry;
    const late = new AbortController();
    let cause: EndCause | null = null;
    const watchdog = new Watchdog({
      clock,
      stallTimeoutMs: tool.stallTimeoutMs,
      turnTimeoutMs: tool.turnTimeoutMs,
      onExpired: (expiry) => {
        cause ??= expiry;
        late.abort(expiry);
      },
    });
    let said = '';
    let noted = { cost: 0, at: Number.NEGATIVE_INFINITY };
    let watching: Promise<void> | undefined;
    const cwd = workspaces.pathOf(issue);
    const budgetUsd = agent.maxCostUsd === null ? null : Math.max(0.01, agent.maxCostUsd - spentOf(entry).cost_usd);
    log.log('info', 'agent', `issue #${issue}: ${workflow().review.agent} reviews the work`, { issue });
    try {
      const end = await runner(tool.runtime).run(
        {
          ...{ run: newRun(), issue, attempt, life, cwd, prompt, issueText: title, resume: null, budgetUsd, role },
          env: { TOOL_ISSUE: String(issue), TOOL_BRANCH: entry.branch, TOOL_REVIEW: workflow().review.agent ?? '' },
        },
        {
          signal: AbortSignal.any([signal, late.signal]),
          output,
          onStarted: async () => {
            status.agentStarted();
            watchdog.turnStarted();
            watching = watchdog.watch();
          },
          onEvent: (event) => {
            status.hear(event);
            watchdog.sign(event);
            if (event.type === 'usage') noted = this.#note(issue, status, noted);
            if (event.type === 'message') said = `${said}${event.text}\n`.slice(-MAX_SAID);
            onChange();
          },
          nextTurn: async () => null,
        },
      );
      return { end, said, cause };
    } finally {
      watchdog.close();
      await watching;
    }
  }
  /** Now and then what it costs is written down, so that it counts after a crash as well. Gives what was noted last. */
  #note(issue: number, { usage, used }: AttemptStatus, noted: { readonly cost: number; readonly at: number }) {
    const { journal, clock, log } = this.#options;
    const at = clock.elapsed();
    if (usage.cost_usd <= noted.cost || at - noted.at < NOTE_MS) return noted;
    journal.append({ type: 'usage', issue, usage: used }).catch((error: unknown) => {
      log.log('warn', 'agent', messageOf(error), { issue });
    });
    return { cost: usage.cost_usd, at };
  }
}
