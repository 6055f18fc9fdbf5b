// Plans what happens to files of one user, such as .claude/settings.local.json, and to their record.

import { isDeepStrictEqual } from 'node:util';
import type { FileOperation } from './file-operations.ts';
import type { JsonPath } from './json-merge.ts';
import { type MergedFile, PERSONAL_RECORD, parsePersonal, personalText } from './manifest.ts';
import { planMerge, planUnmerge } from './merge-plan.ts';
import type { Outcome } from './outcome.ts';
import type { Payload } from './payload.ts';
import { missingDirectories, readProjectFile, readProjectText } from './project-file.ts';

type PersonalPlan = { readonly operations: readonly FileOperation[]; readonly outcomes: readonly Outcome[] };

const NOTHING: PersonalPlan = { operations: [], outcomes: [] };

function readRecord(root: string): readonly MergedFile[] | null {
  const text = readProjectText(root, PERSONAL_RECORD);
  return text === null ? null : (parsePersonal(text) ?? []);
}

/** The user's value that ours has replaced; undefined: there is none. */
export function replacedValue(root: string, path: string, member: JsonPath): unknown {
  const record = readRecord(root)?.find((one) => one.path === path);
  const text = record?.replaced.find((one) => isDeepStrictEqual(one.path, member))?.text;
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param personal undefined: files of the user stay as they are */
export function planPersonal(root: string, personal: Payload['personal']): PersonalPlan {
  if (personal === undefined) return NOTHING;
  const old = readRecord(root);
  if (personal.length === 0) return planPersonalRemoval(root);
  const known = (path: string) => old?.find((one) => one.path === path);
  const plans = personal.map(({ path, entries }) => planMerge(root, path, entries, known(path), true));
  const isWanted = (path: string) => personal.some((one) => one.path === path);
  const stale = (old ?? []).filter(({ path }) => !isWanted(path)).map((record) => planUnmerge(root, record));
  const writes = [...plans, ...stale].flatMap(({ operations }) => operations);
  const bytes = Buffer.from(personalText(plans.map(({ merged }) => merged)));
  const isSame = readProjectFile(root, PERSONAL_RECORD)?.equals(bytes) === true;
  const record: FileOperation[] = isSame ? [] : [{ kind: 'write', path: PERSONAL_RECORD, bytes }];
  const needed = missingDirectories(
    root,
    [...record, ...writes].map(({ path }) => path),
  );
  const make = needed.map((path): FileOperation => ({ kind: 'make', path }));
  return {
    // After a kill, another run knows from the record what is ours.
    operations: old === null ? [...make, ...record, ...writes] : [...make, ...writes, ...record],
    outcomes: [
      ...[...plans, ...stale].map(({ outcome }) => outcome),
      { path: PERSONAL_RECORD, did: isSame ? 'unchanged' : old === null ? 'created' : 'changed' },
    ],
  };
}

/** Takes out of a user's files what the record says. */
export function planPersonalRemoval(root: string): PersonalPlan {
  const record = readRecord(root);
  if (record === null) return NOTHING;
  const plans = record.map((one) => planUnmerge(root, one));
  return {
    operations: [...plans.flatMap(({ operations }) => operations), { kind: 'remove', path: PERSONAL_RECORD }],
    outcomes: [...plans.map(({ outcome }) => outcome), { path: PERSONAL_RECORD, did: 'removed' }],
  };
}
