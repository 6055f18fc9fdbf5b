// What is said of a plan: a line for each file, and before anything is done the differences.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { visible, visibleLines } from '../domain/text.ts';
import type { Plan } from './install.ts';
import type { Outcome } from './outcome.ts';
import { unifiedDiff } from './text-diff.ts';

/** The files of which there is something to say. */
export function changes(plan: Plan): Outcome[] {
  return plan.outcomes.filter(({ did, note }) => did !== 'unchanged' || note !== undefined);
}

export function lines(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(({ path, did, note }) =>
    visible(`  ${did.padEnd(9)}  ${path}${note === undefined ? '' : ` (${note})`}`),
  );
}

/** The differences a plan would make, file by file. Read before it is done. */
export function dryRun(root: string, plan: Plan): string {
  const diffs = plan.operations.flatMap((operation) => {
    if (operation.kind !== 'write' && operation.kind !== 'remove') return [];
    const path = join(root, operation.path);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
    return [unifiedDiff(operation.path, before, operation.kind === 'write' ? operation.bytes.toString('utf8') : null)];
  });
  return visibleLines(diffs.join(''));
}
