// Rounds on a pull request that go wrong, or that people take over, in memory.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../src/base/rules/errors.ts';
import type { PullRequestFeed } from '../../src/daemon/ports.ts';
import { FOLLOW_CODES } from '../../src/daemon/rules/codes/follow-codes.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { wordsLike } from '../support/codes.ts';
import { check, followed, PULL, phaseOf, polls, prompts, WRITER, worldWith } from '../support/followed-world.ts';
import { commit, evidenceOf, hang, type World } from '../support/world.ts';

/** Changes a method of the feed. */
function change<K extends keyof PullRequestFeed>(world: World, name: K, method: PullRequestFeed[K]): void {
  Object.assign(world.tracker.feed, { [name]: method });
}

/** Resolves when it is told to. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

function commentsOn(world: World, issue: number): string[] {
  return world.tracker.comments.filter((one) => one.issue === issue).map(({ body }) => body);
}

const RED = { checks: [check('build', 'failed')] };

/** A round whose commit is being measured; `open` lets that end. */
async function measuredRound() {
  const world = worldWith('approved', 3, { gate: { mode: 'report' } });
  await followed(world);
  const { open, opened } = gate();
  world.tracker.seen.set(PULL, RED);
  world.measure = async ({ commit: sha, base }) => {
    await opened;
    return evidenceOf(sha, { base });
  };
  await polls(world, 1);
  return { world, open };
}

test('merged while the checks of a round run: nothing is pushed, and no second pull request is opened', async () => {
  const { world, open } = await measuredRound();
  assert.equal(phaseOf(world), 'publishing');
  world.tracker.closedPulls.add(PULL);
  world.tracker.seen.set(PULL, { state: 'merged' });
  open();
  await polls(world, 2);
  assert.deepEqual([world.workspaces.pushed, world.tracker.pulls.length], [['tool/issue-1 sha-1-1'], 1]);
  assert.deepEqual([phaseOf(world), world.journal.state.counts.done], [undefined, 1]);
  await world.stop();
});

test('an issue that is closed while the checks of a round run is let go', async () => {
  const { world, open } = await measuredRound();
  world.tracker.setState(1, 'closed');
  await polls(world, 1);
  open();
  await polls(world, 1);
  assert.equal(phaseOf(world), undefined);
  assert.equal(world.workspaces.pushed.length, 1);
  await world.stop();
});

test('a round whose attempts fail leaves the issue done, and tells the pull request', async () => {
  const world = worldWith('green', 3, { agent: { maxAttempts: 2 } });
  await followed(world);
  world.tracker.seen.set(PULL, RED);
  world.script = async () => ({ ok: false, words: 'out of ideas', fault: 'agent', resumable: true });
  await polls(world, 20);
  assert.equal(world.started.length, 3);
  assert.equal(phaseOf(world), undefined);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(commentsOn(world, 1), []);
  assert.match(commentsOn(world, PULL).join('\n'), /does not go on[\s\S]*out of ideas/);
  assert.equal(commentsOn(world, PULL).length, 1);
  await world.stop();
});

test('a push that is refused in each attempt of a round leaves the issue done, too', async () => {
  const world = worldWith('green', 3, { agent: { maxAttempts: 2 } });
  await followed(world);
  world.tracker.seen.set(PULL, RED);
  world.workspaces.fault = (call) => {
    if (call === 'push')
      throw failure(WORKSPACES_CODES.branch_has_foreign_commits, { branch: 'tool/issue-1', commit: 'abc' });
  };
  await polls(world, 20);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(commentsOn(world, PULL).length, 1);
  await world.stop();
});

test('an operator cancels a round: the pull request is told, and nothing is left that waits', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.seen.set(PULL, RED);
  world.script = hang;
  await polls(world, 1);
  await world.orchestrator.steering.steer('cancel', 1);
  await polls(world, 3);
  assert.equal(phaseOf(world), undefined);
  assert.deepEqual([world.orchestrator.waiting, world.tracker.labelsOf(1)], [[], ['tool-done']]);
  assert.match(commentsOn(world, PULL).join('\n'), wordsLike(FOLLOW_CODES.follow_cancelled));
  await world.stop();
});

test('a cancellation that comes while a failure is explained holds', async () => {
  const world = worldWith();
  await followed(world);
  const { open, opened } = gate();
  change(world, 'explain', async () => {
    await opened;
    return { step: null, log: '' };
  });
  world.tracker.seen.set(PULL, RED);
  await polls(world, 1);
  await world.orchestrator.steering.steer('cancel', 1);
  open();
  await polls(world, 2);
  assert.equal(world.started.length, 1);
  assert.equal(phaseOf(world), undefined);
  await world.stop();
});

test('a cancelled issue without a round waits for nothing, either', async () => {
  const world = worldWith();
  world.script = hang;
  await world.start();
  await world.pass(1_000);
  await world.orchestrator.steering.steer('cancel', 1);
  await polls(world, 3);
  assert.deepEqual([phaseOf(world), world.orchestrator.waiting], ['parked', []]);
  await world.stop();
});

test('a log that cannot be read holds nothing up, and the agent is told', async () => {
  const world = worldWith();
  const told = prompts(world);
  await followed(world);
  change(world, 'explain', async () => {
    throw new Error('it answered 500');
  });
  world.tracker.seen.set(PULL, { checks: [{ ...check('build', 'failed'), summary: 'two of nine' }] });
  await polls(world, 1);
  assert.match(told[1] ?? '', /"build" failed[\s\S]*two of nine[\s\S]*its log cannot be read: it answered 500/);
  await world.stop();
});

test('a reason that comes back at each poll is logged once', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.fault = (call) => {
    if (call === `pull ${PULL}`) throw new Error('away');
  };
  await polls(world, 5);
  assert.equal(world.timesLogged(FOLLOW_CODES.follow_unreadable, { pull_request: PULL, issue: 1, said: 'away' }), 1);
  await world.stop();
});

test('a service that does not find the pull request once is asked again', async () => {
  const world = worldWith('approved');
  await followed(world);
  const { read } = world.tracker.feed;
  let misses = 2;
  change(world, 'read', async (...args) => {
    misses -= 1;
    return misses >= 0 ? null : read.apply(world.tracker.feed, args);
  });
  await polls(world, 3);
  assert.equal(phaseOf(world), 'following');
  misses = 3;
  await polls(world, 3);
  assert.equal(phaseOf(world), undefined);
  await world.stop();
});

test('a check that begins when another one has ended is waited for', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('lint', 'pending')] });
  await polls(world, 3);
  world.tracker.seen.set(PULL, { checks: [check('lint', 'passed')] });
  await polls(world, 1);
  assert.match(world.orchestrator.follower.waits.get(1) ?? '', /^further checks may begin/);
  world.tracker.seen.set(PULL, { checks: [check('lint', 'passed'), check('test', 'failed')] });
  await polls(world, 1);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('an order to pause ends with the attempt that handed the work in', async () => {
  const world = worldWith('approved');
  world.script = async (agent) => {
    await commit(agent);
    await agent.ask({ type: 'done', issue: 1 }, new AbortController().signal);
    return hang(agent);
  };
  await world.start();
  await world.pass(1_000);
  await world.orchestrator.steering.steer('pause', 1);
  await polls(world, 2);
  assert.equal(phaseOf(world), 'following');
  assert.deepEqual([...world.journal.state.orders], []);
  await world.stop();
});

test('what does not fit into one prompt is told in the next round', async () => {
  const world = worldWith('approved');
  const told = prompts(world);
  await followed(world);
  const threads = Array.from({ length: 25 }, (_, index) => ({
    ...{ id: index + 1, path: 'src/a.ts', line: 3, isResolved: false },
    comments: [{ id: index + 1, author: WRITER, body: `${'words '.repeat(500)}end of ${index + 1}.` }],
  }));
  const checks = Array.from({ length: 5 }, (_, index) => check(`job ${index}`, 'failed'));
  change(world, 'explain', async ({ name }) => ({ step: null, log: `${'x'.repeat(8_000)}\nend of ${name}` }));
  world.tracker.seen.set(PULL, { threads, checks });
  await polls(world, 1);
  world.script = async (agent) => {
    told.push(agent.request.prompt);
    for (const { id } of threads)
      await agent.ask({ type: 'reply', thread: id, body: 'yes' }, new AbortController().signal);
    return commit(agent);
  };
  const early = [...(told[1]?.matchAll(/### Review thread (\d+)/g) ?? [])].map(([, id]) => Number(id));
  world.tracker.seen.set(PULL, { threads: threads.map((one) => ({ ...one, isResolved: early.includes(one.id) })) });
  await polls(world, 2);
  assert.equal(told.length, 3);
  for (const text of told.slice(1)) {
    assert.ok(text.length < 70_000, String(text.length));
    assert.match(text, /Do not open another pull request/);
    // Each fence is closed.
    assert.equal((text.match(/^`{3,}/gm) ?? []).length % 2, 0);
  }
  for (const { name } of checks) assert.ok(told[1]?.includes(`end of ${name}`), name);
  for (const { id } of threads) {
    const rounds = told.slice(1).filter((text) => text.includes(`end of ${id}.`));
    assert.equal(rounds.length, 1, `thread ${id}`);
  }
  await world.stop();
});

test('an agent that says something else in a thread in its second attempt is heard', async () => {
  const world = worldWith('approved', 3, { agent: { maxAttempts: 3 } });
  await followed(world);
  const replies = [['because'], ['because', 'and so']];
  world.script = async (agent) => {
    const { signal } = new AbortController();
    for (const body of replies.shift() ?? []) await agent.ask({ type: 'reply', thread: 7, body }, signal);
    return replies.length > 0 ? { ok: false, words: 'fell over', fault: 'agent', resumable: true } : commit(agent);
  };
  world.tracker.seen.set(PULL, RED);
  await polls(world, 4);
  assert.deepEqual(
    world.tracker.replies.map(({ body }) => body),
    ['because', 'and so'],
  );
  await world.stop();
});

for (const isDescendant of [false, true])
  test(`a push that arrived before its connection was cut is ours (it goes on from the last one: ${isDescendant})`, async () => {
    const world = worldWith('approved');
    await followed(world);
    world.tracker.seen.set(PULL, RED);
    world.workspaces.joins.set('sha-1-1 sha-1-2', isDescendant);
    let tries = 0;
    world.workspaces.push = async ({ branch }, sha) => {
      world.workspaces.pushed.push(`${branch} ${sha}`);
      tries += 1;
      if (tries === 1) throw new Error('the connection was cut');
    };
    await polls(world, 1);
    world.tracker.seen.delete(PULL);
    await polls(world, 2);
    const { phase, follow, pushed } = world.journal.state.entries.get(1) ?? assert.fail();
    assert.deepEqual([tries, phase, follow?.others, pushed], [2, 'following', [], ['sha-1-1', 'sha-1-2']]);
    await world.stop();
  });
