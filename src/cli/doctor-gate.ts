// What `tool doctor` tells of the quality gate: by which command each part of it is measured, and what would stand in a team's way.

import { lookAhead, type Prospect } from '../adapters/checks/outlook.ts';
import type { Dimension, QualitySettings } from '../domain/quality.ts';
import type { TeamSettings } from '../domain/team/settings.ts';
import { type Check, fail, ok, warn } from './check.ts';

/** Which dimension of TRUST 5 is not measured where one of these is not. */
const OF: Readonly<Partial<Record<Prospect['name'], Dimension>>> = {
  lint: 'readable',
  format: 'unified',
  security: 'secured',
};

function rowOf({ name, commands, gap }: Prospect, { coverageTarget, trust5 }: QualitySettings): Check {
  const title = `gate: ${name}`;
  if (gap === '') return ok(title, commands.join('; '));
  const dimension = OF[name];
  const given = `name a command in quality.commands.${name} of .tool/config/workflow.yaml`;
  if (dimension === undefined)
    return name === 'coverage' && coverageTarget === 0
      ? ok(title, 'not measured (quality.coverage_target: 0)')
      : warn(title, `no task that writes can be completed: ${gap}`, given);
  return trust5.notMeasured.includes(dimension)
    ? ok(title, `not measured, and need not be (quality.trust5.not_measured): ${gap}`)
    : warn(
        title,
        `not measured, which keeps the work of a whole team from passing: ${gap}`,
        `${given}, or put ${dimension} into quality.trust5.not_measured`,
      );
}

export async function diagnoseGate(
  root: string,
  { quality, hooks: { taskCompleted } }: Pick<TeamSettings, 'quality' | 'hooks'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  if (!taskCompleted.enabled || !taskCompleted.requireQualityCheck)
    return [ok('gate', 'no completion is measured (workflow.team.hooks.task_completed)')];
  const prospects = await lookAhead(root, quality, env);
  if (typeof prospects === 'string') return [fail('gate', prospects, 'mend the file')];
  return prospects.map((one) => rowOf(one, quality));
}
