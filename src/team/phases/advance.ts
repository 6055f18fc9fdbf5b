// The steps of a phase that are code's also where a model leads: when the last result is in, when all is built, when a cause is proven.

import { trust5Lines } from '../../gate/rules/trust5.ts';
import type { TeamLog } from '../ports.ts';
import { nextStepText, waitingRoles } from '../rules/brief.ts';
import type { Evidence } from '../rules/caller.ts';
import { deleteCall, startWords } from '../rules/calls.ts';
import { isMeasured, type LeadStep, leadStep } from '../rules/lead-step.ts';
import type { TeamState } from '../rules/log/state.ts';
import { fixRounds, PLAN_ROUNDS } from '../rules/planning.ts';
import { JUDGE, UNCHECKED } from '../rules/quality-verdict.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { specDirectory } from '../rules/spec-documents/spec.ts';
import { taskIndexOf } from '../rules/task-index.ts';
import type { DebugResult } from './debug.ts';
import { type StepResult, takeSteps } from './lead-steps.ts';
import type { PhaseContext } from './phase-context.ts';
import type { PlanEnd } from './plan.ts';
import { type CheckoutMeasurement, knownDeadEnd, measureCheckout } from './run.ts';

/** What the lead is told. */
export type LeadNews =
  /** `news`: of what has come to pass with this · `standing`: the same as long as it is so. */
  | { readonly kind: 'news' | 'standing'; readonly words: string }
  /** `holder` has been at that step for too long to wait for it. */
  | { readonly kind: 'busy'; readonly step: LeadStep['kind']; readonly holder: string; readonly words: string };

type Limits = {
  /** false: for who has no time for a project's checks. */
  readonly mayMeasure?: boolean;
  /** false: for who judges, which has its word to say. */
  readonly mayAsk?: boolean;
  /** true: for who only looks. What was measured is not measured again while nothing has changed. */
  readonly isLook?: boolean;
};

/** Goes on as far as code can; gives what the lead is told of it, null where there is nothing to say. */
export async function advance(context: PhaseContext, log: TeamLog, limits: Limits = {}): Promise<LeadNews | null> {
  log.refresh();
  // Most calls leave nothing to do, which needs no lock to see.
  if ((await dueStep(context, log, limits)) === null) return null;
  const { team } = log.state;
  // Of two that come at once, the second looks when the first has been seen to.
  const result = await context.phaseLock.take(team, () => goOn(context, log, limits));
  if (result.ok) return result.value;
  const { holder } = result;
  log.refresh();
  const step = await dueStep(context, log, limits);
  const words = `${holder} is still doing the next step of team ${team}; the lead is told when it is done. If nobody is doing it any more, TaskList {} does it`;
  return step === null ? null : { kind: 'busy', step: step.kind, holder, words };
}

function news(words: string): LeadNews {
  return { kind: 'news', words };
}

/** The step that is code's; null: there is none. */
async function dueStep(context: PhaseContext, log: TeamLog, limits: Limits): Promise<LeadStep | null> {
  const { state } = log;
  if (state.tasks.size === 0) return null;
  const step = nextOf(state, await context.settings());
  return isCodes(step, state, limits) ? step : null;
}

function isCodes({ kind }: LeadStep, state: TeamState, { mayAsk = true }: Limits): boolean {
  switch (kind) {
    case 'write_spec':
    case 'prove':
    case 'measure':
    case 'pass':
      return true;
    case 'ask_judge':
    case 'hear_judge':
    case 'stuck': {
      // What is left is a word, not work. One at a time there is nobody who could say it.
      return mayAsk && taskIndexOf(state.tasks).isDone && state.session !== 'fallback';
    }
    default:
      return false;
  }
}

async function goOn(context: PhaseContext, log: TeamLog, limits: Limits): Promise<LeadNews | null> {
  const as: Evidence = { kind: 'environment', team: log.state.team, teammate: null };
  const planCallbacks = { writeSpec: context.project.writeSpec, askApproval: null };
  const mayMend = () => fixRounds(log.state) < PLAN_ROUNDS;
  let hasPassed = false;
  const end = await takeSteps<LeadNews | 'nothing'>(
    { context, log, as, planCallbacks, mayMend, signal: new AbortController().signal },
    async () => (await dueStep(context, log, limits)) ?? { kind: 'wait' },
    async (step) => {
      if (step.kind !== 'measure') {
        const words = stepWords(step, log, hasPassed);
        const isStillActive = step.kind === 'hear_judge' || step.kind === 'stuck';
        return words === null ? 'nothing' : { kind: isStillActive ? 'standing' : 'news', words };
      }
      if (limits.mayMeasure === false)
        return news(
          'all tasks are completed, and the final gate has not run. Call TaskList {}: it runs the gate and tells you the outcome.',
        );
      const known = limits.isLook === true ? await knownDeadEnd(context, log) : null;
      if (known !== null)
        return {
          kind: 'standing',
          words: `${stuckWords(known)} The project has not changed since the last measurement. If the cause lies outside the project, fix it there, then give /tool:team-restart: it measures again.`,
        };
      const measured = await measureCheckout(context, log, as);
      hasPassed = measured.kind === 'passed';
      return measured.kind === 'passed' ? null : news(rejectedWords(measured, log));
    },
  );
  return end === 'nothing' ? null : end;
}

/** What is said of a step that was taken; null: nothing. */
function stepWords(step: Exclude<StepResult, { kind: 'measure' }>, log: TeamLog, hasPassed: boolean): string | null {
  const { state } = log;
  switch (step.kind) {
    case 'write_spec':
      return planWords(step.end, log);
    case 'prove':
      return debugWords(step.result, log);
    case 'pass': {
      const passed = step.isChecked ? 'the final gate passed' : `the final gate did not run (${UNCHECKED})`;
      return state.session === 'complete' ? `${passed}. ${nextStepText(state)}` : null;
    }
    case 'ask_judge':
      return `${doneWords(state)} ${JUDGE} ended without quality_gate_passed, and now has a task to send it. ${startNext(log)}`;
    case 'hear_judge':
      return `${doneWords(state)} Still needed: ${JUDGE} must send quality_gate_passed to team-lead. If it ends without it, call TaskList {}: it asks ${JUDGE} again.`;
    case 'stuck':
      return `${withoutStop(step.why)}. Tell the user. The work can still end if ${JUDGE} sends quality_gate_passed: start ${startWords([JUDGE], state.team)}.`;
    default:
      // What goes on one at a time has no steps of a session, and ends with that.
      return hasPassed && state.session === 'fallback' ? `${doneWords(state)} ${endWords(log)}` : null;
  }
}

/** A reason as a part of a sentence, which ends with its own stop. */
function withoutStop(why: string): string {
  return why.replace(/\.$/, '');
}

function doneWords(state: TeamState): string {
  return isMeasured(state) ? 'the final gate passed.' : 'all tasks are completed.';
}

/** What is left of a lead's steps is told by the state alone: who plays whom is the host's to see to. */
function nextOf(state: TeamState, { hooks, ownership, maxTeammates }: TeamSettings): LeadStep {
  const isChecked = hooks.taskCompleted.requireQualityCheck;
  const isClosed = state.session === 'awaiting_approval' || state.session === 'approved';
  const nothing = { spent: new Map<string, string>(), overBudget: new Map<string, string>(), head: null };
  // Of all these steps only those about its word go by who is in a turn.
  const running = new Set(state.members.get(JUDGE)?.phase === 'working' ? [JUDGE] : []);
  return leadStep(state, { running, isChecked, isClosed, ownership, maxTeammates, ...nothing });
}

function startNext(log: TeamLog): string {
  log.refresh();
  // One at a time there is nobody to start.
  if (log.state.session === 'fallback') return nextStepText(log.state);
  const roles = waitingRoles(log.state);
  return roles.length === 0
    ? 'The teammates concerned have tasks for it.'
    : `Start again ${startWords(roles, log.state.team)}.`;
}

function endWords({ state }: TeamLog): string {
  return `Then call ${deleteCall(state.team)}.`;
}

function stuckWords(why: string): string {
  return `${withoutStop(why)}. Tell the user. Give the repair to a teammate with TaskCreate. Afterwards call TaskList {}: it measures again.`;
}

function rejectedWords(measured: Exclude<CheckoutMeasurement, { kind: 'passed' }>, log: TeamLog): string {
  if (measured.kind === 'stuck') return stuckWords(measured.why);
  if (measured.kind === 'busy')
    return `the final gate did not finish: ${withoutStop(measured.why)}. Call TaskList {} to run it again.`;
  const failed = trust5Lines({
    ...measured.trust5,
    dimensions: measured.trust5.dimensions.filter(({ state }) => state === 'failed'),
  });
  const notes = measured.notes.map((words) => `Tell the user: ${words}.`);
  return ['the final gate failed.', ...failed.map((line) => `- ${line}`), ...notes, startNext(log)].join('\n');
}

/** What is asked of the user about a SPEC that waits for their word. */
function approvalWords(id: string): string {
  return `Read ${specDirectory(id)}/spec.md, tell the user what it asks for, and ask the user to reply with exactly "approve ${id}", or with "changes: " and what to change. You cannot approve it, and no other wording counts.`;
}

function planWords(plan: PlanEnd, log: TeamLog): string | null {
  const { state } = log;
  switch (plan.kind) {
    case 'failed':
      return `${withoutStop(plan.why)}. Tell the user. To try once more, call TaskCreate for the role concerned.`;
    case 'left':
      return null;
    case 'asked':
      return `no SPEC can be built from the results yet. Returned: ${plan.problems.map(({ role, words }) => `${role}: ${words}`).join('; ')}. ${startNext(log)}`;
    case 'written': {
      const { spec: id, status } = plan;
      const written = `${id} has been written from the planners' results. `;
      const end = state.session === 'fallback' ? ` ${endWords(log)}` : '';
      if (status === 'awaiting_approval') return `${written}${approvalWords(id)}${end}`;
      const why =
        status === 'draft' ? 'It needs no approval (require_plan_approval: false)' : `It is ${status} already`;
      return `${written}${why}. ${nextStepText(state)}`;
    }
  }
}

function debugWords(result: DebugResult | null, log: TeamLog): string {
  if (result === null) return `the result of a hypothesis does not have the required form. ${startNext(log)}`;
  const { cause, evidence, by, tried } = result;
  const said =
    cause === null
      ? `no hypothesis was proven: ${tried.map(({ subject, said: words }) => `${subject}: ${words}`).join('; ')}`
      : `${by ?? 'somebody'} has proven the cause: ${cause}. It is shown by: ${evidence}`;
  return `${said}\n${nextStepText(log.state)}`;
}
