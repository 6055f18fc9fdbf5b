// The journal of a repository at the start: that of the store counts, and the local file becomes a copy of it.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '../../base/files/sync-directory.ts';
import type { Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import { isObject } from '../../base/rules/values.ts';
import { JOURNAL_FILE } from '../../daemon/journal/journal.ts';
import { decodeRecord, decodeState } from '../../daemon/journal/journal-decoder.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import type { Store } from '../store/store.ts';

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
  /** Issues on which another coordinator may have worked since: what this machine has of them is old. */
  readonly elsewhere: 'all' | ReadonlySet<number>;
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

function issuesOf(lines: readonly string[]): 'all' | ReadonlySet<number> {
  const records = lines.flatMap((line) => decodeRecord(parse(line)) ?? []);
  if (records.some(({ type }) => type === 'snapshot')) return 'all';
  return new Set(records.flatMap((record) => ('issue' in record ? [record.issue] : [])));
}

function write(directory: string, lines: readonly string[]): void {
  const next = join(directory, `${JOURNAL_FILE}.taken`);
  writeFileSync(next, lines.map((line) => `\n${line}\n`).join(''), { mode: 0o600 });
  const fd = openSync(next, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(next, join(directory, JOURNAL_FILE));
  syncDirectory(directory);
}

/**
 * Where the store has a journal, the local file is replaced by it; what differed there stays beside. Records that follow on
 * those of the store are kept: an earlier process of this directory could not hand them over. Throws a ToolError where this
 * program cannot read the journal of the store.
 */
export async function takeJournal(options: TakingOptions): Promise<TakenJournal> {
  const { directory, repository, log } = options;
  const path = join(directory, JOURNAL_FILE);
  const { next, lines } = await readAll(options);
  const local = localLines(path);
  const differs = lines.findIndex((line, index) => line !== local[index]);
  if (differs === -1) return { next, rest: local.slice(lines.length), elsewhere: new Set() };
  for (const [index, line] of lines.entries()) check(line, next - lines.length + index, options);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (local.length > differs) {
    const kept = join(directory, REPLACED_FILE);
    renameSync(path, kept);
    log.log('warn', 'serve', refusal(FLEET_CODES.journal_replaced, { path, repository, kept }));
  }
  write(directory, lines);
  return { next, rest: [], elsewhere: issuesOf(lines.slice(differs)) };
}
