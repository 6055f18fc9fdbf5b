// Changes of serialized paths in memory: troubles with the base, with pull requests and with branches.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../src/base/rules/errors.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { saying } from '../support/codes.ts';
import { phaseOf, polls, pushed, worldWith } from '../support/serialized-world.ts';

test('a base that cannot be taken in counts as a failed attempt, shows its output, and lets the next one go', async () => {
  const written: string[] = [];
  const attemptOutputs = {
    open: (issue: number) => ({
      write: (text: string) => written.push(`${issue}: ${text}`),
      close: () => written.push(`${issue} closed`),
    }),
    forget: async () => undefined,
  };
  const world = worldWith([1, 2, 3], {}, { attemptOutputs });
  await world.start();
  await polls(world, 3);
  const { takeBase } = world.workspaces;
  world.workspaces.takeBase = async (task) => {
    if (task.issue !== 2) return takeBase(task);
    task.output('npm said no');
    const how = 'ended with exit code 1';
    throw failure(WORKSPACES_CODES.workflow_hook_failed, { hook: 'before_run', how, said: 'npm said no' });
  };
  written.length = 0;
  world.tracker.seen.set(1000, { state: 'merged' });
  await polls(world, 6);
  assert.deepEqual(written.slice(0, 3), ['2: --- take_base\n', '2: npm said no', '2 closed']);
  assert.equal(world.started.filter(({ issue }) => issue === 2).length, 3);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-failed']);
  assert.match(world.tracker.comments.find(({ issue }) => issue === 2)?.body ?? '', /npm said no/);
  assert.deepEqual(world.tracker.labelsOf(3), ['tool-done']);
  await world.stop();
});

test('a pull request that was merged while nobody waited is asked for at once', async () => {
  const world = worldWith([1]);
  await world.start();
  await polls(world);
  world.tracker.seen.set(1000, { state: 'merged' });
  world.tracker.open(2);
  world.workspaces.touches.set(2, ['db/2.sql']);
  await polls(world, 1);
  assert.deepEqual(pushed(world).at(-1), 'tool/issue-2 sha-2-1-merged', 'with the base in it');
  assert.deepEqual(
    world.lines.filter((line) => line.includes('issue #2 waits:')),
    [],
  );
  await world.stop();
});

test('an operator who pauses an agent that handed its work in gets the pull request, once', async () => {
  const world = worldWith([1]);
  const { script } = world;
  world.script = async (agent) => {
    const end = await script(agent);
    await agent.ask({ type: 'done', issue: 1 }, new AbortController().signal);
    await world.orchestrator.steering.steer('pause', 1);
    return end;
  };
  let compared = 0;
  world.workspaces.fault = (call) => {
    if (!call.startsWith('diff ')) return;
    compared += 1;
    assert.ok(compared < 9, 'it compares the same commit again and again');
  };
  await world.start();
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.journal.records.filter(({ type }) => type === 'touched').length, 1);
  await world.stop();
});

test('a branch that has no commit in common with the base is named once, and keeps nobody from going on', async () => {
  const world = worldWith([2]);
  world.workspaces.remote.set('tool/issue-7', 'sha-7-1').set('tool/issue-8', 'sha-8-1');
  world.workspaces.fault = (call) => {
    if (call === 'diff sha-7-1') throw failure(WORKSPACES_CODES.history_unrelated, { branch: 'sha-7-1', base: 'main' });
  };
  await world.start();
  await polls(world);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(world.lines.filter((line) => line.includes('tool/issue-7')).length, 1);
  await world.stop();
});

test('an issue whose pull request opened before its paths were serialized does not wait', async () => {
  const world = worldWith([1, 2], { agent: { serializePaths: [] } });
  // It gets its pull request, and then no label.
  world.tracker.fault = (call) => {
    if (call === 'add tool-done 1') throw new TrackerError('refused', saying('tracker', 'no'), { status: 409 });
  };
  await world.start();
  await polls(world, 60);
  assert.deepEqual([phaseOf(world, 1), world.tracker.pulls[0]?.branch], ['parked', 'tool/issue-1']);
  world.tracker.fault = () => undefined;
  world.workflow = worldWith().workflow;
  world.workspaces.remote.set('tool/issue-1', 'sha-1-1').set('tool/issue-2', 'sha-2-1');
  await world.orchestrator.steering.steer('retry', 1);
  await polls(world, 4);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});
