// The word of who judges the work of all: whether it is wanted, whether it was said, how often it was asked for.

import { beforeAndAfter } from '../../gate/rules/old-failures.ts';
import { trust5Lines } from '../../gate/rules/trust5.ts';
import type { TeamState } from './log/state.ts';
import type { Task } from './task.ts';
import { taskIndexOf } from './task-index.ts';

/** What is said of work that is accepted as it is. */
export const UNCHECKED = 'unchecked: require_quality_check is false';

/** Who judges. */
export const JUDGE = 'quality';
/** So many times it is asked for its word after it has ended its work without it. */
export const JUDGE_ROUNDS = 2;
/** Task for the judging role when it has completed its work without a verdict. */
export const JUDGE_TASK = {
  subject: 'Give your verdict on the gate',
  description:
    'Your task is completed, but your verdict is missing. If all holds, send quality_gate_passed to team-lead. If not, send change_request or coverage_required to the teammate who can fix it, and name it in the result of this task.',
  owner: JUDGE,
} as const;

/** Whether the quality teammate has said that the gate is passed since it was measured last. */
function isAgreed(state: TeamState): boolean {
  const measuredAt = state.gate?.at ?? 0;
  return state.messages.some(({ type, sentAt }) => type === 'quality_gate_passed' && sentAt >= measuredAt);
}

/** Whether every task of a run is completed, and somebody who judges has not agreed. */
export function lacksVerdict(state: TeamState): boolean {
  // Only where all is done, all tasks are looked through.
  if (state.purpose?.phase !== 'run' || !taskIndexOf(state.tasks).isDone || isAgreed(state)) return false;
  return [...state.tasks.values()].some(({ owner }) => owner === JUDGE);
}

/** The tasks by which it was asked for its word on what was measured last, by whoever leads now. */
export function askedJudge({ tasks, gate, lead }: TeamState): readonly Task[] {
  return [...tasks.values()]
    .slice(lead.tasksBefore ?? 0)
    .filter(
      ({ owner, subject, createdAt }) =>
        owner === JUDGE && subject === JUDGE_TASK.subject && createdAt >= (gate?.at ?? 0),
    );
}

/** What was measured last, for who judges it: a line for each check, and for each score; none where nothing was measured. */
export function measuredLines({ gate, before }: TeamState): readonly string[] {
  if (gate === null) return [];
  const { task, checks, trust5 } = gate;
  return [
    `The gate measured${task === null ? ' all work' : ` at the completion of task ${task}`}:`,
    ...checks.map(({ check, outcome, reason }) => `- ${check} ${outcome.replace('_', ' ')}: ${reason}`),
    ...beforeAndAfter(before, checks).map(([name, words]) => `- ${name}: ${words}`),
    ...(trust5 === undefined ? [] : trust5Lines(trust5)),
  ];
}
