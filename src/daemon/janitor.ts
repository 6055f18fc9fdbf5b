// Removes workspaces that nobody needs any more: those of issues that are done or closed.

import type { Clock } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf, ToolError } from '../base/rules/errors.ts';
import type { Supervisor } from '../base/supervisor.ts';
import { perform } from './effects.ts';
import { type OwnFileOptions, runOwnAfter } from './own-file.ts';
import type { Tracker, Workspaces } from './ports.ts';
import { isGone } from './publish/issue-gone.ts';
import { savedComment } from './publish/tracker-texts.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { reactionTo } from './rules/failure-answers.ts';
import { finishedIssueOf } from './rules/finished-issues.ts';
import type { IssueOutcome } from './rules/record.ts';
import { retryDelayMs } from './rules/retry.ts';
import { TrackerError } from './rules/tracker-error.ts';

export type JanitorOptions = OwnFileOptions & {
  readonly tracker: Tracker;
  readonly workspaces: Workspaces;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly random: () => number;
  readonly finish: (issue: number, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** Called when a workspace is gone: its issue may be taken on again. */
  readonly onRemoved: () => void;
};

/** Between two tries of a comment, however short the back-off of agents is set. */
const LEAST_PAUSE_MS = 1_000;
/** Issues whose workspaces stayed (failed, label taken off) are held against the tracker this often. */
const SWEEP_MS = 24 * 60 * 60_000;

export class Janitor {
  readonly #options: JanitorOptions;
  readonly #cleaning = new Set<number>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: JanitorOptions) {
    this.#options = options;
  }

  /** Issues whose workspace is being removed now. */
  get cleaning(): ReadonlySet<number> {
    return this.#cleaning;
  }

  cleanAll(): void {
    for (const issue of this.#options.journal.state.cleanups.keys()) this.clean(issue);
  }

  /** Removes the issue's workspace, unless it is to be kept. What has been saved of it is told on the issue in any case. */
  clean(issue: number): void {
    const { journal, workflow, supervisor, onRemoved } = this.#options;
    const cleanup = journal.state.cleanups.get(issue);
    const isKept = workflow().workspace.keep && cleanup?.saved.length === 0;
    if (cleanup === undefined || isKept || this.#cleaning.has(issue) || supervisor.signal.aborted) return;
    this.#cleaning.add(issue);
    supervisor.run(`workspace of issue #${issue}`, async () => {
      try {
        await this.#remove(issue);
      } finally {
        this.#cleaning.delete(issue);
        onRemoved();
      }
    });
  }

  async #remove(issue: number): Promise<void> {
    const { journal, workspaces, log, workflow } = this.#options;
    const cleanup = journal.state.cleanups.get(issue);
    if (cleanup === undefined) return;
    const { branch } = cleanup;
    const life = finishedIssueOf(journal.state.past, issue)?.life ?? 1;
    const task = { issue, life, attempt: 0, branch, env: {}, output: () => undefined };
    // What has begun is finished, also when the daemon is asked to stop: the hook's time-out bounds it.
    const { signal } = new AbortController();
    // Where something is saved already, an earlier process came as far as that.
    if (workflow().hooks.beforeRemove !== null && cleanup.saved.length === 0) {
      log.log('info', 'hook', 'before_remove', { issue });
      try {
        await perform(journal, issue, 'hook', 'before_remove', () => workspaces.beforeRemove(task, signal));
      } catch (error) {
        log.log('warn', 'hook', error instanceof ToolError ? error.refusal : messageOf(error), { issue });
      }
    }
    if (cleanup.saved.length === 0)
      await runOwnAfter(this.#options, workflow(), 'before_remove', task, workspaces.pathOf(issue));
    const note = async (lines: readonly string[]) => {
      for (const line of lines) log.log('warn', 'workspace', `issue #${issue}: ${line}`, { issue });
      await journal.append({ type: 'saved', issue, lines });
    };
    await perform(journal, issue, 'workspace_remove', 'workspace_remove', async () => {
      try {
        await workspaces.remove(task, signal, note);
      } finally {
        await this.#tell(issue, life, branch, signal);
      }
    });
  }

  /**
   * Names on the issue what was saved and not published. Tried until the service takes or refuses it. When the daemon ends
   * before that, this throws: the removal is not finished, and the next process tells it.
   */
  async #tell(issue: number, life: number, branch: string, signal: AbortSignal): Promise<void> {
    const { clock, journal, log, random, supervisor, tracker, workflow } = this.#options;
    const saved = journal.state.cleanups.get(issue)?.saved ?? [];
    if (saved.length === 0) return;
    const marker = `${issue}-${life}-saved`;
    let said: string | null = null;
    let refusals = 0;
    for (let failures = 1; ; failures++) {
      try {
        await perform(journal, issue, 'comment', 'saved', async () => {
          if (await tracker.hasComment(issue, marker, signal)) return;
          await tracker.addComment(issue, savedComment(saved), marker, signal);
        });
        return;
      } catch (error) {
        const reaction = reactionTo('comment', error);
        const words = messageOf(error);
        refusals = reaction.do === 'retry' ? refusals + 1 : 0;
        const isRefused = reaction.do === 'retry' && refusals >= reaction.atMost;
        if (isRefused || (reaction.do === 'look' && (await isGone(tracker, issue, branch, signal)))) {
          const what = refusal(WORK_CODES.comment_refused, { issue, said: words });
          log.log('warn', 'workspace', what, { issue });
          return;
        }
        if (supervisor.signal.aborted) throw error;
        const now = clock.now();
        const cap = Math.max(workflow().agent.maxRetryBackoffMs, LEAST_PAUSE_MS);
        const asked = error instanceof TrackerError ? error.retryAt : null;
        const pause = Math.max(LEAST_PAUSE_MS, asked === null ? retryDelayMs(failures, cap, random()) : asked - now);
        const seconds = Math.ceil(pause / 1000);
        const step = 'the comment that names saved work';
        const later = refusal(WORK_CODES.step_postponed, { issue, step, seconds, said: words });
        if (words !== said) log.log('warn', 'workspace', later, { issue });
        said = words;
        await clock.sleep(pause, supervisor.signal);
        if (supervisor.signal.aborted) throw error;
      }
    }
  }

  async #expire(): Promise<void> {
    const { workspaces, workflow, log } = this.#options;
    const days = workflow().workspace.savedKeepDays;
    try {
      const dropped = await workspaces.expireSaved();
      const what = `dropped ${dropped} refs of saved work older than ${days} days (workspace.saved_keep_days)`;
      if (dropped > 0) log.log('info', 'workspace', what);
    } catch (error) {
      const failed = { task: 'The removal of old refs of saved work', said: messageOf(error) };
      log.log('warn', 'workspace', refusal(WORK_CODES.background_task_failed, failed));
    }
  }

  #pruneLfs(): void {
    const { workspaces, log, supervisor } = this.#options;
    supervisor.run('removal of old LFS objects', async (signal) => {
      const { count, bytes } = await workspaces.pruneLfs(signal);
      const what = `removed ${count} unused objects of Git LFS, ${(bytes / 1e6).toFixed(1)} MB; the server has them`;
      if (count > 0) log.log('info', 'workspace', what);
    });
  }

  /** Once a day: of the issues that were left open, those that people closed meanwhile are over. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { clock, tracker, journal, finish } = this.#options;
    if (clock.elapsed() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = clock.elapsed();
    await this.#expire();
    this.#pruneLfs();
    for (const entry of [...journal.state.entries.values()]) {
      if (entry.phase !== 'parked') continue;
      const issue = await tracker.readIssue(entry.number, signal).catch(() => undefined);
      if (issue === null || issue?.state === 'closed') await finish(entry.number, 'closed', issue?.updatedAt ?? '');
    }
  }
}
