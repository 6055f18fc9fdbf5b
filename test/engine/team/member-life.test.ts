import assert from 'node:assert/strict';
import test from 'node:test';
import type { RunEnd, RunHooks } from '../../../src/engine/ports.ts';
import { type LifeEnd, MemberLife, type MemberTimeouts, Turns } from '../../../src/engine/team/lead/member-life.ts';
import type { Members } from '../../../src/engine/team/members-port.ts';
import type { Workshop } from '../../../src/engine/team/workshop-port.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Everybody works in one place, and nothing is ever merged. */
function placeOf(path: string): Workshop {
  const nothing = () => Promise.resolve({ kind: 'nothing' } as const);
  const head = { branch: 'tool/x', base: 'a', head: 'a' };
  return {
    begin: () => Promise.resolve(head),
    open: () => Promise.resolve({ path, branch: 'tool/x--y', env: {} }),
    view: () => Promise.resolve({ path, head: 'a' }),
    update: nothing,
    save: () => Promise.resolve(null),
    commits: () => Promise.resolve([]),
    merge: nothing,
    refuse: () => Promise.resolve(''),
    changed: () => Promise.resolve([]),
    close: () => Promise.resolve(null),
    end: () => Promise.resolve(),
    forget: () => Promise.resolve(),
  };
}

type Played = (hooks: RunHooks, world: TeamWorld) => Promise<RunEnd>;

/** Ends as soon as it is told to. */
function untilEnded({ signal }: RunHooks): Promise<RunEnd> {
  return new Promise((resolve) => {
    const end = () => resolve({ ok: false, words: 'it was ended', fault: 'agent', resumable: true });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

type Living = { readonly world: TeamWorld; readonly ended: Promise<LifeEnd>; readonly stop: () => void };

/** A teammate with one task, whose process is played. */
async function live(t: Cleanup, timeouts: MemberTimeouts, play: Played): Promise<Living> {
  const world = new TeamWorld(t);
  await world.call('team-lead', 'TeamCreate', { team_name: TEAM });
  await world.start('backend-dev');
  await world.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'x', owner: 'backend-dev' });
  const log = world.teams.open(TEAM);
  assert.ok(log !== undefined);
  const stop = new AbortController();
  const members: Members = { run: (_run, hooks) => play(hooks, world) };
  const life = new MemberLife(
    {
      context: world.context,
      log,
      members,
      workshop: placeOf(world.root),
      clock: world.clock,
      budgetUsd: null,
      instruction: null,
      timeouts,
      turns: new Turns(1),
      holdsBack: () => false,
      onEvent: () => undefined,
      output: () => undefined,
    },
    'backend-dev',
    world.epoch('backend-dev'),
  );
  const ended = life.run(stop.signal);
  finallyDo(t, async () => {
    stop.abort();
    await ended;
    await log.close();
  });
  return { world, ended, stop: () => stop.abort() };
}

const LIMITS = { stallTimeoutMs: 10 * MINUTE, turnTimeoutMs: 60 * MINUTE };

/** Resolves when the process is there. */
function played(then: Played): { readonly play: Played; readonly there: Promise<RunHooks> } {
  let tell: (hooks: RunHooks) => void = () => undefined;
  const there = new Promise<RunHooks>((resolve) => {
    tell = resolve;
  });
  return {
    there,
    play: (hooks, world) => {
      tell(hooks);
      return then(hooks, world);
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
  assert.deepEqual(await ended, { kind: 'failed', words: 'no life sign for 600 s (tool.stall_timeout_ms)' });
  assert.equal(world.state().members.get('backend-dev')?.phase, 'stopped');
});

test('a turn that takes too long is ended, however much it says', async (t) => {
  const { play, there } = played(untilEnded);
  const { world, ended } = await live(t, { stallTimeoutMs: 0, turnTimeoutMs: MINUTE }, play);
  const hooks = await there;
  for (let second = 0; second < 60; second += 10) {
    assert.equal(hooks.signal.aborted, false);
    hooks.onEvent({ type: 'message', text: 'working' });
    await world.clock.pass(10 * SECOND);
  }
  assert.deepEqual(await ended, { kind: 'failed', words: 'a turn took longer than 60 s (tool.turn_timeout_ms)' });
});

test('between turns a teammate may be silent for as long as it takes', async (t) => {
  const { play, there } = played(async (hooks, world) => {
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    assert.equal(await hooks.nextTurn(), null);
    return { ok: true, words: 'done' };
  });
  const { world, ended, stop } = await live(t, LIMITS, play);
  const { signal } = await there;
  await world.clock.pass(2 * MINUTE);
  await world.clock.pass(120 * MINUTE);
  assert.equal(signal.aborted, false);
  stop();
  assert.deepEqual(await ended, { kind: 'quiet' });
});
