// The end of planning: the results become a SPEC, what is wrong with them goes back, and the user is asked.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { type OperationContext, operate } from '../operations/operations.ts';
import type { TeamLog } from '../ports.ts';
import type { Evidence } from '../rules/caller.ts';
import { SPEC_CODES } from '../rules/codes/spec-codes.ts';
import type { TeamRecord } from '../rules/log/record.ts';
import { LEAD } from '../rules/message.ts';
import {
  changeTasks,
  fixTasks,
  missingPlanners,
  type PlannerTask,
  resultsOf,
  specInChange,
} from '../rules/planning.ts';
import { type ResultProblem, specFromResults } from '../rules/spec-documents/from-results.ts';
import type { CreatedSpec, NewSpec } from '../rules/spec-documents/new-spec.ts';
import { completedAlready, type SpecStatus } from '../rules/spec-documents/spec.ts';
import type { PlanContext } from './phase-context.ts';

export type ApprovalAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'no' }
  /** What the user wants otherwise. */
  | { readonly kind: 'changes'; readonly words: string };

export type PlanCallbacks = {
  /** Writes it over the SPEC of that id, else as a new one; where one holds these very words already, that is it. */
  readonly writeSpec: (spec: NewSpec, replaces: string | null) => CreatedSpec;
  /** Asks the person at the terminal; null: nobody sits there. Null as the answer: the signal came first. */
  readonly askApproval: ((id: string, signal: AbortSignal) => Promise<ApprovalAnswer | null>) | null;
  /** What the person wants otherwise is being worked on. */
  readonly onChanges?: () => void;
};

/** A lead, as the steps that code carries out for it need it. */
export type Leader = {
  readonly context: PlanContext;
  readonly log: TeamLog;
  readonly as: Evidence;
  readonly planCallbacks: PlanCallbacks;
  /** Whether results that make no SPEC are given back once more. */
  readonly mayMend: () => boolean;
  readonly signal: AbortSignal;
};

export type PlanEnd =
  | { readonly kind: 'written'; readonly spec: string; readonly status: SpecStatus }
  /** Something was given back: there are tasks again. */
  | { readonly kind: 'asked'; readonly problems: readonly ResultProblem[] }
  | { readonly kind: 'left' }
  | { readonly kind: 'failed'; readonly why: string };

type Moved = Extract<TeamRecord, { type: 'moved' }>['event'];

/** What goes on one at a time has no steps of a session. */
async function move(log: TeamLog, event: Moved, reason: string, by = LEAD): Promise<void> {
  if (log.state.session !== 'fallback') await log.append({ type: 'moved', event, reason, by });
}

/** Asks for results anew; of several in a list each waits for the one before it. */
async function createTasks(
  context: OperationContext,
  tasks: readonly PlannerTask[],
  as: Evidence,
  isSequential: boolean,
): Promise<void> {
  let before: readonly string[] = [];
  for (const { subject, description, owner } of tasks) {
    const answer = await operate(context, 'TaskCreate', { subject, description, owner, blocked_by: before }, as);
    if (isSequential) before = [String(answer.taskId)];
  }
}

function words(problems: readonly ResultProblem[]): string {
  return problems.map((problem) => `${problem.role}: ${problem.words}`).join('; ');
}

/** Goes on from where all have given their results. */
export async function closePlan(leader: Leader): Promise<PlanEnd> {
  const { context, log, as, planCallbacks } = leader;
  const { state } = log;
  const missing = missingPlanners([...(state.purpose?.roles ?? []), ...state.members.keys()]);
  if (missing.length > 0)
    return { kind: 'failed', why: textOf(refusal(SPEC_CODES.planner_result_missing, { missing })) };
  const results = resultsOf(state);
  const status = state.approval ? 'awaiting_approval' : 'draft';
  const made = specFromResults(state.purpose?.subject ?? '', results, status);
  if (!made.ok) {
    if (!leader.mayMend())
      return { kind: 'failed', why: `no SPEC can be built from the results: ${words(made.problems)}` };
    await createTasks(context, fixTasks(made.problems, results), as, false);
    return { kind: 'asked', problems: made.problems };
  }
  const created = planCallbacks.writeSpec(made.spec, specInChange(state));
  if (!created.ok)
    return { kind: 'failed', why: created.problems.map((one) => `${one.file}:${one.line}: ${one.words}`).join('; ') };
  const { id } = created;
  // These very words may have been built by now: there is nothing to approve or to build then.
  const isBuilt = completedAlready(id, await context.project.approval(id)) !== null;
  await move(log, 'spec_generated', `${id} was written`);
  if (!state.approval) {
    await move(log, 'approved', 'require_plan_approval is false');
    return { kind: 'written', spec: id, status: isBuilt ? 'completed' : status };
  }
  await move(log, 'approval_asked', `${id} was written`);
  const end = await approval(leader, id);
  return isBuilt && end.kind === 'written' ? { ...end, status: 'completed' } : end;
}

/**
 * What the user wants otherwise goes back to those whose results the SPEC is made of. What was asked for and the tasks for it
 * are one record: there is no moment in which the SPEC could be approved between them. Gives why it is too late for that.
 */
export async function askChanges(
  context: OperationContext,
  log: TeamLog,
  as: Evidence,
  id: string,
  wanted: string,
): Promise<string | null> {
  const asked = changeTasks(id, wanted, resultsOf(log.state));
  // What goes on one at a time has no steps of a session: its first task says that the SPEC is being changed.
  if (log.state.session === 'fallback') {
    await createTasks(context, asked, as, true);
    return null;
  }
  const tasks = asked.map(({ owner, ...words }, at) => ({
    ...{ ...words, owner, key: owner, files: [] },
    blockedBy: asked.slice(Math.max(0, at - 1), at).map((before) => before.owner),
  }));
  return (await log.append({ type: 'moved', event: 'changes_asked', reason: wanted, by: 'user', tasks })).refusal;
}

/** The user's word, where somebody can be asked for it, or has given it meanwhile. */
async function approval({ context, log, as, planCallbacks, signal }: Leader, id: string): Promise<PlanEnd> {
  const isApproved = async () => (await context.project.approval(id)).counts;
  const ask = (await isApproved()) ? null : planCallbacks.askApproval;
  const answer = ask === null ? ({ kind: 'no' } as const) : await ask(id, signal);
  log.refresh();
  if (answer === null) return { kind: 'left' };
  // It may have been said elsewhere while the question stood here: the first word counts.
  const isDecided = ask !== null && (await isApproved());
  if (isDecided)
    context.log(
      'warn',
      textOf(
        refusal(SPEC_CODES.approved_elsewhere, {
          spec: id,
          ...(answer.kind === 'yes'
            ? {}
            : {
                rest: 'It changes nothing any more: write what you want otherwise into the SPEC, and approve it again.',
              }),
        }),
      ),
    );
  if (answer.kind === 'changes' && !isDecided) {
    const late = await askChanges(context, log, as, id, answer.words);
    if (late !== null) return { kind: 'failed', why: late };
    planCallbacks.onChanges?.();
    return { kind: 'asked', problems: [] };
  }
  if (answer.kind === 'yes' && !isDecided) {
    const problem = context.project.approve(id);
    if (problem !== null) return { kind: 'failed', why: textOf(problem) };
  }
  if (!(await isApproved())) return { kind: 'written', spec: id, status: 'awaiting_approval' };
  if (log.state.session === 'awaiting_approval') await move(log, 'approved', `the user approved ${id}`, 'user');
  return { kind: 'written', spec: id, status: 'approved' };
}
