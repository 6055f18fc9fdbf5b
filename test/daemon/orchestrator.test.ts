import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../src/base/rules/errors.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { saying } from '../support/codes.ts';
import { commit, hang, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

test('an issue goes from its label to a pull request and the done label, each step once and in order', async () => {
  const world = new World();
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.journal.storyOf(1), [
    'claimed life 1',
    'attempt_started',
    '> workspace:1',
    '< workspace:1',
    '> after_create:1',
    '< after_create:1',
    '> before_run:1',
    '< before_run:1',
    '> agent:1',
    '< agent:1',
    'attempt_ended succeeded publish',
    '> push:sha-1-1',
    '< push:sha-1-1',
    '> pull_request:tool/issue-1',
    '< pull_request:tool/issue-1',
    '> label_add:tool-done',
    '< label_add:tool-done',
    '> label_remove:tool-todo',
    '< label_remove:tool-todo',
    'finished done',
    '> workspace_remove',
    '< workspace_remove',
  ]);
  assert.deepEqual(world.lines, [
    '[poller] found issue #1 "Issue 1" [tool-todo]',
    '[workspace] creating /workspaces/issue-1',
    '[hook] after_create',
    '[hook] before_run',
    '[agent] starting on issue #1 (attempt 1) with scripted',
    '[agent] done, pull request #1000',
    '[poller] issue #1 state changed to tool-done',
  ]);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.tracker.pulls[0]?.body, 'A commit\n\nCloses #1');
  assert.deepEqual(world.workspaces.removed, [1]);
  assert.deepEqual(world.forgotten, [1]);
  await world.stop();
});

test('an idle daemon makes one request a poll, and no other', async () => {
  const world = new World();
  await world.start();
  const before = world.tracker.calls.length;
  await world.pass(10 * MINUTE);
  assert.deepEqual(world.tracker.calls.slice(before), Array(20).fill('list'));
  await world.stop();
});

test('a poll without an answer starts and stops nothing, and says so once', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  world.tracker.unlabel(1, 'tool-todo');
  world.tracker.open(2);
  world.tracker.fault = (call) => {
    if (call === 'list') throw new TrackerError('unavailable', saying('tracker', 'it answered 502 (a page of HTML)'));
  };
  await world.pass(5 * MINUTE);
  assert.equal(world.journal.state.entries.get(1)?.phase, 'running');
  assert.equal(world.started.length, 1);
  assert.equal(world.lines.filter((line) => line.includes('skipped')).length, 1);
  assert.equal(world.orchestrator.poll.lastError, 'it answered 502 (a page of HTML)');
  world.tracker.fault = () => undefined;
  await world.pass(MINUTE);
  assert.equal(world.journal.storyOf(1).at(-1), 'finished label_removed');
  assert.ok(world.lines.includes('[poller] the tracker answers again'));
  await world.stop();
});

test('a limit of the service moves the next poll to its end', async () => {
  const world = new World();
  await world.start();
  const until = world.clock.now() + 20 * MINUTE;
  world.tracker.fault = () => {
    throw new TrackerError('paused', saying('tracker', 'used up'), { retryAt: until });
  };
  await world.pass(31_000);
  const polled = world.tracker.calls.length;
  world.tracker.fault = () => undefined;
  await world.pass(15 * MINUTE);
  assert.equal(world.tracker.calls.length, polled, 'nothing is asked during the pause');
  await world.pass(6 * MINUTE);
  assert.ok(world.tracker.calls.length > polled);
  await world.stop();
});

test('a step of publishing that gets no answer is tried again until it does; the agent is not started again', async () => {
  const world = new World();
  let failures = 0;
  world.tracker.fault = (call) => {
    if (call.startsWith('create') && failures++ < 3)
      throw new TrackerError('unavailable', saying('tracker', 'connection cut'));
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(5 * MINUTE);
  assert.equal(world.started.length, 1);
  assert.equal(world.tracker.pulls.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a pull request that the service refuses for a while is opened later, and no agent is started again', async () => {
  const errors: (string | null)[] = [];
  const world = new World(workflowWith(), {
    renderPrompt: (_, __, { lastError }) => {
      errors.push(lastError);
      return '';
    },
  });
  let refusals = 3;
  world.tracker.fault = (call) => {
    if (call.startsWith('create') && refusals-- > 0)
      throw new TrackerError('refused', saying('tracker', 'it answered 422: No commits'), { status: 422 });
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(errors, [null]);
  assert.equal(world.started.length, 1);
  // Each time the branch is pushed again: it may be gone from the remote.
  assert.equal(world.workspaces.pushed.length, 4);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('once: polls once, finishes what that found, and ends', async () => {
  const world = new World(workflowWith(), { once: true });
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  await world.ended();
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(world.tracker.calls.filter((call) => call === 'list').length, 1);
  await world.stop();
});

test('a daemon that is stopped ends its agents and leaves the issue to the next one, which goes on with the session', async () => {
  const world = new World();
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 's' });
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.stop();
  assert.equal(world.journal.storyOf(1).at(-1), 'attempt_ended interrupted retry');
  world.script = commit;
  await world.restart();
  assert.deepEqual(
    world.started.map(({ attempt, resume }) => `${attempt} ${resume}`),
    ['1 null', '2 s'],
  );
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('an issue keeps the branch of its claim, also for the removal, whatever prefix the file names since', async () => {
  const world = new World();
  world.workspaces.fault = (call) => {
    if (call === 'push') world.workflow = workflowWith({ workspace: { branchPrefix: 'bot/' } });
  };
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.workspaces.removedBranches, ['tool/issue-1']);
  assert.deepEqual(
    world.tracker.pulls.map(({ branch }) => branch),
    ['tool/issue-1'],
  );
  world.tracker.open(2);
  await world.pass(30_000);
  assert.deepEqual(world.workspaces.removedBranches, ['tool/issue-1', 'bot/issue-2']);
  await world.stop();
});

test('a workspace is kept when the file says so', async () => {
  const world = new World(workflowWith({ workspace: { keep: true } }));
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.workspaces.removed, []);
  await world.stop();
});

test('refresh polls at once; a second one before it runs is the same', async () => {
  const world = new World();
  await world.start();
  const polls = () => world.tracker.calls.filter((call) => call === 'list').length;
  const before = polls();
  assert.deepEqual(world.orchestrator.refresh(), { coalesced: false });
  assert.deepEqual(world.orchestrator.refresh(), { coalesced: true });
  await world.clock.settle();
  assert.equal(polls(), before + 1);
  await world.stop();
});

test('an agent may ask about its own issue only', async () => {
  const world = new World();
  const answers: unknown[] = [];
  world.script = async (agent) => {
    const { signal } = new AbortController();
    for (const request of [
      { type: 'show', issue: 2 },
      { type: 'comment', issue: 2, body: 'x' },
      { type: 'done', issue: 2 },
      { type: 'done', issue: 1 },
      { type: 'pull_request', title: 't', body: '' },
    ] as const) {
      answers.push(
        await agent.ask(request, signal).then(
          () => 'answered',
          (error: unknown) => (error instanceof ToolError ? { code: error.code, ...error.values } : error),
        ),
      );
    }
    const shown = await agent.ask({ type: 'show', issue: 1 }, signal);
    assert.equal(shown.title, 'Issue 1');
    return commit(agent);
  };
  world.tracker.open(1);
  world.tracker.open(2, { author: STRANGER });
  await world.start();
  assert.deepEqual(answers, [
    { code: 'wrong_issue', issue: 1, asked: 2 },
    { code: 'wrong_issue', issue: 1, asked: 2 },
    { code: 'wrong_issue', issue: 1, asked: 2 },
    { code: 'nothing_committed', branch: 'tool/issue-1' },
    { code: 'nothing_committed', branch: 'tool/issue-1' },
  ]);
  await world.stop();
});

test('a pull request that the agent asks for is opened at once, with its title and body, and not again at the end', async () => {
  const world = new World();
  world.script = async (agent) => {
    world.workspaces.heads.set(1, 'sha-a');
    const answer = await agent.ask(
      { type: 'pull_request', title: 'My title', body: 'My body, fixes #1' },
      new AbortController().signal,
    );
    assert.equal(answer.number, 1000);
    world.workspaces.heads.set(1, 'sha-b');
    return { ok: true, words: '' };
  };
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.pulls, [
    { number: 1000, branch: 'tool/issue-1', base: 'main', title: 'My title', body: 'My body, fixes #1', draft: false },
  ]);
  assert.deepEqual(
    world.workspaces.pushed,
    ['tool/issue-1 sha-a', 'tool/issue-1 sha-b'],
    'what was committed after that is pushed too',
  );
  await world.stop();
});
