// Texts of people that reach members of a team which an earlier process led.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WordsForTeam } from '../../../src/cli/agents/team-words.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import { finallyDo } from '../../support/temp.ts';

test('members that start after a restart are told what was sent before it, and nothing that members said', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  const message = { recipient: 'all', type: 'progress', content: 'Use a map' };
  await operate(world.context, 'SendMessage', message, { kind: 'environment', team: TEAM, teammate: null });
  await world.call('tester', 'SendMessage', { ...message, recipient: 'team-lead', content: 'Half is done' });
  const log = world.teams.open(TEAM) ?? assert.fail();
  finallyDo(t, () => log.close());
  const words = new WordsForTeam(
    world.context,
    log,
    () => undefined,
    () => undefined,
  );
  finallyDo(t, () => words.close());
  assert.deepEqual(words.texts, ['Use a map']);
});
