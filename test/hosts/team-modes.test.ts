// The newest host at its own screen, in each mode in which it may be used: a teammate starts, does not end before its task
// has, completes it, and ends with its team.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fields } from '../support/forge.ts';
import { availableHosts, hostProgram } from '../support/host.ts';
import { ModelServer } from '../support/model-server.ts';
import { FEATURE, HAND_BACK, PLAN_TEAM, PLANNERS } from '../support/phase-stories.ts';
import { gate, LEAD, type Part, playAgents } from '../support/played-agents.ts';
import { Screen } from '../support/screen.ts';
import { answerOf, mentions, refused, rows, TeamHost } from '../support/team-host.ts';

const WHO = 'researcher';

/** Its own mode: that which the host starts in where nobody chooses one. What is granted in acceptEdits is no call of this story. */
const MODES = ['its own', 'default', 'plan', 'bypassPermissions'] as const;

/** Tries to end, and is held to its task. */
const researcher =
  (host: TeamHost): Part =>
  async (agent) => {
    mentions(agent.news.text, `you are ${WHO} of team ${PLAN_TEAM}`);
    const { tasks } = answerOf(await agent.use(host.ours('TaskList'), {}));
    const taskId = rows(tasks).find(({ owner }) => owner === WHO)?.taskId;
    answerOf(await agent.use(host.ours('TaskUpdate'), { taskId, status: 'in_progress' }));
    const ends = agent.request.tools.includes(HAND_BACK);
    if (ends) refused(await agent.use(HAND_BACK, { message: 'I am done.' }), `You have not finished task ${taskId}`);
    else mentions(await agent.say('I am done.'), `You have not finished task ${taskId}`);
    const result = PLANNERS[WHO]?.tasks[0]?.result;
    answerOf(await agent.use(host.ours('TaskUpdate'), { taskId, status: 'completed', result }));
    if (ends) agent.endBy(HAND_BACK, { message: 'It is explored.' });
    return 'It is explored.';
  };

for (const version of availableHosts(['2.1.331']))
  for (const mode of MODES)
    test(`${version}, mode ${mode}: a teammate is started, held to its task, completes it, and ends`, async (t) => {
      const host = new TeamHost(t, version);
      host.settle({ bypass: mode === 'bypassPermissions' });
      const [begun, gone] = [gate(), gate()];
      let isHandedBack = false;
      let asked = 0;
      const play = playAgents({
        [WHO]: researcher(host),
        [LEAD]: async (lead) => {
          begun.open();
          answerOf(await lead.use(host.ours('TeamCreate'), { team_name: PLAN_TEAM }));
          const input = { subagent_type: `team-${WHO}`, team_name: PLAN_TEAM, name: WHO, prompt: 'Do your tasks.' };
          const { call } = answerOf(await lead.use(host.ours('Task'), input));
          const { tool, input: given } = fields(call);
          const started = await lead.use(String(tool), given);
          assert.ok(!started.isError, started.text);
          let heard = lead.news.text;
          // It is told meanwhile whom it could start besides.
          if (!heard.includes('It is explored.')) heard = await lead.hears(/It is explored\./, 'I wait.');
          isHandedBack = heard.includes('<agent-message from=');
          const ask = { recipient: 'all', type: 'shutdown_request', content: 'it is enough' };
          answerOf(await lead.use(host.ours('SendMessage'), ask));
          answerOf(await lead.use(host.ours('TeamDelete'), { team_name: PLAN_TEAM }));
          gone.open();
          return 'THE-TEAM-IS-GONE';
        },
      });
      const model = await ModelServer.start(t, play.script);
      const screen = new Screen(t, {
        cwd: host.root,
        env: { ...host.env(model.url), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
        command: [hostProgram(version), ...(mode === 'its own' ? [] : ['--permission-mode', mode])],
      });
      try {
        await screen.shows(/\? for shortcuts|shift\+tab to cycle/);
        await screen.enter(`/tool:1-plan "${FEATURE}" --team`, begun.opened, play.failed);
        let isGone = false;
        const over = gone.opened.then(() => {
          isGone = true;
        });
        while (!isGone) {
          await Promise.race([over, play.failed, pause(500)]);
          if (!screen.text.includes('Do you want to proceed?')) continue;
          asked += 1;
          screen.press('Enter');
        }
        await screen.shows('THE-TEAM-IS-GONE');
      } catch (error) {
        t.diagnostic(screen.text);
        throw error;
      }
      assert.equal(isHandedBack, mode === 'its own', 'in its own mode alone an agent hands back');
      assert.equal(asked > 0, mode === 'plan', `the user was asked ${asked} times`);
      const records = host.records(PLAN_TEAM);
      const of = (type: string) => records.filter((record) => record.type === type);
      assert.equal(of('member_spawned').length, 1);
      const held = of('decision').filter(({ hook, decision }) => hook === 'teammate_idle' && decision === 'reject');
      assert.equal(held.length, 1, 'it was held to its task once');
    });
