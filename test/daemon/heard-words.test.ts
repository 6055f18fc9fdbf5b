// Words that reach an agent, and what an answer or a message may start, in memory.

import assert from 'node:assert/strict';
import test from 'node:test';
import { refusal } from '../../src/base/rules/codes.ts';
import { GITHUB_CODES } from '../../src/daemon/rules/codes/github-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { followed, PULL, phaseOf, polls, prompts, review, worldWith } from '../support/followed-world.ts';
import { commit, hang, type Script, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const { signal } = new AbortController();

/** Asks in its first attempt, then commits. */
const asks: Script = async (agent) => {
  if (agent.request.attempt === 1) await agent.ask({ type: 'ask', issue: 1, body: 'Delete the data?' }, signal);
  return commit(agent);
};

/** Works in turns; each waits until it is let go. */
function inTurns(world: World) {
  const told: string[] = [];
  let go: () => void = () => undefined;
  world.script = async (agent) => {
    const ended = hang(agent);
    for (let prompt: string | null = agent.request.prompt; prompt !== null; prompt = await agent.hooks.nextTurn()) {
      told.push(prompt);
      await Promise.race([
        new Promise<void>((resolve) => {
          go = resolve;
        }),
        ended,
      ]);
      if (agent.hooks.signal.aborted) return ended;
      await commit(agent);
    }
    return { ok: true, words: 'done' };
  };
  return { told, go: () => go() };
}

async function asking(change: Parameters<typeof workflowWith>[0] = {}, script: Script = asks): Promise<World> {
  const world = new World(workflowWith(change));
  world.script = script;
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  return world;
}

test('a bot that comments on everything answers no question; one that says /tool does', async () => {
  const world = await asking();
  const bot = { login: 'stale[bot]', type: 'Bot' };
  world.tracker.writers.add(bot.login);
  world.tracker.say(1, 'This issue was marked as stale.', bot);
  await world.pass(5 * MINUTE);
  assert.equal(phaseOf(world), 'asking');
  world.tracker.say(1, '/tool yes', bot);
  await world.pass(5 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a marker that a stranger wrote makes no older comment an answer', async () => {
  const world = new World();
  world.script = asks;
  world.tracker.open(1);
  world.tracker.say(1, 'me too <!-- toolcrew:1-1-comment-question-1 -->', STRANGER);
  world.tracker.say(1, 'Yes, sounds good');
  await world.start();
  await world.pass(5 * MINUTE);
  assert.equal(phaseOf(world), 'asking');
  await world.stop();
});

test('a comment from before the question is no answer to it, though the agent still works', async () => {
  const world = new World();
  const { told, go } = inTurns(world);
  const { script } = world;
  let ask: (() => Promise<unknown>) | undefined;
  world.script = (agent) => {
    ask = () => agent.ask({ type: 'ask', issue: 1, body: 'Drop the old table?' }, signal);
    return script(agent);
  };
  world.tracker.open(1);
  await world.start();
  world.tracker.say(1, 'Yes, I like this idea');
  await world.clock.settle();
  await ask?.();
  await world.pass(MINUTE);
  go();
  await world.pass(MINUTE);
  assert.equal(phaseOf(world), 'asking');
  world.tracker.say(1, 'No, keep it');
  await world.pass(MINUTE);
  assert.match(told.at(-1) ?? '', /Yes, I like this idea[\s\S]*No, keep it/);
  await world.stop();
});

test('a comment that comes after the last poll reaches the agent before its work is published', async () => {
  const world = new World();
  const { told, go } = inTurns(world);
  world.tracker.open(1);
  await world.start();
  await world.pass(5_000);
  world.tracker.say(1, 'Stop, use the other table');
  go();
  await world.clock.settle();
  assert.match(told[1] ?? '', /Stop, use the other table/);
  go();
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a runtime of one turn is told in another attempt, also what came after the last poll', async () => {
  const world = new World();
  const told = prompts(world);
  const { script } = world;
  world.script = async (agent) => {
    if (agent.request.attempt === 1) world.tracker.say(1, 'Use the other table');
    return script(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.equal(world.started.length, 2);
  assert.match(told[1] ?? '', /Use the other table/);
  await world.stop();
});

test('an issue whose money is spent does not go on with answers or messages', async () => {
  const spends: Script = async (agent) => {
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 5, turns: 1, seconds: 1 };
    agent.hooks.onEvent({ type: 'usage', usage });
    await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return { ok: true, words: 'I have asked' };
  };
  const world = await asking({ agent: { maxCostUsd: 1 } }, spends);
  await world.pass(5 * MINUTE);
  assert.equal(world.started.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('an agent that ends badly after it is done fails, with a message pending as without one', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  let go: () => void = () => undefined;
  world.script = async (agent) => {
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    await commit(agent);
    await agent.ask({ type: 'done', issue: 1 }, signal);
    return { ok: false, words: 'it ended with exit code 1', fault: 'agent', resumable: true };
  };
  world.tracker.open(1);
  await world.start();
  await world.orchestrator.steering.tell(1, 'mind the tests');
  for (let attempt = 0; attempt < 5; attempt++) {
    go();
    await world.pass(5 * MINUTE);
  }
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('a question whose label is refused is answered all the same', async () => {
  const world = new World();
  world.script = asks;
  world.tracker.fault = (call) => {
    if (!call.startsWith('add tool-question')) return;
    throw new TrackerError('refused', refusal(GITHUB_CODES.tracker_unavailable, { said: 'no' }), { status: 422 });
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  world.tracker.say(1, 'The red one.');
  await world.pass(60 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a text of an operator does not wait for the next try of the question', async () => {
  const world = new World();
  let isAway = true;
  world.script = asks;
  world.tracker.fault = (call) => {
    if (!isAway || !call.startsWith('comment ')) return;
    const retryAt = world.clock.now() + 60 * MINUTE;
    throw new TrackerError('paused', refusal(GITHUB_CODES.tracker_unavailable, { said: 'limit' }), { retryAt });
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  isAway = false;
  await world.orchestrator.steering.tell(1, 'red');
  await world.pass(MINUTE);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('a question in a round stands on the pull request, and is answered there or on the issue', async () => {
  for (const place of [PULL, 1]) {
    const world = worldWith('approved');
    await followed(world);
    const told = prompts(world);
    const { script } = world;
    world.script = async (agent) => {
      if (agent.request.attempt === 2) await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
      return script(agent);
    };
    world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested')] });
    await polls(world);
    assert.equal(phaseOf(world), 'asking');
    const [question] = world.tracker.comments.filter(({ body }) => body.includes('Which one?'));
    assert.equal(question?.issue, PULL);
    assert.doesNotMatch(question?.body ?? '', /tool-failed/);
    world.tracker.say(place, 'The red one.');
    world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested'), review(2, 'commented')] });
    await polls(world, 3);
    assert.match(told.at(-1) ?? '', /The red one\./);
    assert.equal(phaseOf(world), 'following');
    await world.stop();
  }
});

test('nobody answers a question in a round: the pull request is told, and the issue stays done', async () => {
  const world = worldWith('approved', 3, { follow: { until: 'approved', answerTimeoutMs: 60 * MINUTE } });
  await followed(world);
  world.script = async (agent) => {
    await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return commit(agent);
  };
  world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested')] });
  await polls(world);
  await world.pass(70 * MINUTE);
  assert.equal(phaseOf(world), undefined);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('what was written on the issue while its pull request was followed is no message to a later round', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.say(1, 'Nice, I ship this on Friday');
  await world.pass(60 * MINUTE);
  const { told, go } = inTurns(world);
  world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested')] });
  await polls(world, 3);
  go();
  await world.pass(MINUTE);
  assert.equal(told.length, 1);
  assert.doesNotMatch(told.join('\n'), /Friday/);
  await world.stop();
});
