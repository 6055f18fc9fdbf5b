// Plan for a file that toolcrew owns as a whole: write, keep, replace or remove it.

import { type Refusal, refusal } from '../base/rules/codes.ts';
import type { FileOperation } from './file-operations.ts';
import type { OwnFile } from './manifest.ts';
import { type Outcome, sha256 } from './outcome.ts';
import type { PayloadFile } from './payload.ts';
import { readProjectFile } from './project-file.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

export type FilePlan = {
  readonly operations: readonly FileOperation[];
  /** Manifest entries after the plan. */
  readonly files: readonly OwnFile[];
  readonly outcome: Outcome;
  /** Problem that stops the whole installation. */
  readonly problem?: Refusal;
};

type Known = {
  readonly root: string;
  /** Manifest entries of the last installation by path, also for newer texts beside changed files. */
  readonly recorded: ReadonlyMap<string, OwnFile>;
  readonly force: boolean;
};

/** Path under which a pre-existing file is kept. */
function keptAs(path: string): string {
  return `.tool/before/${path}`;
}

/** Path of the newer text of a file that the user changed. */
function besideOf(path: string): string {
  return `${path}.new`;
}

function replaceForeign(file: PayloadFile, current: Buffer, { root, recorded }: Known): FilePlan {
  const { path, bytes } = file;
  const before = keptAs(path);
  const outcome: Outcome = { path, did: 'changed', note: `what was there is kept as ${before}` };
  const saved = readProjectFile(root, before);
  if (saved !== null && !saved.equals(current)) {
    const problem = refusal(INSTALL_CODES.kept_copy_in_the_way, { path, kept: before });
    return { operations: [], files: [], outcome, problem };
  }
  const keep: FileOperation[] = [{ kind: 'write', path: before, bytes: current }];
  const old = recorded.get(path)?.before;
  return {
    operations: [...keep, { kind: 'write', path, bytes }],
    files: [{ path, sha256: sha256(bytes), before: old ?? before }],
    outcome,
  };
}

/** Plan for a recorded file that the user changed since. */
function planEdited(file: PayloadFile, record: OwnFile, known: Known): FilePlan {
  const { path, bytes } = file;
  const beside = besideOf(path);
  const wanted = sha256(bytes);
  const there = readProjectFile(known.root, beside);
  if (wanted === record.sha256) {
    const newer = there === null ? undefined : known.recorded.get(beside);
    return {
      operations: [],
      files: [record, ...(newer === undefined ? [] : [newer])],
      outcome: { path, did: 'kept', note: 'you have changed it' },
    };
  }
  const note = `you have changed it; its newer text is ${beside}`;
  const isOurs = there === null || sha256(there) === known.recorded.get(beside)?.sha256 || there.equals(bytes);
  if (!isOurs)
    return {
      operations: [],
      files: [],
      outcome: { path, did: 'kept', note },
      problem: refusal(INSTALL_CODES.newer_file_in_the_way, { path: beside }),
    };
  return {
    operations: [{ kind: 'write', path: beside, bytes }],
    files: [
      { ...record, sha256: wanted },
      { path: beside, sha256: wanted },
    ],
    outcome: { path, did: 'kept', note },
  };
}

export function planFile(file: PayloadFile, known: Known): FilePlan {
  const { path, bytes } = file;
  const current = readProjectFile(known.root, path);
  const record = known.recorded.get(path);
  const ours: OwnFile = { ...record, path, sha256: sha256(bytes) };
  if (current === null)
    return { operations: [{ kind: 'write', path, bytes }], files: [ours], outcome: { path, did: 'created' } };
  if (current.equals(bytes)) return { operations: [], files: [ours], outcome: { path, did: 'unchanged' } };
  if (record !== undefined && sha256(current) === record.sha256)
    return { operations: [{ kind: 'write', path, bytes }], files: [ours], outcome: { path, did: 'changed' } };
  if (known.force && file.offered !== true) return replaceForeign(file, current, known);
  if (record !== undefined) return planEdited(file, record, known);
  const kept: Outcome = { path, did: 'kept', note: 'it was there before' };
  if (file.offered === true) return { operations: [], files: [], outcome: kept };
  const problem = refusal(INSTALL_CODES.file_in_the_way, { path, kept: keptAs(path) });
  return { operations: [], files: [], outcome: kept, problem };
}

/** Removes a file of ours, unless the user changed it, and restores the file that it replaced. */
export function planRemoval(root: string, file: OwnFile): { operations: FileOperation[]; outcome: Outcome } {
  const { path } = file;
  const current = readProjectFile(root, path);
  if (current === null) return { operations: [], outcome: { path, did: 'removed', note: 'it was gone already' } };
  const before = file.before === undefined ? null : readProjectFile(root, file.before);
  if (sha256(current) !== file.sha256) {
    const more = before === null ? '' : `; what was there before us is ${file.before}`;
    return { operations: [], outcome: { path, did: 'kept', note: `you have changed it${more}` } };
  }
  if (before === null || file.before === undefined)
    return { operations: [{ kind: 'remove', path }], outcome: { path, did: 'removed' } };
  return {
    operations: [
      { kind: 'write', path, bytes: before },
      { kind: 'remove', path: file.before },
    ],
    outcome: { path, did: 'changed', note: 'what was there before is back' },
  };
}
