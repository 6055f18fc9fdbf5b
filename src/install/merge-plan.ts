// Plans that put entries of ours into a file of the project, and take them out again.

import { isDeepStrictEqual } from 'node:util';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { failure } from '../base/rules/errors.ts';
import type { FileOperation } from './file-operations.ts';
import {
  findEntry,
  insertEntries,
  type JsonEntry,
  type JsonPath,
  type MergeRecord,
  NOTHING_MERGED,
  removeEntries,
} from './json-merge.ts';
import { readJsonObject } from './json-text.ts';
import type { MergedFile } from './manifest.ts';
import type { Outcome } from './outcome.ts';
import { readProjectText } from './project-file.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

export type MergePlan = {
  readonly operations: readonly FileOperation[];
  readonly merged: MergedFile;
  readonly outcome: Outcome;
  readonly problems: readonly Refusal[];
};

/** Initial text of a missing or empty file. */
const EMPTY = '{}\n';

type Start = { readonly text: string; readonly was?: string | null };

function startOf(current: string | null, record: MergedFile | undefined): Start {
  if (current === null || current.trim() === '') return { text: EMPTY, was: record?.was ?? current };
  return record?.was === undefined ? { text: current } : { text: current, was: record.was };
}

/** Whether an entry can only be ours, even without a record. */
function isSurelyOurs(entry: JsonEntry): boolean {
  return entry.mark !== undefined || entry.path[0] === 'mcpServers';
}

function adopt(entries: readonly JsonEntry[], record: MergeRecord): MergeRecord {
  const containers = entries.flatMap(({ path }) => [path.slice(0, 1), ...(path.length > 1 ? [path] : [])]);
  const lists = entries.some(({ place }) => place === 'element')
    ? containers
    : containers.filter((p) => p.length === 1);
  return {
    ...record,
    entries: [...record.entries, ...entries],
    created: [
      ...record.created,
      ...lists.filter((path) => !record.created.some((one) => isDeepStrictEqual(one, path))),
    ],
  };
}

function noteOf(changed: readonly JsonEntry[]): string | undefined {
  if (changed.length === 0) return undefined;
  return `left as you changed it: ${changed.map(({ path }) => path.join('.')).join(', ')}`;
}

/**
 * @param record record of the last installation; undefined: none
 * @param isReplacing whether a member with another value is replaced; `planUnmerge` restores it
 */
export function planMerge(
  root: string,
  path: string,
  entries: readonly JsonEntry[],
  record: MergedFile | undefined,
  isReplacing: boolean,
): MergePlan {
  const current = readProjectText(root, path);
  const { text, was } = startOf(current, record);
  const old: MergeRecord = record ?? NOTHING_MERGED;
  const wanted = (entry: JsonEntry) => entries.some((one) => isDeepStrictEqual(one, entry));
  const stale = old.entries.filter((entry) => !wanted(entry));
  const cleaned = removeEntries(text, { ...old, entries: stale }, path, entries).text;
  // Entries that were interrupted, removed or changed by hand are put in and recorded again, with the current value.
  const stays = (entry: JsonEntry) => {
    const found = findEntry(cleaned, entry, old.entries, path);
    return found !== 'absent' && !(typeof found === 'object' && isReplacing);
  };
  const staying = old.entries.filter((entry) => wanted(entry) && stays(entry));
  const isStaying = (member: JsonPath) => staying.some((entry) => isDeepStrictEqual(entry.path, member));
  const replaced = old.replaced.filter((member) => isStaying(member.path));
  const kept: MergeRecord = { ...old, entries: staying, replaced };

  const problems: Refusal[] = [];
  const changed: JsonEntry[] = [];
  const unrecorded: JsonEntry[] = [];
  for (const entry of entries) {
    const found = findEntry(cleaned, entry, [...entries, ...old.entries], path);
    if (found === 'changed') changed.push(entry);
    else if (typeof found === 'object' && !isReplacing)
      problems.push(
        refusal(INSTALL_CODES.entry_in_the_way, {
          path,
          key: entry.path.join('.'),
          got: found.other,
          expected: JSON.stringify(entry.value),
        }),
      );
    else if (found === 'present' && isSurelyOurs(entry) && !kept.entries.some((one) => isDeepStrictEqual(one, entry)))
      unrecorded.push(entry);
  }
  const done = insertEntries(cleaned, entries, adopt(unrecorded, kept), path, () => isReplacing);
  if (
    unrecorded.length === 0 &&
    removeEntries(done.text, done.record, path).text !== removeEntries(text, old, path).text
  )
    throw failure(INSTALL_CODES.entries_not_removable, { file: path });
  const note = noteOf(changed);
  const did = done.text === current ? 'unchanged' : current === null ? 'created' : 'changed';
  return {
    operations: did === 'unchanged' ? [] : [{ kind: 'write', path, bytes: Buffer.from(done.text) }],
    merged: { path, ...done.record, ...(was === undefined ? {} : { was }) },
    outcome: { path, did, ...(note === undefined ? {} : { note }) },
    problems,
  };
}

function isEmptyObject(text: string, path: string): boolean {
  return readJsonObject(text, path).items.length === 0;
}

/** Takes our entries out of a file. Removes a file that we made when nothing else is left in it. */
export function planUnmerge(root: string, record: MergedFile): { operations: FileOperation[]; outcome: Outcome } {
  const { path } = record;
  const current = readProjectText(root, path);
  if (current === null) return { operations: [], outcome: { path, did: 'removed', note: 'it was gone already' } };
  if (current.trim() === '') return { operations: [], outcome: { path, did: 'unchanged' } };
  const { text, left } = removeEntries(current, record, path);
  const note = left.length === 0 ? {} : { note: `left as you changed it: ${left.join('; ')}` };
  if (record.was !== undefined && isEmptyObject(text, path)) {
    if (record.was === null) return { operations: [{ kind: 'remove', path }], outcome: { path, did: 'removed' } };
    return {
      operations: [{ kind: 'write', path, bytes: Buffer.from(record.was) }],
      outcome: { path, did: 'changed', ...note },
    };
  }
  if (text === current) return { operations: [], outcome: { path, did: 'unchanged', ...note } };
  return {
    operations: [{ kind: 'write', path, bytes: Buffer.from(text) }],
    outcome: { path, did: 'changed', ...note },
  };
}
