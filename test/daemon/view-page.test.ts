// The state of a daemon with ten thousand waiting issues, page by page.

import assert from 'node:assert/strict';
import test from 'node:test';
import { refusal } from '../../src/base/rules/codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { stateView } from '../../src/daemon/view.ts';
import { issueDetails } from '../../src/daemon/view-issue.ts';
import { parseCursor } from '../../src/daemon/view-page.ts';
import type { ViewSource } from '../../src/daemon/view-source.ts';
import { textDashboard } from '../../src/web/dashboard.ts';
import { World, workflowWith } from '../support/world.ts';

const ISSUES = 10_000;
const UNTRUSTED = [refusal(WORK_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' })];
const FOR_SLOT = [refusal(WORK_CODES.issue_waits_for_slot, {})];

async function crowded(): Promise<ViewSource> {
  const world = new World(workflowWith({}));
  world.tracker.open(1);
  const issue = world.tracker.issues.get(1);
  assert.ok(issue !== undefined);
  const waiting = Array.from({ length: ISSUES }, (_, index) => ({
    issue: { ...issue, number: index + 1, title: `Issue ${index + 1}` },
    why: index % 1_000 === 0 ? UNTRUSTED : FOR_SLOT,
  }));
  return {
    now: world.clock.now(),
    version: '',
    workflow: world.workflow,
    loadedAt: 0,
    workflowError: null,
    pendingRestart: [],
    state: world.journal.state,
    statuses: world.orchestrator.statuses,
    waiting,
    follows: new Map(),
    gates: new Set(),
    seen: new Map(),
    poll: world.orchestrator.poll,
    stats: world.tracker.stats,
    rateLimit: world.tracker.rateLimit,
    webhook: null,
  };
}

test('a page of the state is bounded, its counts are complete, and its rows are the newest that somebody can mend', async () => {
  const view = stateView(await crowded());
  assert.equal(view.counts.queued, ISSUES);
  assert.deepEqual(view.waiting.reasons, { issue_untrusted: 10, issue_waits_for_slot: ISSUES - 10 });
  assert.equal(view.queued.length, 100);
  assert.equal(view.more.queued, ISSUES - 100);
  assert.deepEqual(
    view.queued.slice(0, 12).map((row) => row.issue_number),
    [9_001, 8_001, 7_001, 6_001, 5_001, 4_001, 3_001, 2_001, 1_001, 1, 10_000, 9_999],
  );
  assert.ok(JSON.stringify(view).length < 40_000);
});

test('the cursors lead through every row once, also when rows go meanwhile', async () => {
  const source = await crowded();
  const seen: number[] = [];
  let view = stateView(source, { limit: 999, after: null });
  for (let pages = 1; ; pages++) {
    seen.push(...view.queued.map((row) => row.issue_number));
    const { queued: next } = view.next;
    if (next === null) break;
    assert.ok(pages < 20);
    const after = parseCursor(next);
    assert.ok(after !== undefined);
    // The rows that were seen last are gone by the next page.
    const gone = new Set(seen.slice(-500));
    const waiting = source.waiting.filter(({ issue }) => !gone.has(issue.number));
    view = stateView({ ...source, waiting }, { limit: 999, after });
    assert.equal(view.counts.queued, ISSUES - 500);
  }
  assert.equal(seen.length, ISSUES);
  assert.equal(new Set(seen).size, ISSUES);
});

test('the text dashboard stays short, and says how many rows it leaves out and where they are', async () => {
  const text = textDashboard(stateView(await crowded(), { limit: 20, after: null }));
  assert.ok(text.split('\n').length < 40, text);
  assert.match(text, / 10000 waiting /);
  assert.match(text, /\n {2}and 9980 more: \/\?after=queued:0-9991\n/);
});

test('one issue of ten thousand is found by its number', async () => {
  const found = issueDetails(await crowded(), 4_321);
  assert.deepEqual(JSON.parse(JSON.stringify(found?.queued)).issue_number, 4_321);
});

test('what is no cursor is none', () => {
  assert.deepEqual(parseCursor('completed:1767268800000-4'), { list: 'completed', place: [1_767_268_800_000, 4] });
  for (const text of [
    '',
    'queued',
    'queued:1',
    'queued:-1-2',
    'others:1-2',
    'queued:1-2 ',
    'queued:1-2x',
    'queued:1e3-2',
  ])
    assert.equal(parseCursor(text), undefined, text);
});
