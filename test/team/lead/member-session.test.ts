import assert from 'node:assert/strict';
import test from 'node:test';
import type { RunEnd, RunHooks } from '../../../src/agents/ports.ts';
import { refusal, textOf } from '../../../src/base/rules/codes.ts';
import type { TeamWorktrees } from '../../../src/git/worktrees/team-worktrees-port.ts';
import {
  MemberSession,
  type MemberSessionOptions,
  type MemberTimeouts,
  TurnLimiter,
} from '../../../src/team/lead/member-session.ts';
import type { MemberSessionEnd } from '../../../src/team/lead/member-session-end.ts';
import type { MemberRequest, Members } from '../../../src/team/members/members-port.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import type { Budgets, Cost } from '../../../src/team/rules/cost.ts';
import { WORKTREES } from '../../support/lead-play.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Everybody works in one place. */
function placeOf(path: string): TeamWorktrees {
  return {
    ...WORKTREES,
    open: () => Promise.resolve({ path, branch: 'tool/x--y', env: {}, conflict: [] }),
    openReadOnly: () => Promise.resolve({ path, head: 'a' }),
  };
}

type Played = (hooks: RunHooks, world: TeamWorld, run: MemberRequest) => Promise<RunEnd>;

/** Ends as soon as it is told to. */
function untilEnded({ signal }: RunHooks): Promise<RunEnd> {
  return new Promise((resolve) => {
    const end = () => resolve({ ok: false, words: 'it was ended', fault: 'agent', resumable: true });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

type Living = {
  readonly world: TeamWorld;
  readonly said: string[];
  readonly ended: Promise<MemberSessionEnd>;
  readonly stop: () => void;
};

/** A teammate with one task, whose process is played. */
async function live(
  t: Cleanup,
  timeouts: MemberTimeouts,
  play: Played,
  budget?: Budgets,
  more: Partial<MemberSessionOptions> = {},
): Promise<Living> {
  const world = new TeamWorld(t);
  const said: string[] = [];
  if (budget !== undefined) world.settings = { ...world.settings, budget };
  await world.call('team-lead', 'TeamCreate', { team_name: TEAM });
  await world.start('backend-dev');
  await world.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'x', owner: 'backend-dev' });
  const log = world.teams.open(TEAM);
  assert.ok(log !== undefined);
  const stop = new AbortController();
  const members: Members = { run: (run, hooks) => play(hooks, world, run) };
  const life = new MemberSession(
    {
      context: world.context,
      log,
      members,
      teamWorktrees: placeOf(world.root),
      clock: world.clock,
      budgetUsd: null,
      instruction: null,
      timeouts,
      turnLimiter: new TurnLimiter(1),
      holdsBack: () => false,
      say: (words) => said.push(words),
      onEvent: () => undefined,
      output: () => undefined,
      ...more,
    },
    'backend-dev',
    world.epoch('backend-dev'),
  );
  const ended = life.run(stop.signal);
  finallyDo(t, async () => {
    stop.abort();
    await ended.catch(() => undefined);
    await log.close();
  });
  return { world, said, ended, stop: () => stop.abort() };
}

const LIMITS = { startTimeoutMs: 0, stallTimeoutMs: 10 * MINUTE, turnTimeoutMs: 60 * MINUTE };

/** Resolves when the process is there. */
function played(then: Played): { readonly play: Played; readonly there: Promise<RunHooks> } {
  let tell: (hooks: RunHooks) => void = () => undefined;
  const there = new Promise<RunHooks>((resolve) => {
    tell = resolve;
  });
  return {
    there,
    play: (hooks, world, run) => {
      tell(hooks);
      return then(hooks, world, run);
    },
  };
}

test('a teammate without a life sign is ended, and has failed with that', async (t) => {
  const { play, there } = played(untilEnded);
  const { world, ended } = await live(t, LIMITS, play);
  const hooks = await there;
  await world.clock.pass(9 * MINUTE);
  hooks.onEvent({ type: 'message', text: 'still here' });
  await world.clock.pass(9 * MINUTE);
  assert.equal(hooks.signal.aborted, false);
  await world.clock.pass(MINUTE);
  const stalled = refusal(LEAD_CODES.agent_stalled, { seconds: 600, setting: 'tool.stall_timeout_ms' });
  assert.deepEqual(await ended, { kind: 'failed', words: textOf(stalled) });
  assert.equal(world.state().members.get('backend-dev')?.phase, 'stopped');
});

test('a turn that takes too long is ended, however much it says', async (t) => {
  const { play, there } = played(untilEnded);
  const { world, ended } = await live(t, { startTimeoutMs: 0, stallTimeoutMs: 0, turnTimeoutMs: MINUTE }, play);
  const hooks = await there;
  for (let second = 0; second < 60; second += 10) {
    assert.equal(hooks.signal.aborted, false);
    hooks.onEvent({ type: 'message', text: 'working' });
    await world.clock.pass(10 * SECOND);
  }
  const late = refusal(LEAD_CODES.turn_timed_out, { seconds: 60 });
  assert.deepEqual(await ended, { kind: 'failed', words: textOf(late) });
});

test('between turns a teammate may be silent for as long as it takes', async (t) => {
  const { play, there } = played(async (hooks, world) => {
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    assert.equal(await hooks.nextTurn(), null);
    return { ok: true, words: 'done' };
  });
  const limits = { startTimeoutMs: 0, stallTimeoutMs: MINUTE, turnTimeoutMs: 2 * MINUTE };
  const { world, ended, stop } = await live(t, limits, play);
  const { signal } = await there;
  await world.clock.pass(5 * MINUTE);
  assert.equal(signal.aborted, false);
  stop();
  assert.deepEqual(await ended, { kind: 'quiet' });
});

const STARTING = { ...LIMITS, startTimeoutMs: MINUTE };

test('who neither says a word nor reaches the team after its start is ended', async (t) => {
  const { play, there } = played(async (hooks) => {
    await hooks.onStarted(7);
    return untilEnded(hooks);
  });
  const { world, ended } = await live(t, STARTING, play);
  const { signal } = await there;
  await world.clock.pass(MINUTE - 1);
  assert.equal(signal.aborted, false);
  await world.clock.pass(1);
  assert.deepEqual(await ended, {
    kind: 'failed',
    words: textOf(refusal(LEAD_CODES.member_start_timed_out, { seconds: 60 })),
  });
  assert.equal(world.state().members.get('backend-dev')?.phase, 'stopped');
});

test('a word is enough to have started, and so is an act in the team', async (t) => {
  const words = played(async (hooks) => {
    await hooks.onStarted(7);
    hooks.onEvent({ type: 'activity', name: 'output' });
    return untilEnded(hooks);
  });
  const acts = played(async (hooks, world) => {
    await hooks.onStarted(7);
    await world.clock.sleep(SECOND, hooks.signal);
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    return untilEnded(hooks);
  });
  for (const { play, there } of [words, acts]) {
    const { world, ended, stop } = await live(t, STARTING, play);
    const { signal } = await there;
    await world.clock.pass(2 * MINUTE);
    assert.equal(signal.aborted, false);
    stop();
    await ended;
  }
});

const NOTHING: Cost = { cost_usd: 0, input_tokens: 0, output_tokens: 0, turns: 0 };
const NONE = { softUsd: null, hardUsd: null };

function uses(hooks: RunHooks, usage: Partial<Cost>): void {
  hooks.onEvent({ type: 'usage', usage: { ...NOTHING, ...usage } });
}

/** Claims its task and says what that cost, a turn for each sum. */
function costing(sums: readonly number[], then: Played): Played {
  return async (hooks, world, run) => {
    await hooks.onStarted(7);
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    for (const [turn, sum] of sums.entries()) {
      uses(hooks, { cost_usd: sum, turns: turn + 1 });
      await hooks.nextTurn();
    }
    return then(hooks, world, run);
  };
}

test('what a teammate used is in the log by its task, before its next turn begins', async (t) => {
  const { play, there } = played(costing([0.25, 0.75], untilEnded));
  const { world, ended, stop } = await live(t, LIMITS, play);
  await there;
  await world.clock.pass(SECOND);
  const costs = [...world.state().costs.values()];
  assert.deepEqual(costs, [{ ...NOTHING, member: 'backend-dev', task: '1', cost_usd: 0.75, turns: 2 }]);
  stop();
  await ended;
});

test('a soft budget is told once, to the teammate and to the lead, and the log shows it', async (t) => {
  const prompts: (string | null)[] = [];
  const { play, there } = played(async (hooks, world) => {
    await hooks.onStarted(7);
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    for (const [turn, sum] of [0.4, 0.6, 0.8].entries()) {
      uses(hooks, { cost_usd: sum, turns: turn + 1 });
      prompts.push(await hooks.nextTurn());
    }
    return untilEnded(hooks);
  });
  const budget = { teammate: { softUsd: 0.5, hardUsd: 1 }, task: NONE };
  const { world, said, ended, stop } = await live(t, LIMITS, play, budget);
  await there;
  await world.clock.pass(SECOND);
  const words = '$0.60 used, of a soft budget of $0.50 (workflow.team.budget.teammate.soft_usd)';
  assert.deepEqual(said, [`backend-dev: ${words}`]);
  assert.deepEqual(
    prompts.map((prompt) => prompt?.includes(words)),
    [false, true, false],
  );
  const decided = world.state().decisions.filter(({ hook }) => hook === 'budget');
  assert.deepEqual(
    decided.map(({ decision, about, reason }) => ({ decision, about, reason })),
    [{ decision: 'accept', about: 'backend-dev', reason: words }],
  );
  stop();
  await ended;
});

test('with its hard budget the turn of a teammate is over, and its task is open again', async (t) => {
  const { play, there } = played(async (hooks, world) => {
    await hooks.onStarted(7);
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    uses(hooks, { cost_usd: 1.25, turns: 1 });
    return untilEnded(hooks);
  });
  const { world, ended } = await live(t, LIMITS, play, { teammate: { softUsd: 0.5, hardUsd: 1 }, task: NONE });
  const { signal } = await there;
  const words = '$1.25 used, of a hard budget of $1.00 (workflow.team.budget.teammate.hard_usd)';
  assert.deepEqual(await ended, { kind: 'failed', words });
  assert.equal(signal.aborted, true);
  const state = world.state();
  assert.equal(state.tasks.get('1')?.status, 'pending');
  assert.equal(state.decisions.at(-1)?.decision, 'reject');
});

test('with its hard budget a task has failed, with that as its reason; one that was finished has not', async (t) => {
  const budget = { teammate: NONE, task: { softUsd: null, hardUsd: 1 } };
  const words = '$1.00 used, of a hard budget of $1.00 (workflow.team.budget.task.hard_usd)';
  const open = played(costing([1], untilEnded));
  const failed = await live(t, LIMITS, open.play, budget);
  assert.deepEqual(await failed.ended, { kind: 'failed', words: `task 1: ${words}` });
  const task = failed.world.state().tasks.get('1');
  assert.deepEqual([task?.status, task?.result], ['failed', words]);

  const done = played(async (hooks, world) => {
    await hooks.onStarted(7);
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    uses(hooks, { cost_usd: 1, turns: 1 });
    return untilEnded(hooks);
  });
  const finished = await live(t, LIMITS, done.play, budget);
  const { signal } = await done.there;
  await finished.world.clock.pass(SECOND);
  assert.equal(finished.world.state().tasks.get('1')?.status, 'completed');
  assert.equal(finished.world.state().costs.get('backend-dev 1')?.cost_usd, 1);
  assert.equal(signal.aborted, false);
  finished.stop();
  await finished.ended;
});

test('a run may cost what is left of its budget', async (t) => {
  const { play, there } = played((hooks, _world, run) => {
    assert.equal(run.budgetUsd, 1);
    return untilEnded(hooks);
  });
  const { ended, stop } = await live(t, LIMITS, play, { teammate: { softUsd: null, hardUsd: 1 }, task: NONE });
  await there;
  stop();
  assert.deepEqual(await ended, { kind: 'quiet' });
});

test('its place is made and brought up to date in one, once before its process starts', async (t) => {
  const opened: unknown[] = [];
  const place = placeOf('/work-of-one');
  const teamWorktrees: TeamWorktrees = {
    ...place,
    open: (team, member, how) => {
      opened.push(how);
      return place.open(team, member, how);
    },
  };
  const { play, there } = played((hooks, _world, run) => {
    assert.equal(run.cwd, '/work-of-one');
    return untilEnded(hooks);
  });
  const { ended, stop } = await live(t, LIMITS, play, undefined, { teamWorktrees });
  await there;
  assert.deepEqual(opened, ['updated']);
  stop();
  assert.deepEqual(await ended, { kind: 'quiet' });
});

test('whoever fails before its process is there gives its turn back', async (t) => {
  const turnLimiter = new TurnLimiter(1);
  const teamWorktrees = { ...placeOf('/nowhere'), open: () => Promise.reject(new Error('the disk is full')) };
  const { ended } = await live(t, LIMITS, () => assert.fail('it was started'), undefined, {
    turnLimiter,
    teamWorktrees,
  });
  await assert.rejects(ended, /the disk is full/);
  const waiting = new AbortController();
  const entered = turnLimiter.enter(waiting.signal);
  waiting.abort();
  assert.equal(await entered, true, 'the next one need not wait');
});

test('whoever is asked to end while it waits for its turn is not started for that, and leaves the turn to others', async (t) => {
  const turnLimiter = new TurnLimiter(1);
  const others = new AbortController();
  assert.ok(await turnLimiter.enter(others.signal));
  const { world, ended } = await live(t, LIMITS, () => assert.fail('it was started'), undefined, {
    turnLimiter,
  });
  await world.clock.pass(SECOND);
  const asked = { recipient: 'all', type: 'shutdown_request', content: 'It is done.' };
  await world.call('team-lead', 'SendMessage', asked);
  turnLimiter.leave();
  assert.ok(await turnLimiter.enter(others.signal));
  await world.clock.pass(SECOND);
  assert.deepEqual(await ended, { kind: 'quiet' });
  assert.deepEqual(world.state().unread.get('backend-dev') ?? [], [], 'it has been asked, and knows');
});
