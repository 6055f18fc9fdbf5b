import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../src/base/rules/errors.ts';
import { waitsForSlot } from '../../src/daemon/intake.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { summaryOf } from '../../src/daemon/rules/team-summary.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { isRefusal, saying } from '../support/codes.ts';
import { teamOf } from '../support/team.ts';
import { commit, fail, hang, STRANGER, World, workflowWith } from '../support/world.ts';

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

test('a failing agent is tried three times with growing pauses, then given up with a comment that says why', async () => {
  const world = new World();
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  await world.pass(5 * MINUTE);
  const [first = 0, second = 0, third = 0] = world.started.map(({ at }) => at);
  assert.equal(world.started.length, 3);
  assert.equal(second - first, 10_000);
  assert.equal(third - second, 20_000);
  assert.deepEqual(world.journal.storyOf(1).slice(-8), [
    'attempt_ended failed give_up',
    '> comment:gave_up:3',
    '< comment:gave_up:3',
    '> label_add:tool-failed',
    '< label_add:tool-failed',
    '> label_remove:tool-todo',
    '< label_remove:tool-todo',
    'finished failed',
  ]);
  const body = world.tracker.comments[0]?.body ?? '';
  assert.match(body, /3 attempts on branch `tool\/issue-1`/);
  assert.match(body, /it broke/);
  assert.match(body, /put the label `tool-todo` back on/);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.deepEqual(world.workspaces.removed, [], 'the workspace stays for a resumption');
  await world.stop();
});

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

test('an agent without a life sign is ended as stalled; a tool call within its own limit is one', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 }, tool: { stallTimeoutMs: 60_000 } }));
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'tool_started', id: 'a', name: 'Bash', limitMs: 300_000 });
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(300_000);
  assert.equal(world.journal.state.entries.get(1)?.phase, 'running', 'the tool call may still be within its limit');
  await world.pass(31_000);
  assert.ok(world.journal.storyOf(1).includes('attempt_ended stalled give_up'));
  assert.match(world.tracker.comments[0]?.body ?? '', /No life sign for 60 s \(tool.stall_timeout_ms\)/);
  await world.stop();
});

test('a stall time-out of 0 never ends anything; the turn time-out does', async () => {
  const world = new World(
    workflowWith({ agent: { maxAttempts: 1 }, tool: { stallTimeoutMs: 0, turnTimeoutMs: 3_600_000 } }),
  );
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  await world.pass(3_599_000);
  assert.equal(world.journal.state.entries.get(1)?.phase, 'running');
  await world.pass(2_000);
  assert.ok(world.journal.storyOf(1).includes('attempt_ended timed_out give_up'));
  await world.stop();
});

test('a retry goes on with the session of the attempt before, and is told how that ended', async () => {
  const world = new World();
  const prompts: (string | null)[] = [];
  const again = new World(workflowWith(), {
    renderPrompt: (_, __, attempt) => {
      prompts.push(attempt.lastError);
      return 'the prompt';
    },
  });
  again.script = async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 'session-1' });
    return fail(agent);
  };
  again.tracker.open(1);
  await again.start();
  await again.pass(11_000);
  assert.deepEqual(
    again.started.map(({ resume }) => resume),
    [null, 'session-1'],
  );
  assert.deepEqual(prompts, [null, 'it broke']);
  await again.stop();
  await world.stop();
});

test('a runtime that cannot work costs the issue no attempt', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = async () => ({ ok: false, words: 'not logged in', fault: 'runtime', resumable: true });
  world.tracker.open(1);
  await world.start();
  await world.pass(20 * MINUTE);
  assert.ok(world.started.length > 3);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-todo']);
  world.script = commit;
  await world.pass(10 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('an agent that ends well without a commit has failed, unless it said it was done and why', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = async ({ request, ask }) => {
    const { signal } = new AbortController();
    if (request.issue === 2) {
      await ask({ type: 'comment', issue: 2, body: 'It works as it is.' }, signal);
      await ask({ type: 'done', issue: 2 }, signal);
    }
    return { ok: true, words: 'I looked at it.' };
  };
  world.tracker.open(1);
  await world.start();
  world.tracker.open(2);
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.match(world.tracker.comments[0]?.body ?? '', /ended without a commit\. Its last words: I looked at it\./);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(world.tracker.pulls.length, 0);
  assert.ok(world.lines.includes('[agent] done, no pull request'));
  await world.stop();
});

test('the agent’s word that it is done holds even if its process ends badly afterwards', async () => {
  const world = new World();
  world.script = async ({ request, ask }) => {
    world.workspaces.heads.set(request.issue, 'sha');
    await ask({ type: 'done', issue: request.issue }, new AbortController().signal);
    return { ok: false, words: 'exit code 1', fault: 'agent', resumable: true };
  };
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('turn follows turn until something is committed, at most max_turns of them', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1, maxTurns: 3 } }));
  const prompts: string[] = [];
  world.script = async ({ request, hooks }) => {
    for (let turn = 1; ; turn++) {
      hooks.onEvent({ type: 'tool_started', id: String(turn), name: 'Edit', limitMs: null });
      hooks.onEvent({
        type: 'usage',
        usage: { input_tokens: 10 * turn, output_tokens: turn, cost_usd: 0.1 * turn, turns: turn },
      });
      if (request.issue === 2 && turn === 2) world.workspaces.heads.set(2, 'sha-2');
      const next = await hooks.nextTurn();
      if (next === null) return { ok: true, words: 'so far' };
      prompts.push(next);
    }
  };
  world.tracker.open(1);
  await world.start();
  assert.equal(prompts.length, 2);
  assert.match(prompts[0] ?? '', /Nothing is committed on the branch tool\/issue-1 yet/);
  assert.match(world.tracker.comments[0]?.body ?? '', /without a commit after 3 turns \(agent.max_turns\)/);
  world.tracker.open(2);
  await world.pass(MINUTE);
  assert.equal(prompts.length, 3);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.equal(world.journal.state.totals.turns, 5);
  assert.equal(world.journal.state.totals.input_tokens, 50);
  await world.stop();
});

test('an agent that only talks is not asked a third time', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  let turns = 0;
  world.script = async ({ hooks }) => {
    do turns += 1;
    while ((await hooks.nextTurn()) !== null);
    return { ok: true, words: '' };
  };
  world.tracker.open(1);
  await world.start();
  assert.equal(turns, 2);
  await world.stop();
});

test('an issue whose cost limit is reached is given up; its agent is told what is left', async () => {
  const world = new World(workflowWith({ agent: { maxCostUsd: 1 } }));
  const budgets: (number | null)[] = [];
  world.script = async ({ request, hooks }) => {
    budgets.push(request.budgetUsd);
    hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd: 0.6, turns: 1 } });
    return { ok: false, words: 'no', fault: 'agent', resumable: true };
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.deepEqual(budgets, [1, 0.4]);
  assert.match(world.tracker.comments[0]?.body ?? '', /\b1\.2 of .*\b1\b.*\(agent\.max_cost_usd\)/);
  await world.stop();
});

test('what a team has cost counts although the daemon died under it', async () => {
  const world = new World(workflowWith({ agent: { maxCostUsd: 5 } }));
  const budgets: (number | null)[] = [];
  world.script = async (agent) => {
    const { request, hooks } = agent;
    budgets.push(request.budgetUsd);
    hooks.onEvent({ type: 'team', team: summaryOf(teamOf([], 0).state, 0) });
    for (const cost_usd of [1, 2])
      hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd, turns: 1 } });
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.restart();
  await world.pass(MINUTE);
  assert.deepEqual(
    budgets.slice(0, 2),
    [5, 4],
    'the first figure was written down, the next one comes too soon after it',
  );
  await world.stop();
});

test('what a team has to say to whoever runs the daemon comes into its log, with the issue and at its level', async () => {
  const world = new World();
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'log', level: 'error', text: 'sub-agents in place of a team: no reason' });
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  assert.ok(world.lines.includes('error: [agent] issue #1: sub-agents in place of a team: no reason'));
  await world.stop();
});

test('nothing is started while the day’s cost limit is reached; the next day it goes on', async () => {
  const world = new World(workflowWith({ agent: { maxCostPerDayUsd: 1 } }));
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd: 1.5, turns: 1 } });
    return commit(agent);
  };
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  await world.pass(60 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-todo']);
  isRefusal(world.orchestrator.waiting[0]?.why[0], WORK_CODES.day_budget_spent, { limit: 1 });
  await world.pass(24 * 60 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
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
    '[poller] issue #1 "Issue 1" waits: stranger, who wrote it, may not write to the repository.',
    '[poller] issue #2 "Issue 2" waits: stranger, who put tool-todo on it, may not write to the repository.',
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

test('the failure of after_run is said and changes nothing; that of before_run fails the attempt', async () => {
  const world = new World(workflowWith({ hooks: { afterRun: 'x' }, agent: { maxAttempts: 1 } }));
  world.workspaces.fault = (call) => {
    if (call === 'after_run') throw new Error('after_run ended with exit code 1');
  };
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.ok(world.lines.includes('warn: [hook] after_run ended with exit code 1'));
  await world.stop();
});

test('as many agents as there are slots, oldest issue first', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  world.script = async (agent) => {
    await agent.world.clock.sleep(10_000, agent.hooks.signal);
    return commit(agent);
  };
  for (const number of [5, 3, 9, 7]) world.tracker.open(number);
  await world.start();
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [5, 3],
  );
  await world.pass(11_000);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [5, 3, 9, 7],
  );
  assert.equal(world.mostAtOnce, 2);
  await world.stop();
});

test('workspaces are made ahead for issues that wait for a slot, as many as can be wanted at once', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  world.script = async (agent) => {
    await agent.world.clock.sleep(10_000, agent.hooks.signal);
    return commit(agent);
  };
  for (const number of [1, 2, 3, 4, 5]) world.tracker.open(number);
  await world.start();
  assert.equal(world.workspaces.stocked.at(-1), 2);
  await world.pass(11_000);
  assert.equal(world.workspaces.stocked.at(-1), 1);
  await world.pass(20_000);
  assert.equal(world.workspaces.stocked.at(-1), 0, 'nobody waits any more');
  await world.stop();
});

test('agents that end faster than their work can be collected do not pile up', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  const { signal } = new AbortController();
  world.workspaces.beforeCollect = () => world.clock.sleep(60_000, signal);
  for (let number = 1; number <= 10; number++) world.tracker.open(number);
  await world.start();
  await world.pass(50_000);
  assert.equal(world.started.length, 4);
  await world.pass(MINUTE * 5);
  assert.equal(world.started.length, 10);
  await world.stop();
});

test('what scripts of the file left running ends with the attempt', async () => {
  const world = new World(workflowWith({ hooks: { beforeRun: 'true' } }));
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.equal(world.leftovers.length, 1);
  await world.stop();
});

test('what waits for a slot is shown, and a due retry waits without polling in between', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 1 } }));
  world.script = async (agent) =>
    agent.request.issue === 1 && agent.request.attempt === 1 ? fail(agent) : hang(agent);
  world.tracker.open(1);
  world.tracker.open(2);
  world.tracker.open(3);
  await world.start();
  await world.pass(25_000);
  assert.deepEqual(
    world.orchestrator.waiting.map(({ issue, why }) => [issue.number, waitsForSlot(why)]),
    [
      [1, true],
      [3, true],
    ],
  );
  const polls = world.tracker.calls.filter((call) => call === 'list').length;
  await world.pass(29_000);
  assert.equal(world.tracker.calls.filter((call) => call === 'list').length, polls + 1);
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
