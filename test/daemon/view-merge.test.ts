// Views of several coordinators as one.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { PlacedView, StateView } from '../../src/daemon/view.ts';
import { mergedView } from '../../src/daemon/view-merge.ts';
import { FIRST_PAGE } from '../../src/daemon/view-page.ts';
import { viewWith } from '../support/view.ts';

const NONE = { running: [], retrying: [], asking: [], following: [], queued: [], completed: [] };
const OTHER = { address: 'https://two:8888', repositories: ['o/b'], problem: null };
const MANY = { isAlone: false, actsFor: 1 };

function row(repository: string, problem: string | null = null) {
  return { repository, running: 0, queued: 0, last_poll_at: null, budget: null, problem };
}

function placed(change: Partial<StateView>): PlacedView {
  return { view: viewWith({ ...NONE, ...change }), places: NONE };
}

test('sums are of all, times and problems the worst, and settings of the own file', () => {
  const budget = { limit_usd: 10, spent_usd: 0.1, renews_at: '2026-01-02T00:00:00.000Z', waiting: 1 };
  const base = viewWith();
  const poll = { ...base.poll, last_at: '2026-01-01T12:00:00.000Z', last_error: null };
  const own = placed({ repositories: [row('o/a')], budget, slots: 3, poll });
  const late = { ...poll, last_at: '2026-01-01T11:00:00.000Z', last_error: 'o/b: no answer' };
  const other = placed({
    repositories: [row('o/b', 'no answer')],
    budget: { ...budget, spent_usd: 0.2 },
    slots: 5,
    poll: late,
  });
  const all = mergedView(own, [other], [OTHER], FIRST_PAGE, MANY);
  assert.deepEqual(all.budget, budget, 'each has its own');
  assert.equal(all.slots, 8);
  assert.equal(all.counts.completed, 2 * base.counts.completed);
  assert.equal(all.poll.last_at, '2026-01-01T11:00:00.000Z');
  assert.equal(all.poll.last_error, 'o/b: no answer');
  assert.equal(all.repository, '2 repositories');
  assert.deepEqual(all.repositories, [row('o/a'), row('o/b', 'no answer')]);
  assert.deepEqual(all.coordinators, [OTHER]);
});

test('whoever acts for the only repository shows all of it; without others, all is its own', () => {
  const own = placed({ repositories: [row('o/a', 'held')], repository: '1 repository', version: '1' });
  const other = placed({ repository: 'o/a', slots: 7, version: '1' });
  const shown = mergedView(own, [other], [OTHER], FIRST_PAGE, { isAlone: true, actsFor: 0 });
  assert.deepEqual([shown.repository, shown.slots, shown.repositories], ['o/a', 7, undefined]);
  assert.deepEqual(shown.workflow, own.view.workflow);
  const silent = mergedView(own, [], [{ ...OTHER, problem: 'no answer' }], FIRST_PAGE, { isAlone: true, actsFor: 0 });
  assert.deepEqual(silent.repositories, [row('o/a', 'held')]);
  assert.equal(mergedView(own, [], [], FIRST_PAGE, MANY), own.view);
});

test('a list goes on behind the rows of both, in the order of their places', () => {
  const [one, two] = viewWith().completed;
  assert.ok(one !== undefined && two !== undefined);
  const more = { ...viewWith().more, completed: 4 };
  const own: PlacedView = {
    view: viewWith({ ...NONE, completed: [one], more }),
    places: { ...NONE, completed: [[5, 1]] },
  };
  const other: PlacedView = { view: viewWith({ ...NONE, completed: [two] }), places: { ...NONE, completed: [[9, 2]] } };
  const all = mergedView(own, [other], [OTHER], { limit: 2, after: null }, MANY);
  assert.deepEqual(
    all.completed.map(({ issue_number: issue }) => issue),
    [two.issue_number, one.issue_number],
  );
  assert.deepEqual([all.next.completed, all.more.completed], ['completed:5-1', 4]);
});
