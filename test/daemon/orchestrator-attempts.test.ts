import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { summaryOf } from '../../src/daemon/rules/team-summary.ts';
import { LEAD_CODES } from '../../src/team/rules/codes/lead-codes.ts';
import { isRefusal, wordsLike, wordsOf } from '../support/codes.ts';
import { teamOf } from '../support/team.ts';
import { commit, fail, hang, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

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
  assert.match(world.tracker.comments[0]?.body ?? '', wordsLike(LEAD_CODES.agent_stalled, { seconds: 60 }));
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

test('an agent that ends well without a commit did nothing; one that says so and why has no further attempt', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  world.script = async ({ request, ask }) => {
    const { signal } = new AbortController();
    if (request.issue === 2) {
      await ask({ type: 'comment', issue: 2, body: 'It works as it is.' }, signal);
      assert.deepEqual(await ask({ type: 'done', issue: 2 }, signal), { accepted: true, committed: false });
    }
    return { ok: true, words: 'I looked at it.' };
  };
  for (const issue of [1, 2]) world.tracker.open(issue);
  await world.start();
  await world.pass(5 * MINUTE);
  for (const issue of [1, 2]) {
    assert.deepEqual(world.tracker.labelsOf(issue), ['tool-failed']);
    assert.match(
      world.tracker.comments.findLast((one) => one.issue === issue)?.body ?? '',
      new RegExp(wordsOf(WORK_CODES.no_commit_made, { said: 'I looked at it.' })),
    );
  }
  assert.deepEqual(world.started.map(({ issue }) => issue).sort(), [1, 1, 2]);
  assert.equal(world.tracker.pulls.length, 0);
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
  assert.match(prompts[0] ?? '', /^Nothing .*committed.* tool\/issue-1 /);
  assert.match(world.tracker.comments[0]?.body ?? '', wordsLike(WORK_CODES.no_commit_made, { turns: 3 }));
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
    agent.hooks.onEvent({ type: 'log', level: 'error', text: 'no team: no reason' });
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  assert.ok(world.lines.includes('error: [agent] issue #1: no team: no reason'));
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
  await world.passDays(1);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
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

test('what scripts of the file left running ends with the attempt', async () => {
  const world = new World(workflowWith({ hooks: { beforeRun: 'true' } }));
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.equal(world.leftovers.length, 1);
  await world.stop();
});
