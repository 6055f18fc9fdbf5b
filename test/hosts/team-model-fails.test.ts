// A teammate that its model fails, in the real host program, against a scripted model on loopback.

import assert from 'node:assert/strict';
import test from 'node:test';
import { HOOK_CODES } from '../../src/claude-code/rules/hook-codes.ts';
import { wordsOf } from '../support/codes.ts';
import { fields } from '../support/forge.ts';
import { availableHosts } from '../support/host.ts';
import { LEAD, type Play, playAgents } from '../support/played-agents.ts';
import { answerOf, mentions, rows, TeamHost } from '../support/team-host.ts';

const TEAM = 'tool-plan-x';

// On 2.1.33 an agent that its model fails stops as any other does; from 2.1.100 on the host tells of it.
for (const version of availableHosts(['2.1.100', '2.1.331']))
  test(`${version}: a teammate whose model fails for good has ended: its task is open again, and a successor may start`, async (t) => {
    const host = new TeamHost(t, version);
    const task = { subagent_type: 'team-researcher', team_name: TEAM, name: 'researcher', prompt: 'Look' };
    let isDead = false;
    const play = playAgents({
      [LEAD]: async (lead) => {
        const use = async (name: string, input: Readonly<Record<string, unknown>>) =>
          answerOf(await lead.use(host.ours(name), input));
        await use('TeamCreate', { team_name: TEAM });
        const { call } = await use('Task', task);
        const { input } = fields(call);
        await lead.use(host.spawnTool, fields(input));
        let heard = '';
        const ended = wordsOf(HOOK_CODES.run_ended_unreported, { member: 'researcher' });
        for (let turns = 0; turns < 60 && !heard.includes(ended); turns++) heard = await lead.say('I wait.');
        mentions(heard, ended);
        const { tasks } = await use('TaskList', {});
        assert.equal(rows(tasks)[0]?.status, 'pending');
        assert.equal((await use('Task', task)).run, 2);
        await use('SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'enough' });
        assert.equal((await use('TeamDelete', { team_name: TEAM })).state, 'deleted');
        return 'That is all.';
      },
      researcher: async (agent) => {
        answerOf(await agent.use(host.ours('TaskUpdate'), { taskId: '1', status: 'in_progress' }));
        isDead = true;
        await agent.use(host.ours('TaskList'), {});
        return 'Never said.';
      },
    });
    const failing: Play = {
      ...play,
      // The researcher waits for an answer that does not come.
      unfinished: () => play.unfinished().filter((name) => name !== 'researcher'),
      script: (request) =>
        isDead && request.system.includes('You are `researcher`')
          ? { status: 400, error: 'invalid_request_error' }
          : play.script(request),
    };
    const { code, stderr } = await host.run('/tool:1-plan "x" --team', failing, {
      env: { CLAUDE_CODE_MAX_RETRIES: '1' },
    });
    assert.equal(code, 0, stderr);
  });
