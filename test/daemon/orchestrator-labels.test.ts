import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { wordsOf } from '../support/codes.ts';
import { commit, fail, hang, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

test('an issue that was given up goes on in the same life when its label is put back; the end label goes', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  world.script = commit;
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(
    world.started.map(({ attempt }) => attempt),
    [1, 2],
  );
  assert.equal(world.tracker.pulls[0]?.branch, 'tool/issue-1');
  const story = world.journal.storyOf(1);
  assert.ok(
    story.indexOf('> label_remove:tool-failed') < story.lastIndexOf('attempt_started'),
    'the end label goes before the next attempt',
  );
  await world.stop();
});

test('what is known of the repository is old once for the issues that a listing shows first, and for one that comes back', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1, maxConcurrent: 1 } }));
  world.script = fail;
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-failed']);
  assert.equal(world.workspaces.outdated, 1, 'what came together shares a fetch');
  await world.pass(5 * MINUTE);
  assert.equal(world.workspaces.outdated, 1);
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.equal(world.workspaces.outdated, 2, 'what was pushed before the label was put back is fetched');
  await world.stop();
});

test('an issue that comes back after done is a new life on a branch of its own', async () => {
  const world = new World();
  world.tracker.open(1);
  await world.start();
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(
    world.tracker.pulls.map(({ branch }) => branch),
    ['tool/issue-1', 'tool/issue-1-2'],
  );
  assert.deepEqual(
    world.started.map(({ attempt }) => attempt),
    [1, 1],
  );
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a listing that lags behind the daemon’s own label change starts nothing', async () => {
  const world = new World();
  world.tracker.open(1);
  const stale = await world.tracker.listActive(['tool-todo']);
  await world.start();
  const listActive = world.tracker.listActive.bind(world.tracker);
  world.tracker.listActive = async (labels) => [...(await listActive(labels)), ...stale];
  await world.pass(5 * MINUTE);
  assert.equal(world.started.length, 1);
  await world.stop();
});

test('a label that the daemon took off in the second of the end is no reason to wait, unless it stays', async () => {
  const world = new World();
  world.tracker.open(1);
  const listActive = world.tracker.listActive.bind(world.tracker);
  world.tracker.listActive = async (labels) => {
    const listed = await listActive(labels);
    const issue = await world.tracker.readIssue(1);
    return listed.length > 0 || issue === null ? listed : [{ ...issue, body: '', labels: ['tool-todo'] }];
  };
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  const waiting = () => world.orchestrator.waiting.map(({ why }) => why[0]?.of);
  const said = () => world.lines.filter((line) => line.includes(' waits: ')).length;
  world.orchestrator.refresh();
  await world.pass(500);
  assert.deepEqual([waiting(), said()], [[], 0]);
  await world.pass(2 * MINUTE);
  assert.deepEqual([waiting(), said()], [[WORK_CODES.issue_already_done], 1]);
  await world.stop();
});

test('a closed issue that is reopened with its label still on is a new life', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  world.tracker.setState(1, 'closed');
  await world.pass(MINUTE);
  assert.deepEqual(world.workspaces.removed, [1]);
  world.script = commit;
  world.tracker.setState(1, 'open');
  await world.pass(MINUTE);
  assert.deepEqual(
    world.tracker.pulls.map(({ branch }) => branch),
    ['tool/issue-1-2'],
  );
  await world.stop();
});

test('taking the label off stops the agent; its workspace stays', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  world.tracker.unlabel(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(world.journal.storyOf(1).slice(-2), ['attempt_ended cancelled stop', 'finished label_removed']);
  assert.deepEqual(world.workspaces.removed, []);
  assert.deepEqual(world.tracker.labelsOf(1), []);
  assert.equal(world.tracker.pulls.length, 0);
  await world.stop();
});

test('closing the issue stops the agent and removes its workspace', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  world.tracker.setState(1, 'closed');
  await world.pass(MINUTE);
  assert.deepEqual(world.journal.storyOf(1).slice(-4), [
    'attempt_ended cancelled stop',
    'finished closed',
    '> workspace_remove',
    '< workspace_remove',
  ]);
  assert.deepEqual(world.workspaces.removed, [1]);
  await world.stop();
});

test('a running issue that is missing from one listing is asked about before anything is stopped', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  const listActive = world.tracker.listActive.bind(world.tracker);
  world.tracker.listActive = async (labels) => (await listActive(labels)).filter(() => false);
  await world.pass(31_000);
  assert.ok(world.tracker.calls.includes('read 1'));
  assert.equal(world.journal.state.entries.get(1)?.phase, 'running');
  await world.stop();
});

test('an issue by or labelled by somebody who may not write waits, with one line that says why', async () => {
  const world = new World();
  world.tracker.open(1, { author: STRANGER });
  world.tracker.open(2, { by: STRANGER });
  world.tracker.open(3, { author: { login: 'helper[bot]', type: 'Bot' } });
  world.tracker.writers.add('helper[bot]');
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [3],
  );
  const waits = world.lines.filter((line) => line.includes('waits'));
  assert.deepEqual(waits, [
    `[poller] issue #1 "Issue 1" waits: ${wordsOf(WORK_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' })}`,
    `[poller] issue #2 "Issue 2" waits: ${wordsOf(WORK_CODES.issue_untrusted, { person: 'stranger', role: 'put tool-todo on it' })}`,
  ]);
  assert.deepEqual(
    world.orchestrator.waiting.map(({ issue }) => issue.number),
    [1, 2],
  );
  world.tracker.writers.add('stranger');
  world.orchestrator.refresh();
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('with tracker.trust: anyone the stranger’s issue is taken', async () => {
  const world = new World(workflowWith({ tracker: { trust: 'anyone' } }));
  world.tracker.open(1, { author: STRANGER, by: STRANGER });
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('several active labels mean any of them; all of them go at the end', async () => {
  const world = new World(
    workflowWith({ labels: { active: ['tool-todo', 'urgent'], done: 'tool-done', failed: 'tool-failed' } }),
  );
  world.tracker.open(1, { labels: ['Urgent', 'bug', 'tool-todo'] });
  await world.start();
  assert.deepEqual([...world.tracker.labelsOf(1)].sort(), ['bug', 'tool-done']);
  await world.stop();
});
