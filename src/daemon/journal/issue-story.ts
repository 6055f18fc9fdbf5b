// Story of one issue: the journal's records of it as lines with times, the oldest first.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { assertNever } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { evidenceLine } from '../rules/evidence-line.ts';
import {
  type DatedRecord,
  historyOf,
  type IssueHistory,
  type IssueRecord,
  type StoryLine,
} from '../rules/issue-history.ts';
import { outcomeWords } from '../rules/issue-standing.ts';
import { ownFileWords } from '../rules/own-file.ts';
import { decodeRecord } from './journal-decoder.ts';

/** What was continued, and what it is continued in. */
const FILES = ['journal.1.jsonl', 'journal.jsonl'];
const MAX_WORDS = 600;
const SHORT = 12;

type Effect = Extract<IssueRecord, { type: 'effect_finished' }>;

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

/** The records of an issue in lines of the journal; a line that is not whole is left out. */
function recordsIn(text: string, issue: number): readonly DatedRecord[] {
  const mark = new RegExp(`"issue":${issue}\\b`);
  return text
    .split('\n')
    .filter((line) => mark.test(line))
    .flatMap((line) => {
      const value = parsed(line);
      const record = decodeRecord(value);
      if (record === undefined || record.type === 'snapshot' || record.issue !== issue) return [];
      return [{ at: atOf(value), record }];
    });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function atOf(value: unknown): number {
  return typeof value === 'object' && value !== null && 'at' in value && typeof value.at === 'number' ? value.at : 0;
}

function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

function labelOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

/** Null: another record tells it. */
function finishedWords({ effect, key, result }: Effect): string | null {
  switch (effect) {
    case 'workspace':
      return 'the workspace is there';
    case 'hook':
      return `the hook ${key.split(':')[0]} has run`;
    case 'agent':
      return result.pid === undefined ? 'the agent runs' : `the agent runs as process ${result.pid}`;
    case 'take_base':
      return result.conflicts === 0 ? 'the base is taken in' : null;
    case 'push':
      return `commit ${String(result.sha).slice(0, SHORT)} is pushed`;
    case 'pull_request':
      return result.number === undefined ? 'the pull request is open' : `pull request #${result.number} is open`;
    case 'evidence':
      return 'the pull request shows what the checks said';
    case 'review_request':
      return 'whoever asked for changes is asked to look again';
    case 'reply':
      return 'an answer in a review thread is posted';
    case 'comment':
      return 'a comment is posted';
    case 'label_add':
      return `the label ${labelOf(key)} is put on`;
    case 'label_remove':
      return `the label ${labelOf(key)} is taken off`;
    case 'workspace_remove':
      return 'the workspace is removed';
    case 'gate':
    case 'review':
      return null;
    default:
      return assertNever(effect);
  }
}

const NEXT = {
  publish: 'it is published',
  retry: 'another attempt follows',
  give_up: 'it is given up',
  stop: 'the work stops',
  ask: 'it waits for an answer',
  again: 'the step is tried again',
} as const;

/** A reason and what follows from it: of the reason's last sentence the full stop goes. */
function joined(reason: string, next: string): string {
  return `${reason.replace(/\.$/, '')}; ${next}`;
}

function nextWords(next: keyof typeof NEXT, retryAt: number | null): string {
  return retryAt === null ? NEXT[next] : `${NEXT[next]} from ${time(retryAt)} on`;
}

function reviewWords({
  agent,
  findings,
  reason,
  next,
  retry_at: at,
}: Extract<IssueRecord, { type: 'reviewed' }>): string {
  if (findings.length === 0 && next === 'publish')
    return reason === null ? `${agent} reviewed the work: no findings` : `the work is not reviewed: ${reason}`;
  if (next === 'again')
    return joined(`the review came to nothing${reason === null ? '' : `: ${reason}`}`, nextWords(next, at));
  const then = next === 'author' ? 'the author gets them' : `the author does not get them: ${reason}`;
  const said = findings.map(({ file, text }) => (file === null ? text : `${file}: ${text}`)).join('; ');
  return `${agent} reviewed the work, findings: ${findings.length}; ${then}: ${said}`;
}

/** Null: nothing that people ask for. */
function wordsOf(record: IssueRecord): string | null {
  switch (record.type) {
    case 'claimed':
      return record.life === 1 ? `taken up: ${record.title}` : `taken up again (life ${record.life}): ${record.title}`;
    case 'attempt_started':
      return `attempt ${record.attempt} begins with ${record.runtime}${record.own_file === undefined ? '' : `, with ${ownFileWords(record.own_file)}`}`;
    case 'effect_finished':
      return finishedWords(record);
    case 'effect_failed':
      return `${record.effect} failed: ${record.error}`;
    case 'asked_pull_request':
      return `the agent asks for a pull request: ${record.title}`;
    case 'asked_done':
      return 'the agent says that it is done';
    case 'asked_question':
      return `the agent asks: ${record.text}`;
    case 'unanswered':
      return joined(record.reason, nextWords('give_up', null));
    case 'messages':
      return record.messages.map(({ author, text }) => `${author ?? 'an operator'} says: ${text}`).join('; ');
    case 'delivered':
      return 'the agent has got what people wrote';
    case 'attempt_ended': {
      const why = record.outcome === 'succeeded' ? '' : `: ${record.reason}`;
      return joined(`the attempt ${outcomeWords(record.outcome)}${why}`, nextWords(record.next, record.retry_at));
    }
    case 'measured':
      return `checks: ${record.evidence.unmeasured ?? evidenceLine(record.evidence)}`;
    case 'reviewed':
      return reviewWords(record);
    case 'sent_back':
      return joined(record.reason, nextWords(record.next, null));
    case 'publish_failed':
      return joined(`publishing failed: ${record.reason}`, nextWords(record.next, record.retry_at));
    case 'touched': {
      const paths = record.touched.map(({ path }) => path).join(', ');
      return paths === '' ? null : `the change touches paths of agent.serialize_paths: ${paths}`;
    }
    case 'released':
      return 'nothing holds the change back; the base is taken in';
    case 'base_conflict':
      return joined(record.reason, nextWords(record.next, null));
    case 'pull_request_over':
      return `pull request #${record.pull_request} is ${record.state}`;
    case 'following':
      return 'the pull request is followed';
    case 'continued':
      return `the work goes on: ${record.reason}`;
    case 'others_pushed':
      return `others pushed commit ${record.commit.slice(0, SHORT)}; it stays in the branch`;
    case 'base_wanted':
      return 'the pull request is behind its base, which is taken in';
    case 'awaits_person':
      return record.cause === 'merge'
        ? `the pull request can be merged${record.reason === null ? '' : `; ${record.reason}`}`
        : `the pull request waits for a person: ${record.reason ?? record.cause}`;
    case 'follow_stopped':
      return `following stops: ${record.reason}`;
    case 'saved':
      return `saved before the workspace goes: ${record.lines.join('; ')}`;
    case 'steered':
      return `an operator says: tool ${record.steer}`;
    case 'finished':
      return `over: ${record.outcome.replace('_', ' ')}${record.mergeable === true ? ', the pull request can be merged' : ''}`;
    case 'effect_started':
    case 'session':
    case 'surveyed':
    case 'usage':
      return null;
    default:
      return assertNever(record);
  }
}

/** What was begun last and whose end is not known. */
function openEffect(records: readonly DatedRecord[]): StoryLine | null {
  const begun = new Map<string, StoryLine>();
  for (const { at, record } of records) {
    if (record.type === 'effect_started') begun.set(record.key, { at, words: `${record.effect} begins` });
    if (record.type === 'effect_finished' || record.type === 'effect_failed') begun.delete(record.key);
    if (record.type === 'finished') begun.clear();
  }
  return [...begun.values()].at(-1) ?? null;
}

function storyOf(records: readonly DatedRecord[]): readonly StoryLine[] {
  const told = records.flatMap(({ at, record }) => {
    const words = wordsOf(record);
    return words === null ? [] : [{ at, words: oneLine(words, MAX_WORDS) }];
  });
  const open = openEffect(records);
  return open === null ? told : [...told, open];
}

/** @param directory the state directory */
export function issueStory(directory: string, issue: number): readonly StoryLine[] {
  return storyOf(FILES.flatMap((name) => recordsIn(textIn(join(directory, name)), issue)));
}

export function storyText({ at, words }: StoryLine): string {
  return `${time(at)}  ${words}`;
}

/** More than there are readers of events, each of which looks at one again and again; of others the whole journal is read again. */
const HISTORIES_KEPT = 128;

type Read = { readonly file: number; readonly offset: number; readonly records: readonly DatedRecord[] };

/** Reads histories while the journal grows: of an issue that was read before, only the lines that are new. */
export class IssueHistories {
  readonly #directory: string;
  readonly #read = new Map<number, Read>();

  /** @param directory the state directory */
  constructor(directory: string) {
    this.#directory = directory;
  }

  of(issue: number): IssueHistory {
    const { records } = this.#records(issue);
    return historyOf(records, storyOf(records));
  }

  #records(issue: number): Read {
    const fd = openSync(join(this.#directory, 'journal.jsonl'), 'r');
    try {
      const { ino, size } = fstatSync(fd);
      const known = this.#read.get(issue);
      const isSame = known?.file === ino && known.offset <= size;
      const offset = isSame ? known.offset : 0;
      const earlier = isSame ? known.records : recordsIn(textIn(join(this.#directory, 'journal.1.jsonl')), issue);
      const bytes = Buffer.alloc(size - offset);
      const count = readSync(fd, bytes, 0, bytes.length, offset);
      // What follows the last newline may grow yet.
      const whole = bytes.subarray(0, count).lastIndexOf(10) + 1;
      const fresh = recordsIn(bytes.toString('utf8', 0, whole), issue);
      const read = { file: ino, offset: offset + whole, records: [...earlier, ...fresh] };
      this.#read.delete(issue);
      this.#read.set(issue, read);
      for (const oldest of this.#read.keys()) {
        if (this.#read.size <= HISTORIES_KEPT) break;
        this.#read.delete(oldest);
      }
      return read;
    } finally {
      closeSync(fd);
    }
  }
}
