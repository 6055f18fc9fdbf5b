import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import { connectTeam } from '../../../src/claude-code/mcp/client.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

test('a call that takes longer than a minute is answered', async (t) => {
  const root = tempDir(t);
  execaSync`git init -q ${root}`;
  const team = await connectTeam({ PATH: process.env.PATH ?? '', HOME: root, CLAUDE_PROJECT_DIR: root });
  finallyDo(t, () => team.close());
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answer = team.call('TaskList', {});
  t.mock.timers.tick(61_000);
  t.mock.timers.reset();
  assert.equal((await answer).isError, true, 'there is no team');
});
