// Calls that come together: each is answered with what it has made, whoever has written the same meanwhile.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { OpenTeams } from '../../../src/team/log/open-teams.ts';
import { FileTeams } from '../../../src/team/log/teams.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const EACH = 40;
/** So long a file of the log is that it is continued meanwhile. */
const MAX_BYTES = 6_000;

/** Two servers of one teammate, each of which keeps the log open; all calls of both at once. */
function atOnce(world: TeamWorld, t: Cleanup) {
  const servers = [0, 1].map(() => {
    const teams = new OpenTeams(new FileTeams({ root: world.root, now: world.clock.now, maxBytes: MAX_BYTES }));
    finallyDo(t, () => teams.close());
    return teams;
  });
  return (name: string, input: (call: number) => Record<string, unknown>) =>
    Promise.all(
      Array.from({ length: 2 * EACH }, (_, index) =>
        operate({ ...world.context, teams: servers[index % 2] ?? world.teams }, name, input(index), {
          kind: 'environment',
          team: TEAM,
          teammate: 'tester',
        }),
      ),
    );
}

function filesOf({ root }: TeamWorld): readonly string[] {
  return readdirSync(join(root, '.tool', 'teams', TEAM)).filter((name) => name.startsWith('log'));
}

test('messages of one sender and kind, sent at once, have a number of their own each', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['tester']);
  const callAll = atOnce(world, t);
  const answers = await callAll('SendMessage', (index) => ({
    recipient: 'team-lead',
    type: 'progress',
    content: `part ${index}`,
  }));
  const { messages } = world.state();
  assert.equal(messages.length, answers.length);
  for (const [index, { message }] of answers.entries())
    assert.equal(messages[Number(message) - 1]?.content, `part ${index}`, `message ${String(message)}`);
  assert.ok(filesOf(world).length > 1, 'the log was continued meanwhile');
});

test('tasks of one subject, made at once, are told apart in the answers', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['tester']);
  const callAll = atOnce(world, t);
  const answers = await callAll('TaskCreate', (index) => ({
    subject: 'Mend lint',
    description: `Part ${index}`,
    owner: index % 3 === 0 ? 'tester' : 'backend-dev',
  }));
  const { tasks } = world.state();
  assert.equal(tasks.size, answers.length);
  for (const [index, { taskId, owner }] of answers.entries()) {
    const task = tasks.get(String(taskId));
    assert.deepEqual([task?.description, task?.owner], [`Part ${index}`, owner], `task ${String(taskId)}`);
  }
  assert.ok(filesOf(world).length > 1, 'the log was continued meanwhile');
});
