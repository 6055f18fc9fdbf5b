// Questions of agents, in memory: the issue waits without a slot, and an answer goes on with the same session.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { failsWith, wordsLike } from '../support/codes.ts';
import { commit, hang, type Script, STRANGER, World, WRITER, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const { signal } = new AbortController();

/** Asks in the first attempt at issue 1, and commits in each. */
const asks: Script = async (agent) => {
  const { request, hooks, ask } = agent;
  hooks.onEvent({ type: 'session', sessionId: 'one' });
  if (request.issue === 1 && request.attempt === 1) await ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
  return commit(agent);
};

/** A world in which issue 1 waits for an answer, with the prompts of all attempts. */
async function asked(change: Parameters<typeof workflowWith>[0] = {}): Promise<{ world: World; prompts: string[] }> {
  const world = new World(workflowWith(change));
  const prompts: string[] = [];
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return asks(agent);
  };
  world.tracker.open(1);
  await world.start();
  assert.equal(phaseOf(world), 'asking');
  return { world, prompts };
}

function phaseOf(world: World): string | undefined {
  return world.journal.state.entries.get(1)?.phase;
}

const readings = (world: World) => world.tracker.calls.filter((call) => call === 'comments of 1').length;

test('a question is posted once, holds no slot and publishes nothing, also after a restart', async () => {
  const { world } = await asked();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-todo', 'tool-question']);
  assert.equal(world.tracker.comments.length, 1);
  assert.match(
    world.tracker.comments[0]?.body ?? '',
    /Which one\?[\s\S]*within 14 days, it gets the label `tool-failed`/,
  );
  world.tracker.open(2);
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  world.kill();
  await world.restart();
  await world.passDays(7);
  assert.equal(phaseOf(world), 'asking');
  assert.equal(world.tracker.comments.length, 1);
  assert.deepEqual(
    world.workspaces.pushed.filter((line) => line.startsWith('tool/issue-1 ')),
    [],
  );
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('answers go to the same session, all of those that came, and the label comes off', async () => {
  const { world, prompts } = await asked();
  world.tracker.say(1, 'Take ``` mine', STRANGER);
  await world.pass(MINUTE);
  assert.equal(phaseOf(world), 'asking');
  world.tracker.say(1, 'The red one.');
  world.tracker.say(1, '/tool And quickly ```\nplease', { login: 'helper', type: 'Bot' });
  world.tracker.writers.add('helper');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(
    world.started.map(({ attempt, resume }) => [attempt, resume]),
    [
      [1, null],
      [2, 'one'],
    ],
  );
  assert.match(
    prompts[1] ?? '',
    /writer answered[\s\S]*Which one\?[\s\S]*The red one\.[\s\S]*helper answered\n\n````text/,
  );
  assert.doesNotMatch(prompts[1] ?? '', /mine/);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-2']);
  assert.deepEqual(world.journal.state.messages, new Map());
  await world.stop();
});

test('while nobody writes, comments are read twice at most; one in the second of a reading is found', async () => {
  const { world } = await asked();
  await world.pass(DAY);
  assert.equal(readings(world), 2);
  world.tracker.touch(1);
  await world.pass(30_000);
  // The version stays the same.
  const version = world.tracker.issues.get(1)?.updatedAt ?? '';
  world.tracker.say(1, 'The red one.');
  Object.assign(world.tracker.issues.get(1) ?? {}, { updatedAt: version });
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a second question of an attempt is refused, the same one again is not; nothing is handed in beside it', async () => {
  const world = new World();
  world.script = async (agent) => {
    const { ask } = agent;
    await commit(agent);
    await ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    await ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    await failsWith(ask({ type: 'ask', issue: 1, body: 'And when?' }, signal), WORK_CODES.question_limit);
    await failsWith(ask({ type: 'done', issue: 1 }, signal), WORK_CODES.question_open);
    const request = { type: 'pull_request', title: 't', body: 'b' } as const;
    await failsWith(ask(request, signal), WORK_CODES.question_open);
    assert.equal(await agent.hooks.nextTurn(), null);
    return { ok: true, words: 'I wait' };
  };
  world.tracker.open(1);
  await world.start();
  assert.equal(phaseOf(world), 'asking');
  assert.equal(world.tracker.comments.length, 1);
  assert.equal(world.tracker.pulls.length, 0);
  await world.stop();
});

test('a question that cannot be posted at once follows when the attempt has ended', async () => {
  const world = new World();
  world.script = asks;
  world.tracker.open(1);
  world.tracker.fault = (call) => {
    if (call === 'comment 1' || call.startsWith('add ')) throw new Error('away');
  };
  await world.start();
  assert.equal(phaseOf(world), 'asking');
  assert.equal(world.tracker.comments.length, 0);
  world.tracker.fault = () => undefined;
  await world.pass(10 * MINUTE);
  assert.equal(world.tracker.comments.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-todo', 'tool-question']);
  world.tracker.say(1, 'The red one.');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a daemon that dies while its agent asks posts the question once and waits', async () => {
  const world = new World();
  world.script = async (agent) => {
    await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  assert.equal(phaseOf(world), 'running');
  world.kill();
  await world.restart();
  await world.pass(MINUTE);
  assert.deepEqual([phaseOf(world), world.started.length, world.tracker.comments.length], ['asking', 1, 1]);
  assert.equal(world.journal.state.entries.get(1)?.failures, 0);
  await world.stop();
});

test('nobody answers: one comment, the failed label, the work is kept; the clock of the record counts over a restart', async () => {
  const { world } = await asked({ follow: { answerTimeoutMs: 2 * DAY } });
  await world.passDays(1);
  await world.stop();
  await world.restart();
  await world.pass(DAY - MINUTE);
  assert.equal(phaseOf(world), 'asking');
  await world.pass(2 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.equal(world.tracker.comments.length, 2);
  assert.match(world.tracker.comments[1]?.body ?? '', wordsLike(WORK_CODES.question_unanswered, { time: '2 days' }));
  assert.deepEqual(world.workspaces.removed, []);
  assert.equal(world.journal.state.entries.get(1)?.finished?.outcome, 'failed');
  world.tracker.say(1, 'The red one.');
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.started.at(-1)?.resume, 'one');
  await world.stop();
});

test('an answer that came while the daemon was down counts, however late it is read', async () => {
  const { world } = await asked({ follow: { answerTimeoutMs: DAY } });
  await world.stop();
  world.tracker.say(1, 'The red one.');
  world.clock.set(3 * DAY);
  await world.restart();
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('without a timeout the question waits for ever', async () => {
  const { world } = await asked({ follow: { answerTimeoutMs: 0 } });
  assert.doesNotMatch(world.tracker.comments[0]?.body ?? '', /Without an answer/);
  world.clock.set(400 * DAY);
  await world.pass(MINUTE);
  assert.equal(phaseOf(world), 'asking');
  await world.stop();
});

test('whoever closes the issue, or takes its active label off, ends the wait; the question label comes off', async () => {
  for (const outcome of ['closed', 'label_removed'] as const) {
    const { world } = await asked();
    if (outcome === 'closed') world.tracker.setState(1, 'closed');
    else world.tracker.unlabel(1, 'tool-todo');
    await world.pass(MINUTE);
    assert.deepEqual(world.tracker.labelsOf(1), outcome === 'closed' ? ['tool-todo'] : []);
    assert.deepEqual(world.workspaces.removed, outcome === 'closed' ? [1] : []);
    assert.equal(world.journal.state.completed.at(-1)?.outcome, outcome);
    await world.stop();
  }
});

test('a label that cannot be taken off keeps no issue from its end', async () => {
  const { world } = await asked();
  world.tracker.fault = (call) => {
    if (call.startsWith('remove ')) throw new Error('away');
  };
  world.tracker.setState(1, 'closed');
  await world.pass(MINUTE);
  assert.equal(phaseOf(world), undefined);
  assert.ok(world.lines.some((line) => line.includes('the label of its question could not be taken off: away')));
  await world.stop();
});

test('the question label taken off by hand changes nothing', async () => {
  const { world } = await asked();
  world.tracker.unlabel(1, 'tool-question');
  await world.pass(MINUTE);
  assert.equal(phaseOf(world), 'asking');
  world.tracker.say(1, 'The red one.');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('an operator pauses, resumes, cancels and retries an issue that waits for an answer', async () => {
  const { world } = await asked();
  const { steering } = world.orchestrator;
  assert.equal((await steering.steer('pause', 1)).standing, 'paused');
  world.tracker.say(1, 'The red one.');
  await world.pass(MINUTE);
  assert.deepEqual([phaseOf(world), world.started.length, world.tracker.labelsOf(1)], ['retrying', 1, ['tool-todo']]);
  await steering.steer('resume', 1);
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();

  const cancelled = await asked();
  await cancelled.world.orchestrator.steering.steer('cancel', 1);
  await cancelled.world.pass(MINUTE);
  assert.deepEqual(cancelled.world.tracker.labelsOf(1), []);
  assert.equal(cancelled.world.journal.state.entries.get(1)?.finished?.outcome, 'label_removed');
  await cancelled.world.stop();

  const retried = await asked();
  await retried.world.orchestrator.steering.steer('retry', 1);
  await retried.world.pass(MINUTE);
  assert.deepEqual(retried.world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(retried.world.started.length, 2);
  await retried.world.stop();
});

test('a question in a round of a followed pull request waits as well', async () => {
  const world = new World(workflowWith({ follow: { until: 'approved' } }));
  world.script = commit;
  world.tracker.open(1);
  await world.start();
  await world.pass(30_000);
  assert.equal(phaseOf(world), 'following');
  world.script = async (agent) => {
    if (agent.request.attempt === 2) await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return commit(agent);
  };
  const review = { id: 1, verdict: 'changes_requested', author: WRITER, body: 'change it' } as const;
  world.tracker.seen.set(1000, { reviews: [review] });
  await world.pass(MINUTE);
  assert.deepEqual([phaseOf(world), world.tracker.labelsOf(1)], ['asking', ['tool-done', 'tool-question']]);
  world.tracker.say(1, 'The red one.');
  await world.pass(MINUTE);
  assert.deepEqual([phaseOf(world), world.tracker.labelsOf(1)], ['following', ['tool-done']]);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1', 'tool/issue-1 sha-1-3']);
  await world.stop();
});
