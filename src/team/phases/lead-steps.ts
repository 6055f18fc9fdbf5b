// Loop over the steps of a lead, and the steps that code carries out for every lead.

import { operate } from '../operations/operations.ts';
import type { LeadStep } from '../rules/lead-step.ts';
import { JUDGE_TASK } from '../rules/quality-verdict.ts';
import { closeDebug } from './debug.ts';
import { closePlan, type Leader } from './plan.ts';
import { passGate } from './run.ts';

/** A step, with its result where `carryOut` gives one. */
export type StepResult = Awaited<ReturnType<typeof carryOut>>;

/** Carries out the steps that are the same for every lead; the others are left to the caller. */
async function carryOut(step: LeadStep, leader: Leader) {
  const { context, log, as } = leader;
  switch (step.kind) {
    case 'write_spec':
      return { ...step, end: await closePlan(leader) };
    case 'prove':
      return { ...step, result: await closeDebug(context, log, as) };
    case 'pass':
      await passGate(log, step.isChecked);
      return step;
    case 'ask_judge':
      await operate(context, 'TaskCreate', JUDGE_TASK, as);
      return step;
    default:
      return step;
  }
}

/**
 * Takes steps until `take` gives an end; null: the signal came first.
 * @param next null: something else was done in place of a step
 */
export async function takeSteps<T>(
  leader: Leader,
  next: () => Promise<LeadStep | null>,
  take: (step: StepResult) => Promise<T | null>,
): Promise<T | null> {
  for (;;) {
    leader.log.refresh();
    if (leader.signal.aborted) return null;
    const step = await next();
    const end = step === null ? null : await take(await carryOut(step, leader));
    if (end !== null) return end;
  }
}
