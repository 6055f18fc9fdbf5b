// A team plans a feature in the real host, in the permission mode that everybody starts with and in a folder that nobody
// has called trusted; the user's own word approves what came of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fields } from '../support/forge.ts';
import { HOST_VERSIONS } from '../support/host.ts';
import { barrier, type Conversation, LEAD, type Part, playAgents } from '../support/played-agents.ts';
import { answerOf, type HostRun, mentions, refused, rows, TeamHost } from '../support/team-host.ts';

const TEAM = 'tool-plan-orders-can-be-cancelled';
const ROLES = ['researcher', 'analyst', 'architect'];
const SPEC = '.tool/specs/SPEC-ORDERS-001/spec.md';

function denials({ events }: HostRun): unknown[] {
  return events.flatMap(({ type, permission_denials: list }) => (type === 'result' && Array.isArray(list) ? list : []));
}

for (const version of HOST_VERSIONS) {
  test(`${version}: a team plans, nobody is asked for leave, and the user's word approves`, async (t) => {
    const host = new TeamHost(t, version);
    const ours = (tool: string) => host.ours(tool);
    const allAsked = barrier(ROLES.length);
    let ended = 0;

    const teammate: Part = async (agent) => {
      await allAsked();
      const { tasks } = answerOf(await agent.use(ours('TaskList'), {}));
      const taskId = rows(tasks).find(({ owner }) => owner === agent.who)?.taskId;
      answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'in_progress' }));
      refused(await agent.use(ours('FileLease'), { path: 'README.md', reason: 'x' }), `${agent.who} only reads`);
      const content = `${agent.who} has looked`;
      answerOf(await agent.use(ours('SendMessage'), { recipient: LEAD, type: 'progress', content }));
      answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'completed', result: content }));
      ended += 1;
      return content;
    };
    const lead: Part = async (agent) => {
      const create = /TeamCreate (\{[^}]*\})/.exec(agent.news.text)?.[1] ?? '{}';
      const { next } = answerOf(await agent.use(ours('TeamCreate'), JSON.parse(create)));
      const registered = await agent.all(rows(next).map(({ tool, input }) => ({ name: ours(String(tool)), input })));
      const calls = registered.map((outcome) => fields(answerOf(outcome).call));
      await agent.all(calls.map(({ tool, input }) => ({ name: String(tool), input })));
      let heard = agent.news.text;
      for (let turns = 0; turns < 20; turns += 1) {
        if (ended === ROLES.length && ROLES.every((role) => heard.includes(`${role} has looked`))) break;
        heard += await agent.say('I wait for my teammates.');
      }
      for (const role of ROLES) mentions(heard, `from ${role}, progress: ${role} has looked`);
      const content = '---\nid: SPEC-ORDERS-001\nstatus: draft\n---\n# Orders can be cancelled\n';
      const written = await agent.use('Write', { file_path: host.path(SPEC), content });
      assert.ok(!written.isError, written.text);
      mentions(agent.news.text, "SPEC-ORDERS-001 waits for the user's word");
      return 'Please approve SPEC-ORDERS-001.';
    };
    const play = playAgents({ [LEAD]: lead, ...Object.fromEntries(ROLES.map((role) => [role, teammate])) });
    const planned = await host.run('/tool:1-plan "Orders can be cancelled" --team', play, {
      bypass: false,
      args: ['--allowedTools', 'Write'],
    });
    assert.equal(planned.code, 0, planned.stderr);
    assert.deepEqual(denials(planned), []);
    assert.ok(host.read(SPEC).includes('status: draft'));

    const session = planned.events.find(({ subtype }) => subtype === 'init')?.session_id;
    const afterwards = async (agent: Conversation): Promise<string> => {
      mentions(agent.news.text, "SPEC-ORDERS-001 is approved, by the user's own word");
      const content = 'approved';
      answerOf(await agent.use(ours('SendMessage'), { recipient: 'all', type: 'shutdown_request', content }));
      assert.equal(answerOf(await agent.use(ours('TeamDelete'), { team_name: TEAM })).state, 'deleted');
      return 'The team is gone.';
    };
    const approved = await host.run('approve SPEC-ORDERS-001', playAgents({ [LEAD]: afterwards }), {
      bypass: false,
      args: ['--resume', String(session)],
    });
    assert.deepEqual([approved.code, denials(approved)], [0, []], approved.stderr);
    assert.ok(host.read(SPEC).includes('status: approved'));
  });
}
