// Removes workspaces that nobody needs any more: those of issues that are done or closed.

import { pastOf } from '../../domain/daemon/past.ts';
import type { IssueOutcome } from '../../domain/daemon/record.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Workflow } from '../../domain/workflow.ts';
import type { Clock, Journal, Logger, Tracker, Workspaces } from '../ports.ts';
import type { Supervisor } from '../supervisor.ts';
import { perform } from './effects.ts';
import { savedComment } from './texts.ts';

export type JanitorOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly workspaces: Workspaces;
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly finish: (issue: number, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** Called when a workspace is gone: its issue may be taken on again. */
  readonly onRemoved: () => void;
};

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

  /** Removes the issue's workspace, unless it is to be kept. */
  clean(issue: number): void {
    const { journal, workflow, supervisor, onRemoved } = this.#options;
    if (
      workflow().workspace.keep ||
      !journal.state.cleanups.has(issue) ||
      this.#cleaning.has(issue) ||
      supervisor.signal.aborted
    )
      return;
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
    const branch = journal.state.cleanups.get(issue)?.branch;
    if (branch === undefined) return;
    const life = pastOf(journal.state.past, issue)?.life ?? 1;
    const task = { issue, life, attempt: 0, branch, env: {}, output: () => undefined };
    // What has begun is finished, also when the daemon is asked to stop: the hook's time-out bounds it.
    const { signal } = new AbortController();
    if (workflow().hooks.beforeRemove !== null) {
      log.log('info', 'hook', 'before_remove', { issue });
      try {
        await perform(journal, issue, 'hook', 'before_remove', () => workspaces.beforeRemove(task, signal));
      } catch (error) {
        log.log('warn', 'hook', messageOf(error), { issue });
      }
    }
    const tell = (saved: readonly string[]) => this.#tell(issue, life, saved, signal);
    await perform(journal, issue, 'workspace_remove', 'workspace_remove', () => workspaces.remove(task, signal, tell));
  }

  /** Names on the issue what was saved and not published. The refs are there, also where no comment can be written. */
  async #tell(issue: number, life: number, saved: readonly string[], signal: AbortSignal): Promise<void> {
    const { journal, tracker, log } = this.#options;
    for (const line of saved) log.log('warn', 'workspace', `issue #${issue}: ${line}`, { issue });
    const marker = `${issue}-${life}-saved`;
    try {
      await perform(journal, issue, 'comment', 'saved', async () => {
        if (await tracker.hasComment(issue, marker, signal)) return;
        await tracker.addComment(issue, savedComment(saved), marker, signal);
      });
    } catch (error) {
      log.log('warn', 'workspace', `issue #${issue} takes no comment: ${messageOf(error)}`, { issue });
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
      log.log('warn', 'workspace', `old refs of saved work could not be dropped: ${messageOf(error)}`);
    }
  }

  /** Once a day: of the issues that were left open, those that people closed meanwhile are over. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { clock, tracker, journal, finish } = this.#options;
    if (clock.elapsed() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = clock.elapsed();
    await this.#expire();
    for (const entry of [...journal.state.entries.values()]) {
      if (entry.phase !== 'parked') continue;
      const issue = await tracker.readIssue(entry.number, signal).catch(() => undefined);
      if (issue === null || issue?.state === 'closed') await finish(entry.number, 'closed', issue?.updatedAt ?? '');
    }
  }
}
