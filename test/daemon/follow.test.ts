// Pull requests that are followed, in memory: what happens on one goes to the same session, or ends the following.

import assert from 'node:assert/strict';
import test from 'node:test';
import { FOLLOW_CODES } from '../../src/daemon/rules/codes/follow-codes.ts';
import { wordsLike } from '../support/codes.ts';
import {
  awaited,
  check,
  followed,
  PULL,
  phaseOf,
  polls,
  prompts,
  review,
  WRITER,
  worldWith,
} from '../support/followed-world.ts';
import { commit, STRANGER, World, workflowWith } from '../support/world.ts';

test('nothing is followed unless it is asked for', async () => {
  const world = new World();
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  assert.equal(phaseOf(world), undefined);
  assert.ok(!world.tracker.calls.some((call) => call.startsWith('pull ')));
  await world.stop();
});

test('a pull request without checks is followed for a minute, holds no slot, and is then green', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.open(2);
  world.script = commit;
  await polls(world, 1);
  assert.equal(world.started.at(-1)?.issue, 2);
  await polls(world, 4);
  assert.deepEqual([phaseOf(world), awaited(world)], ['following', 'merge']);
  assert.deepEqual(world.workspaces.removed, []);
  world.tracker.closedPulls.add(PULL);
  await polls(world, 2);
  assert.equal(phaseOf(world), undefined);
  assert.deepEqual(world.workspaces.removed, [1]);
  await world.stop();
});

test('a failed check goes to the same session with its log, when all checks have ended or a minute has passed', async () => {
  const world = worldWith();
  const told = prompts(world);
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed'), check('lint', 'pending')] });
  await polls(world, 1);
  assert.equal(world.started.length, 1);
  const { waits, seen } = world.orchestrator.follower;
  assert.equal(waits.get(1), 'checks failed: build; others run: lint');
  const { at, head, ...others } = seen.get(1) ?? assert.fail('the page shows what was read');
  assert.deepEqual([at > 0, head.length > 0], [true, true]);
  assert.deepEqual(others, {
    state: 'open',
    conflicts: false,
    merge: 'clean',
    draft: false,
    checks: [
      { name: 'build', state: 'failed', url: 'https://ci/build' },
      { name: 'lint', state: 'pending', url: 'https://ci/lint' },
    ],
    reviews: [],
    openThreads: 0,
  });
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed'), check('lint', 'passed')] });
  await polls(world, 1);
  assert.deepEqual(
    world.started.map(({ attempt, resume }) => [attempt, resume]),
    [
      [1, null],
      [2, 'one'],
    ],
  );
  assert.match(told[1] ?? '', /The check "build" failed in its step "step of build"[\s\S]*log of build/);
  assert.doesNotMatch(told[1] ?? '', /"lint"/);
  world.tracker.seen.set(PULL, { checks: [check('build', 'passed'), check('lint', 'passed')] });
  await polls(world);
  assert.equal(awaited(world), 'merge');
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1', 'tool/issue-1 sha-1-2']);
  assert.equal(world.tracker.pulls.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a failed check does not wait for one that runs for long', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('lint', 'failed'), check('deploy', 'pending')] });
  await polls(world, 1);
  world.tracker.seen.set(PULL, {
    checks: [check('lint', 'failed'), check('build', 'failed'), check('deploy', 'pending')],
  });
  await polls(world, 1);
  assert.equal(world.started.length, 1);
  const told = prompts(world);
  await polls(world, 1);
  assert.equal(world.started.length, 2);
  assert.match(told[0] ?? '', /"lint" failed[\s\S]*"build" failed/);
  await world.stop();
});

test('the same failure of the same commit stops with one comment on the pull request', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  world.script = async () => ({ ok: true, words: 'nothing to mend' });
  await polls(world, 4);
  assert.equal(world.started.length, 2);
  assert.equal(phaseOf(world), undefined);
  const comments = world.tracker.comments.filter(({ issue }) => issue === PULL);
  assert.equal(comments.length, 1);
  assert.match(comments[0]?.body ?? '', /left it as it is: check build failed/);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a check that never passes stops after the last round', async () => {
  const world = worldWith('green', 2);
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  await polls(world, 8);
  assert.equal(world.started.length, 3);
  assert.match(world.tracker.comments.find(({ issue }) => issue === PULL)?.body ?? '', /gone on 2 times/);
  await world.stop();
});

test('a review that asks for changes goes to the session once, and its author is asked to look again', async () => {
  const world = worldWith('approved');
  const told = prompts(world);
  await followed(world);
  const thread = {
    id: 7,
    path: 'src/a.ts',
    line: 3,
    isResolved: false,
    comments: [{ id: 7, author: WRITER, body: 'why?' }],
  };
  world.script = async (agent) => {
    told.push(agent.request.prompt);
    await agent.ask({ type: 'reply', thread: 7, body: 'because' }, new AbortController().signal);
    return commit(agent);
  };
  world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested')], threads: [thread] });
  await polls(world, 4);
  assert.equal(world.started.length, 2);
  assert.match(
    told[1] ?? '',
    /writer asked for changes[\s\S]*words of review 1[\s\S]*Review thread 7 on src\/a\.ts, line 3/,
  );
  assert.deepEqual(world.tracker.asked, ['writer']);
  assert.equal(world.orchestrator.follower.waits.get(1), 'writer asked for changes and has not looked again');
  world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested'), review(2, 'approved')] });
  await polls(world, 2);
  assert.equal(awaited(world), 'merge');
  await world.stop();
});

test('an agent answers in a thread, once for the same words', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.script = async (agent) => {
    const { signal } = new AbortController();
    await agent.ask({ type: 'reply', thread: 7, body: 'because' }, signal);
    return commit(agent);
  };
  world.tracker.seen.set(PULL, { reviews: [review(1, 'changes_requested')] });
  await polls(world, 2);
  assert.deepEqual(
    world.tracker.replies.map(({ thread, body }) => [thread, body]),
    [[7, 'because']],
  );
  await world.stop();
});

test('words of a stranger, and our own, start nothing', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.seen.set(PULL, {
    reviews: [review(1, 'changes_requested', STRANGER)],
    threads: [{ id: 7, path: 'a', line: 1, isResolved: false, comments: [{ id: 7, author: STRANGER, body: 'x' }] }],
    comments: [
      { id: 8, author: STRANGER, body: '/tool rewrite it' },
      { id: 9, author: WRITER, body: 'we said /tool\n\n<!-- toolcrew:1-1-c -->' },
      { id: 10, author: WRITER, body: 'no word to the agent' },
      { id: 11, author: { login: 'daemon', type: 'Bot' }, body: '/tool of an App that we are' },
    ],
  });
  await polls(world, 3);
  assert.equal(world.started.length, 1);
  assert.equal(phaseOf(world), 'following');
  await world.stop();
});

test('a comment to the agent and a conflict go on with the work', async () => {
  const world = worldWith();
  const told = prompts(world);
  await followed(world);
  world.tracker.seen.set(PULL, { conflicts: true, comments: [{ id: 8, author: WRITER, body: '/tool use a map' }] });
  await polls(world, 1);
  assert.match(told[1] ?? '', /The branch conflicts with main[\s\S]*writer wrote to you[\s\S]*use a map/);
  await world.stop();
});

test('a pull request that is merged or closed is not followed any more', async () => {
  for (const seen of [{ state: 'merged' }, { state: 'closed' }] as const) {
    const world = worldWith('approved');
    await followed(world);
    // A later version of the issue than the one that was done.
    world.tracker.touch(1);
    await polls(world, 1);
    world.tracker.seen.set(PULL, seen);
    await polls(world, 1);
    assert.equal(phaseOf(world), undefined);
    assert.equal(world.started.length, 1);
    assert.deepEqual(world.orchestrator.waiting, []);
    assert.ok(!world.lines.some((line) => line.includes('no active label')), world.lines.join('\n'));
    await world.stop();
  }
});

test('a pull request that is closed while its agent works ends the attempt, and no other one is opened', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  world.script = ({ hooks }) =>
    new Promise((resolve) => {
      hooks.signal.addEventListener('abort', () =>
        resolve({ ok: false, words: 'ended', fault: 'agent', resumable: true }),
      );
    });
  await polls(world, 1);
  assert.equal(phaseOf(world), 'running');
  world.tracker.seen.set(PULL, { state: 'closed' });
  await polls(world, 2);
  assert.equal(phaseOf(world), undefined);
  assert.equal(world.tracker.pulls.length, 1);
  await world.stop();
});

test('what happens while the daemon is dead is found at the next poll', async () => {
  const world = worldWith();
  await followed(world);
  world.kill();
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  await world.restart();
  await polls(world, 1);
  assert.deepEqual(
    world.started.slice(0, 2).map(({ resume }) => resume),
    [null, 'one'],
  );
  await world.stop();
});

test('a daemon that polls once waits until a red check stands, and goes on with it', async () => {
  const world = new World(workflowWith({ follow: { until: 'green' } }), { once: true });
  world.tracker.open(1);
  await world.start();
  await world.ended();
  assert.equal(phaseOf(world), 'following');
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  await world.restart();
  await world.pass(3_000);
  await world.ended();
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('the label put on again ends the following, and the issue is taken up anew', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.label(1, 'tool-todo');
  await polls(world, 3);
  assert.deepEqual(
    world.journal.records.flatMap((record) => (record.type === 'claimed' ? [record.life] : [])),
    [1, 2],
  );
  await world.stop();
});

test('an issue that is closed is not followed any more, and its workspace goes', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.setState(1, 'closed');
  await polls(world, 2);
  assert.equal(phaseOf(world), undefined);
  assert.deepEqual(world.workspaces.removed, [1]);
  await world.stop();
});

test('a pull request that cannot be read is read again, and says so', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.fault = (call) => {
    if (call === `pull ${PULL}`) throw new Error('away');
  };
  await polls(world, 3);
  assert.equal(phaseOf(world), 'following');
  assert.equal(world.orchestrator.follower.waits.get(1), 'it could not be read: away');
  world.tracker.fault = () => undefined;
  await polls(world, 1);
  assert.equal(awaited(world), 'merge');
  await world.stop();
});

test('an operator cancels the following: the pull request is told, and the issue stays done', async () => {
  const world = worldWith('approved');
  await followed(world);
  await world.orchestrator.steering.steer('cancel', 1);
  await polls(world, 1);
  assert.equal(phaseOf(world), undefined);
  assert.match(
    world.tracker.comments.find(({ issue }) => issue === PULL)?.body ?? '',
    wordsLike(FOLLOW_CODES.follow_cancelled),
  );
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});
