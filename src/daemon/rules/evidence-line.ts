// Evidence of a commit in one line; pure.

import { clip, oneLine } from '../../base/rules/text.ts';
import type { Evidence, EvidenceCheck } from '../../gate/rules/evidence.ts';

function percent(value: number): string {
  return `${Math.floor(value * 10) / 10} %`;
}

/** `81.2 % (80.4 % before)`; empty when it was not measured. */
export function coverageWords({ before, after }: Evidence['coverage']): string {
  if (after === null) return '';
  return before === null ? percent(after) : `${percent(after)} (${percent(before)} before)`;
}

/** An outcome in words. */
export function outcomeText(outcome: EvidenceCheck['outcome']): string {
  return outcome === 'old_failure' ? 'failed before, too' : outcome.replace('_', ' ');
}

/** One line for the log. A check without a figure says why it failed. */
export function evidenceLine({ checks, coverage }: Evidence): string {
  const rows = checks.filter(({ outcome }) => outcome !== 'not_measured');
  if (rows.length === 0) return 'no command of the project measures the work';
  return rows
    .map(({ check, outcome, figure, reason }) => {
      const measured = check === 'coverage' ? coverageWords(coverage) : (figure ?? '');
      const said = measured === '' && outcome !== 'passed' ? reason : measured;
      return `${check} ${outcomeText(outcome)}${said === '' ? '' : ` (${clip(oneLine(said), 80)})`}`;
    })
    .join(', ');
}
