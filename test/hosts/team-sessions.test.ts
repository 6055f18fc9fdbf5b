// Several sessions of the real host in one project: a team outlives the session that made it, and one session leads it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { HOOK_CODES } from '../../src/claude-code/rules/hook-codes.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { WRITES_CODES } from '../../src/team/rules/codes/writes-codes.ts';
import { wordsLike, wordsOf } from '../support/codes.ts';
import { availableHosts } from '../support/host.ts';
import { type Conversation, LEAD, playAgents } from '../support/played-agents.ts';
import { answerOf, mentions, refused, rows, shellRefused, TeamHost } from '../support/team-host.ts';

const TEAM = 'tool-plan-orders-can-be-cancelled';

for (const version of availableHosts(['2.1.33', '2.1.331'])) {
  test(`${version}: another session is told of the team, writes nothing, and takes it over when the user says so`, async (t) => {
    const host = new TeamHost(t, version);
    const ours = (tool: string) => host.ours(tool);
    const session = async (prompt: string, part: (lead: Conversation) => Promise<void>) => {
      const play = playAgents({
        [LEAD]: async (lead) => {
          await part(lead);
          return 'That is all.';
        },
      });
      const { code, stderr } = await host.run(prompt, play);
      assert.equal(code, 0, stderr);
    };

    await session('/tool:1-plan "Orders can be cancelled" --team', async (lead) => {
      answerOf(await lead.use(ours('TeamCreate'), { team_name: TEAM }));
      const task = { subagent_type: 'team-researcher', team_name: TEAM, name: 'researcher', prompt: 'Look.' };
      answerOf(await lead.use(ours('Task'), task));
      mentions(await lead.say('I stop here.'), 'can begin, and nobody works on it. Start researcher');
    });

    await session('Write a file.', async (lead) => {
      mentions(lead.news.text, wordsOf(HOOK_CODES.team_of_other_session, { team: TEAM, state: 'assigned' }));
      const file = host.path('src/api/other.js');
      refused(await lead.use('Write', { file_path: file, content: 'x' }), '(writer_not_member)');
      const words = wordsLike(WRITES_CODES.writer_not_member, { team: TEAM, who: /.+/ });
      await shellRefused(lead, 'echo x > src/api/other.js', words);
      assert.ok(!existsSync(file));
      refused(await lead.use(ours('TeamDelete'), { team_name: TEAM }), wordsLike(OPERATIONS_CODES.caller_not_member));
    });

    await session('/tool:team-restart', async (lead) => {
      mentions(lead.news.text, `team ${TEAM} was restarted, and you lead it now`);
      mentions(lead.news.text, '"name":"researcher"');
      const { tasks } = answerOf(await lead.use(ours('TaskList'), {}));
      assert.equal(rows(tasks).length, 3);
      assert.equal(answerOf(await lead.use(ours('TeamDelete'), { team_name: TEAM })).state, 'deleted');
    });
  });
}

for (const version of availableHosts(['2.1.331']))
  test(`${version}: started below the project's root, the command has the user told where to start it`, async (t) => {
    const host = new TeamHost(t, version);
    let told = '';
    const play = playAgents({
      [LEAD]: async (lead) => {
        told = lead.news.text;
        return 'That is all.';
      },
    });
    const { code } = await host.run('/tool:1-plan "Orders can be cancelled" --team', play, { at: 'src' });
    assert.equal(code, 0);
    mentions(told, 'start Claude Code in that directory');
    assert.doesNotMatch(told, /toolcrew: \/tool:1-plan/);
  });
