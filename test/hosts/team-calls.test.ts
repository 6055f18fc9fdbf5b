// Calls of the team's tools in the real host: the caller is known from the hook that asks the team server, without a process.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fields } from '../support/forge.ts';
import { availableHosts } from '../support/host.ts';
import { barrier, type Conversation, gate, LEAD, type Part, playAgents } from '../support/played-agents.ts';
import { answerOf, rows, SPEC, TeamHost } from '../support/team-host.ts';

const TEAM = 'tool-run-spec-users-001';
/** Every script that a hook starts lies there. */
const SCRIPTS = '.tool/hooks/';

type Steps = (agent: Conversation) => Promise<void>;

/** A lead and one teammate, each with steps of its own between its start and its end. */
async function playTwo(host: TeamHost, steps: { readonly lead: Steps; readonly teammate: Steps }): Promise<void> {
  const ours = (tool: string) => host.ours(tool);
  const leadIsDone = gate();
  const teammate: Part = async (agent) => {
    const { tasks } = answerOf(await agent.use(ours('TaskList'), {}));
    const taskId = rows(tasks).find(({ owner }) => owner === agent.who)?.taskId;
    await steps.teammate(agent);
    await leadIsDone.opened;
    answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'in_progress' }));
    answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'failed', result: 'Enough was seen.' }));
    return 'Enough was seen.';
  };
  const lead: Part = async (agent) => {
    const create = /TeamCreate (\{[^}]*\})/.exec(agent.news.text)?.[1] ?? '{}';
    const [first] = rows(answerOf(await agent.use(ours('TeamCreate'), JSON.parse(create))).next);
    const { call } = answerOf(await agent.use(ours('Task'), first?.input));
    await agent.use(String(fields(call).tool), fields(call).input);
    await steps.lead(agent);
    leadIsDone.open();
    await agent.hears(/<task-notification>/, 'I wait.');
    const content = 'Enough was seen.';
    answerOf(await agent.use(ours('SendMessage'), { recipient: 'all', type: 'shutdown_request', content }));
    assert.equal(answerOf(await agent.use(ours('TeamDelete'), { team_name: TEAM })).state, 'deleted');
    return 'The team is gone.';
  };
  const play = playAgents({ [LEAD]: lead, 'backend-dev': teammate });
  // In the host's default mode, and in a folder that nobody has trusted: there 2.1.331 ignores permission rules of the project.
  const { code, stderr } = await host.run(`/tool:2-run ${SPEC} --team`, play, { bypass: false });
  assert.equal(code, 0, stderr);
}

/** Who sent messages of that content. */
function senders(host: TeamHost, content: string): readonly unknown[] {
  return host
    .records(TEAM)
    .filter((record) => record.type === 'message_sent' && JSON.stringify(record.content).includes(content))
    .map(({ by }) => by);
}

for (const version of availableHosts(['2.1.331'])) {
  test(`${version}: calls of the lead and of a teammate are theirs, and start no process`, async (t) => {
    const host = new TeamHost(t, version);
    const begin = barrier(2);
    const end = barrier(2);
    const call = async (agent: Conversation, recipient: string) => {
      await begin();
      const before = host.starts(SCRIPTS);
      const name = host.ours('TaskList');
      for (const outcome of await agent.all([1, 2, 3].map(() => ({ name, input: {} })))) answerOf(outcome);
      const message = { recipient, type: 'progress', content: `said by ${agent.who}` };
      answerOf(await agent.use(host.ours('SendMessage'), message));
      assert.equal(host.starts(SCRIPTS), before, 'nothing was started');
      await end();
    };
    await playTwo(host, {
      lead: (agent) => call(agent, 'backend-dev'),
      teammate: (agent) => call(agent, LEAD),
    });
    assert.deepEqual(senders(host, 'said by team-lead'), [LEAD]);
    assert.deepEqual(senders(host, 'said by backend-dev'), ['backend-dev']);
  });

  test(`${version}: calls after the server was killed are attributed as before`, async (t) => {
    const host = new TeamHost(t, version);
    const said = gate();
    const send = async (agent: Conversation, recipient: string, content: string) =>
      answerOf(await agent.use(host.ours('SendMessage'), { recipient, type: 'progress', content }));
    await playTwo(host, {
      teammate: async (agent) => {
        await host.killServer();
        await send(agent, LEAD, 'said first by backend-dev');
        await send(agent, LEAD, 'said again by backend-dev');
        said.open();
      },
      lead: async (agent) => {
        await said.opened;
        await send(agent, 'backend-dev', 'said by team-lead');
      },
    });
    assert.deepEqual(senders(host, 'by backend-dev'), ['backend-dev', 'backend-dev']);
    assert.deepEqual(senders(host, 'said by team-lead'), [LEAD]);
  });
}
