// A daemon in memory that follows the pull request of issue 1.

import assert from 'node:assert/strict';
import { notificationOf } from '../../src/daemon/rules/notification.ts';
import type { Check, Review } from '../../src/daemon/rules/pull-request-status.ts';
import { commit, World, workflowWith } from './world.ts';

export const WRITER = { login: 'writer', type: 'User' };
/** The number of the pull request of issue 1. */
export const PULL = 1000;

/** A world with issue 1, whose agents commit. */
export function worldWith(
  until: 'green' | 'approved' = 'green',
  maxRounds = 3,
  more: Parameters<typeof workflowWith>[0] = {},
): World {
  const world = new World(workflowWith({ follow: { until, maxRounds }, ...more }));
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 'one' });
    return commit(agent);
  };
  world.tracker.open(1);
  return world;
}

export function check(name: string, state: Check['state']): Check {
  return { name, state, url: `https://ci/${name}`, run: 1, summary: '' };
}

export function review(id: number, verdict: Review['verdict'], author = WRITER): Review {
  return { id, verdict, author, body: `words of review ${id}` };
}

/** The prompts of all attempts from now on. */
export function prompts(world: World): string[] {
  const told: string[] = [];
  const { script } = world;
  world.script = (agent) => {
    told.push(agent.request.prompt);
    return script(agent);
  };
  return told;
}

export function phaseOf(world: World): string | undefined {
  return world.journal.state.entries.get(1)?.phase;
}

/** The pull request of issue 1 is open and followed. The time is 5 s after a poll: later readings of that poll are over, too. */
export async function followed(world: World): Promise<void> {
  await world.start();
  await world.pass(35_000);
  assert.equal(phaseOf(world), 'following');
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
}

export async function polls(world: World, count = 2): Promise<void> {
  for (let i = 0; i < count; i++) await world.pass(30_000);
}

/** For what the pull request of issue 1 waits for a person; null: for nothing of that kind. */
export function awaited(world: World): string | null | undefined {
  return world.journal.state.entries.get(1)?.follow?.noticed;
}

/** What people were told of issue 1, with the reason. */
export function notices(world: World): (readonly [string, string | null])[] {
  const told: (readonly [string, string | null])[] = [];
  const { append } = world.journal;
  world.journal.append = (record) => {
    const notification = notificationOf(world.journal.state, record);
    if (notification !== null) told.push([notification.kind, notification.reason]);
    return append.call(world.journal, record);
  };
  return told;
}
