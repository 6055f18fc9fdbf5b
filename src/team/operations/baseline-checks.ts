// The checks where the team began: measured once, waited for by whoever completes a task.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { failure, isFailure, messageOf, type ToolError } from '../../base/rules/errors.ts';
import { GATE_CODES } from '../../gate/rules/gate-codes.ts';
import { type Baseline, oldFailureLines, withNamedFailures } from '../../gate/rules/old-failures.ts';
import type { GateResult, QualitySettings } from '../../gate/rules/quality.ts';
import type { TeamLog } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import type { TeamState } from '../rules/log/state.ts';
import { type ProjectChecks, type TeamContext, tellLead } from './context.ts';

/** Whether others were at it for longer than could be waited. */
export function isBusy(error: unknown): error is ToolError {
  return isFailure(error, GATE_CODES.checks_busy);
}

/** Writes down what was found; who came first counts. Gives whether this did. */
async function noteBefore(log: TeamLog, measured: GateResult | string): Promise<boolean> {
  log.refresh();
  if (log.state.before !== null) return false;
  const found =
    typeof measured === 'string'
      ? { checks: [], coverage: null, why: measured }
      : { checks: measured.checks, coverage: measured.coverage };
  await log.append({ type: 'base_measured', ...found });
  return true;
}

/** Measures where the team began, unless that is known. What keeps it from being measured is written down too. Gives whether this did. */
export async function measureBaseline(
  log: TeamLog,
  signal: AbortSignal,
  measure: () => Promise<GateResult | null>,
): Promise<boolean> {
  log.refresh();
  if (log.state.before !== null) return false;
  try {
    const measured = await measure();
    return measured === null ? false : await noteBefore(log, measured);
  } catch (error) {
    // Whoever goes on measures it then.
    if (signal.aborted || isBusy(error)) throw error;
    return noteBefore(log, messageOf(error));
  }
}

/** What failed before, for a completion. Throws `checks_busy` when who measures it was waited for as long as could be. */
export async function knownBaseline(
  context: Pick<ProjectChecks, 'checksBefore' | 'waitFor'> & Pick<TeamContext, 'teamWorktrees' | 'now'>,
  log: TeamLog,
  quality: QualitySettings,
): Promise<Baseline | null> {
  const { signal } = new AbortController();
  // Whose work is merged has a lead that is code, which measures where the team's branch began.
  if ((await context.teamWorktrees()) !== null) {
    const isKnown = () => {
      log.refresh();
      return log.state.before !== null;
    };
    const since = context.now();
    if (!isKnown() && !(await context.waitFor(isKnown)))
      throw failure(GATE_CODES.checks_busy, {
        seconds: Math.round((context.now() - since) / 1000),
        holder: 'the checks where the team began',
      });
  } else await measureInPlace(log, () => beforeApart(context, log.state, quality, signal), signal);
  return log.state.before;
}

/** The same before anybody waits for it: beside the first agents. */
export async function beginBaseline(
  context: ProjectChecks & Pick<TeamContext, 'teams' | 'settings'>,
  team: string,
  signal: AbortSignal,
): Promise<void> {
  const { hooks, quality } = await context.settings();
  const log = context.teams.open(team);
  if (log === undefined) return;
  try {
    const isMeasured = hooks.taskCompleted.enabled && hooks.taskCompleted.requireQualityCheck;
    if (isMeasured && log.state.purpose?.phase === 'run')
      await measureInPlace(log, () => beforeInPlace(context, log.state, quality, signal), signal);
  } finally {
    await log.close();
  }
}

/** Where the team works in the checkout itself; its lead is told of what fails. */
async function measureInPlace(
  log: TeamLog,
  measure: () => Promise<GateResult | null>,
  signal: AbortSignal,
): Promise<void> {
  const isNew = await measureBaseline(log, signal, measure);
  const lines = log.state.before === null ? [] : oldFailureLines(log.state.before);
  if (isNew && lines.length > 0)
    await tellLead(log, withCode(refusal(WORK_CODES.checks_failed_before, { checks: lines.join('; ') })));
}

/** The checkout itself says it, with all that Git ignores there, as long as nobody has changed it. */
async function beforeInPlace(
  context: ProjectChecks,
  state: TeamState,
  quality: QualitySettings,
  signal: AbortSignal,
): Promise<GateResult | null> {
  const { checks, workTree } = context;
  const isUnchanged = async () => state.base !== null && (await workTree.tree()) === state.base;
  if (await isUnchanged()) {
    const found = await checks.run(quality, signal);
    if (await isUnchanged()) return found;
  }
  return beforeApart(context, state, quality, signal);
}

/**
 * In a tree of its own, which lacks what Git ignores: a command whose tests have no names may fail for that alone, and is not
 * taken for old. null: nothing tells what the work began from.
 */
async function beforeApart(
  { checksBefore }: Pick<ProjectChecks, 'checksBefore'>,
  { team, base, commit }: TeamState,
  quality: QualitySettings,
  signal: AbortSignal,
): Promise<GateResult | null> {
  if (base === null || commit === null) return null;
  const found = await checksBefore({ team, tree: base, commit }, quality, signal);
  return found === null ? null : { ...found, checks: found.checks.map(withNamedFailures) };
}
