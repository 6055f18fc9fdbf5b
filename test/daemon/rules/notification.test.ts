// Records that people are notified of.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import { type Notification, notificationOf } from '../../../src/daemon/rules/notification.ts';
import { EMPTY_STATE } from '../../../src/daemon/rules/state.ts';
import { wordsLike } from '../../support/codes.ts';
import { commit, fail, World, workflowWith } from '../../support/world.ts';

const MINUTE = 60_000;

test('an issue that fails, one that is done and one that waits for a quota are told, each once', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const quotaAt = world.clock.now() + 60 * MINUTE;
  world.script = async (agent) => {
    if (agent.request.issue === 1) return fail(agent);
    if (agent.request.issue === 2) return commit(agent);
    return { ok: false, words: 'The limit is reached', fault: 'runtime', resumable: true, quotaAt };
  };
  for (const issue of [1, 2, 3]) world.tracker.open(issue);
  await world.start();
  await world.pass(MINUTE);
  await world.stop();
  const told: (Notification | null)[] = [];
  let state = EMPTY_STATE;
  for (const record of world.journal.records) {
    told.push(notificationOf(state, record));
    state = fold(state, record);
  }
  const of = (issue: number) => ({ issue, title: `Issue ${issue}`, url: `https://tracker/${issue}` });
  // The three run beside each other, and any of them may end first.
  const [failed, done, quota, ...more] = told.filter((one) => one !== null).sort((a, b) => a.issue - b.issue);
  assert.deepEqual(failed, { kind: 'failed', ...of(1), reason: 'it broke', pull_request: null });
  const pull = { number: 1000, url: 'https://tracker/pull/1000' };
  assert.deepEqual(done, { kind: 'done', ...of(2), reason: null, pull_request: pull });
  assert.deepEqual(quota, { kind: 'quota', ...of(3), reason: quota?.reason, pull_request: null });
  assert.match(quota?.reason ?? '', /^The limit is reached\. /);
  assert.match(quota?.reason ?? '', wordsLike(WORK_CODES.runtime_quota_spent, { until: /\d{4}-\S+/ }));
  assert.deepEqual(more, []);
});

test('a question is told once, with its words', async () => {
  const world = new World();
  world.script = async (agent) => {
    await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, agent.hooks.signal);
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  await world.stop();
  const told: unknown[] = [];
  let state = EMPTY_STATE;
  for (const record of world.journal.records) {
    const one = notificationOf(state, record);
    if (one !== null) told.push([one.kind, one.issue, one.reason]);
    state = fold(state, record);
  }
  assert.deepEqual(told, [['question', 1, 'Which one?']]);
});
