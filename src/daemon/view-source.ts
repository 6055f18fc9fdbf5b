// Sources of the view of the state: a process, and one repository or many.

import type { Refusal } from '../base/rules/codes.ts';
import type { AttemptStatus } from './attempt-status.ts';
import type { Waiting } from './dispatcher.ts';
import type { PollInfo, PollStats, RateLimit } from './ports.ts';
import type { WebhookStatus } from './rules/delivery.ts';
import type { SeenPullRequest } from './rules/pull-request-status.ts';
import type { DaemonState } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

/** What a process knows, whatever its repositories. */
export type ProcessView = {
  readonly now: number;
  readonly version: string;
  readonly loadedAt: number;
  /** What is wrong with the file as it stands now; the last good one is in use. */
  readonly workflowError: string | null;
  /** Keys that changed in the file and take effect at the next start. */
  readonly pendingRestart: readonly string[];
  /** Null: no deliveries are taken. */
  readonly webhook: WebhookStatus | null;
  /** Absent: agents run on this machine. */
  readonly queue?: QueueSight;
};

/** The queue and its workers as they were seen last. */
export type QueueSight = {
  /** Attempts without a worker, and attempts with one. */
  readonly waiting: number;
  readonly active: number;
  readonly workers: readonly {
    readonly name: string;
    readonly labels: readonly string[];
    readonly slots: number;
    readonly used: number;
    readonly version: string;
    readonly draining: boolean;
    /** Ms since the epoch, by the worker's clock. */
    readonly started_at: number;
    /** The same of its last heartbeat. */
    readonly sent_at: number;
    /** Since its last heartbeat. */
    readonly seenMs: number;
  }[];
  /** Why the queue gives no answer; null: it does. */
  readonly problem: string | null;
};

/** One repository. */
export type RepositoryView = {
  readonly workflow: Workflow;
  readonly state: DaemonState;
  readonly statuses: ReadonlyMap<number, AttemptStatus>;
  readonly waiting: readonly Waiting[];
  /** What the followed pull requests wait for, by issue. */
  readonly follows: ReadonlyMap<number, string>;
  /** The same pull requests as they were read last. */
  readonly seen: ReadonlyMap<number, SeenPullRequest>;
  /** Issues whose checks wait until others have ended. */
  readonly gates: ReadonlySet<number>;
  readonly poll: PollInfo;
  readonly stats: PollStats;
  readonly rateLimit: RateLimit;
  /** Problems of the repository's own WORKFLOW.md. */
  readonly ownWarnings?: readonly Refusal[];
};

export type ViewSource = ProcessView & RepositoryView;

/** Many repositories, with those that cannot be worked on now. */
export type FleetView = ProcessView & {
  /** As the file has it: of no repository alone. */
  readonly workflow: Workflow;
  readonly repositories: readonly RepositoryView[];
  readonly broken: readonly { readonly repository: string; readonly problem: string }[];
  /** Place of a repository among all of the file by name, from 0. */
  readonly rankOf: (repository: string) => number;
  /** Cost of all repositories on a day (UTC), US dollars: also of those that are not open. */
  readonly spentOn: (day: string) => number;
};
