// The one table of answers: what follows when a step of publishing fails.

import type { Code } from '../../base/rules/codes.ts';
import { isFailure, ToolError } from '../../base/rules/errors.ts';
import { WORKSPACES_CODES } from './codes/workspaces-codes.ts';
import { isDiskFull } from './disk-full.ts';
import type { Step } from './next-step.ts';
import { TrackerError } from './tracker-error.ts';

/** To send work back, or to end following, asks nobody. */
type StepKind = Exclude<Step['kind'], 'send_back' | 'conclude'>;

/**
 * `paused`: a limit of the service · `unavailable`: no usable answer · `unauthorized`: the credential does not do ·
 * `forbidden`: the credential lacks a permission · `not_found`: gone, moved, or not to be seen with this credential ·
 * `invalid`: 422 · `no_draft`: 422 that names drafts · `refused`: any other no of the service · `branch_refused`: the
 * remote takes the commits on no account · `branch_in_the_way`: git can make no such branch beside another one ·
 * `workspace_refused`: a script of the file failed, or the work in the workspace cannot be used · `other`: a failure on this machine.
 */
export type Answer =
  | 'paused'
  | 'unavailable'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'invalid'
  | 'no_draft'
  | 'refused'
  | 'branch_refused'
  | 'branch_in_the_way'
  | 'workspace_refused'
  | 'other';

/**
 * `retry`: after a pause, so many times in a row. `first` comes before the next try: `renew` pushes the branch anew and
 * asks for the base anew, `plain` asks for no draft. `last` follows the last try: `give_up` with the words of the answer,
 * or `skip`, go on without the step.
 * `wait`: after a pause, without a bound, for what is named. `ask_agent`: another attempt, which counts.
 * `look`: the issue is over if it is gone; else as `wait` for a permission.
 */
export type Reaction =
  | {
      readonly do: 'retry';
      readonly first: 'nothing' | 'renew' | 'plain';
      readonly atMost: number;
      readonly last: 'give_up' | 'skip';
    }
  | {
      readonly do: 'wait';
      readonly for: 'limit' | 'service' | 'credential' | 'permission' | 'branch' | 'machine' | 'label';
    }
  | { readonly do: 'look' }
  | { readonly do: 'ask_agent' };

/** So often in a row the service may refuse a step; then it means it. */
const AT_MOST = 8;

const AGAIN: Reaction = { do: 'retry', first: 'nothing', atMost: AT_MOST, last: 'give_up' };
const OR_SKIP: Reaction = { ...AGAIN, last: 'skip' };
const SKIP: Reaction = { ...OR_SKIP, atMost: 1 };
const LOOK: Reaction = { do: 'look' };
const IN_THE_WAY: Reaction = { do: 'wait', for: 'branch' };

const OUTAGES = {
  paused: { do: 'wait', for: 'limit' },
  unavailable: { do: 'wait', for: 'service' },
  unauthorized: { do: 'wait', for: 'credential' },
  // A session that is over, a list of addresses, a right that was taken: people mend it, and the work is there. Services
  // say "not found" of what a credential may not see.
  forbidden: { do: 'wait', for: 'permission' },
  not_found: { do: 'wait', for: 'permission' },
  branch_in_the_way: IN_THE_WAY,
  workspace_refused: { do: 'wait', for: 'machine' },
  other: { do: 'wait', for: 'machine' },
} as const satisfies Partial<Record<Answer, Reaction>>;

const REFUSED = { invalid: AGAIN, no_draft: AGAIN, refused: AGAIN, branch_refused: AGAIN } as const;

/** An agent can change two answers: that its commits are not taken, and that its workspace cannot take in the base. */
export const REACTIONS: Readonly<Record<StepKind, Readonly<Record<Answer, Reaction>>>> = {
  // What cannot be measured is evidence as well: only this machine can fail.
  gate: { ...OUTAGES, ...REFUSED },
  // Others may wait for this issue: it cannot try for ever.
  take_base: { ...OUTAGES, ...REFUSED, workspace_refused: { do: 'ask_agent' } },
  serialize: { ...OUTAGES, ...REFUSED },
  // A review that fails is an answer, too: only the issue's text comes from the service.
  review: { ...OUTAGES, ...REFUSED },
  push: { ...OUTAGES, ...REFUSED, branch_refused: { do: 'ask_agent' } },
  pull_request: {
    ...OUTAGES,
    ...REFUSED,
    invalid: { ...AGAIN, first: 'renew' },
    no_draft: { ...AGAIN, first: 'plain' },
  },
  // The work is handed over: figures that the service does not take hold nothing up.
  evidence: {
    ...OUTAGES,
    not_found: SKIP,
    invalid: SKIP,
    no_draft: SKIP,
    refused: SKIP,
    branch_refused: SKIP,
  },
  // Whoever reviewed it sees the new commit all the same.
  review_request: {
    ...OUTAGES,
    forbidden: SKIP,
    not_found: SKIP,
    invalid: SKIP,
    no_draft: SKIP,
    refused: SKIP,
    branch_refused: SKIP,
  },
  // "Submitted too quickly" is a 422 as well. The label of an issue that takes no comment says enough.
  comment: {
    ...OUTAGES,
    not_found: LOOK,
    invalid: OR_SKIP,
    no_draft: OR_SKIP,
    refused: OR_SKIP,
    branch_refused: OR_SKIP,
  },
  label_add: { ...OUTAGES, ...REFUSED, not_found: LOOK },
  label_remove: { ...OUTAGES, ...REFUSED, not_found: LOOK },
  // All is done but for the look at it.
  observe: {
    ...OUTAGES,
    invalid: { do: 'wait', for: 'label' },
    no_draft: { do: 'wait', for: 'label' },
    refused: { do: 'wait', for: 'label' },
    branch_refused: { do: 'wait', for: 'label' },
  },
};

/** Failures of a push that neither time nor the service changes. */
const BRANCH_REFUSED: readonly Code[] = [
  WORKSPACES_CODES.branch_has_foreign_commits,
  WORKSPACES_CODES.push_rejected,
  WORKSPACES_CODES.lfs_host_without_credential,
  WORKSPACES_CODES.lfs_push_refused,
  WORKSPACES_CODES.lfs_objects_missing,
];

export function answerOf(error: unknown): Answer {
  if (error instanceof TrackerError) {
    if (error.failure !== 'refused') return error.failure;
    if (error.status === 403) return 'forbidden';
    // Without a status: the repository has another name now.
    if (error.status === null || error.status < 400 || error.status === 404 || error.status === 410) return 'not_found';
    if (error.status !== 422) return 'refused';
    return /draft/i.test(error.said) ? 'no_draft' : 'invalid';
  }
  // Only a person can make room for the branch, or set the prefix back.
  const { issue_branch_blocked: blocked, branch_not_of_issue: foreign } = WORKSPACES_CODES;
  if (isFailure(error, blocked) || isFailure(error, foreign)) return 'branch_in_the_way';
  if (BRANCH_REFUSED.some((code) => isFailure(error, code))) return 'branch_refused';
  const isWorkspace = error instanceof ToolError && (error.kind === 'hook' || error.kind === 'agent');
  return isWorkspace && !isDiskFull(error) ? 'workspace_refused' : 'other';
}

export function reactionTo(step: StepKind, error: unknown): Reaction {
  return REACTIONS[step][answerOf(error)];
}
