// The review of finished work in memory: a second agent reads it before it is pushed, and its findings go to the author once.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { RunEnd } from '../../src/agents/ports.ts';
import { refusal } from '../../src/base/rules/codes.ts';
import { decodeRecord, decodeState } from '../../src/daemon/journal/journal-decoder.ts';
import { REVIEW_CODES } from '../../src/daemon/rules/codes/review-codes.ts';
import { standingWords } from '../../src/daemon/rules/issue-standing.ts';
import { freezeState } from '../../src/daemon/rules/snapshot.ts';
import { runningRow } from '../../src/daemon/view-rows.ts';
import { wordsLike } from '../support/codes.ts';
import { followed, worldWith as followedWorld, PULL, polls } from '../support/followed-world.ts';
import { commit, evidenceOf, hang, type Script, World, workflowWith } from '../support/world.ts';

const FOUND = '{"findings":[{"file":"src/a.ts","line":3,"severity":"high","text":"The sum is wrong"}]}';

function worldWith(
  change: Parameters<typeof workflowWith>[0] = {},
  options: ConstructorParameters<typeof World>[1] = {},
) {
  const world = new World(workflowWith({ review: { agent: 'team-quality' }, ...change }), options);
  world.tracker.open(1);
  return world;
}

async function untilLabelled(world: World, label: string): Promise<void> {
  await world.start();
  await world.pass(5 * 60_000);
  assert.deepEqual(world.tracker.labelsOf(1), [label]);
}

const says = (words: string) => async (): Promise<RunEnd> => ({ ok: true, words });

const breaks = async (): Promise<RunEnd> => ({ ok: false, words: 'It broke.', fault: 'agent', resumable: true });

/** Says in each attempt what the agent was told beside its prompt. */
function listening(world: World, told: string[]): Script {
  return async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 'one' });
    told.push(agent.request.prompt);
    await commit(agent);
    return { ok: true, words: world.started.length === 1 ? 'done' : 'The sum is right, see the test.' };
  };
}

test('without a reviewer nothing is reviewed', async () => {
  const world = worldWith({ review: { agent: null } });
  await untilLabelled(world, 'tool-done');
  assert.equal(world.reviews.length, 0);
  assert.doesNotMatch(world.tracker.pulls[0]?.body ?? '', /Review/);
  await world.stop();
});

test('a reviewer reads the measured commit against the issue before it is pushed, in a session of its own', async () => {
  const world = worldWith({ gate: { mode: 'report' } });
  await untilLabelled(world, 'tool-done');
  const order = ['gate:sha-1-1', 'review:sha-1-1', 'push:sha-1-1', 'pull_request:tool/issue-1'];
  assert.deepEqual(
    world.journal.storyOf(1).filter((line) => order.some((key) => line === `< ${key}`)),
    order.map((key) => `< ${key}`),
  );
  const [request] = world.reviews;
  assert.deepEqual(
    [request?.role?.text, request?.resume, request?.env.TOOL_REVIEW, request?.env.TOOL_SOCKET],
    ['You are team-quality.', null, 'team-quality', undefined],
  );
  assert.match(request?.prompt ?? '', /Issue 1\n\na body[\s\S]*M work\.txt[\s\S]*```diff\n\+sha-1-1\n```/);
  assert.equal(world.started.length, 1);
  const body = world.tracker.pulls[0]?.body ?? '';
  assert.match(
    body,
    /### Checks[\s\S]*### Review\n\nThe agent team-quality read commit sha-1-1 against the issue and has no findings\./,
  );
  await world.stop();
});

test('findings go to the author once, in the same session; the pull request shows them with the answer', async () => {
  const world = worldWith({ gate: { mode: 'report' } });
  const told: string[] = [];
  world.script = listening(world, told);
  world.reviewer = says(`Here they are: ${FOUND}`);
  await untilLabelled(world, 'tool-done');
  assert.deepEqual(
    world.started.map(({ attempt, resume }) => [attempt, resume]),
    [
      [1, null],
      [2, 'one'],
    ],
  );
  assert.equal(told[0], 'the prompt');
  assert.match(told[1] ?? '', /```text\n1\. \(high\) src\/a\.ts:3: The sum is wrong\n```/);
  assert.equal(world.reviews.length, 1);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-2']);
  const measured = world.journal.storyOf(1).filter((line) => line.startsWith('< gate:'));
  assert.deepEqual(measured, ['< gate:sha-1-1', '< gate:sha-1-2']);
  const body = world.tracker.pulls[0]?.body ?? '';
  assert.match(
    body,
    /1\. \(high\) src\/a\.ts:3: The sum is wrong[\s\S]*The author answers:\n\n```text\nThe sum is right, see the test\./,
  );
  await world.stop();
});

test('a pull request that the author asks for waits for the review, and keeps its title', async () => {
  const world = worldWith();
  world.script = async (agent) => {
    await commit(agent);
    if (agent.request.attempt > 1) return { ok: true, words: 'done' };
    const signal = new AbortController().signal;
    const answer = await agent.ask({ type: 'pull_request', title: 'Mine', body: 'Words' }, signal);
    assert.equal(answer.number, null);
    return { ok: true, words: 'done' };
  };
  world.reviewer = says(FOUND);
  await untilLabelled(world, 'tool-done');
  assert.equal(world.tracker.pulls[0]?.title, 'Mine');
  await world.stop();
});

test('work that fails a required gate goes back before anybody reviews it', async () => {
  const world = worldWith({ gate: { mode: 'required' } });
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: sha.endsWith('-2') });
  await untilLabelled(world, 'tool-done');
  assert.equal(world.reviews.length, 1);
  assert.match(world.reviews[0]?.prompt ?? '', /sha-1-2/);
  await world.stop();
});

test('a review that fails is tried once more, and then left out with its reason', async () => {
  const world = worldWith();
  world.reviewer = async () => (world.reviews.length === 1 ? breaks() : says('No findings.')());
  await untilLabelled(world, 'tool-done');
  assert.equal(world.reviews.length, 2);
  assert.match(world.tracker.pulls[0]?.body ?? '', /has no findings/);
  await world.stop();

  const other = worldWith();
  other.reviewer = breaks;
  await untilLabelled(other, 'tool-done');
  assert.equal(other.reviews.length, 2);
  assert.equal(other.started.length, 1);
  assert.match(
    other.tracker.pulls[0]?.body ?? '',
    /team-quality did not review commit sha-1-1:\n\n```text\nIt broke\./,
  );
  await other.stop();
});

test('a reviewer that is silent for too long is ended, and counts as failed', async () => {
  const world = worldWith({ tool: { stallTimeoutMs: 60_000 } });
  world.reviewer = (_, hooks) =>
    new Promise((resolve) => {
      hooks.signal.addEventListener('abort', () => resolve(breaks()), { once: true });
    });
  await untilLabelled(world, 'tool-done');
  assert.equal(world.reviews.length, 2);
  assert.match(world.tracker.pulls[0]?.body ?? '', /did not review[\s\S]*60 s/);
  await world.stop();
});

test('an agent of an unknown name reviews nothing', async () => {
  const readRole = async () => refusal(REVIEW_CODES.review_agent_unknown, { agent: 'nobody', known: ['jarvis'] });
  const world = worldWith({ review: { agent: 'nobody' } }, { readRole });
  await untilLabelled(world, 'tool-done');
  assert.match(
    world.tracker.pulls[0]?.body ?? '',
    wordsLike(REVIEW_CODES.review_agent_unknown, { agent: 'nobody', known: ['jarvis'] }),
  );
  await world.stop();
});

test('a used-up quota holds the review, which counts for nothing, and all attempts of the runtime', async () => {
  const world = worldWith();
  const quotaAt = world.clock.now() + 3_600_000;
  const spent: RunEnd = { ok: false, words: 'Limit reached.', fault: 'runtime', resumable: true, quotaAt };
  world.reviewer = async () => (world.reviews.length === 1 ? spent : { ok: true, words: 'No findings.' });
  await world.start();
  await world.pass(60_000);
  world.tracker.open(2);
  await world.pass(1_800_000);
  assert.deepEqual([world.reviews.length, world.started.length, world.tracker.pulls.length], [1, 1, 0]);
  const entry = world.journal.state.entries.get(1) ?? assert.fail();
  const running = runningRow('o/r', entry, undefined, world.workflow.labels, new Set());
  assert.equal(running.phase, 'review_waits');
  const none = { queued: null, asking: null, following: null, retrying: null };
  assert.match(
    standingWords({ ...none, running }) ?? '',
    /^the review of attempt 1 waits: .*waits for the quota of its runtime until 2026/,
  );
  await world.pass(3_600_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(world.journal.state.entries.size, 0);
  await world.stop();
});

test('a review holds a slot, and comes before the next issue', async () => {
  const world = worldWith();
  world.tracker.open(2);
  let end: () => void = () => undefined;
  world.reviewer = () =>
    new Promise((resolve) => {
      end = () => resolve({ ok: true, words: 'No findings.' });
    });
  await world.start();
  await world.pass(60_000);
  // The slot of the first attempt went to the second issue; the review has the next one.
  assert.equal(world.reviews.length, 1);
  const before = world.started.length;
  world.tracker.open(3);
  await world.pass(60_000);
  assert.equal(world.started.length, before);
  const rows = [...world.journal.state.entries.values()].map((entry) =>
    runningRow('o/r', entry, world.orchestrator.statuses.get(entry.number), world.workflow.labels, new Set()),
  );
  assert.deepEqual(
    rows.filter(({ phase }) => phase === 'review').map(({ issue_number: issue }) => issue),
    [1],
  );
  for (let round = 0; round < 3; round++) {
    end();
    await world.pass(60_000);
  }
  assert.equal(world.mostAtOnce, 1);
  assert.equal(world.tracker.pulls.length, 3);
  await world.stop();
});

test('its cost counts; where the limit of the issue is reached, the author does not get the findings', async () => {
  const world = worldWith({ agent: { maxCostUsd: 2 } });
  world.reviewer = async (request, hooks) => {
    assert.equal(request.budgetUsd, 2);
    hooks.onEvent({ type: 'usage', usage: { input_tokens: 10, output_tokens: 5, cost_usd: 2.5, turns: 1 } });
    return { ok: true, words: FOUND };
  };
  await untilLabelled(world, 'tool-done');
  assert.equal(world.started.length, 1);
  const [done] = world.journal.state.completed;
  assert.deepEqual([done?.spent.cost_usd, world.journal.state.today.cost_usd], [2.5, 2.5]);
  assert.match(world.tracker.pulls[0]?.body ?? '', /The sum is wrong[\s\S]*did not get the findings:[\s\S]*2\.5 USD/);
  await world.stop();
});

test('where the budget of the day is used up, the work is published, and the pull request says why nobody reviewed it', async () => {
  const world = worldWith({ agent: { maxCostPerDayUsd: 1 } });
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd: 1.5, turns: 1 } });
    return commit(agent);
  };
  await untilLabelled(world, 'tool-done');
  assert.equal(world.reviews.length, 0);
  assert.match(
    world.tracker.pulls[0]?.body ?? '',
    /### Review[\s\S]*did not review commit sha-1-1:[\s\S]*daily limit of 1 USD is reached/,
  );
  await world.stop();
});

test('an author that fails on the findings loses nothing: the reviewed commit is published', async () => {
  const world = worldWith({ agent: { maxAttempts: 1 } });
  world.script = async (agent) => {
    if (agent.request.attempt === 1) return commit(agent);
    world.workspaces.heads.set(1, 'sha-half');
    return breaks();
  };
  world.reviewer = says(FOUND);
  await untilLabelled(world, 'tool-done');
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1']);
  assert.match(world.tracker.pulls[0]?.body ?? '', /gave no answer, since its attempt failed:\n\n```text\nIt broke\./);
  await world.stop();
});

test('after a death in the review it is made anew; after one with the author nothing is reviewed or sent twice', async () => {
  const world = worldWith();
  const told: string[] = [];
  world.script = listening(world, told);
  world.reviewer = () => new Promise(() => undefined);
  await world.start();
  assert.equal(world.reviews.length, 1);
  world.kill();
  world.reviewer = says(FOUND);
  world.script = () => new Promise(() => undefined);
  await world.restart();
  assert.deepEqual([world.reviews.length, world.started.length], [2, 2]);
  world.kill();
  world.script = listening(world, told);
  await world.restart();
  await world.pass(5 * 60_000);
  assert.equal(world.reviews.length, 2);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(told.filter((prompt) => prompt.includes('The sum is wrong')).length, 1);
  assert.equal(world.journal.records.filter(({ type }) => type === 'reviewed').length, 1);
  await world.stop();
});

test('a workspace that a reviewer changed is put back, and the log says so', async () => {
  const world = worldWith();
  let isPutBack = false;
  world.workspaces.putBack = async () => {
    isPutBack = true;
    return true;
  };
  await untilLabelled(world, 'tool-done');
  assert.equal(isPutBack, true);
  const said = /^warn: \[agent\] Issue #1: the reviewer changed the workspace/;
  assert.equal(world.lines.filter((line) => said.test(line)).length, 1);
  await world.stop();
});

test('what is recorded of a review is read back from the journal, and from its snapshot', async () => {
  const world = worldWith();
  world.reviewer = async () => (world.reviews.length === 1 ? breaks() : says(FOUND)());
  world.script = async (agent) => (agent.request.attempt === 1 ? commit(agent) : hang(agent));
  await world.start();
  await world.pass(60_000);
  const { records, state } = world.journal;
  for (const record of records) {
    const { v: _, id: __, at: ___, ...bare } = record;
    assert.deepEqual(decodeRecord(JSON.parse(JSON.stringify(record))), bare);
  }
  assert.equal(records.filter(({ type }) => type === 'reviewed').length, 2);
  assert.equal(state.entries.get(1)?.review?.stage, 'sent');
  assert.deepEqual(decodeState(JSON.parse(JSON.stringify(freezeState(state))))?.entries, state.entries);
  await world.stop();
});

test('a cancelled issue ends its review', async () => {
  const world = worldWith();
  let isEnded = false;
  world.reviewer = (_, hooks) =>
    new Promise((resolve) => {
      hooks.signal.addEventListener('abort', () => {
        isEnded = true;
        resolve({ ok: false, words: 'ended', fault: 'agent', resumable: true });
      });
    });
  await world.start();
  await world.orchestrator.steering.steer('cancel', 1);
  await world.pass(60_000);
  assert.equal(isEnded, true);
  assert.deepEqual(world.tracker.labelsOf(1), []);
  assert.equal(world.tracker.pulls.length, 0);
  await world.stop();
});

test('in a round on its pull request the work is not reviewed', async () => {
  const world = followedWorld('green', 3, { review: { agent: 'team-quality' } });
  await followed(world);
  world.tracker.seen.set(PULL, { conflicts: true });
  await polls(world, 1);
  assert.equal(world.started.length, 2);
  assert.equal(world.reviews.length, 1);
  assert.match(world.tracker.pulls[0]?.body ?? '', /### Review/);
  await world.stop();
});
