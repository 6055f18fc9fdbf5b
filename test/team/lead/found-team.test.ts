// A team is founded whole, or not at all.

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { wordsLike } from '../../support/codes.ts';
import { runWithSmallFiles } from '../../support/file-limit.ts';
import { HookedProject } from '../../support/hooked.ts';

const PLAN = 'tool-plan-users-can-log-out';
const FOUND = `
  import { composeOperations } from './src/compose/team.ts';
  import { operateInHost } from './src/claude-code/answers/operate-in-host.ts';
  process.on('SIGXFSZ', () => {});
  const { root, env, evidence } = JSON.parse(process.argv[2]);
  await operateInHost(composeOperations(root, env), 'TeamCreate', { team_name: '${PLAN}' }, evidence).then(
    () => console.log('created'),
    (error) => console.log(error.message),
  );
`;

test('on a full disk there is no team, the work may go on without one, and with space again it has all its tasks', async (t) => {
  const project = new HookedProject(t, { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } });
  project.write('.tool/installed.json', JSON.stringify({ hostVersion: '2.1.177' }));
  const prompt = '/tool:1-plan "users can log out" --team';
  await project.hook('user-prompt-submit', 'team-lead', 'UserPromptSubmit', { prompt });
  const size = () => project.read(`.tool/teams/${PLAN}/log.jsonl`).length;
  const proposed = size();
  // Room for the record of a team, and not for its tasks.
  const kilobytes = Math.ceil((proposed + 600) / 1024);
  const lead = { root: project.root, env: project.env, evidence: project.evidence('team-lead') };
  assert.match(
    await runWithSmallFiles(FOUND, JSON.stringify(lead), kilobytes),
    wordsLike(OPERATIONS_CODES.team_create_failed, {
      said: new RegExp(`.*/${PLAN}/log\\.jsonl: .*\\d+ of \\d+ bytes.*`),
      next: /Do the tasks one at a time.*/,
    }),
  );
  assert.ok(size() > proposed, 'the disk took a part of it');
  const { session, tasks } = project.state(PLAN);
  assert.deepEqual([session, tasks.size], ['none', 0]);
  const spawn = { tool_name: 'Task', tool_input: { subagent_type: 'Explore', prompt: 'p' } };
  assert.equal((await project.hook('pre-tool-use', 'team-lead', 'PreToolUse', spawn)).code, 0);

  const answer = await project.call('team-lead', 'TeamCreate', { team_name: PLAN });
  assert.equal(answer.state, 'assigned');
  const founded = project.state(PLAN);
  assert.deepEqual(
    [...founded.tasks.values()].map(({ owner, blockedBy }) => [owner, blockedBy]),
    founded.proposal?.drafts.map(({ owner, blockedBy }) => [
      owner,
      blockedBy.map((key) => String(1 + (founded.proposal?.drafts.findIndex((one) => one.key === key) ?? 0))),
    ]),
  );
  assert.ok(founded.tasks.size >= 3);
});
