// The budget of a day: what is used of it survives a restart, is shown ahead, and says until when issues wait for it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { standingWords } from '../../src/daemon/rules/issue-standing.ts';
import { stateView } from '../../src/daemon/view.ts';
import { budgetView } from '../../src/daemon/view-budget.ts';
import { isRefusal } from '../support/codes.ts';
import { commit, type Script, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const costing =
  (usd: number): Script =>
  async (agent) => {
    agent.hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd: usd, turns: 1 } });
    return commit(agent);
  };

const viewOf = (world: World) =>
  stateView({
    now: world.clock.now(),
    version: '',
    workflow: world.workflow,
    loadedAt: 0,
    workflowError: null,
    pendingRestart: [],
    state: world.journal.state,
    statuses: world.orchestrator.statuses,
    waiting: world.orchestrator.waiting,
    follows: new Map(),
    seen: new Map(),
    gates: new Set(),
    poll: world.orchestrator.poll,
    stats: world.tracker.stats,
    rateLimit: world.tracker.rateLimit,
    webhook: null,
  });

const midnightAfter = (at: number) => new Date((Math.floor(at / DAY) + 1) * DAY).toISOString();

test('what is used of the day survives a restart, and the view says until when an issue waits', async () => {
  const world = new World(workflowWith({ agent: { maxCostPerDayUsd: 2 } }));
  world.script = costing(2.5);
  const until = midnightAfter(world.clock.now());
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.deepEqual(viewOf(world).budget, { limit_usd: 2, spent_usd: 2.5, renews_at: until, waiting: 0 });
  await world.stop();
  await world.restart();
  world.tracker.open(2);
  await world.pass(10 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-todo']);
  isRefusal(world.orchestrator.waiting[0]?.why[0], WORK_CODES.day_budget_spent, { limit: 2, until });
  const { budget, queued } = viewOf(world);
  assert.deepEqual([budget?.spent_usd, budget?.waiting, budget?.renews_at], [2.5, 1, until]);
  assert.ok(queued[0]?.reason.includes(until));
  await world.pass(DAY);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(viewOf(world).budget?.waiting, 0);
  await world.stop();
});

test('an attempt that is due and waits for the budget says so, and not when it was due', async () => {
  const world = new World(workflowWith({ agent: { maxCostPerDayUsd: 1 } }));
  const until = midnightAfter(world.clock.now());
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd: 1, turns: 1 } });
    return { ok: false, words: 'it broke', fault: 'agent', resumable: true };
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(10 * MINUTE);
  const [row] = viewOf(world).retrying;
  assert.equal(world.started.length, 1);
  assert.ok(row?.waits_for?.includes(until), row?.waits_for ?? 'nothing');
  assert.equal(viewOf(world).budget?.waiting, 1);
  const none = { queued: null, asking: null, following: null, running: null };
  assert.equal(standingWords({ ...none, retrying: row ?? null }), `the next attempt waits: ${row?.waits_for}`);
  const due = { due_at: until, waits_for: null };
  assert.equal(standingWords({ ...none, retrying: due }), `the next attempt is due at ${until}`);
  await world.stop();
});

test('without a limit there is no budget', async () => {
  const world = new World();
  assert.equal(viewOf(world).budget, null);
  assert.equal(budgetView(null, [], 0), null);
  assert.equal(budgetView(1, [], DAY - 1)?.renews_at, new Date(DAY).toISOString());
  assert.equal(budgetView(1, [], DAY)?.renews_at, new Date(2 * DAY).toISOString());
});
