// Changes of serialized paths in memory: the second waits for the first pull request, then takes the base in.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SERIAL_CODES } from '../../src/daemon/rules/codes/serial-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { stateView } from '../../src/daemon/view.ts';
import { saying, wordsOf } from '../support/codes.ts';
import { phaseOf, polls, pushed, worldWith } from '../support/serialized-world.ts';
import { commit, type World } from '../support/world.ts';

const asked = (world: World, from: number) =>
  world.tracker.calls.slice(from).filter((call) => call.startsWith('pull '));
const viewOf = (world: World) =>
  stateView({
    ...{ now: world.clock.now(), version: '1', workflow: world.workflow, loadedAt: 0, workflowError: null },
    ...{ pendingRestart: [], state: world.journal.state, statuses: world.orchestrator.statuses },
    ...{
      waiting: world.orchestrator.waiting,
      seen: world.orchestrator.follower.seen,
      follows: world.orchestrator.follower.waits,
      gates: new Set(),
      poll: world.orchestrator.poll,
    },
    ...{ stats: world.tracker.stats, rateLimit: world.tracker.rateLimit, webhook: null },
  });

/** Issue 1 is done with pull request 1000, issue 2 waits. */
async function waiting(world: World): Promise<void> {
  await world.start();
  await polls(world);
  assert.equal(phaseOf(world, 2), 'held_back');
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(pushed(world), ['tool/issue-1 sha-1-1']);
}

test('the second waits without a slot until the first is merged, takes the base in, is measured anew and published', async () => {
  const world = worldWith([1, 2], { gate: { mode: 'report' } });
  await waiting(world);
  world.tracker.open(3);
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(3), ['tool-done'], 'it holds no slot, and what touches nothing passes');
  const view = viewOf(world);
  assert.deepEqual(
    view.queued.map(({ issue_number, reason }) => [issue_number, reason]),
    [[2, wordsOf(SERIAL_CODES.change_awaits_pull_request, { pull_request: 1000, path: 'db/1.sql', glob: 'db/**' })]],
  );
  assert.deepEqual(view.waiting.reasons, { change_awaits_pull_request: 1 });
  assert.equal(view.counts.queued, 1);
  world.tracker.seen.set(1000, { state: 'merged' });
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  const story = world.journal.storyOf(2);
  const order = [
    'touched',
    'released',
    '< take_base:sha-2-1',
    '< gate:sha-2-1-merged',
    'touched',
    '< push:sha-2-1-merged',
  ];
  assert.deepEqual(
    story.filter((line) => order.includes(line)),
    order,
  );
  assert.equal(world.started.filter(({ issue }) => issue === 2).length, 1);
  assert.deepEqual(pushed(world).at(-1), 'tool/issue-2 sha-2-1-merged');
  await world.stop();
});

test('the service is asked about a pull request only while somebody waits for it', async () => {
  const world = worldWith([1]);
  await world.start();
  await polls(world, 3);
  assert.deepEqual(asked(world, 0), []);
  world.tracker.open(2);
  world.workspaces.touches.set(2, ['db/2.sql']);
  await polls(world);
  const { length } = world.tracker.calls;
  await polls(world, 1);
  assert.deepEqual(asked(world, length), ['pull 1000']);
  world.tracker.closedPulls.add(1000);
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  const last = world.tracker.calls.length;
  await polls(world);
  assert.deepEqual(asked(world, last), []);
  await world.stop();
});

test('a delivery that names the pull request wakes the one that waits', async () => {
  const world = worldWith();
  await waiting(world);
  world.tracker.seen.set(1000, { state: 'merged' });
  const looks = { list: false, blockers: false, issues: [], allPulls: false, commits: [] };
  world.orchestrator.looks.deliver('pull_request', { ...looks, pulls: [77] });
  await world.clock.settle();
  assert.equal(phaseOf(world, 2), 'held_back');
  world.orchestrator.looks.deliver('pull_request', { ...looks, pulls: [1000] });
  await world.clock.settle();
  assert.ok(pushed(world).includes('tool/issue-2 sha-2-1-merged'));
  await world.stop();
});

test('the wait survives a new process, which asks again and goes on', async () => {
  const world = worldWith();
  await waiting(world);
  world.kill();
  await world.restart();
  await polls(world);
  assert.equal(phaseOf(world, 2), 'held_back');
  world.tracker.seen.set(1000, { state: 'merged' });
  world.kill();
  await world.restart();
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  await world.stop();
});

test('of two that finish in the same moment exactly one is published', async () => {
  const world = worldWith([1, 2], { agent: { maxConcurrent: 2 } });
  await world.start();
  await polls(world);
  assert.equal(pushed(world).length, 1);
  assert.equal([1, 2].filter((issue) => phaseOf(world, issue) === 'held_back').length, 1);
  await world.stop();
});

test('the most urgent one goes on first, then the oldest', async () => {
  const world = worldWith([1, 2, 3, 4], { agent: { priorityLabels: ['urgent'] } });
  await world.start();
  await polls(world, 4);
  assert.deepEqual(
    [2, 3, 4].map((issue) => phaseOf(world, issue)),
    ['held_back', 'held_back', 'held_back'],
  );
  world.tracker.label(4, 'urgent');
  const order: number[] = [];
  for (let pull = 1000; pull < 1003; pull++) {
    world.tracker.closedPulls.add(pull);
    await polls(world);
    order.push(
      Number(
        pushed(world)
          .at(-1)
          ?.match(/issue-(\d)/)?.[1],
      ),
    );
  }
  assert.deepEqual(order, [4, 2, 3]);
  await world.stop();
});

test('a conflict with the base goes to the same session; solved, it is published', async () => {
  const world = worldWith();
  const prompts: string[] = [];
  await waiting(world);
  const { script } = world;
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    world.workspaces.baseConflicts.delete(2);
    return script(agent);
  };
  world.workspaces.baseConflicts.set(2, ['db/2.sql']);
  world.tracker.seen.set(1000, { state: 'merged' });
  await polls(world, 3);
  assert.match(
    prompts[0] ?? '',
    /the prompt\n\nYour work on the branch tool\/issue-2 [\s\S]*origin\/main[\s\S]*db\/2\.sql/,
  );
  assert.equal(world.started.at(-1)?.resume, 'session-2');
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(pushed(world).at(-1), 'tool/issue-2 sha-2-2-merged');
  await world.stop();
});

test('a conflict that stays ends after follow.max_rounds with the failed label, and lets the next one go', async () => {
  const world = worldWith([1, 2, 3], { follow: { maxRounds: 2 } });
  await world.start();
  await polls(world, 3);
  world.workspaces.baseConflicts.set(2, ['db/2.sql']);
  world.tracker.seen.set(1000, { state: 'merged' });
  await polls(world, 4);
  assert.equal(world.started.filter(({ issue }) => issue === 2).length, 3);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-failed']);
  assert.match(
    world.tracker.comments.find(({ issue }) => issue === 2)?.body ?? '',
    /\(follow\.max_rounds: 2\)[\s\S]*db\/2\.sql/,
  );
  assert.deepEqual(world.tracker.labelsOf(3), ['tool-done']);
  await world.stop();
});

test('while an issue waits, a pause, a cancellation, a retry and a closed issue do what they do elsewhere', async () => {
  const world = worldWith([1, 2, 3, 4, 5]);
  await world.start();
  await polls(world, 5);
  const { steering } = world.orchestrator;
  assert.deepEqual(await steering.steer('pause', 2), { issue: 2, command: 'pause', standing: 'paused' });
  assert.equal((await steering.steer('cancel', 3)).standing, 'cancelling');
  world.tracker.setState(4, 'closed');
  await polls(world);
  assert.deepEqual([world.tracker.labelsOf(3), phaseOf(world, 4)], [[], undefined]);
  assert.equal(
    viewOf(world).queued.find((row) => row.issue_number === 2)?.reason,
    wordsOf(WORK_CODES.issue_paused, {}),
  );
  world.tracker.closedPulls.add(1000);
  await polls(world);
  assert.equal(pushed(world).at(-1), 'tool/issue-5 sha-5-1-merged', 'the paused one is overtaken');
  await steering.steer('resume', 2);
  await polls(world);
  assert.equal(phaseOf(world, 2), 'held_back');
  assert.equal((await steering.steer('retry', 2)).standing, 'handed_in');
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done'], 'without waiting for the other one');
  await world.stop();
});

test('a pull request of an earlier program is found once by its branch', async () => {
  const world = worldWith([2, 3]);
  world.tracker.pulls.push({ number: 900, branch: 'tool/issue-1', title: '', body: '', draft: false });
  world.workspaces.remote.set('tool/issue-1', 'sha-1-1').set('tool/issue-8', 'sha-8-1').set('main', 'sha-1-9');
  world.workspaces.touches.set(1, ['db/1.sql']);
  world.workspaces.touches.set(8, ['db/8.sql']);
  await world.start();
  await polls(world, 3);
  assert.deepEqual([phaseOf(world, 2), phaseOf(world, 3)], ['held_back', 'held_back']);
  assert.deepEqual(
    world.tracker.calls.filter((call) => call.startsWith('find ')),
    ['find tool/issue-1', 'find tool/issue-8'],
  );
  world.tracker.closedPulls.add(900);
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  await world.stop();
});

test('an agent that asks for its pull request gets it after the attempt', async () => {
  const world = worldWith([1]);
  const answers: unknown[] = [];
  const { script } = world;
  world.script = async (agent) => {
    const end = await script(agent);
    const signal = new AbortController().signal;
    answers.push(await agent.ask({ type: 'pull_request', title: 'Its title', body: '' }, signal));
    assert.deepEqual(pushed(world), []);
    return end;
  };
  await world.start();
  await polls(world);
  assert.deepEqual(answers, [{ number: null, url: null, branch: 'tool/issue-1' }]);
  assert.equal(world.tracker.pulls[0]?.title, 'Its title');
  await world.stop();
});

test('a service that does not answer is asked again, and says so once', async () => {
  const world = worldWith();
  await waiting(world);
  world.tracker.fault = (call) => {
    if (call === 'pull 1000') throw new TrackerError('unavailable', saying('tracker', 'away'));
  };
  await polls(world, 3);
  assert.equal(world.lines.filter((line) => line.includes('#1000') && line.includes('away')).length, 1);
  assert.equal(phaseOf(world, 2), 'held_back');
  world.tracker.fault = () => undefined;
  world.tracker.closedPulls.add(1000);
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  await world.stop();
});

test('a followed pull request that conflicts with an older one waits for it and is not called mergeable', async () => {
  const world = worldWith([1, 2], { agent: { serializePaths: [] }, follow: { until: 'green' } });
  world.workspaces.rivals.set('sha-1-1 sha-2-1', ['src/a.ts', 'b', 'c', 'd']);
  await world.start();
  await polls(world, 6);
  const noticed = (issue: number) => world.journal.state.entries.get(issue)?.follow?.noticed;
  assert.deepEqual([noticed(1), noticed(2)], ['merge', null]);
  const waits = 'it takes the base in after pull request #1000, with which it conflicts in src/a.ts, b, c, …';
  assert.equal(viewOf(world).following.find((row) => row.issue_number === 2)?.waits_for, waits);
  assert.equal(world.started.length, 2, 'no round can solve it yet');
  world.tracker.seen.set(1000, { state: 'merged' });
  await polls(world, 1);
  assert.equal(noticed(2), null, 'the service may not have noticed yet');
  world.tracker.seen.set(1001, { conflicts: true });
  world.script = async (agent) => {
    world.tracker.seen.delete(1001);
    return commit(agent);
  };
  await polls(world, 6);
  assert.equal(world.started.filter(({ issue }) => issue === 2).length, 2);
  assert.deepEqual([phaseOf(world, 1), noticed(2)], [undefined, 'merge']);
  assert.equal(world.journal.records.filter((one) => one.type === 'awaits_person').length, 2);
  await world.stop();
});
