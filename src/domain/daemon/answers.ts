// The one table of answers: what follows when a step of publishing fails.

import { BranchInTheWayError } from '../branch-prefix.ts';
import { ToolError } from '../errors.ts';
import { TrackerError } from '../tracker-error.ts';
import type { Step } from './next.ts';

type StepKind = Step['kind'];

/**
 * `paused`: a limit of the service · `unavailable`: no usable answer · `unauthorized`: the credential does not do ·
 * `invalid`: 422 · `no_draft`: 422 that names drafts · `refused`: any other no of the service · `branch_refused`: the
 * remote takes the commits on no account · `branch_in_the_way`: git can make no such branch beside another one ·
 * `other`: a failure on this machine.
 */
export type Answer =
  | 'paused'
  | 'unavailable'
  | 'unauthorized'
  | 'invalid'
  | 'no_draft'
  | 'refused'
  | 'branch_refused'
  | 'branch_in_the_way'
  | 'other';

/**
 * `retry`: after a pause, so many times in a row, then give up with the words of the answer. `first` comes before the
 * next try: `renew` pushes the branch anew and asks for the base anew, `plain` asks for no draft.
 * `wait`: after a pause, without a bound, for what is named. `ask_agent`: another attempt, which counts.
 * `skip`: the issue goes on without the step.
 */
export type Reaction =
  | { readonly do: 'retry'; readonly first: 'nothing' | 'renew' | 'plain'; readonly atMost: number }
  | { readonly do: 'wait'; readonly for: 'limit' | 'service' | 'credential' | 'branch' | 'machine' | 'label' }
  | { readonly do: 'ask_agent' }
  | { readonly do: 'skip' };

/** So often in a row the service may refuse a step; then it means it. */
const AT_MOST = 8;

const AGAIN: Reaction = { do: 'retry', first: 'nothing', atMost: AT_MOST };
const SKIP: Reaction = { do: 'skip' };
const IN_THE_WAY: Reaction = { do: 'wait', for: 'branch' };

const OUTAGES = {
  paused: { do: 'wait', for: 'limit' },
  unavailable: { do: 'wait', for: 'service' },
  unauthorized: { do: 'wait', for: 'credential' },
  branch_in_the_way: IN_THE_WAY,
  other: { do: 'wait', for: 'machine' },
} as const satisfies Partial<Record<Answer, Reaction>>;

const REFUSED = { invalid: AGAIN, no_draft: AGAIN, refused: AGAIN, branch_refused: AGAIN } as const;

/** Of all answers, an agent can change one: that its commits are not taken. */
export const REACTIONS: Readonly<Record<StepKind, Readonly<Record<Answer, Reaction>>>> = {
  push: { ...OUTAGES, ...REFUSED, branch_refused: { do: 'ask_agent' } },
  pull_request: {
    ...OUTAGES,
    ...REFUSED,
    invalid: { do: 'retry', first: 'renew', atMost: AT_MOST },
    no_draft: { do: 'retry', first: 'plain', atMost: AT_MOST },
  },
  // A locked issue takes no comment; its label says enough.
  comment: { ...OUTAGES, ...REFUSED, invalid: SKIP, no_draft: SKIP, refused: SKIP },
  label_add: { ...OUTAGES, ...REFUSED },
  label_remove: { ...OUTAGES, ...REFUSED },
  // All is done but for the look at it.
  observe: {
    ...OUTAGES,
    invalid: { do: 'wait', for: 'label' },
    no_draft: { do: 'wait', for: 'label' },
    refused: { do: 'wait', for: 'label' },
    branch_refused: { do: 'wait', for: 'label' },
  },
};

export function answerOf(error: unknown): Answer {
  if (error instanceof TrackerError) {
    if (error.failure !== 'refused') return error.failure;
    if (error.status !== 422) return 'refused';
    return /draft/i.test(error.message) ? 'no_draft' : 'invalid';
  }
  if (error instanceof BranchInTheWayError) return 'branch_in_the_way';
  return error instanceof ToolError && error.code === 'refused' ? 'branch_refused' : 'other';
}

export function reactionTo(step: StepKind, error: unknown): Reaction {
  return REACTIONS[step][answerOf(error)];
}
