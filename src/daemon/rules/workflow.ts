// Decoded WORKFLOW.md with every default filled in. Times in ms, cost in US dollars.

import type { AgentSettings } from '../../agents/rules/runtime.ts';
import type { RepoSlug } from '../../git/rules/repository.ts';
import type { QuotaMode } from './attempt-end.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { GateSettings } from './gate-settings.ts';
import type { StateLabels } from './issue.ts';
import type { OwnFile, OwnSetting } from './own-file.ts';
import type { QueueSettings } from './queue-settings.ts';
import type { ReviewSettings } from './review-state.ts';
import type { TrackerKind } from './tracker-kind.ts';
import type { TrustMode } from './trust.ts';

/** An App of the hosting service, in place of a token. */
export type AppSettings = {
  readonly id: string;
  /** Where its private key is. */
  readonly key: { readonly kind: 'variable'; readonly name: string } | { readonly kind: 'file'; readonly path: string };
};

export type Workflow = {
  /** Absolute path of the file. */
  readonly path: string;
  readonly tracker: {
    readonly kind: TrackerKind;
    /** Of a file that names many repositories: of none. */
    readonly slug: RepoSlug;
    /** Many repositories in place of one; a `*` as the name: all of the owner. Null: `slug` is the one. */
    readonly repositories: readonly RepoSlug[] | null;
    /** Of all repositories of an owner, only those with this topic; null: each. */
    readonly topic: string | null;
    /** Without a trailing slash. */
    readonly apiUrl: string;
    /** The environment variable that the file names for the token. */
    readonly tokenVariable: string | null;
    /** Null: a token is used. */
    readonly app: AppSettings | null;
    /** Absolute path of a file with additional certificate authorities; null: none. */
    readonly caFile: string | null;
    readonly trust: TrustMode;
    readonly draft: boolean;
    /** Label of an issue that waits for an answer. */
    readonly questionLabel: string;
  };
  readonly labels: StateLabels;
  /** What the file of a repository may set, and whether its hooks run. */
  readonly fromRepository: { readonly settings: readonly OwnSetting[]; readonly hooks: boolean };
  /** The file of the repository, whose values are in this workflow; undefined: none holds. */
  readonly own?: OwnFile;
  readonly polling: { readonly intervalMs: number };
  readonly workspace: {
    readonly root: string;
    readonly keep: boolean;
    /** Days for which saved work is kept; 0: for ever. */
    readonly savedKeepDays: number;
    /** Prefix of the branches of new issues; usually ends with `/`. */
    readonly branchPrefix: string;
    /** Whether submodules are filled. */
    readonly submodules: boolean;
    /** Git is ended after this time without output from the remote. */
    readonly cloneTimeoutMs: number;
    /** Number of commits of each branch in the first clone; null: all. */
    readonly cloneDepth: number | null;
  };
  readonly hooks: {
    readonly afterCreate: string | null;
    readonly beforeRun: string | null;
    readonly afterRun: string | null;
    readonly beforeRemove: string | null;
    readonly timeoutMs: number;
  };
  readonly stateDir: string;
  readonly agent: {
    readonly maxConcurrent: number;
    readonly maxAttempts: number;
    readonly maxTurns: number;
    readonly maxRetryBackoffMs: number;
    readonly maxCostUsd: number | null;
    readonly maxCostPerDayUsd: number | null;
    /** Beside the limits for all; null: no limit of its own. */
    readonly perRepository: { readonly maxConcurrent: number | null; readonly maxCostPerDayUsd: number | null };
    readonly onQuota: QuotaMode;
    /** Labels of issues that start before others; the first label outranks the next. */
    readonly priorityLabels: readonly string[];
    /** Globs: of the changes that touch one, only one is published at a time. */
    readonly serializePaths: readonly string[];
    /** Labels that a worker must have, with a queue. */
    readonly workerLabels: readonly string[];
  };
  readonly tool: AgentSettings;
  readonly gate: GateSettings;
  readonly review: ReviewSettings;
  readonly follow: FollowSettings;
  /** Where people are told that an issue is over or waits. */
  readonly notify: { readonly command: string | null; readonly webhook: string | null };
  /** Null: agents run on this machine. */
  readonly queue: QueueSettings | null;
  readonly telemetry: { readonly traces: boolean };
  readonly server: {
    /** 0: no server. */
    readonly port: number;
    readonly host: string;
    readonly allowedHosts: readonly string[];
    readonly token: string | null;
    /** Deliveries of webhooks are signed with it; null: none are taken. */
    readonly webhookSecret: string | null;
  };
  /** The Liquid template of the prompt. */
  readonly prompt: string;
};
