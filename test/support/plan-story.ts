// A team plans a feature: what its lead and its teammates do until there is a SPEC, and after the user has approved it.

import assert from 'node:assert/strict';
import { fields } from './forge.ts';
import { barrier, type Conversation, LEAD, type Part } from './played-agents.ts';
import { answerOf, mentions, refused, rows, type TeamHost } from './team-host.ts';

const TEAM = 'tool-plan-orders-can-be-cancelled';
const ROLES = ['researcher', 'analyst', 'architect'];

export const PROMPT = '/tool:1-plan "Orders can be cancelled" --team';
export const APPROVAL = 'approve SPEC-ORDERS-001';
export const SPEC_FILE = '.tool/specs/SPEC-ORDERS-001/spec.md';

export type PlanStory = {
  readonly teammates: Readonly<Record<string, Part>>;
  /** From the typed command to the SPEC that waits for the user's word. */
  readonly plan: (lead: Conversation) => Promise<void>;
  /** From the user's word to the end of the team. */
  readonly finish: (lead: Conversation) => Promise<void>;
};

export function planStory(host: TeamHost): PlanStory {
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
  return {
    teammates: Object.fromEntries(ROLES.map((role) => [role, teammate])),
    plan: async (lead) => {
      mentions(lead.news.text, 'toolcrew: /tool:1-plan in team mode, pattern plan_research');
      const create = /TeamCreate (\{[^}]*\})/.exec(lead.news.text)?.[1] ?? '{}';
      const { next } = answerOf(await lead.use(ours('TeamCreate'), JSON.parse(create)));
      const registered = await lead.all(rows(next).map(({ tool, input }) => ({ name: ours(String(tool)), input })));
      const calls = registered.map((outcome) => fields(answerOf(outcome).call));
      await lead.all(calls.map(({ tool, input }) => ({ name: String(tool), input })));
      let heard = lead.news.text;
      for (let turns = 0; turns < 20; turns += 1) {
        if (ended === ROLES.length && ROLES.every((role) => heard.includes(`${role} has looked`))) break;
        heard += await lead.say('I wait for my teammates.');
      }
      for (const role of ROLES) mentions(heard, `from ${role}, progress: ${role} has looked`);
      const content = '---\nid: SPEC-ORDERS-001\nstatus: draft\n---\n# Orders can be cancelled\n';
      const written = await lead.use('Write', { file_path: host.path(SPEC_FILE), content });
      assert.ok(!written.isError, written.text);
      mentions(lead.news.text, "SPEC-ORDERS-001 waits for the user's word");
    },
    finish: async (lead) => {
      mentions(lead.news.text, "SPEC-ORDERS-001 is approved, by the user's own word");
      const content = 'approved';
      answerOf(await lead.use(ours('SendMessage'), { recipient: 'all', type: 'shutdown_request', content }));
      assert.equal(answerOf(await lead.use(ours('TeamDelete'), { team_name: TEAM })).state, 'deleted');
    },
  };
}
