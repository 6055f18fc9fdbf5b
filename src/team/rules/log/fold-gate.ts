// Records of what the checks found: where the team began, and of its work.

import type { Stored } from '../../../base/rules/stored-record.ts';
import { failuresOf, remainingOldFailures } from '../../../gate/rules/old-failures.ts';
import type { Draft } from './fold-state.ts';
import type { TeamRecord } from './record.ts';
import { isModelLed } from './state.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

export function takeBase(draft: Draft, { at, checks, coverage, why }: Of<'base_measured'>): null {
  draft.before ??= { at, checks, coverage, old: failuresOf(checks), ...(why === undefined ? {} : { why }) };
  return null;
}

export function takeMeasurement(draft: Draft, record: Of<'gate_measured'>): null {
  const { at, task, tree, ok, checks, coverage, head } = record;
  const before = draft.gate?.rejected ?? 0;
  const rejected = task !== null ? before : ok ? 0 : before + 1;
  // Checks alone say nothing against scores of the same tree.
  const trust5 = record.trust5 ?? (draft.gate?.tree === tree ? draft.gate.trust5 : undefined);
  draft.gate = {
    at,
    task,
    tree,
    ok,
    checks,
    coverage,
    ...(trust5 === undefined ? {} : { trust5 }),
    ...(head === undefined ? {} : { head }),
    ...(rejected === 0 ? {} : { rejected }),
  };
  // What one has mended apart from the others is not in their work yet.
  const isOfAll = task === null || isModelLed(draft);
  if (isOfAll && draft.before !== null)
    draft.before = { ...draft.before, old: remainingOldFailures(draft.before.old, checks) };
  return null;
}
