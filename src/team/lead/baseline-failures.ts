// Baseline: failures at the start of the team's branch, measured beside the first agents and reported.

import { lineWithCode, refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { GATE_CODES } from '../../gate/rules/gate-codes.ts';
import { oldFailureLines } from '../../gate/rules/old-failures.ts';
import { measureBaseline } from '../operations/baseline-checks.ts';
import type { TeamLog } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import type { LeadOptions } from './lead-options.ts';

type Measuring = Pick<LeadOptions, 'teamWorktrees' | 'context' | 'checksAt' | 'say'>;

/** Measures the baseline, unless an earlier lead has; never rejects. Completions of the team wait for it. */
export async function measureBase(
  { teamWorktrees, context, checksAt, say }: Measuring,
  log: TeamLog,
  signal: AbortSignal,
): Promise<void> {
  const { team } = log.state;
  try {
    const { quality } = await context.settings();
    await measureBaseline(log, signal, async () => {
      const { base } = await teamWorktrees.begin(team);
      const { path } = await teamWorktrees.openReadOnly(team, 'base', base);
      return checksAt(path, team).run(quality, signal);
    });
    const { before } = log.state;
    if (before === null) return;
    if (before.why !== undefined)
      say(`warning: ${lineWithCode(refusal(GATE_CODES.base_not_measured, { why: before.why }))}`);
    for (const line of oldFailureLines(before))
      say(`warning: ${lineWithCode(refusal(WORK_CODES.checks_failed_before, { checks: line }))}`);
  } catch (error) {
    if (!signal.aborted)
      say(`warning: ${lineWithCode(refusal(GATE_CODES.base_not_measured, { why: messageOf(error) }))}`);
  }
}
