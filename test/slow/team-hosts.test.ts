// A team in the real host program, from the typed command to its end, against a scripted model on loopback.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { HOST_VERSIONS } from '../support/host.ts';
import { LEAD, playAgents } from '../support/played-agents.ts';
import { mentions, TeamHost } from '../support/team-host.ts';

for (const version of HOST_VERSIONS) {
  test(`${version}: a typed command reaches the model with the next step, and runs nothing that stands in it`, async (t) => {
    const host = new TeamHost(t, version);
    const read = async (prompt: string): Promise<string> => {
      let text = '';
      const play = playAgents({
        [LEAD]: async (lead) => {
          text = lead.news.text;
          return 'I have read it.';
        },
      });
      const { code, stderr } = await host.run(prompt, play);
      assert.equal(code, 0, stderr);
      return text;
    };
    const plain = await read('/tool:1-plan "x" --team');
    mentions(plain, 'toolcrew: /tool:1-plan in team mode, pattern plan_research');
    mentions(plain, 'TeamCreate {"team_name":"tool-plan-x"}');
    mentions(plain, 'ollow those steps exactly');
    const nasty = await read('/tool:1-plan a"; touch pwned; echo "b $(touch pwned) `touch pwned` --team');
    mentions(nasty, 'toolcrew: /tool:1-plan in team mode');
    assert.ok(!existsSync(host.path('pwned')));
  });
}
