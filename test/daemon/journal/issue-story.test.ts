// The history of an issue is read while the journal grows, and after it was continued in a new file.

import assert from 'node:assert/strict';
import { appendFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { IssueHistories, issueStory } from '../../../src/daemon/journal/issue-story.ts';
import { FileJournal } from '../../../src/daemon/journal/journal.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { tempDir } from '../../support/temp.ts';
import { NO_HISTORY } from '../../support/view.ts';

function claimed(issue: number, title: string): JournalRecord {
  const url = `https://host/o/r/issues/${issue}`;
  return {
    type: 'claimed',
    issue,
    title,
    url,
    life: 1,
    branch: `tool/issue-${issue}`,
    state_labels: [],
    label_event: 1,
  };
}

function started(issue: number, attempt: number): JournalRecord {
  return { type: 'attempt_started', issue, attempt, run: `run-${attempt}`, runtime: 'claude', workspace: '/w' };
}

function ended(issue: number): JournalRecord {
  const usage = { input_tokens: 10, output_tokens: 5, cost_usd: 0.25, turns: 1, seconds: 2 };
  return {
    ...{ type: 'attempt_ended', issue, outcome: 'failed', reason: 'it broke', usage, head: null },
    ...{ next: 'retry', retry_at: 5_000 },
  };
}

test('attempts, times and usage of one issue follow the journal; lines that are not whole wait', async (t) => {
  const directory = tempDir(t);
  let now = 1_000;
  const journal = new FileJournal({ directory, now: () => now });
  const histories = new IssueHistories(directory);
  assert.deepEqual(histories.of(1), NO_HISTORY);
  for (const record of [claimed(1, 'First'), claimed(11, 'Other'), started(11, 1), started(1, 1)])
    await journal.append(record);
  const first = histories.of(1);
  assert.deepEqual([first.title, first.url], ['First', 'https://host/o/r/issues/1']);
  const begun = { life: 1, attempt: 1, runtime: 'claude', ownFile: null, startedAt: 1_000, end: null };
  assert.deepEqual(first.attempts, [begun]);
  now = 4_000;
  const own = { commit: '1a2b3c4d5e6f', sets: ['prompt'] };
  for (const record of [ended(1), { ...started(1, 2), own_file: own }]) await journal.append(record);
  const [one, two] = histories.of(1).attempts;
  assert.deepEqual([one?.end?.at, one?.end?.outcome, one?.end?.usage.cost_usd], [4_000, 'failed', 0.25]);
  assert.deepEqual([two?.end, two?.ownFile], [null, own]);
  assert.match(histories.of(1).story.at(-1)?.words ?? '', /with claude, with prompt from WORKFLOW\.md at 1a2b3c4$/);
  await journal.close();
  const path = join(directory, 'journal.jsonl');
  const line = JSON.stringify({ ...ended(1), v: 1, id: 'x', at: 9_000 });
  const size = statSync(path).size;
  appendFileSync(path, `\n${line.slice(0, 30)}`);
  assert.equal(histories.of(1).attempts[1]?.end, null);
  appendFileSync(path, `${line.slice(30)}\n`);
  assert.ok(statSync(path).size > size);
  assert.equal(histories.of(1).attempts[1]?.end?.at, 9_000);
  assert.deepEqual(histories.of(1).story, issueStory(directory, 1));
  assert.deepEqual(histories.of(99).attempts, []);
});

test('a reason that is a sentence and what follows from it are told as one', async (t) => {
  const directory = tempDir(t);
  const journal = new FileJournal({ directory, now: () => 1_000 });
  const why = (reason: string) => ({ ...ended(1), reason, retry_at: null });
  for (const record of [claimed(1, 'First'), started(1, 1), why('It broke. Mend it.')]) await journal.append(record);
  await journal.close();
  const last = issueStory(directory, 1).at(-1)?.words;
  assert.equal(last, 'the attempt failed: It broke. Mend it; another attempt follows');
});

test('the history goes on when the journal is continued in a new file', async (t) => {
  const directory = tempDir(t);
  const journal = new FileJournal({ directory, now: () => 1_000, maxBytes: 800 });
  const histories = new IssueHistories(directory);
  await journal.append(claimed(1, 'First'));
  await journal.append(started(1, 1));
  const { ino } = statSync(join(directory, 'journal.jsonl'));
  assert.equal(histories.of(1).attempts.length, 1);
  while (statSync(join(directory, 'journal.jsonl')).ino === ino) await journal.append(claimed(2, 'x'.repeat(200)));
  await journal.append(ended(1));
  const { attempts, title, story } = histories.of(1);
  assert.deepEqual([title, attempts.length, attempts[0]?.end?.reason], ['First', 1, 'it broke']);
  assert.deepEqual(story, issueStory(directory, 1));
  await journal.close();
});

test('of as many issues as have readers, only what is new is read', async (t) => {
  const directory = tempDir(t);
  const journal = new FileJournal({ directory, now: () => 1_000, maxBytes: 800 });
  const issues = Array.from({ length: 80 }, (_, index) => index + 1);
  const { ino } = statSync(join(directory, 'journal.jsonl'));
  await journal.append(claimed(1, 'First'));
  while (statSync(join(directory, 'journal.jsonl')).ino === ino) await journal.append(claimed(2, 'x'.repeat(200)));
  const histories = new IssueHistories(directory);
  for (const issue of issues) histories.of(issue);
  rmSync(join(directory, 'journal.1.jsonl'));
  for (const issue of issues) histories.of(issue);
  assert.equal(histories.of(1).title, 'First');
  await journal.close();
});

test('the pull request of an issue has its opening, its last commit and its end, as far as the daemon knows', async (t) => {
  const directory = tempDir(t);
  let now = 1_000;
  const journal = new FileJournal({ directory, now: () => now });
  const histories = new IssueHistories(directory);
  const finished = (effect: 'push' | 'pull_request', key: string, result: Record<string, string | number>) => {
    now += 1_000;
    return journal.append({ type: 'effect_finished', issue: 1, effect, key, result });
  };
  await journal.append(claimed(1, 'First'));
  await finished('push', 'push:a', { sha: 'a' });
  assert.equal(histories.of(1).pullRequest, null);
  const opened = { number: 7, url: 'https://host/o/r/pull/7' };
  await finished('pull_request', 'pull_request:tool/issue-1', opened);
  assert.deepEqual(histories.of(1).pullRequest, { number: 7, openedAt: 3_000, commit: 'a', over: null });
  await finished('push', 'push:b', { sha: 'b' });
  await finished('pull_request', 'pull_request:tool/issue-1', opened);
  await journal.append({ type: 'pull_request_over', issue: 1, pull_request: 7, state: 'merged' });
  const over = { at: 5_000, state: 'merged' };
  assert.deepEqual(histories.of(1).pullRequest, { number: 7, openedAt: 3_000, commit: 'b', over });
  await journal.close();
});
