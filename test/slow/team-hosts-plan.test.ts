// A team plans a feature in the real host, in the permission mode that everybody starts with and in a folder that nobody
// has called trusted; the user's own word approves what came of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HOST_VERSIONS } from '../support/host.ts';
import { APPROVAL, PROMPT, planStory, SPEC_FILE } from '../support/plan-story.ts';
import { LEAD, playAgents } from '../support/played-agents.ts';
import { type HostRun, TeamHost } from '../support/team-host.ts';

function denials({ events }: HostRun): unknown[] {
  return events.flatMap(({ type, permission_denials: list }) => (type === 'result' && Array.isArray(list) ? list : []));
}

for (const version of HOST_VERSIONS) {
  test(`${version}: a team plans, nobody is asked for leave, and the user's word approves`, async (t) => {
    const host = new TeamHost(t, version);
    const { plan, finish, teammates } = planStory(host);
    const planning = playAgents({
      ...teammates,
      [LEAD]: async (lead) => {
        await plan(lead);
        return 'Please approve SPEC-ORDERS-001.';
      },
    });
    // Its own files are the lead's to write by the rules of the team, not by the host's.
    const planned = await host.run(PROMPT, planning, { bypass: false, args: ['--allowedTools', 'Write'] });
    assert.deepEqual([planned.code, denials(planned)], [0, []], planned.stderr);
    assert.ok(host.read(SPEC_FILE).includes('status: draft'));

    const session = planned.events.find(({ subtype }) => subtype === 'init')?.session_id;
    const ending = playAgents({
      [LEAD]: async (lead) => {
        await finish(lead);
        return 'The team is gone.';
      },
    });
    const approved = await host.run(APPROVAL, ending, { bypass: false, args: ['--resume', String(session)] });
    assert.deepEqual([approved.code, denials(approved)], [0, []], approved.stderr);
    assert.ok(host.read(SPEC_FILE).includes('status: approved'));
  });
}
