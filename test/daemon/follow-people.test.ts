// Followed pull requests that wait for people, or to which people push, in memory.

import assert from 'node:assert/strict';
import test from 'node:test';
import { FOLLOW_CODES } from '../../src/daemon/rules/codes/follow-codes.ts';
import { notificationOf } from '../../src/daemon/rules/notification.ts';
import { EMPTY_STATE } from '../../src/daemon/rules/state.ts';
import { wordsLike } from '../support/codes.ts';
import {
  awaited,
  check,
  followed,
  notices,
  PULL,
  phaseOf,
  polls,
  prompts,
  review,
  WRITER,
  worldWith,
} from '../support/followed-world.ts';
import { commit, STRANGER, type World } from '../support/world.ts';

const GREEN = { checks: [check('build', 'passed')] };
const RED = { checks: [check('build', 'failed')] };
const FIRST = 'sha-1-1';

function commentsOn(world: World, issue: number): string[] {
  return world.tracker.comments.filter((one) => one.issue === issue).map(({ body }) => body);
}

const thread = {
  ...{ id: 7, path: 'src/a.ts', line: 3, isResolved: false },
  comments: [{ id: 7, author: WRITER, body: 'rename x' }],
};

test('people are told once for what a pull request waits, and that it can be merged only when it can', async () => {
  for (const [seen, until, expected] of [
    [GREEN, 'green', ['mergeable', null]],
    [{ ...GREEN, draft: true, merge: 'blocked' }, 'approved', ['attention', 'it is ready, and still a draft']],
    [{ ...GREEN, merge: 'blocked' }, 'approved', null],
    [{ ...GREEN, merge: 'blocked' }, 'green', ['attention', /want more.*nobody has approved it/]],
    [{ ...GREEN, merge: 'unstable' }, 'green', null],
    [{ checks: [check('build', 'waiting')] }, 'green', ['attention', /lets them run: build/]],
    [{ unread: ['Checks'] }, 'green', ['attention', /lacks the permission "Checks: read"/]],
    [{ ...GREEN, unread: ['Commit statuses'] }, 'approved', ['attention', /"Commit statuses: read"/]],
  ] as const) {
    const world = worldWith(until);
    await followed(world);
    const reviews = expected === null || until === 'green' ? [] : [review(1, 'approved')];
    world.tracker.seen.set(PULL, { ...seen, reviews });
    const told = notices(world);
    await polls(world, 5);
    assert.equal(phaseOf(world), 'following');
    assert.equal(told.length, expected === null ? 0 : 1, JSON.stringify([seen, told]));
    const [kind, reason] = told[0] ?? [null, null];
    assert.equal(kind, expected?.[0] ?? null);
    if (expected?.[1] instanceof RegExp) assert.match(reason ?? '', expected[1]);
    else assert.equal(reason, expected?.[1] ?? null);
    await world.stop();
  }
  assert.equal(notificationOf(EMPTY_STATE, { type: 'finished', issue: 1, outcome: 'done', updated_at: '' }), null);
});

test('people are told when the daemon stops', async () => {
  const world = worldWith('green', 0);
  await followed(world);
  world.tracker.seen.set(PULL, RED);
  const told = notices(world);
  await polls(world, 3);
  assert.deepEqual(
    told.map(([kind]) => kind),
    ['stopped'],
  );
  await world.stop();
});

test('checks that cannot be read are warned of once, and reviews are followed all the same', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.seen.set(PULL, { unread: ['Checks'] });
  await polls(world, 4);
  assert.equal(world.lines.filter((line) => /warn.*not every check can be read/.test(line)).length, 1);
  assert.match(world.orchestrator.follower.waits.get(1) ?? '', /"Checks: read"/);
  world.tracker.seen.set(PULL, { unread: ['Checks'], reviews: [review(1, 'changes_requested')] });
  await polls(world, 1);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('one that can be merged stays followed: a conflict starts a round, and people are told anew after it', async () => {
  const world = worldWith();
  await followed(world);
  const told = notices(world);
  world.tracker.seen.set(PULL, GREEN);
  await polls(world, 2);
  world.tracker.seen.set(PULL, { ...GREEN, conflicts: true });
  await polls(world, 1);
  assert.equal(world.started.length, 2);
  world.tracker.seen.set(PULL, GREEN);
  await polls(world, 3);
  assert.deepEqual(
    told.map(([kind]) => kind),
    ['mergeable', 'mergeable'],
  );
  await world.stop();
});

test('one that is behind its base takes it in without an agent and without a round', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.seen.set(PULL, { ...GREEN, merge: 'behind' });
  await polls(world, 2);
  world.tracker.seen.set(PULL, GREEN);
  await polls(world, 2);
  assert.deepEqual(world.workspaces.pushed, [`tool/issue-1 ${FIRST}`, `tool/issue-1 ${FIRST}-merged`]);
  const { follow } = world.journal.state.entries.get(1) ?? assert.fail();
  assert.deepEqual([world.started.length, follow?.rounds, follow?.noticed], [1, 0, 'merge']);
  await world.stop();
});

test('one that stays behind though the base is in it goes to the agent, and then stops', async () => {
  const world = worldWith();
  await followed(world);
  world.workspaces.takeBase = async () => ({ head: FIRST, conflicts: [] });
  world.script = async () => ({ ok: true, words: 'nothing to do' });
  world.tracker.seen.set(PULL, { ...GREEN, merge: 'behind' });
  await polls(world, 8);
  assert.equal(world.started.length, 2);
  assert.match(commentsOn(world, PULL).join(), /it is behind its base/);
  await world.stop();
});

test('commits of others that go on from ours stay, and the agent of the next round is told', async () => {
  const world = worldWith();
  const told = prompts(world);
  await followed(world);
  world.workspaces.joins.set(`${FIRST} theirs`, true);
  world.tracker.seen.set(PULL, { ...RED, head: 'theirs' });
  await polls(world, 2);
  assert.equal(world.started.length, 2);
  assert.match(told[1] ?? '', /Others pushed to it since your last commit[\s\S]*"build" failed/);
  // What we push goes on from theirs.
  world.tracker.seen.set(PULL, GREEN);
  await polls(world, 2);
  const { follow, pushed } = world.journal.state.entries.get(1) ?? assert.fail();
  assert.deepEqual([follow?.others, follow?.tip, pushed], [['theirs'], null, [FIRST, 'sha-1-2']]);
  assert.equal(awaited(world), 'merge');
  await world.stop();
});

test('a branch that somebody rewrote is theirs: one comment and one notice', async () => {
  const world = worldWith('approved');
  await followed(world);
  const told = notices(world);
  world.workspaces.joins.set(`${FIRST} theirs`, false);
  world.tracker.seen.set(PULL, { ...RED, head: 'theirs' });
  await polls(world, 2);
  assert.deepEqual([phaseOf(world), world.started.length], [undefined, 1]);
  assert.deepEqual(
    told.map(([kind]) => kind),
    ['stopped'],
  );
  assert.equal(commentsOn(world, PULL).length, 1);
  assert.match(commentsOn(world, PULL)[0] ?? '', wordsLike(FOLLOW_CODES.branch_rewritten, { commit: 'theirs' }));
  await world.stop();
});

test('a commit that the remote does not show yet is waited for', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.seen.set(PULL, { head: 'theirs' });
  await polls(world, 2);
  assert.equal(phaseOf(world), 'following');
  assert.match(world.orchestrator.follower.waits.get(1) ?? '', /others pushed to it/);
  await world.stop();
});

/** Others push while the agent of a round works. */
async function pushedMeanwhile(joins: boolean): Promise<World> {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.seen.set(PULL, RED);
  let end: () => void = () => undefined;
  world.script = async (agent) => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return commit(agent);
  };
  await polls(world, 1);
  world.workspaces.joins.set(`${FIRST} theirs`, joins);
  world.tracker.seen.set(PULL, { ...RED, head: 'theirs' });
  await polls(world, 1);
  assert.equal(phaseOf(world), 'running');
  end();
  await world.pass(1_000);
  return world;
}

test('others push while the agent works: its work takes theirs in before it is pushed', async () => {
  const world = await pushedMeanwhile(true);
  assert.deepEqual(world.workspaces.pushed.slice(1), ['tool/issue-1 sha-1-2-merged']);
  world.tracker.seen.set(PULL, GREEN);
  await polls(world, 1);
  assert.equal(phaseOf(world), 'following');
  await world.stop();
});

test('others rewrite the branch while the agent works: nothing of the round is pushed, and the pull request is told', async () => {
  const world = await pushedMeanwhile(false);
  await polls(world, 1);
  assert.deepEqual([phaseOf(world), world.workspaces.pushed.length], [undefined, 1]);
  assert.match(commentsOn(world, PULL).join(), wordsLike(FOLLOW_CODES.branch_rewritten, { commit: 'theirs' }));
  await world.stop();
});

test('a thread that the agent does not answer is told once more, then people are told that it is open', async () => {
  const world = worldWith();
  const told = prompts(world);
  await followed(world);
  const notes = notices(world);
  world.tracker.seen.set(PULL, { ...GREEN, threads: [thread] });
  await polls(world, 6);
  assert.equal(told.length, 3);
  assert.match(told[2] ?? '', /Review thread 7[\s\S]*You were told of it before/);
  assert.deepEqual(notes, [['mergeable', '1 review thread is open: src/a.ts']]);
  assert.match(world.orchestrator.follower.waits.get(1) ?? '', /open: src\/a\.ts/);
  await world.stop();
});

test('a stranger with our marker answers no thread', async () => {
  const world = worldWith();
  const told = prompts(world);
  await followed(world);
  const copied = { id: 8, author: STRANGER, body: 'Done. <!-- toolcrew:1-1-reply -->' };
  world.tracker.seen.set(PULL, { ...GREEN, threads: [{ ...thread, comments: [...thread.comments, copied] }] });
  await polls(world, 1);
  assert.match(told[1] ?? '', /rename x/);
  await world.stop();
});

test('/tool reaches the agent in a plain review and on the issue; that of a stranger, and one from before, do not', async () => {
  const world = worldWith('approved');
  const told = prompts(world);
  await followed(world);
  const early = new Date(world.clock.now() - 3_600_000).toISOString();
  const issue = [
    { id: 3, author: WRITER, body: '/tool from before the claim', createdAt: early },
    { id: 4, author: STRANGER, body: '/tool from a stranger' },
    { id: 5, author: WRITER, body: 'a word between people' },
  ];
  world.tracker.seen.set(1, { comments: issue });
  await polls(world, 2);
  assert.equal(told.length, 1);
  world.tracker.seen.set(1, { comments: [...issue, { id: 6, author: WRITER, body: '/tool use a map' }] });
  await polls(world, 1);
  assert.match(told[1] ?? '', /use a map/);
  world.tracker.seen.set(PULL, { reviews: [{ ...review(9, 'commented'), body: '/tool rename x' }] });
  await polls(world, 2);
  assert.match(told[2] ?? '', /rename x/);
  assert.equal(told.length, 3);
  assert.doesNotMatch(told.join(), /stranger|before the claim|between people/);
  await world.stop();
});

test('of five hundred comments, the one to the agent starts one round with a short prompt', async () => {
  const world = worldWith('approved');
  const told = prompts(world);
  await followed(world);
  const comments = Array.from({ length: 500 }, (_, id) => ({
    id,
    author: WRITER,
    body: `comment ${id} ${'x'.repeat(1_000)}`,
  }));
  world.tracker.seen.set(PULL, { comments: [...comments, { id: 500, author: WRITER, body: '/tool rename x' }] });
  await polls(world, 3);
  assert.equal(told.length, 2);
  assert.ok((told[1] ?? '').length < 2_000, String(told[1]?.length));
  world.tracker.seen.set(PULL, {
    comments: comments.map((one) => ({ ...one, id: 1_000 + one.id, body: `/tool ${one.body}` })),
  });
  await polls(world, 2);
  assert.ok(told.slice(2).length <= 2 && told.slice(2).every(({ length }) => length < 70_000));
  await world.stop();
});

test('a check that is red, then green, then red again on one commit starts one round', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.script = async () => ({ ok: true, words: 'it is flaky' });
  for (const seen of [RED, GREEN, RED]) {
    world.tracker.seen.set(PULL, seen);
    await polls(world, 2);
  }
  assert.equal(world.started.length, 2);
  assert.match(commentsOn(world, PULL).join(), /left it as it is: check build failed/);
  await world.stop();
});

test('an older pull request that conflicts is closed: the younger one can be merged', async () => {
  const world = worldWith();
  await followed(world);
  world.tracker.seen.set(PULL, { reviews: [] });
  world.tracker.open(2);
  world.script = commit;
  world.workspaces.rivals.set(`${FIRST} sha-2-1`, ['a.txt']);
  const younger = () => world.journal.state.entries.get(2);
  await polls(world, 5);
  assert.match(world.orchestrator.follower.waits.get(2) ?? '', /after pull request #1000/);
  assert.notEqual(younger()?.follow?.noticed, 'merge');
  world.tracker.closedPulls.add(PULL);
  await polls(world, 4);
  assert.equal(phaseOf(world), undefined);
  assert.equal(younger()?.follow?.noticed, 'merge');
  await world.stop();
});

test('an answer on a followed pull request reaches its agent with the delivery', async () => {
  const world = worldWith('approved');
  await followed(world);
  world.tracker.seen.set(PULL, RED);
  world.script = async (agent) => {
    await agent.ask({ type: 'ask', issue: 1, body: 'Which way?' }, new AbortController().signal);
    return { ok: true, words: 'it asks' };
  };
  await polls(world, 2);
  world.script = commit;
  assert.equal(phaseOf(world), 'asking');
  world.tracker.say(PULL, 'This way.');
  world.tracker.seen.set(PULL, { ...RED, reviews: [review(1, 'commented')] });
  world.orchestrator.looks.deliver('issue_comment', {
    ...{ list: false, blockers: false, issues: [], pulls: [PULL], allPulls: false, commits: [] },
  });
  await world.pass(1_000);
  assert.equal(world.started.length, 3);
  await world.stop();
});
