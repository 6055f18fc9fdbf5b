// The steps of a phase that are code's also where a model leads: when the last result is in, when all is built, when a cause is proven.

import { specDirectory } from '../../../domain/spec/spec.ts';
import { nextStep, waitingRoles } from '../../../domain/team/brief.ts';
import type { Evidence } from '../../../domain/team/caller.ts';
import { leadStep } from '../../../domain/team/lead-step.ts';
import { mendRounds } from '../../../domain/team/planning.ts';
import type { TeamSettings } from '../../../domain/team/settings.ts';
import type { TeamState } from '../../../domain/team/state.ts';
import { trust5Lines } from '../../../domain/trust5.ts';
import type { TeamLog } from '../../ports.ts';
import type { HookContext } from '../hook-context.ts';
import { closeDebug } from './debug.ts';
import { closePlan, type PlanEnd } from './plan.ts';
import { type Measured, measureCheckout, passGate } from './run.ts';

/** So many times results that make no SPEC are given back. */
const PLAN_ROUNDS = 3;

/** Whether the lead is a model; one that is code takes these steps itself, and a person at a terminal by hand. */
export function isModelLed({ lead }: TeamState): boolean {
  return lead.session !== null || lead.keyHash !== null;
}

/**
 * Goes on as far as code can; gives what the lead is told of it, null where nothing came to pass.
 * @param mayMeasure false: for who has no time for a project's checks
 */
export async function advance(context: HookContext, log: TeamLog, mayMeasure = true): Promise<string | null> {
  // Most calls leave nothing to do, which takes no turn to see.
  if (!(await isDue(context, log))) return null;
  const { team } = log.state;
  // Of two that come at once, the second looks when the first has been seen to.
  const taken = await context.turn.take(team, () => goOn(context, log, mayMeasure));
  if (taken.ok) return taken.value;
  return (await isDue(context, log))
    ? `${taken.holder} is still at the next step of team ${team}: the lead is told when it is taken, and TaskList takes it where nobody is at it any more`
    : null;
}

/** Whether there is a step that is code's. */
async function isDue(context: HookContext, log: TeamLog): Promise<boolean> {
  log.refresh();
  const settings = await context.settings();
  const { state } = log;
  return state.tasks.size > 0 && isCodes(nextOf(state, settings));
}

function isCodes(step: ReturnType<typeof nextOf>): boolean {
  return step === 'write_spec' || step === 'prove' || step === 'measure' || step === 'pass';
}

async function goOn(context: HookContext, log: TeamLog, mayMeasure: boolean): Promise<string | null> {
  const settings = await context.settings();
  const as: Evidence = { kind: 'environment', team: log.state.team, teammate: null };
  let hasPassed = false;
  for (;;) {
    log.refresh();
    const { state } = log;
    if (state.tasks.size === 0) return null;
    switch (nextOf(state, settings)) {
      case 'write_spec':
        return planWords(await closed(context, log, as), log);
      case 'prove':
        return debugWords(context, log, as);
      case 'measure': {
        if (!mayMeasure) return `all is built and not measured yet: TaskList measures it, and says what came of it.`;
        const measured = await measureCheckout(context, log, as);
        if (measured.kind !== 'passed') return rejectedWords(measured, log);
        hasPassed = true;
        break;
      }
      case 'pass':
        await passGate(log);
        if (log.state.session !== 'complete') return null;
        return `the gate has passed the work of all. ${nextStep(log.state)}`;
      default:
        // What goes on one at a time has no steps of a session, and ends with that.
        return hasPassed && state.session === 'fallback'
          ? `the gate has passed the work of all. ${endWords(log)}`
          : null;
    }
  }
}

/** Who plays whom is the host's to see to; what is left of a lead's steps is told by the state alone. */
function nextOf(
  state: TeamState,
  { hooks, ownership, maxTeammates }: TeamSettings,
): ReturnType<typeof leadStep>['kind'] {
  const isChecked = hooks.taskCompleted.requireQualityCheck;
  const running = new Set([...state.tasks.values()].flatMap(({ owner }) => owner ?? []));
  const isClosed = state.session === 'awaiting_approval' || state.session === 'approved';
  const nothing = { spent: new Map<string, string>(), dear: new Map<string, string>() };
  return leadStep(state, { running, isChecked, isClosed, ownership, maxTeammates, ...nothing }).kind;
}

function closed(context: HookContext, log: TeamLog, as: Evidence): Promise<PlanEnd> {
  const desk = { writeSpec: context.project.writeSpec, askApproval: null };
  const mayAsk = mendRounds(log.state) < PLAN_ROUNDS;
  return closePlan(context, log, desk, as, mayAsk, new AbortController().signal);
}

function startWords(log: TeamLog): string {
  log.refresh();
  const roles = waitingRoles(log.state);
  return roles.length === 0
    ? 'Whoever it concerns has a task for it.'
    : `Start ${roles.join(', ')} again: Task for each, then the call that it answers with.`;
}

function endWords({ state }: TeamLog): string {
  return `Then TeamDelete {"team_name":"${state.team}"}.`;
}

function rejectedWords(measured: Exclude<Measured, { kind: 'passed' }>, log: TeamLog): string {
  if (measured.kind === 'stuck') return `${measured.why}. Tell the user; a task for it is made with TaskCreate.`;
  const failed = trust5Lines({
    ...measured.trust5,
    dimensions: measured.trust5.dimensions.filter(({ state }) => state === 'failed'),
  });
  const notes = measured.notes.map((words) => `Tell the user: ${words}.`);
  return [
    'the gate does not pass the work of all.',
    ...failed.map((line) => `- ${line}`),
    ...notes,
    startWords(log),
  ].join('\n');
}

/** What is asked of the user about a SPEC that waits for their word. */
function approvalWords(id: string): string {
  return `Read ${specDirectory(id)}/spec.md, tell the user what it asks for, and ask for their word: "approve ${id}" approves it, "changes: <what>" has it changed. Nothing that you say does.`;
}

function planWords(plan: PlanEnd, log: TeamLog): string | null {
  const { state } = log;
  switch (plan.kind) {
    case 'failed':
      return `${plan.why}. Tell the user; TaskCreate for whom it concerns gives it back once more.`;
    case 'left':
      return null;
    case 'asked':
      return `the results make no SPEC yet, and were given back: ${plan.problems.map(({ role, words }) => `${role}: ${words}`).join('; ')}. ${startWords(log)}`;
    case 'written': {
      const { spec: id, status } = plan;
      const written = `${id} was written from the results. `;
      const end = state.session === 'fallback' ? ` ${endWords(log)}` : '';
      if (status === 'awaiting_approval') return `${written}${approvalWords(id)}${end}`;
      const why =
        status === 'approved' ? 'It is approved already' : 'It needs no approval (require_plan_approval: false)';
      return `${written}${why}. ${nextStep(state)}`;
    }
  }
}

async function debugWords(context: HookContext, log: TeamLog, as: Evidence): Promise<string> {
  const result = await closeDebug(context, log, as);
  if (result === null) return `what came of a hypothesis was not said in the form. ${startWords(log)}`;
  const { cause, evidence, by, tried } = result;
  const said =
    cause === null
      ? `no hypothesis was proven: ${tried.map(({ subject, said: words }) => `${subject}: ${words}`).join('; ')}`
      : `${by ?? 'somebody'} has proven the cause: ${cause}. It is shown by: ${evidence}`;
  return `${said}\n${nextStep(log.state)}`;
}
