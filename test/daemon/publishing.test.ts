// Every issue whose attempts are over comes to an end, the right one, and once.
// Over 400 lines: one promise, with a case for each refusal of the service.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure, ToolError } from '../../src/base/rules/errors.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { stateView } from '../../src/daemon/view.ts';
import { textDashboard } from '../../src/web/dashboard.ts';
import { page } from '../../src/web/page.ts';
import { saying } from '../support/codes.ts';
import { commit, fail, hang, type Script, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const { signal } = new AbortController();

/** Opens a pull request in the middle of the work, then goes on. */
const openThen =
  (then: Script): Script =>
  async (agent) => {
    const { issue, attempt } = agent.request;
    agent.world.workspaces.heads.set(issue, `early-${attempt}`);
    await agent.ask({ type: 'pull_request', title: 't', body: 'b' }, signal);
    return then(agent);
  };

/** What page and API show of it. */
function shownOf({ orchestrator, workflow, clock, journal, tracker }: World) {
  return stateView({
    now: clock.now(),
    version: '',
    workflow,
    loadedAt: 0,
    workflowError: null,
    pendingRestart: [],
    state: journal.state,
    statuses: orchestrator.statuses,
    waiting: orchestrator.waiting,
    follows: new Map(),
    gates: new Set(),
    seen: new Map(),
    poll: orchestrator.poll,
    stats: tracker.stats,
    rateLimit: tracker.rateLimit,
    webhook: null,
  });
}

function refuse(status: number): never {
  throw new TrackerError('refused', saying('tracker', `it answered ${status}`), { status });
}

test('a push that is refused while a pull request is open goes back to the agent, and then the issue is given up', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  world.script = openThen(commit);
  let pushes = 0;
  world.workspaces.fault = (call) => {
    if (call === 'push' && pushes++ % 2 === 1)
      throw failure(WORKSPACES_CODES.push_rejected, { said: 'the branch has other commits' });
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(
    world.journal.storyOf(1).filter((line) => /attempt_|publish|finished/.test(line)),
    [
      'attempt_started',
      'attempt_ended succeeded publish',
      'publish_failed',
      'attempt_started',
      'attempt_ended succeeded publish',
      'publish_failed',
      'finished failed',
    ],
  );
  assert.match(world.tracker.comments[0]?.body ?? '', /the branch has other commits/);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('a branch that appears in the way of the issue’s is waited for and named; no agent is asked about it', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.workspaces.fault = (call) => {
    if (call === 'push')
      throw failure(WORKSPACES_CODES.issue_branch_blocked, { blocking: 'tool', branch: 'tool/issue-1' });
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(3 * HOUR);
  assert.equal(world.journal.state.entries.get(1)?.phase, 'publishing');
  assert.ok(world.lines.some((line) => /branch tool .* Rename tool\. .*workspace\.branch_prefix/.test(line)));
  world.workspaces.fault = () => undefined;
  await world.pass(10 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.started.length, 1);
  await world.stop();
});

const TURNED_AWAY: readonly (readonly [string, () => TrackerError])[] = [
  ['expires', () => new TrackerError('unauthorized', saying('tracker', 'it answered 401'))],
  [
    'lacks a permission',
    () => new TrackerError('refused', saying('tracker', 'it answered 403: SAML enforcement'), { status: 403 }),
  ],
];

for (const [what, answer] of TURNED_AWAY)
  for (const call of ['find', 'create', 'add', 'remove', 'comment']) {
    test(`a token that ${what} before ${call} is waited for, also by the next daemon, and said once`, async () => {
      const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
      let isRefused = true;
      world.tracker.fault = (asked) => {
        if (isRefused && asked.startsWith(call)) throw answer();
      };
      if (call === 'comment') world.script = fail;
      world.tracker.open(1);
      await world.start();
      await world.pass(3 * HOUR);
      const warned = () => world.lines.filter((line) => line.includes('tried again in')).length;
      assert.equal(warned(), 1);
      assert.equal(shownOf(world).running[0]?.last_error, answer().message);
      world.kill();
      await world.restart();
      await world.pass(3 * HOUR);
      assert.equal(warned(), 2);
      const asked = () => world.tracker.calls.filter((one) => one.startsWith(call)).length;
      const before = asked();
      await world.pass(HOUR);
      assert.ok(asked() - before >= 10 && asked() - before <= 15, `${asked() - before} times in an hour`);
      assert.ok(world.tracker.labelsOf(1).includes('tool-todo'));
      isRefused = false;
      await world.pass(10 * MINUTE);
      assert.deepEqual(world.tracker.labelsOf(1), [call === 'comment' ? 'tool-failed' : 'tool-done']);
      assert.equal(world.tracker.pulls.length, call === 'comment' ? 0 : 1);
      assert.equal(world.started.length, 1);
      await world.stop();
    });
  }

for (const call of ['push', 'create', 'add', 'comment'])
  test(`a repository that the token cannot see any more from ${call} on is waited for, also by the next daemon`, async () => {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    if (call === 'comment') world.script = fail;
    let isHidden = false;
    let wasHidden = false;
    const hide = (asked: string) => {
      if (asked.startsWith(call) && !wasHidden) isHidden = wasHidden = true;
      if (isHidden && !asked.startsWith('push')) refuse(404);
    };
    world.tracker.fault = hide;
    world.workspaces.fault = (asked) => {
      if (asked === 'push') hide(asked);
      if (isHidden && asked === 'push') throw new ToolError(saying('git', 'repository not found'));
    };
    const readIssue = world.tracker.readIssue.bind(world.tracker);
    world.tracker.readIssue = (issue) => (isHidden ? Promise.resolve(null) : readIssue(issue));
    world.tracker.open(1);
    await world.start();
    await world.pass(3 * HOUR);
    assert.ok(isHidden);
    world.kill();
    await world.restart();
    await world.pass(3 * HOUR);
    isHidden = false;
    await world.pass(10 * MINUTE);
    assert.deepEqual(world.tracker.labelsOf(1), [call === 'comment' ? 'tool-failed' : 'tool-done']);
    assert.equal(world.tracker.pulls.length, call === 'comment' ? 0 : 1);
    assert.equal(world.tracker.comments.length, call === 'comment' ? 1 : 0);
    assert.equal(world.started.length, 1);
    await world.stop();
  });

test('page and text say that the token was turned away, not what the agent said last', async () => {
  const world = new World();
  world.script = (agent) => {
    agent.hooks.onEvent({ type: 'message', text: 'All is written.' });
    return commit(agent);
  };
  world.tracker.fault = (call) => {
    if (call.startsWith('create'))
      throw new TrackerError('unauthorized', saying('tracker', 'it turned the credential away (401)'));
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(HOUR);
  const view = shownOf(world);
  const words = 'it turned the credential away (401)';
  assert.match(textDashboard(view, 200), /#1 .* publishing .* it turned the credential away \(401\)/);
  assert.ok(page(view, 'n', true).includes(words));
  assert.deepEqual(view.waiting, { reasons: {}, postponed: 1 });
  world.tracker.fault = () => undefined;
  await world.pass(10 * MINUTE);
  assert.ok(!page(shownOf(world), 'n', true).includes(words));
  assert.equal(shownOf(world).waiting.postponed, 0);
  await world.stop();
});

test('where drafts are not supported a plain pull request is opened, and the log says so', async () => {
  const world = new World(workflowWith({ tracker: { draft: true } }));
  let creates = 0;
  world.tracker.fault = (call) => {
    if (call.startsWith('create') && creates++ === 0)
      throw new TrackerError(
        'refused',
        saying('tracker', 'Draft pull requests are not supported in this repository.'),
        { status: 422 },
      );
  };
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(
    world.tracker.pulls.map(({ draft }) => draft),
    [false],
  );
  assert.equal(world.timesLogged(WORK_CODES.draft_refused, { issue: 1 }), 1);
  await world.stop();
});

test('a pull request that the service keeps refusing is given up with its words; an outage is not', async () => {
  const world = new World();
  world.tracker.fault = (call) => {
    if (call.startsWith('create tool/issue-1')) refuse(422);
    if (call.startsWith('create tool/issue-2'))
      throw new TrackerError('unavailable', saying('tracker', 'it answered 502'));
  };
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  await world.pass(HOUR);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.match(world.tracker.comments[0]?.body ?? '', /it answered 422/);
  assert.equal(world.journal.state.entries.get(2)?.phase, 'publishing');
  world.tracker.fault = () => undefined;
  await world.pass(10 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(world.started.length, 2);
  await world.stop();
});

for (const status of [403, 404, 409, 422])
  test(`an issue on which nothing may be written is not given up in silence: ${status}`, async () => {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    world.script = fail;
    world.tracker.fault = (call) => {
      if (/^(create|comment|add|remove)/.test(call)) refuse(status);
    };
    world.tracker.open(1);
    await world.start();
    await world.pass(5 * HOUR);
    assert.equal(world.journal.state.entries.get(1)?.phase, 'giving_up');
    assert.match(shownOf(world).running[0]?.last_error ?? '', new RegExp(`it answered ${status}`));
    assert.equal(world.journal.storyOf(1).includes('finished failed'), false);
    world.tracker.fault = () => undefined;
    await world.pass(10 * MINUTE);
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
    assert.equal(world.started.length, 1);
    assert.match(world.journal.state.completed.at(-1)?.reason ?? '', /it broke/);
    await world.stop();
  });

for (const isSeen of [true, false])
  test(`an issue that is gone is over where the repository is seen, and only there: ${isSeen}`, async () => {
    const world = new World();
    let isGone = false;
    world.tracker.fault = (call) => {
      isGone ||= call.startsWith('add');
      if (isGone && (call.startsWith('add') || !isSeen)) refuse(404);
    };
    const readIssue = world.tracker.readIssue.bind(world.tracker);
    world.tracker.readIssue = (issue) => (isGone ? Promise.resolve(null) : readIssue(issue));
    world.tracker.open(1);
    await world.start();
    assert.ok(isGone);
    assert.equal(world.journal.storyOf(1).includes('finished closed'), isSeen);
    await world.pass(HOUR);
    assert.equal(world.journal.state.entries.has(1), !isSeen);
    await world.stop();
  });

test('a pull request that people closed is not taken for an open one', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = openThen(fail);
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  world.tracker.closedPulls.add(1000);
  world.script = commit;
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(
    world.tracker.pulls.map(({ number }) => number),
    [1000, 1001],
  );
  assert.equal(world.journal.state.completed.at(-1)?.pullRequest?.number, 1001);
  await world.stop();
});

test('a pull request that was closed before the last push is opened anew', async () => {
  const world = new World();
  world.script = openThen(async (agent) => {
    world.tracker.closedPulls.add(1000);
    return commit(agent);
  });
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(
    world.tracker.pulls.map(({ number }) => number),
    [1000, 1001],
  );
  await world.stop();
});

test('an active label that is put on during the run goes as well, however it is spelled', async () => {
  const world = new World(
    workflowWith({ labels: { active: ['tool-todo', 'urgent'], done: 'tool-done', failed: 'tool-failed' } }),
  );
  world.script = async (agent) => {
    world.tracker.label(1, 'URGENT');
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  world.tracker.touch(1);
  await world.pass(10 * MINUTE);
  assert.equal(world.tracker.pulls.length, 1);
  await world.stop();
});

test('a comment on a done issue whose label stayed begins nothing; the label put on again does', async () => {
  const world = new World();
  world.tracker.open(1);
  // The service says that the label is gone, and shows it all the same.
  world.tracker.removeLabel = async () => undefined;
  await world.start();
  world.tracker.touch(1);
  await world.pass(10 * MINUTE);
  assert.equal(world.started.length, 1);
  world.tracker.unlabel(1, 'tool-todo');
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(
    world.tracker.pulls.map(({ branch }) => branch),
    ['tool/issue-1', 'tool/issue-1-2'],
  );
  await world.stop();
});

test('a label that is put on again while the daemon takes it off is a new wish', async () => {
  const world = new World();
  world.tracker.open(1);
  const removeLabel = world.tracker.removeLabel.bind(world.tracker);
  world.tracker.removeLabel = async (issue, label) => {
    await removeLabel(issue, label);
    world.tracker.removeLabel = removeLabel;
    world.tracker.label(1, 'tool-todo');
  };
  await world.start();
  await world.pass(MINUTE);
  assert.equal(world.tracker.pulls.length, 2);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('that an issue is done is said once, however often its label is refused', async () => {
  const world = new World();
  let refusals = 3;
  world.tracker.fault = (call) => {
    if (call.startsWith('add') && refusals-- > 0)
      throw new TrackerError('unavailable', saying('tracker', 'it answered 502'));
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(
    world.lines.filter((line) => line.includes('done,')),
    ['[agent] done, pull request #1000'],
  );
  await world.stop();
});

test('an issue that was taken up again shows its active label, not the one of its earlier end', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  world.script = hang;
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  const view = shownOf(world);
  assert.deepEqual(
    view.running.map(({ state }) => state),
    ['tool-todo'],
  );
  await world.stop();
});

test('what an attempt has used is shown once as it ends', async () => {
  const world = new World();
  const usage = { input_tokens: 100, output_tokens: 20, cost_usd: 0.5, turns: 1, seconds: 0 };
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'usage', usage });
    await world.clock.sleep(MINUTE, signal);
    return commit(agent);
  };
  const shown: unknown[] = [];
  const append = world.journal.append.bind(world.journal);
  world.journal.append = async (record) => {
    const stored = await append(record);
    if (record.type !== 'attempt_ended') return stored;
    const { running, totals } = shownOf(world);
    shown.push(...running.map((row) => [row.phase, row.cost_usd, row.tokens.total_tokens]), totals.seconds_running);
    return stored;
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(shown, [['publishing', 0.5, 120], 60]);
  await world.stop();
});
