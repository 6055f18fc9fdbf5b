// The gate as it would run: how each part would be measured, and required parts that nothing can measure.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { GATE_CODES } from './gate-codes.ts';
import type { Commanded, QualitySettings } from './quality.ts';

export type PlannedPart = {
  readonly name: Commanded;
  /** null: none is needed, or none is there. */
  readonly command: string | null;
  /** Why nothing measures the part; empty: a command does. */
  readonly gap: string;
  /** A shell command that closes the gap; null: none is known. */
  readonly install: string | null;
};

/** Whether the project has no tests yet: the team's own tests make them, and their coverage, measurable. */
export function hasNoTestsYet(prospects: readonly PlannedPart[]): boolean {
  return prospects.some(({ name, command, install }) => name === 'tests' && command === null && install === null);
}

/**
 * Required parts that nothing can measure. A project without tests may start. Tests may leave a report that nobody sees
 * before they ran: coverage, like the tests themselves, is missing only where a tool is known to be.
 */
export function missingParts(
  prospects: readonly PlannedPart[],
  { required, coverageTarget }: Pick<QualitySettings, 'required' | 'coverageTarget'>,
): readonly PlannedPart[] {
  const isNew = hasNoTestsYet(prospects);
  return prospects.filter(({ name, gap, install }) => {
    if (gap === '' || !required.includes(name)) return false;
    if (name === 'coverage' && coverageTarget === 0) return false;
    return !(name === 'tests' || name === 'coverage') || (!isNew && install !== null);
  });
}

/** What a person does about it. */
export function remedyFor({ name, install }: PlannedPart): string {
  const set = install === null ? `name a command in quality.commands.${name}` : `run \`${install}\``;
  return `${set}, or take ${name} out of quality.required in .tool/config/workflow.yaml`;
}

/** A required part that is missing. */
export function missingRefusal(missing: PlannedPart): Refusal {
  const values = { check: missing.name, why: missing.gap, remedy: remedyFor(missing) };
  return refusal(GATE_CODES.check_not_configured, values);
}
