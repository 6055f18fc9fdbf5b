// The journal of a repository at the start: that of the store counts, and the local file becomes a copy of it.

import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import { isObject } from '../../base/rules/values.ts';
import { ARCHIVE_FILE, JOURNAL_FILE } from '../../daemon/journal/journal.ts';
import { decodeRecord, decodeState } from '../../daemon/journal/journal-decoder.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import type { Store } from '../store/store.ts';
import { Elsewhere, forgetSeen, replaceFile, seenFence } from './taking-notes.ts';

export type TakingOptions = {
  readonly store: Pick<Store, 'address' | 'readJournal'>;
  /** `<host>/<owner>/<repo>`. */
  readonly repository: string;
  /** State directory of the repository. */
  readonly directory: string;
  readonly log: Logger;
};

export type TakenJournal = {
  /** Place of the next record in the store. */
  readonly next: number;
  /** Lines of the local file that the store lacks, in order. */
  readonly rest: readonly string[];
  /** The first of these is a snapshot, which stands for all that the store has. */
  readonly isAhead: boolean;
  /** Issues on which another coordinator may have worked since. */
  readonly elsewhere: Elsewhere;
};

const REPLACED_FILE = 'journal.replaced.jsonl';
const VERSION = 1;
const PAGE = 500;

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Its whole lines: what was torn does not count. */
function localLines(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => isObject(parse(line)));
}

async function readAll({ store, repository }: TakingOptions): Promise<{ next: number; lines: readonly string[] }> {
  const lines: string[] = [];
  for (let from = 0; ; ) {
    const page = await store.readJournal(repository, from, PAGE);
    lines.push(...page.lines);
    from = Math.max(from, page.first) + page.lines.length;
    if (from >= page.next || page.lines.length === 0) return { next: page.next, lines };
  }
}

/** Throws where this program cannot read a line of the store. */
function check(line: string, place: number, { store, repository }: TakingOptions): void {
  const named = { url: store.address, repository };
  const value = parse(line);
  const version = isObject(value) && typeof value.v === 'number' ? value.v : 0;
  if (version !== VERSION)
    throw failure(FLEET_CODES.journal_version_wrong, {
      ...named,
      ...{ age: version < VERSION ? 'older' : 'newer', version, supported: VERSION },
    });
  const record = decodeRecord(value);
  if (record === undefined || (record.type === 'snapshot' && decodeState(record.state) === undefined))
    throw failure(FLEET_CODES.journal_record_unreadable, { ...named, place });
}

/** With a snapshot, nobody knows any more who wrote what it stands for. */
function issuesOf(lines: readonly string[]): readonly number[] {
  return lines.flatMap((line) => {
    const record = decodeRecord(parse(line));
    if (record?.type === 'snapshot') return [...(decodeState(record.state)?.entries.keys() ?? [])];
    return record !== undefined && 'issue' in record ? [record.issue] : [];
  });
}

function isPrefix(lines: readonly string[], of: readonly string[]): boolean {
  return lines.every((line, index) => line === of[index]);
}

/**
 * Where the store has a journal, the local file is replaced by it; what differed there stays beside. Records that follow on
 * those of the store are kept: an earlier process of this directory could not hand them over. Throws a ToolError where this
 * program cannot read the journal of the store.
 */
export async function takeJournal(options: TakingOptions): Promise<TakenJournal> {
  const taken = await take(options);
  forgetSeen(options.directory);
  return taken;
}

async function take(options: TakingOptions): Promise<TakenJournal> {
  const { directory, repository, log } = options;
  const path = join(directory, JOURNAL_FILE);
  const kept = join(directory, REPLACED_FILE);
  const { next, lines } = await readAll(options);
  const local = localLines(path);
  const elsewhere = new Elsewhere(directory);
  // The store lost the journal of another coordinator, and the one here is older.
  if (lines.length === 0 && seenFence(directory) > 0) {
    elsewhere.keep(() => false);
    if (local.length > 0) {
      renameSync(path, kept);
      log.log('warn', 'serve', refusal(FLEET_CODES.journal_outdated, { path, repository, kept }));
    }
    return { next, rest: [], isAhead: false, elsewhere };
  }
  if (isPrefix(lines, local)) return { next, rest: local.slice(lines.length), isAhead: false, elsewhere };
  // The file began anew, and the store did not get the snapshot.
  const [first = ''] = local;
  if (decodeRecord(parse(first))?.type === 'snapshot' && isPrefix(lines, localLines(join(directory, ARCHIVE_FILE))))
    return { next, rest: local, isAhead: true, elsewhere };
  for (const [index, line] of lines.entries()) check(line, next - lines.length + index, options);
  const differs = lines.findIndex((line, index) => line !== local[index]);
  // First: once the file is the same, nobody could tell any more.
  elsewhere.add(issuesOf(lines.slice(differs)));
  if (local.length > differs) {
    renameSync(path, kept);
    log.log('warn', 'serve', refusal(FLEET_CODES.journal_replaced, { path, repository, kept }));
  }
  replaceFile(directory, JOURNAL_FILE, lines.map((line) => `\n${line}\n`).join(''));
  return { next, rest: [], isAhead: false, elsewhere };
}
