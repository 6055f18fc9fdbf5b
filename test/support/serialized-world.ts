// Worlds in memory whose issues change the same serialized paths.

import { commit, World, workflowWith } from './world.ts';

const POLL = 30_000;
const GLOB = 'db/**';

/** Two issues or more that touch the same directory; they finish in the order of their numbers. */
export function worldWith(
  issues: readonly number[] = [1, 2],
  more: Parameters<typeof workflowWith>[0] = {},
  options: ConstructorParameters<typeof World>[1] = {},
): World {
  const agent = { maxConcurrent: 1, serializePaths: [GLOB], ...more.agent };
  const world = new World(workflowWith({ ...more, agent }), options);
  world.script = async (one) => {
    one.hooks.onEvent({ type: 'session', sessionId: `session-${one.request.issue}` });
    return commit(one);
  };
  for (const issue of issues) {
    world.tracker.open(issue);
    world.workspaces.touches.set(issue, ['src/a.ts', `db/${issue}.sql`]);
  }
  return world;
}

export const phaseOf = (world: World, issue: number) => world.journal.state.entries.get(issue)?.phase;
export const polls = async (world: World, count = 2) => {
  for (let i = 0; i < count; i++) await world.pass(POLL);
};
export const pushed = (world: World) => world.workspaces.pushed;
