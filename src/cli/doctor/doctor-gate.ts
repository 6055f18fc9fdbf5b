// The rows of `tool doctor` about the quality gate: the command of each part, and required parts that nothing can measure.

import { refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { previewPlan } from '../../gate/detect/plan-preview.ts';
import { hasNoTestsYet, missingParts, type PlannedPart, remedyFor } from '../../gate/rules/plan-preview.ts';
import type { QualitySettings } from '../../gate/rules/quality.ts';
import type { TeamSettings } from '../../team/rules/settings.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { type DoctorCheck, fail, ok, warn } from './doctor-row.ts';

function rowOf(one: PlannedPart, settings: QualitySettings, prospects: readonly PlannedPart[]): DoctorCheck {
  const { name, command, gap } = one;
  const title = `gate: ${name}`;
  if (gap === '') return ok(title, command ?? 'the report that quality.coverage_report names');
  if (missingParts(prospects, settings).includes(one))
    return fail(title, refusal(DOCTOR_CODES.required_part_unmeasured, { gap }), remedyFor(one));
  if (!settings.required.includes(name) || (name === 'coverage' && settings.coverageTarget === 0))
    return ok(title, `not measured, neither passes nor fails: ${gap}`);
  return hasNoTestsYet(prospects)
    ? ok(title, `no tests yet (${gap}): the tester writes them first`)
    : warn(title, refusal(DOCTOR_CODES.report_not_promised, { gap }), remedyFor(one));
}

export async function diagnoseGate(
  root: string,
  { quality, hooks: { taskCompleted } }: Pick<TeamSettings, 'quality' | 'hooks'>,
  env: Environment,
): Promise<readonly DoctorCheck[]> {
  if (!taskCompleted.enabled || !taskCompleted.requireQualityCheck)
    return [ok('gate', 'no completion is measured (workflow.team.hooks.task_completed)')];
  const prospects = await previewPlan(root, quality, env);
  if ('of' in prospects) return [fail('gate', prospects, 'mend the file')];
  return prospects.map((one) => rowOf(one, quality, prospects));
}
