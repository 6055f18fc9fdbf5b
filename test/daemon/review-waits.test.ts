// Around a review, in memory: its waits can be ended, people’s words reach the author, its cost counts, and passed work is not lost.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { RunEnd } from '../../src/agents/ports.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import { REVIEW_CODES } from '../../src/daemon/rules/codes/review-codes.ts';
import { saying, wordsLike } from '../support/codes.ts';
import { commit, evidenceOf, type Script, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const FOUND = '{"findings":[{"file":"src/a.ts","line":3,"severity":"high","text":"The sum is wrong"}]}';
const { signal } = new AbortController();

function worldWith(
  change: Parameters<typeof workflowWith>[0] = {},
  options: ConstructorParameters<typeof World>[1] = {},
) {
  const world = new World(workflowWith({ review: { agent: 'team-quality' }, ...change }), options);
  world.tracker.open(1);
  return world;
}

const entryOf = (world: World) => world.journal.state.entries.get(1);

/** The first review runs into a limit of a week, the next ones find nothing. */
function spentQuota(world: World): void {
  const quotaAt = world.clock.now() + 7 * DAY;
  const spent: RunEnd = { ok: false, words: 'Limit reached.', fault: 'runtime', resumable: true, quotaAt };
  world.reviewer = async () => (world.reviews.length === 1 ? spent : { ok: true, words: 'No findings.' });
}

/** Says what each attempt was told; commits in each. */
function listening(world: World): string[] {
  const prompts: string[] = [];
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return commit(agent);
  };
  return prompts;
}

const breaks: Script = async () => ({ ok: false, words: 'It broke.', fault: 'agent', resumable: true });

async function untilDone(world: World): Promise<void> {
  await world.pass(5 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
}

test('a review that waits for a quota goes on after tool retry, without a reviewer, and in a new process', async () => {
  const ways: readonly ((world: World) => Promise<unknown>)[] = [
    async (world) => {
      const steered = await world.orchestrator.steering.steer('retry', 1);
      assert.equal(steered.standing, 'review');
      await world.clock.settle();
      assert.equal(world.reviews.length, 2);
    },
    async (world) => {
      world.workflow = { ...world.workflow, review: { agent: null } };
    },
    async (world) => {
      world.kill();
      await world.restart();
      assert.equal(world.reviews.length, 2);
    },
  ];
  for (const goOn of ways) {
    const world = worldWith();
    spentQuota(world);
    await world.start();
    await world.passDays(1);
    assert.deepEqual([entryOf(world)?.review?.stage, entryOf(world)?.retryAt], ['open', null]);
    await goOn(world);
    await untilDone(world);
  }
});

test('a first review that begins in the pause of its runtime can be woken, too', async () => {
  const world = worldWith({ agent: { maxConcurrent: 2 } });
  world.tracker.open(2);
  spentQuota(world);
  let end: (() => void) | undefined;
  world.script = async (agent) => {
    if (agent.request.issue === 1)
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    return commit(agent);
  };
  await world.start();
  await world.pass(MINUTE);
  end?.();
  await world.passDays(1);
  assert.equal(world.reviews.length, 1);
  assert.match(entryOf(world)?.stepError ?? '', wordsLike(REVIEW_CODES.review_waits_for_quota, { until: /\d{4}-\S+/ }));
  await world.orchestrator.steering.steer('retry', 1);
  await world.pass(MINUTE);
  assert.deepEqual([world.tracker.labelsOf(1), world.tracker.labelsOf(2)], [['tool-done'], ['tool-done']]);
  await world.stop();
});

test('tool retry leaves a review alone that is under way', async () => {
  const world = worldWith();
  let isEnded = false;
  world.reviewer = async (_, hooks) => {
    if (world.reviews.length === 1) return { ok: false, words: 'It broke.', fault: 'agent', resumable: true };
    hooks.signal.addEventListener('abort', () => {
      isEnded = true;
    });
    return new Promise(() => undefined);
  };
  await world.start();
  await world.pass(MINUTE);
  await world.orchestrator.steering.steer('retry', 1);
  await world.clock.settle();
  assert.deepEqual([world.reviews.length, isEnded], [2, false]);
});

test('with --once a review that waits for a quota is left to the next process', async () => {
  const world = worldWith({}, { once: true });
  spentQuota(world);
  await world.start();
  await world.ended();
  assert.deepEqual([entryOf(world)?.phase, entryOf(world)?.head], ['publishing', 'sha-1-1']);
  await world.stop();
});

test('words of people during a review end it, and go to the author before anything is published', async () => {
  const ways: readonly ((world: World) => Promise<unknown>)[] = [
    async (world) => world.tracker.say(1, 'Drop the old column'),
    (world) => world.orchestrator.steering.tell(1, 'Drop the old column'),
  ];
  for (const say of ways) {
    const world = worldWith();
    const prompts = listening(world);
    let ended = 0;
    world.reviewer = (_, hooks) => {
      if (world.reviews.length > 1) return Promise.resolve({ ok: true, words: 'No findings.' });
      return new Promise((resolve) => {
        hooks.signal.addEventListener('abort', () => {
          ended += 1;
          resolve({ ok: false, words: 'ended', fault: 'agent', resumable: true });
        });
      });
    };
    await world.start();
    await world.pass(MINUTE);
    await say(world);
    await world.pass(MINUTE);
    assert.equal(ended, 1);
    assert.match(prompts[1] ?? '', /Drop the old column/);
    await untilDone(world);
    assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-2']);
    assert.equal(world.reviews.length, 2);
  }
});

test('so do words about a change that is held back', async () => {
  const ways: readonly ((world: World) => Promise<unknown>)[] = [
    async (world) => world.tracker.say(2, 'Drop the old column'),
    (world) => world.orchestrator.steering.tell(2, 'Drop the old column'),
  ];
  for (const say of ways) {
    const world = worldWith({ review: { agent: null }, agent: { serializePaths: ['db/**'] } });
    world.tracker.open(2);
    for (const issue of [1, 2]) world.workspaces.touches.set(issue, [`db/${issue}.sql`]);
    const prompts = listening(world);
    await world.start();
    await world.pass(MINUTE);
    const phase = () => world.journal.state.entries.get(2)?.phase;
    assert.equal(phase(), 'held_back');
    await say(world);
    await world.pass(MINUTE);
    assert.match(prompts[2] ?? '', /Drop the old column/);
    assert.deepEqual([phase(), world.workspaces.pushed], ['held_back', ['tool/issue-1 sha-1-1']]);
    world.tracker.seen.set(1000, { state: 'merged' });
    await world.pass(MINUTE);
    assert.equal(world.workspaces.pushed[1], 'tool/issue-2 sha-2-2-merged');
    await world.stop();
  }
});

test('what a review has cost counts although the daemon dies in it, and once', async () => {
  const world = worldWith();
  world.reviewer = async (_, hooks) => {
    const used = (dollars: number) =>
      hooks.onEvent({ type: 'usage', usage: { input_tokens: 0, output_tokens: 0, cost_usd: dollars, turns: 1 } });
    used(2);
    if (world.reviews.length === 1) return new Promise(() => undefined);
    used(3);
    return { ok: true, words: 'No findings.' };
  };
  await world.start();
  await world.pass(MINUTE);
  world.kill();
  assert.equal(world.journal.state.today.cost_usd, 2);
  await world.restart();
  await world.pass(MINUTE);
  const { completed, today, totals } = world.journal.state;
  assert.deepEqual([completed[0]?.spent.cost_usd, today.cost_usd, totals.cost_usd], [5, 5, 5]);
  await world.stop();
});

test('a fix that fails the gate does not cost the reviewed work, which had passed', async () => {
  const world = worldWith({ gate: { mode: 'required', maxRounds: 1 } });
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: sha === 'sha-1-2' });
  world.reviewer = async () => ({ ok: true, words: FOUND });
  await world.start();
  await untilDone(world);
  // Once before the review and once after it.
  assert.deepEqual([world.started.length, world.reviews.length], [4, 1]);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-2']);
  const body = world.tracker.pulls[0]?.body ?? '';
  assert.match(body, /The sum is wrong[\s\S]*gave no answer, since its attempt failed:\n\n```text\n/);
});

test('nor do attempts that fail after such a fix', async () => {
  const world = worldWith({ gate: { mode: 'required' }, agent: { maxAttempts: 1 } });
  world.script = async (agent) => (agent.request.attempt < 3 ? commit(agent) : breaks(agent));
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: sha === 'sha-1-1' });
  world.reviewer = async () => ({ ok: true, words: FOUND });
  await world.start();
  await untilDone(world);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1']);
  assert.match(world.tracker.pulls[0]?.body ?? '', /its attempt failed:\n\n```text\nIt broke\./);
});

test('nor does an answer that cannot begin, nor a question of the author that nobody answers', async () => {
  const unable = worldWith({ agent: { maxAttempts: 1 } });
  unable.reviewer = async () => {
    unable.workspaces.fault = (call) => {
      if (call === 'before_run') throw new ToolError(saying('hook', 'before_run ended with exit code 1'));
    };
    return { ok: true, words: FOUND };
  };
  await unable.start();
  await untilDone(unable);
  assert.deepEqual(unable.workspaces.pushed, ['tool/issue-1 sha-1-1']);

  const asking = worldWith({ follow: { answerTimeoutMs: DAY } });
  asking.reviewer = async () => ({ ok: true, words: FOUND });
  asking.script = async (agent) => {
    if (agent.request.attempt === 2) await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return commit(agent);
  };
  await asking.start();
  await asking.pass(MINUTE);
  assert.equal(entryOf(asking)?.phase, 'asking');
  await asking.passDays(1);
  await untilDone(asking);
  assert.deepEqual(asking.workspaces.pushed, ['tool/issue-1 sha-1-1']);
});
