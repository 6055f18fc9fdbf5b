// A person at the host's own screen: types the command, sees the team at work in the background, and approves.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { availableHosts, hostProgram } from '../support/host.ts';
import { ModelServer, say } from '../support/model-server.ts';
import { ends, FEATURE, leads, PLAN_TEAM, PLANNERS, played, SPEC } from '../support/phase-stories.ts';
import { gate, LEAD, playAgents } from '../support/played-agents.ts';
import { Screen } from '../support/screen.ts';
import { TeamHost } from '../support/team-host.ts';

// The newest is in phases.test.ts.
for (const version of availableHosts(['2.1.33']))
  test(`${version}: typed at the screen, the command starts a team in the background`, async (t) => {
    const host = new TeamHost(t, version);
    host.settle();
    const file = `.tool/specs/${SPEC}/spec.md`;
    const words = `Please approve ${SPEC}.`;
    const [begun, planned, gone] = [gate(), gate(), gate()];
    const play = playAgents({
      ...played(host, PLANNERS),
      [LEAD]: async (lead) => {
        begun.open();
        await leads(host, lead, /has been written from the planners' results/);
        planned.open();
        await lead.hears(/the user has approved/, words);
        await ends(host, lead, PLAN_TEAM);
        gone.open();
        return 'THE-TEAM-IS-GONE';
      },
    });
    const model = await ModelServer.start(t, play.script);
    const screen = new Screen(t, {
      cwd: host.root,
      env: { ...host.env(model.url), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      command: [hostProgram(version), '--dangerously-skip-permissions'],
    });
    try {
      await screen.shows('bypass permissions');
      await screen.enter(`/tool:1-plan "${FEATURE}" --team`, begun.opened, play.failed);
      await Promise.race([planned.opened, play.failed]);
      assert.ok(host.read(file).includes('status: awaiting_approval'));
      await screen.shows(words);
      await screen.enter(`approve ${SPEC}`, gone.opened, play.failed);
      await screen.shows('THE-TEAM-IS-GONE');
      // The next step is a fresh context.
      screen.type('/clear');
      await screen.shows('/clear');
      while (screen.text.includes('THE-TEAM-IS-GONE')) {
        screen.press('Enter');
        await Promise.race([play.failed, pause(1_000)]);
      }
    } catch (error) {
      t.diagnostic(screen.text);
      throw error;
    }
    assert.ok(host.read(file).includes('status: approved'));
  });

// A newer one would stand at that question in phases.test.ts and run-screen.test.ts.
for (const version of availableHosts(['2.1.33']))
  test(`${version}: the first session begins with a prompt, and not with a question about the team server`, async (t) => {
    const host = new TeamHost(t, version);
    host.settle();
    const model = await ModelServer.start(t, () => say('Hello.'));
    const screen = new Screen(t, {
      cwd: host.root,
      env: { ...host.env(model.url), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      command: [hostProgram(version)],
    });
    await screen.shows(/\? for shortcuts|shift\+tab to cycle|New MCP server found/);
    assert.doesNotMatch(screen.text, /New MCP server found/);
  });
