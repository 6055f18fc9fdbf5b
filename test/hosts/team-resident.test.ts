// The guard and the mail hang on the team's server where the host can do that: no program is started for an edit, and the
// compiled guard takes over when the server is gone.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { fields } from '../support/forge.ts';
import { availableHosts } from '../support/host.ts';
import { type Conversation, LEAD, type Part, playAgents } from '../support/played-agents.ts';
import { answerOf, BANNER, mentions, refused, rows, SPEC, shellRefused, TeamHost } from '../support/team-host.ts';

const TEAM = 'tool-run-spec-users-001';
const GUARD = 'pre-tool-use';

for (const version of availableHosts(['2.1.177', '2.1.331'])) {
  test(`${version}: edits start no program while the server lives, and are guarded when it does not`, async (t) => {
    const host = new TeamHost(t, version);
    const ours = (tool: string) => host.ours(tool);
    const write = (agent: Conversation, file: string, content = BANNER) =>
      agent.use('Write', { file_path: host.path(file), content });
    const isForeign = (outcome: Awaited<ReturnType<typeof write>>) => {
      refused(outcome, "is frontend-dev's");
      assert.ok(!existsSync(host.path('src/components/stolen.js')));
    };

    const backendDev: Part = async (agent) => {
      isForeign(await write(agent, 'src/components/stolen.js'));
      const started = () => host.starts(GUARD) + host.starts('post-tool-use');
      const before = started();
      isForeign(await write(agent, 'src/components/stolen.js'));
      await shellRefused(agent, 'echo x > src/components/stolen.js', "is frontend-dev's");
      assert.ok(!existsSync(host.path('src/components/stolen.js')));
      assert.ok(!(await write(agent, 'src/api/one.js')).isError);
      assert.ok(!(await agent.use('Bash', { command: 'ls > src/api/two.js', description: 'x' })).isError);
      assert.equal(started(), before, 'nothing was started');

      await host.killServer();
      isForeign(await write(agent, 'src/components/stolen.js'));
      assert.equal(started(), before + 1, 'the compiled guard has decided');
      assert.ok(!(await write(agent, 'src/api/three.js')).isError);

      // A call of the model's own starts another server.
      const { tasks } = answerOf(await agent.use(ours('TaskList'), {}));
      isForeign(await write(agent, 'src/components/stolen.js'));
      assert.ok(!(await write(agent, 'src/api/four.js')).isError);
      const taskId = rows(tasks).find(({ owner }) => owner === agent.who)?.taskId;
      answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'in_progress' }));
      answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'failed', result: 'Enough was seen.' }));
      return 'Enough was seen.';
    };
    const lead: Part = async (agent) => {
      const create = /TeamCreate (\{[^}]*\})/.exec(agent.news.text)?.[1] ?? '{}';
      const [first] = rows(answerOf(await agent.use(ours('TeamCreate'), JSON.parse(create))).next);
      const { call } = answerOf(await agent.use(ours('Task'), first?.input));
      await agent.use(String(fields(call).tool), fields(call).input);
      let heard = agent.news.text;
      if (!heard.includes('Enough was seen.')) heard += await agent.hears(/Enough was seen\./, 'I wait.');
      const content = 'Enough was seen.';
      answerOf(await agent.use(ours('SendMessage'), { recipient: 'all', type: 'shutdown_request', content }));
      assert.equal(answerOf(await agent.use(ours('TeamDelete'), { team_name: TEAM })).state, 'deleted');
      return 'The team is gone.';
    };
    const play = playAgents({ [LEAD]: lead, 'backend-dev': backendDev });
    const { code, stderr } = await host.run(`/tool:2-run ${SPEC} --team`, play);
    assert.equal(code, 0, stderr);
    mentions(readdirSync(host.path('src/api')).sort().join(' '), 'four.js one.js three.js two.js users.js');
  });
}
