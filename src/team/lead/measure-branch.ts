// The team's branch measured as one, and what the gate finds of it.

import { withoutOldFailures } from '../../gate/rules/old-failures.ts';
import { rejection } from '../../gate/rules/quality.ts';
import { ruleWords, withRules } from '../../gate/rules/rule-files.ts';
import { summaryOf, trust5Lines, trust5Reason } from '../../gate/rules/trust5.ts';
import { coverageOfChange } from '../../gate/rules/uncovered-sources.ts';
import { restoreBranch } from '../operations/moved-branch.ts';
import type { GateRejection } from '../phases/run.ts';
import type { TeamLog } from '../ports.ts';
import { specOf } from '../rules/log/state.ts';
import type { LeadOptions } from './lead-options.ts';

type Measuring = Pick<LeadOptions, 'teamWorktrees' | 'context' | 'checksAt' | 'trust5At' | 'say'>;

/** Measures the finished work of all as one, and writes down what was found; null: it is good. */
export async function measureBranch(
  { teamWorktrees, context, checksAt, trust5At, say }: Measuring,
  log: TeamLog,
  signal: AbortSignal,
): Promise<GateRejection | null> {
  const { team } = log.state;
  await restoreBranch(teamWorktrees, log, say);
  const { base } = await teamWorktrees.begin(team);
  const { path: root, head } = await teamWorktrees.openReadOnly(team, 'gate');
  const { quality } = await context.settings();
  const changed = (await teamWorktrees.changed(team)).map(({ path }) => path);
  const whole = coverageOfChange(await checksAt(root, team).run(quality, signal), changed, quality);
  const measured = withoutOldFailures(whole, log.state.before);
  const gate = withRules(measured, changed);
  const { state } = log;
  const tasks = [...state.tasks.keys()];
  const work = { team, root, base, head, gate, settings: quality, spec: specOf(state), tasks, signal };
  const trust5 = await trust5At(work);
  const { tree, checks, coverage } = gate;
  const ok = gate.ok && trust5.ok;
  const summary = summaryOf(trust5);
  await log.append({ type: 'gate_measured', task: null, tree, ok, checks, coverage, trust5: summary, head });
  say(
    `gate: ${checks.map(({ check, outcome, figure }) => `${check} ${outcome.replace('_', ' ')}${figure === null ? '' : ` (${figure})`}`).join(', ')}`,
  );
  for (const line of trust5Lines(summary)) say(`gate: ${line}`);
  const rules = ruleWords(changed);
  if (rules !== '') say(`gate: ${rules}`);
  return ok ? null : { gate, trust5, why: gate.ok ? trust5Reason(summary) : rejection(gate, quality), root };
}
