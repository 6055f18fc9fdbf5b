// Token cost of an installation for a session without a team: the real host's model request with and without it.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { fields } from '../support/forge.ts';
import { availableHosts, type HostVersion } from '../support/host.ts';
import type { ModelRequest } from '../support/model-server.ts';
import { LEAD, playAgents } from '../support/played-agents.ts';
import { answerOf, type Form, mentions, TeamHost } from '../support/team-host.ts';

/** Maximum cost in tokens, with deferred tools. */
const MOST = 900;
/** Maximum cost in tokens if the host offers the tools of all servers with their schemas. */
const MOST_OFFERED = 1_900;

/** The usual estimate, applied to the raw request. */
const CHARACTERS_PER_TOKEN = 4;

const PARTS = ['tools', 'agents', 'skills', 'context'] as const;
type Part = (typeof PARTS)[number];

/** Line forms of agents, skills and deferred tools; each host lists them in another part of the request. */
const LINES: readonly (readonly [Part, RegExp])[] = [
  ['agents', /^- [\w:-]+: .*\(Tools: /],
  ['skills', /^- [\w:-]+: /],
  ['tools', /^mcp__\w+/],
];

/** Number of characters in each part of a request. */
function partsOf({ raw }: ModelRequest): Record<Part, number> {
  const { tools, system, messages } = fields(JSON.parse(raw));
  const parts: Record<Part, number> = { tools: 0, agents: 0, skills: 0, context: 0 };
  const count = (value: unknown, rest: Part) => {
    const lines = JSON.stringify(value).split('\\n');
    for (const line of lines) parts[LINES.find(([, form]) => form.test(line))?.[0] ?? rest] += line.length + 2;
  };
  count(tools, 'tools');
  count([system, messages], 'context');
  return parts;
}

/** By default, hosts defer the tools of servers only with their vendor's API; the newest host with any API. */
const search = (isOn: boolean) => ({ ENABLE_TOOL_SEARCH: String(isOn) });

/** The model request for a prompt that uses no team. */
async function requestOf(t: TestContext, version: HostVersion, form: Form, defers: boolean): Promise<ModelRequest> {
  const play = playAgents({ [LEAD]: async () => 'Hello.' });
  const host = new TeamHost(t, version, form);
  const { code, stderr, model } = await host.run('Say hello.', play, { env: search(defers), waits: !defers });
  assert.equal(code, 0, stderr);
  const request = model.requests.find(({ tools }) => tools.includes('Write'));
  assert.ok(request !== undefined, 'the prompt has reached the model');
  return request;
}

/** In which each cost is the highest; docs/team.md has the others. The oldest adds its long search tool with the first tool of a server. */
const DEAREST: readonly (readonly [HostVersion, boolean])[] = [
  ['2.1.33', false],
  ['2.1.177', true],
];

for (const [one, defers] of DEAREST)
  for (const version of availableHosts([one]))
    test(`${version}, tools ${defers ? 'deferred' : 'offered'}: the cost of a session without a team`, async (t) => {
      const plain = partsOf(await requestOf(t, version, 'none', defers));
      for (const form of ['installed', 'plugin'] as const) {
        const request = await requestOf(t, version, form, defers);
        const ours = partsOf(request);
        const tokens = PARTS.map((part) => Math.ceil((ours[part] - plain[part]) / CHARACTERS_PER_TOKEN));
        const sum = tokens.reduce((total, one) => total + one, 0);
        const words = PARTS.map((part, index) => `${part} ${tokens[index]}`).join(', ');
        t.diagnostic(`${form}: ${sum} tokens: ${words}`);
        mentions(request.raw, 'team-backend-dev');
        mentions(request.raw, 'tool-workflow-spec');
        assert.equal(
          request.tools.some((tool) => /^mcp__.*team__TeamCreate$/.test(tool)),
          !defers,
        );
        assert.ok(sum <= (defers ? MOST : MOST_OFFERED), `${form}: ${words}`);
      }
    });

const TEAM = 'tool-plan-x';

const CASES: readonly (readonly [HostVersion, Form])[] = [
  ['2.1.100', 'installed'],
  ['2.1.331', 'plugin'],
];

for (const [one, form] of CASES)
  for (const version of availableHosts([one]))
    test(`${version}, ${form}: the lead loads deferred tools by the call that the command names`, async (t) => {
      const host = new TeamHost(t, version, form);
      const play = playAgents({
        [LEAD]: async (lead) => {
          const [, call = ''] = /call ToolSearch (\{[^}]*\}) first/.exec(lead.news.text) ?? [];
          assert.notEqual(call, '', lead.news.text);
          assert.ok(lead.request.tools.includes('ToolSearch'));
          const found = await lead.use('ToolSearch', JSON.parse(call));
          assert.ok(!found.isError, found.text);
          for (const tool of ['TeamCreate', 'Task', 'SendMessage', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet'])
            mentions(lead.request.raw, `"tool_name":"${host.ours(tool)}"`);
          answerOf(await lead.use(host.ours('TeamCreate'), { team_name: TEAM }));
          answerOf(await lead.use(host.ours('TeamDelete'), { team_name: TEAM }));
          return 'That is all.';
        },
      });
      const { code, stderr } = await host.run('/tool:1-plan "x" --team', play, { env: search(true), waits: false });
      assert.equal(code, 0, stderr);
    });
