// One small feature from the wish to the finished SPEC, and one failure: played in the real host and led from a terminal alike.

import assert from 'node:assert/strict';
import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { specFromResults } from '../../src/team/rules/spec-documents/from-results.ts';
import { specTextsOf } from '../../src/team/rules/spec-documents/new-spec.ts';
import { fields } from './forge.ts';
import { type Conversation, gate, LEAD, type Part, type Play, playAgents } from './played-agents.ts';
import { JAVASCRIPT, SPEC } from './samples.ts';
import { Teammate } from './scripted-hosts.ts';
import { answerOf, mentions, rows, type TeamHost } from './team-host.ts';

export const FEATURE = 'Users can log out of their account';
export { SPEC };
export const PLAN_TEAM = 'tool-plan-users-can-log-out-of-their-account';
export const RUN_TEAM = 'tool-run-spec-log-out-account-001';
export const FAILURE = 'TypeError in session: x is undefined';
export const DEBUG_TEAM = 'tool-debug-typeerror-in-session-x-is-undefined';

/** What both projects hold, and what each does, whoever plays it. */
export const { files: FILES, planners: PLANNERS, builders: BUILDERS } = JAVASCRIPT;

/** The project once what its planners give is approved. */
export function approvedFiles(): Readonly<Record<string, string>> {
  const resultOf = (role: string) => PLANNERS[role]?.tasks[0]?.result ?? null;
  const results = {
    researcher: resultOf('researcher'),
    analyst: resultOf('analyst'),
    architect: resultOf('architect'),
  };
  const made = specFromResults(FEATURE, results, 'approved');
  assert.ok(made.ok);
  const { spec, plan, acceptance } = specTextsOf(SPEC, made.spec, '2026-01-05');
  const place = `.tool/specs/${SPEC}`;
  return {
    ...FILES,
    [`${place}/spec.md`]: spec,
    [`${place}/plan.md`]: plan,
    [`${place}/acceptance.md`]: acceptance,
  };
}

const OUTPUT = '$ node --version\nv20.19.0, expected 22';

export const SEARCHERS: TeammateScript = {
  'hypothesis-1': {
    tasks: [{ subject: 'Try whether', steps: [], result: `refuted: it was never otherwise\n${OUTPUT}` }],
  },
  'hypothesis-2': { tasks: [{ subject: 'Try whether', steps: [], result: `proven: Node is too old\n${OUTPUT}` }] },
  // It would go on for an hour.
  'hypothesis-3': { tasks: [{ subject: 'Try whether', steps: [{ think_ms: 3_600_000 }] }] },
};

/** In its own mode the newest host offers a call by which an agent ends. */
export const HAND_BACK = 'SubagentHandback';

function lastWord(agent: Conversation, words: string): string {
  if (agent.request.tools.includes(HAND_BACK)) agent.endBy(HAND_BACK, { message: words });
  return words;
}

/**
 * Teammates in the host that do what the script says, as long as there is a task that each could begin.
 * @param begun resolves when they may begin
 */
export function played(
  host: TeamHost,
  script: TeammateScript,
  begun = () => Promise.resolve(),
): Readonly<Record<string, Part>> {
  return Object.fromEntries(
    Object.entries(script).map(([name, part]): [string, Part] => [
      name,
      async (agent) => {
        const teammate = new Teammate(agent, part, undefined);
        await begun();
        for (;;) {
          const { tasks } = answerOf(await agent.use(host.ours('TaskList'), {}));
          if (!rows(tasks).some(({ owner, status }) => owner === name && status === 'pending'))
            return lastWord(agent, 'I am done.');
          await teammate.turn();
        }
      },
    ]),
  );
}

async function start(host: TeamHost, lead: Conversation, team: string, roles: readonly string[]): Promise<void> {
  const input = (name: string) => ({ subagent_type: `team-${name}`, team_name: team, name, prompt: 'Do your tasks.' });
  const registered = await lead.all(roles.map((name) => ({ name: host.ours('Task'), input: input(name) })));
  const calls = registered.map((outcome) => fields(answerOf(outcome).call));
  const started = await lead.all(calls.map(({ tool, input: given }) => ({ name: String(tool), input: given })));
  for (const { isError, text } of started) assert.ok(!isError, text);
}

/** Starts whoever is said to be able to begin, and waits for what is said then. */
async function follows(
  host: TeamHost,
  lead: Conversation,
  team: string,
  begun: Set<string>,
  until: RegExp,
): Promise<string> {
  let heard = lead.news.text;
  for (let turns = 0; turns < 30 && !until.test(heard); turns += 1) {
    const free = [...heard.matchAll(/task \d+ for ([\w-]+) can begin now/g)].map(([, name = '']) => name);
    const next = [...new Set(free)].filter((name) => !begun.has(name));
    for (const name of next) begun.add(name);
    if (next.length > 0) await start(host, lead, team, next);
    else await lead.say('I wait for my teammates.');
    heard += lead.news.text;
  }
  mentions(heard, until);
  return heard;
}

/** Who has a task that can begin, of lines like `1. [pending] End the session (backend-dev)`. */
function free(lines: string): readonly string[] {
  return [...new Set([...lines.matchAll(/^\d+\. \[pending\] .*\(([\w-]+)\)$/gm)].map(([, name = '']) => name))];
}

/**
 * Leads as it is told: creates the team, starts whoever can begin, and waits.
 * @param until what it waits for
 * @param only starts nobody else
 */
export async function leads(
  host: TeamHost,
  lead: Conversation,
  until: RegExp,
  only: readonly string[] | null = null,
): Promise<string> {
  mentions(lead.news.text, 'in team mode');
  const create = /TeamCreate (\{[^}]*\})/.exec(lead.news.text)?.[1] ?? '{}';
  const { team, tasks } = answerOf(await lead.use(host.ours('TeamCreate'), JSON.parse(create)));
  assert.ok(Array.isArray(tasks));
  const roles = only ?? free(tasks.join('\n'));
  await start(host, lead, String(team), roles);
  return follows(host, lead, String(team), new Set(roles), until);
}

/** Goes on with a team as a restart tells it. */
export async function startRest(host: TeamHost, lead: Conversation, team: string, until: RegExp): Promise<void> {
  const roles = free(lead.news.text);
  await start(host, lead, team, roles);
  await follows(host, lead, team, new Set(roles), until);
}

/** Ends the team, and waits for the last of it. */
export async function ends(
  host: TeamHost,
  lead: Conversation,
  team: string,
): Promise<Readonly<Record<string, unknown>>> {
  const content = 'The work is done.';
  answerOf(await lead.use(host.ours('SendMessage'), { recipient: 'all', type: 'shutdown_request', content }));
  for (;;) {
    const deleted = await lead.use(host.ours('TeamDelete'), { team_name: team });
    if (!deleted.isError) return answerOf(deleted);
    mentions(deleted.text, 'is not deleted');
    await lead.say('I wait for the last one.');
  }
}

/** A session of which only the lead speaks. */
export function alone(part: Part): Play {
  return playAgents({ [LEAD]: part });
}

/** The three that look for a cause; the last goes on until it is asked to end. */
export function searchers(host: TeamHost): Readonly<Record<string, Part>> {
  const proven = gate();
  const { 'hypothesis-3': _, ...others } = SEARCHERS;
  const parts = played(host, others);
  const second = parts['hypothesis-2'];
  assert.ok(second !== undefined);
  return {
    ...parts,
    'hypothesis-2': async (agent) => {
      const words = await second(agent);
      proven.open();
      return words;
    },
    'hypothesis-3': async (agent) => {
      const { tasks } = answerOf(await agent.use(host.ours('TaskList'), {}));
      const taskId = rows(tasks).find(({ owner }) => owner === agent.who)?.taskId;
      answerOf(await agent.use(host.ours('TaskUpdate'), { taskId, status: 'in_progress' }));
      await proven.opened;
      for (let turns = 0; turns < 200 && !agent.news.text.includes('shutdown_request'); turns += 1)
        await agent.use('Read', { file_path: host.path('package.json') });
      mentions(agent.news.text, 'shutdown_request');
      return lastWord(agent, 'I stop.');
    },
  };
}

/** Plans without a team: what sub-agents would have found is its own, and it says of each when it is done. */
export function planAlone(host: TeamHost): Part {
  return async (lead) => {
    mentions(lead.news.text, '/tool:1-plan in sub-agent mode');
    let last: Readonly<Record<string, unknown>> = {};
    for (const [, id = '', role = ''] of lead.news.text.matchAll(/^(\d)\. team-([\w-]+): /gm)) {
      const result = PLANNERS[role]?.tasks[0]?.result;
      const update = { taskId: id, status: 'completed', result };
      last = answerOf(await lead.use(host.ours('TaskUpdate'), update));
    }
    mentions(String(last.note), `${SPEC} has been written from the planners' results`);
    answerOf(await lead.use(host.ours('TeamDelete'), { team_name: PLAN_TEAM }));
    return 'Please say whether that is what you want.';
  };
}
