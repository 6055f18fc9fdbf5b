// Changes of the same serialized paths: what touches what, who goes first, who waits, and what ends it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_USAGE } from '../../../src/agents/rules/usage.ts';
import { decodeState } from '../../../src/daemon/journal/journal-decoder.ts';
import { SERIAL_CODES } from '../../../src/daemon/rules/codes/serial-codes.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import { issueOf } from '../../../src/daemon/rules/issue.ts';
import { nextStep } from '../../../src/daemon/rules/next-step.ts';
import type { JournalRecord, Steer } from '../../../src/daemon/rules/record.ts';
import { awaitedPulls, heldBackBy, nextRelease, touchesOf } from '../../../src/daemon/rules/serialize.ts';
import { freezeState } from '../../../src/daemon/rules/snapshot.ts';
import { type DaemonState, EMPTY_STATE } from '../../../src/daemon/rules/state.ts';
import { isRefusal } from '../../support/codes.ts';

const STATES = { active: ['tool-todo'], done: 'tool-done', failed: 'tool-failed' };
const GLOBS = ['a/**', 'b/**'];

function folded(...records: readonly (JournalRecord | readonly JournalRecord[])[]): DaemonState {
  return records
    .flat()
    .reduce<DaemonState>(
      (state, one, index) => fold(state, { ...one, v: 1, id: String(index), at: 1000 * (index + 1) }),
      EMPTY_STATE,
    );
}

/** An issue whose attempt is over, with a commit to publish. */
const handedIn = (issue: number, head = `sha-${issue}`): readonly JournalRecord[] => [
  {
    ...{ type: 'claimed', issue, title: 't', url: 'u', life: 1, branch: `tool/issue-${issue}` },
    ...{ state_labels: ['tool-todo'], label_event: null },
  },
  { type: 'attempt_started', issue, attempt: 1, run: 'r', runtime: 'command', workspace: '/w' },
  {
    ...{ type: 'attempt_ended', issue, outcome: 'succeeded', reason: '', usage: NO_USAGE },
    ...{ head, next: 'publish', retry_at: null },
  },
];
const touched = (issue: number, globs: readonly string[] = ['a/**'], sha = `sha-${issue}`): JournalRecord => ({
  ...{ type: 'touched', issue, sha },
  touched: globs.map((glob) => ({ glob, path: glob.replace('**', `of-${issue}`) })),
});
const effect = (
  issue: number,
  name: 'push' | 'pull_request' | 'take_base',
  key: string,
  result = {},
): JournalRecord => ({
  ...{ type: 'effect_finished', issue, effect: name, key, result },
});
const opened = (issue: number, number = 100 + issue): readonly JournalRecord[] => [
  effect(issue, 'push', `push:sha-${issue}`, { sha: `sha-${issue}` }),
  effect(issue, 'pull_request', `pull_request:tool/issue-${issue}`, { number, url: `https://tracker/${number}` }),
];
const finished = (issue: number): JournalRecord => ({ type: 'finished', issue, outcome: 'done', updated_at: '' });
const over = (issue: number, state: 'merged' | 'closed' = 'merged'): JournalRecord => ({
  ...{ type: 'pull_request_over', issue, pull_request: 100 + issue, state },
});
const released = (issue: number): JournalRecord => ({
  ...{ type: 'released', issue, touched: [{ glob: 'a/**', path: `a/of-${issue}` }] },
});
const steered = (issue: number, steer: Steer): JournalRecord => ({ type: 'steered', issue, steer });

const phaseOf = (state: DaemonState, issue: number) => state.entries.get(issue)?.phase;
const next = (state: DaemonState, rankOf: (issue: number) => number = () => 0, globs: readonly string[] = GLOBS) =>
  nextRelease(state, globs, rankOf)?.issue ?? null;
const stepOf = (state: DaemonState, issue: number, serializes = true) =>
  nextStep(state.entries.get(issue) ?? assert.fail(), STATES, { mode: 'off' }, { serializes })?.kind;
const why = (state: DaemonState, issue: number) => heldBackBy(state, state.entries.get(issue) ?? assert.fail());

test('a glob matches paths, hidden ones as well, and all that lies below a directory of that name', () => {
  const paths = ['src/a.ts', 'db/migrations/.keep', 'db/migrations/001 "x"\n.sql', 'go.sum'];
  const cases: readonly [string, string | undefined][] = [
    ['db/migrations/**', 'db/migrations/.keep'],
    ['db/migrations', 'db/migrations/.keep'],
    ['db/migrations/', 'db/migrations/.keep'],
    ['**/*.sql', 'db/migrations/001 "x"\n.sql'],
    ['{go.sum,go.mod}', 'go.sum'],
    ['db', 'db/migrations/.keep'],
    ['*.sql', undefined],
    ['migrations/**', undefined],
  ];
  for (const [glob, path] of cases)
    assert.deepEqual(touchesOf(paths, [glob]), path === undefined ? [] : [{ glob, path }], glob);
});

test('branches of issues are known by their names', () => {
  const names = ['tool/issue-7', 'tool/issue-7-2', 'tool/issue-', 'tool/issue-7-x', 'issue-7', 'tool/other'];
  assert.deepEqual(
    names.map((name) => issueOf('tool/', name)),
    [7, 7, null, null, null, null],
  );
});

test('of two that touch the same glob the first in the journal goes on, the other waits and holds nothing', () => {
  const both = folded(handedIn(1), handedIn(2), touched(2), touched(1));
  assert.deepEqual([phaseOf(both, 1), phaseOf(both, 2)], ['held_back', 'publishing']);
  assert.deepEqual([stepOf(both, 1), stepOf(both, 2)], [undefined, 'push']);
  isRefusal(why(both, 1), SERIAL_CODES.change_awaits_issue, { issue: 2, glob: 'a/**', path: 'a/of-2' });
  const open = folded(handedIn(1), handedIn(2), touched(2), touched(1), opened(2), finished(2));
  isRefusal(why(open, 1), SERIAL_CODES.change_awaits_pull_request, {
    ...{ pull_request: 102, glob: 'a/**', path: 'a/of-2' },
  });
  assert.deepEqual(
    awaitedPulls(open).map(({ number }) => number),
    [102],
  );
  assert.equal(next(open), null);
  assert.equal(phaseOf(folded(handedIn(1), handedIn(2), touched(2), touched(1), released(1)), 1), 'held_back');
});

test('different globs do not wait for each other, nor does a change that touches none', () => {
  const state = folded(handedIn(1), handedIn(2), handedIn(3), touched(1), touched(2, ['b/**']), touched(3, []));
  for (const issue of [1, 2, 3]) assert.equal(phaseOf(state, issue), 'publishing');
  assert.deepEqual([...folded(handedIn(3), touched(3, []), opened(3)).open], [], 'nobody can wait for it');
});

test('without serialized paths no step looks for any', () => {
  assert.equal(stepOf(folded(handedIn(1)), 1, false), 'push');
  assert.equal(stepOf(folded(handedIn(1)), 1), 'serialize');
});

test('a pull request that is merged or closed lets the next one go, which takes in the base before anything else', () => {
  const waiting = [handedIn(1), handedIn(2), touched(1), touched(2), opened(1), finished(1)];
  for (const state of ['merged', 'closed'] as const) {
    assert.equal(next(folded(...waiting, over(1, state))), 2);
    const gone = folded(...waiting, over(1, state), released(2));
    assert.deepEqual([phaseOf(gone, 2), stepOf(gone, 2)], ['publishing', 'take_base']);
  }
  const base = [...waiting, over(1), released(2)];
  const clean = folded(...base, effect(2, 'take_base', 'k', { sha: 'merged', conflicts: 0 }));
  assert.equal(clean.entries.get(2)?.head, 'merged');
  assert.equal(stepOf(clean, 2), 'serialize', 'it is another commit');
  const again = folded(
    ...base,
    effect(2, 'take_base', 'k', { sha: 'merged', conflicts: 0 }),
    touched(2, GLOBS, 'merged'),
  );
  assert.equal(stepOf(again, 2), 'push');
  const empty = folded(...base, effect(2, 'take_base', 'k', { sha: null, conflicts: 0 }));
  assert.equal(stepOf(empty, 2), 'label_add', 'what it changed is in the base already');
});

test('a conflict with the base is a round of its own, keeps the place, and ends after the last one', () => {
  const base = [handedIn(1), handedIn(2), touched(1), touched(2), opened(1), over(1), released(2)];
  const conflict = (giveUp: boolean): JournalRecord => ({
    ...{ type: 'base_conflict', issue: 2, reason: 'it conflicts', told: 'merge it' },
    next: giveUp ? 'give_up' : 'retry',
  });
  const told = folded(...base, effect(2, 'take_base', 'k', { sha: 'x', conflicts: 2 }), conflict(false));
  const entry = told.entries.get(2);
  assert.deepEqual(
    [entry?.phase, entry?.failures, entry?.serial?.rounds, entry?.serial?.told],
    ['retrying', 0, 1, 'merge it'],
  );
  const other = [handedIn(3), touched(3)];
  assert.equal(phaseOf(folded(...base, conflict(false), ...other), 3), 'held_back');
  const given = folded(...base, conflict(true), ...other);
  assert.deepEqual([phaseOf(given, 2), phaseOf(given, 3)], ['giving_up', 'publishing']);
});

test('who goes first and stops, fails, is paused or asks lets the others go', () => {
  const first = [handedIn(1), handedIn(2), touched(1), touched(2)];
  const failed = (to: 'retry' | 'give_up'): JournalRecord => ({
    ...{ type: 'publish_failed', issue: 1, reason: 'no', next: to, retry_at: 1 },
  });
  assert.equal(next(folded(...first, failed('retry'))), null);
  assert.equal(next(folded(...first, failed('retry'), steered(1, 'pause'))), 2);
  assert.equal(next(folded(...first, failed('give_up'))), 2);
  assert.equal(next(folded(...first, steered(1, 'cancel'))), 2);
  assert.equal(next(folded(...first, { type: 'finished', issue: 1, outcome: 'closed', updated_at: '' })), 2);
  const asking: readonly JournalRecord[] = [
    failed('retry'),
    { type: 'attempt_started', issue: 1, attempt: 2, run: 'r', runtime: 'command', workspace: '/w' },
    { type: 'asked_question', issue: 1, text: 'Which?', label: 'tool-question' },
    {
      ...{ type: 'attempt_ended', issue: 1, outcome: 'succeeded', reason: '', usage: NO_USAGE },
      ...{ head: null, next: 'ask', retry_at: null },
    },
  ];
  assert.equal(next(folded(...first, ...asking)), 2);
});

test('a pause of an attempt that handed its work in does not keep the change from going first', () => {
  const [claimed, started, ended] = handedIn(1);
  assert.ok(claimed !== undefined && started !== undefined && ended !== undefined);
  for (const globs of [GLOBS, []]) {
    const state = folded(claimed, started, steered(1, 'pause'), ended, touched(1, globs));
    assert.deepEqual([phaseOf(state, 1), stepOf(state, 1)], ['publishing', 'push']);
    assert.equal(state.orders.get(1), 'pause');
  }
});

test('they go on by priority, then by age; one that needs two globs is not overtaken on either', () => {
  const waiting = [handedIn(1), handedIn(2), handedIn(3), handedIn(4)];
  const state = folded(...waiting, touched(1), touched(4), touched(3), touched(2), opened(1), over(1), finished(1));
  assert.equal(next(state), 2);
  assert.equal(
    next(state, (issue) => (issue === 4 ? 0 : 1)),
    4,
  );
  isRefusal(why(state, 3), SERIAL_CODES.change_awaits_issue, { issue: 2, glob: 'a/**', path: 'a/of-2' });
  const two = folded(...waiting, touched(1), touched(2, GLOBS), touched(3, ['b/**']), opened(1));
  assert.deepEqual([phaseOf(two, 2), phaseOf(two, 3)], ['held_back', 'held_back']);
  assert.equal(next(two), null);
  assert.equal(
    next(two, (issue) => -issue),
    3,
  );
});

test('a paused issue waits for itself alone; commands work while an issue is held back', () => {
  const state = [handedIn(1), handedIn(2), handedIn(3), touched(1), touched(2), touched(3), opened(1), over(1)];
  assert.equal(next(folded(...state, steered(2, 'pause'))), 3);
  assert.equal(next(folded(...state, steered(2, 'pause'), steered(2, 'resume'))), 2);
  assert.equal(phaseOf(folded(...state, steered(2, 'cancel')), 2), 'cancelling');
  const hurried = folded(...state.slice(0, -1), steered(2, 'retry'));
  assert.deepEqual([phaseOf(hurried, 2), stepOf(hurried, 2)], ['publishing', 'take_base']);
});

test('a glob that is not set any more holds nothing back', () => {
  const state = folded(handedIn(1), handedIn(2), touched(1), touched(2), opened(1));
  assert.equal(
    next(state, () => 0, ['b/**']),
    2,
  );
  const free: JournalRecord = { type: 'released', issue: 2, touched: [] };
  assert.equal(phaseOf(folded(handedIn(1), handedIn(2), touched(1), touched(2), opened(1), free), 2), 'publishing');
});

test('an open pull request is not held back by what a round on it touches', () => {
  const followed = (issue: number): readonly JournalRecord[] => [
    { type: 'following', issue, updated_at: '' },
    { type: 'continued', issue, reason: '', told: '', handled: [], failure: null, reviewers: [] },
    { type: 'attempt_started', issue, attempt: 2, run: 'r', runtime: 'command', workspace: '/w' },
    {
      ...{ type: 'attempt_ended', issue, outcome: 'succeeded', reason: '', usage: NO_USAGE },
      ...{ head: 'next', next: 'publish', retry_at: null },
    },
  ];
  const records = [handedIn(1), touched(1), opened(1), handedIn(2), touched(2, ['b/**']), opened(2), followed(2)];
  const state = folded(...records, touched(2, GLOBS, 'next'), effect(2, 'push', 'push:next', { sha: 'next' }));
  assert.equal(phaseOf(state, 2), 'publishing');
  const pull = state.open.get(102);
  assert.deepEqual([pull?.head, pull?.touched.map(({ glob }) => glob)], ['next', GLOBS]);
});

test('pull requests of earlier programs count once they were looked for', () => {
  const pull = {
    number: 50,
    url: 'u',
    issue: 9,
    branch: 'tool/issue-9',
    head: 'x',
    touched: [{ glob: 'a/**', path: 'a/x' }],
  };
  const survey: JournalRecord = { type: 'surveyed', issue: 1, globs: GLOBS, pulls: [pull] };
  const state = folded(handedIn(1), survey, touched(1));
  assert.equal(phaseOf(state, 1), 'held_back');
  assert.deepEqual(state.surveyed, GLOBS);
});

test('of followed pull requests that touch nothing, the last hundred are kept in mind', () => {
  const issues = Array.from({ length: 120 }, (_, index) => index + 1);
  const state = folded(
    handedIn(999),
    touched(999),
    opened(999),
    issues.flatMap((issue) => [
      ...handedIn(issue),
      ...opened(issue),
      { type: 'following', issue, updated_at: '' } as const,
    ]),
  );
  assert.deepEqual(
    [state.open.size, state.open.has(1099), state.open.has(120), state.open.has(121)],
    [101, true, false, true],
  );
});

test('a snapshot keeps who waits and for what', () => {
  const state = folded(handedIn(1), handedIn(2), touched(1), touched(2), opened(1), finished(1));
  const thawed = decodeState(JSON.parse(JSON.stringify(freezeState(state))));
  assert.deepEqual(thawed?.open, state.open);
  assert.deepEqual(thawed?.entries.get(2), state.entries.get(2));
});
