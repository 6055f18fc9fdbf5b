// Record types of the daemon's journal. `fold.ts` folds them into the state.

import type { TeamSummary } from '../../agents/rules/team-summary.ts';
import type { Usage } from '../../agents/rules/usage.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import type { Effect } from './effect-names.ts';
import type { Finding } from './findings.ts';
import type { PersonCause } from './follow-people.ts';
import type { OwnFileMark } from './own-file.ts';

/**
 * Outcomes of an attempt. Three are no failure of the agent: `interrupted`, the daemon stopped or died; `unavailable`,
 * the runtime could not work at all; `cancelled`, the issue was taken back.
 */
export const ATTEMPT_OUTCOMES = [
  'succeeded',
  'failed',
  'stalled',
  'timed_out',
  'interrupted',
  'unavailable',
  'cancelled',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Final outcomes of the daemon's work on an issue. */
export const ISSUE_OUTCOMES = ['done', 'failed', 'label_removed', 'closed'] as const;
export type IssueOutcome = (typeof ISSUE_OUTCOMES)[number];

/** Commands of an operator on one issue. */
export const STEERS = ['pause', 'resume', 'cancel', 'retry'] as const;
export type Steer = (typeof STEERS)[number];

/** Most characters of a text to an agent that is taken from an operator. */
export const MAX_TELL = 20_000;

export type PullRequest = { readonly number: number; readonly url: string };

/** A path of `agent.serialize_paths` that a change touches, with the glob that matches it. */
export type Touch = { readonly glob: string; readonly path: string };

/** A pull request of ours that is open as far as is known. */
export type OpenPull = PullRequest & {
  readonly issue: number;
  readonly branch: string;
  /** Its last commit that is known. */
  readonly head: string;
  readonly touched: readonly Touch[];
};

export type ClaimedRecord = {
  readonly type: 'claimed';
  readonly issue: number;
  readonly title: string;
  readonly url: string;
  readonly life: number;
  readonly branch: string;
  /** State labels of the issue, in its own spelling: each must be removed before another end state holds. */
  readonly state_labels: readonly string[];
  /** Id of the event that added the active label; null when the tracker does not know it. */
  readonly label_event: number | null;
};

export type EffectRecord = {
  readonly issue: number;
  readonly effect: Effect;
  /** Idempotency key, the same in every try of the effect: `after_create:1`, `push:<sha>`, `label_add:tool-done`. */
  readonly key: string;
};

export type JournalRecord =
  | ClaimedRecord
  | {
      readonly type: 'attempt_started';
      readonly issue: number;
      readonly attempt: number;
      readonly run: string;
      readonly runtime: string;
      readonly workspace: string;
      /** Version of the issue that it begins with, ISO 8601. */
      readonly version?: string | undefined;
      /** The file of the repository that it works by, where that sets anything. */
      readonly own_file?: OwnFileMark | undefined;
    }
  | (EffectRecord & { readonly type: 'effect_started' })
  | (EffectRecord & {
      readonly type: 'effect_finished';
      readonly result: Readonly<Record<string, string | number | null>>;
    })
  | (EffectRecord & { readonly type: 'effect_failed'; readonly error: string })
  | { readonly type: 'session'; readonly issue: number; readonly session_id: string | null }
  | { readonly type: 'usage'; readonly issue: number; readonly usage: Usage }
  | { readonly type: 'asked_pull_request'; readonly issue: number; readonly title: string; readonly body: string }
  | { readonly type: 'asked_done'; readonly issue: number }
  /** The agent asks people. @property label shows the question on its issue */
  | { readonly type: 'asked_question'; readonly issue: number; readonly text: string; readonly label: string }
  /** Nobody answered in time. */
  | { readonly type: 'unanswered'; readonly issue: number; readonly reason: string }
  /** Texts of people for the agent: they wait until one was given to it. */
  | {
      readonly type: 'messages';
      readonly issue: number;
      readonly messages: readonly { readonly author: string | null; readonly text: string }[];
      /** Id of the last of them that is a comment on the issue. */
      readonly heard: number | null;
    }
  /** A turn with these texts has ended well. */
  | { readonly type: 'delivered'; readonly issue: number; readonly keys: readonly string[] }
  | {
      readonly type: 'attempt_ended';
      readonly issue: number;
      readonly outcome: AttemptOutcome;
      readonly reason: string;
      readonly usage: Usage;
      /** The commit to publish; null when there is none. */
      readonly head: string | null;
      readonly next: 'publish' | 'retry' | 'give_up' | 'stop' | 'ask';
      /** With `retry`: time of the next attempt, ms since the epoch. */
      readonly retry_at: number | null;
      /** The attempt found the quota of its runtime used up until then, ms since the epoch, and counts for nothing. */
      readonly quota_until?: number | undefined;
      /** An operator paused the issue: the attempt counts for nothing. */
      readonly paused?: true | undefined;
      /** Summary of the team that made the attempt; undefined when one agent did. */
      readonly team?: TeamSummary | undefined;
    }
  | {
      readonly type: 'publish_failed';
      readonly issue: number;
      readonly reason: string;
      /** `again`: the same step once more · `retry`: another attempt of the agent · `give_up`. */
      readonly next: 'again' | 'retry' | 'give_up';
      readonly retry_at: number | null;
      /** With `retry`: the commits are lost, which counts for nothing. */
      readonly lost?: true | undefined;
    }
  | { readonly type: 'measured'; readonly issue: number; readonly evidence: Evidence }
  /** A try of the review has ended, or none is made. */
  | {
      readonly type: 'reviewed';
      readonly issue: number;
      readonly agent: string;
      readonly commit: string;
      readonly findings: readonly Finding[];
      /** Why it came to nothing; with findings, why the author does not get them. */
      readonly reason: string | null;
      readonly usage: Usage;
      /** `again`: another try · `author`: the findings go to the author · `publish`. */
      readonly next: 'again' | 'author' | 'publish';
      /** With `again`: time of the next try, ms since the epoch. */
      readonly retry_at: number | null;
      /** The try counts as failed. */
      readonly failed?: true | undefined;
    }
  /** What failed in the evidence goes back to the agent, or ends the issue. */
  | {
      readonly type: 'sent_back';
      readonly issue: number;
      readonly reason: string;
      readonly next: 'retry' | 'give_up';
    }
  /** Serialized paths that the commit to publish touches: the issue goes on, or is held back. */
  | { readonly type: 'touched'; readonly issue: number; readonly sha: string; readonly touched: readonly Touch[] }
  /** Nothing holds it back any more. @property touched what still counts of what it touches */
  | { readonly type: 'released'; readonly issue: number; readonly touched: readonly Touch[] }
  /** A branch that was held back conflicts with its base. */
  | {
      readonly type: 'base_conflict';
      readonly issue: number;
      readonly reason: string;
      /** What the agent is told. */
      readonly told: string;
      readonly next: 'retry' | 'give_up';
    }
  /** Pull requests of ours that earlier programs opened, as far as they touch these globs. The issue made somebody ask. */
  | {
      readonly type: 'surveyed';
      readonly issue: number;
      readonly globs: readonly string[];
      readonly pulls: readonly OpenPull[];
    }
  | {
      readonly type: 'pull_request_over';
      /** Whose work it is. */
      readonly issue: number;
      readonly pull_request: number;
      readonly state: 'merged' | 'closed';
    }
  /** Its pull request is open and its done label on: from here on it is followed. */
  | { readonly type: 'following'; readonly issue: number; readonly updated_at: string }
  /** What happened on the pull request goes to the agent. */
  | {
      readonly type: 'continued';
      readonly issue: number;
      readonly reason: string;
      /** What the agent is told. */
      readonly told: string;
      readonly handled: readonly string[];
      readonly failure: string | null;
      readonly reviewers: readonly string[];
    }
  /** Others pushed a commit that goes on from ours. `joins`: finished work of a round takes it in before it is pushed. */
  | { readonly type: 'others_pushed'; readonly issue: number; readonly commit: string; readonly joins: boolean }
  /** The base goes into the branch, which needs no agent. */
  | { readonly type: 'base_wanted'; readonly issue: number; readonly commit: string }
  /** Nothing is left for the agent. @property reason what a person should know; null: nothing more */
  | {
      readonly type: 'awaits_person';
      readonly issue: number;
      readonly cause: PersonCause;
      readonly reason: string | null;
    }
  | { readonly type: 'follow_stopped'; readonly issue: number; readonly reason: string }
  /** Work saved before the workspace is removed: lines of a comment, due until `workspace_remove` is finished. */
  | { readonly type: 'saved'; readonly issue: number; readonly lines: readonly string[] }
  | {
      readonly type: 'finished';
      readonly issue: number;
      readonly outcome: IssueOutcome;
      readonly updated_at: string;
      /** By earlier programs, which stopped to follow a pull request that could be merged. */
      readonly mergeable?: true | undefined;
    }
  /** Command of an operator. */
  | { readonly type: 'steered'; readonly issue: number; readonly steer: Steer }
  | { readonly type: 'snapshot'; readonly state: unknown };
