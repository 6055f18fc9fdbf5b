// One small feature from the wish to the finished SPEC, and one failure: played in the real host and led from a terminal alike.

import assert from 'node:assert/strict';
import type { TeammateScript } from '../../src/cli/agent-teammate.ts';
import { fields } from './forge.ts';
import { type Conversation, gate, LEAD, type Part, type Play, playAgents } from './played-agents.ts';
import { Teammate } from './scripted-hosts.ts';
import { answerOf, mentions, rows, type TeamHost } from './team-host.ts';

export const FEATURE = 'Users can log out of their account';
export const SPEC = 'SPEC-LOG-OUT-ACCOUNT-001';
export const PLAN_TEAM = 'tool-plan-users-can-log-out-of-their-account';
export const RUN_TEAM = 'tool-run-spec-log-out-account-001';
export const FAILURE = 'TypeError in session: x is undefined';
export const DEBUG_TEAM = 'tool-debug-typeerror-in-session-x-is-undefined';

/** What both projects hold. */
export const FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'shop', private: true, type: 'module', scripts: { test: 'node --test' } })}\n`,
  '.gitignore': 'node_modules/\n.tool/teams/\n.tool/state/\n.tool/cache/\n.tool/worktrees/\n',
  'src/api/session.js': 'export const sessions = new Map();\n',
  'src/pages/account.js': 'export const account = () => "<h1>Account</h1>";\n',
  'tests/account.test.js':
    "import assert from 'node:assert/strict';\nimport test from 'node:test';\nimport { account } from '../src/pages/account.js';\n\ntest('there is a page', () => assert.match(account(), /Account/));\n",
};

const RESEARCHER = '- files: `src/api/session.js`: sessions are rows\n';

const ANALYST = `> So that a shared computer is safe.

## Requirements

- R1: When a user logs out, the API shall end the session.
- R2: The page shall show a button to log out.

## Out of scope

- Logging out everywhere

## Acceptance

- A1 (R1): Given a session, when its user logs out, then it is gone.
- A2 (R2): Given a user, when the page is shown, then there is a button.
`;

const ARCHITECT = `> One function. A cookie that expires was not taken: it can be copied.

## T1: End the session

- files: \`src/api/logout.js\`
- domain: backend
- owner: backend-dev
- depends on: none
- requirements: R1

## T2: Show the button

- files: \`src/pages/account.js\`
- domain: frontend
- owner: frontend-dev
- depends on: none
- requirements: R2

## T3: Decide both by tests

- files: \`tests/logout.test.js\`
- domain: tests
- owner: tester
- depends on: T1, T2
- requirements: R1, R2
`;

const LOGOUT = `import { sessions } from './session.js';

export const logout = (id) => sessions.delete(id);
`;

const TESTS = `// ${SPEC}
import assert from 'node:assert/strict';
import test from 'node:test';
import { logout } from '../src/api/logout.js';
import { sessions } from '../src/api/session.js';
import { account } from '../src/pages/account.js';

test('R1, A1: the session is gone', () => {
  sessions.set('7', 'Ada');
  logout('7');
  assert.equal(sessions.size, 0);
});

test('R2, A2: there is a button', () => assert.match(account(), /<button>/));
`;

/** What each does, whoever plays it. */
export const PLANNERS: TeammateScript = {
  researcher: { tasks: [{ subject: 'Explore', steps: [], result: RESEARCHER }] },
  analyst: { tasks: [{ subject: 'Write the requirements', steps: [], result: ANALYST }] },
  architect: { tasks: [{ subject: 'Design the solution', steps: [], result: ARCHITECT }] },
};

export const BUILDERS: TeammateScript = {
  'backend-dev': {
    tasks: [{ subject: 'End the session', steps: [{ write: { path: 'src/api/logout.js', text: LOGOUT } }] }],
  },
  'frontend-dev': {
    tasks: [
      {
        subject: 'Show the button',
        steps: [
          {
            write: {
              path: 'src/pages/account.js',
              text: 'export const account = () => "<h1>Account</h1><button>Log out</button>";\n',
            },
          },
        ],
      },
    ],
  },
  tester: {
    tasks: [{ subject: 'Decide both', steps: [{ write: { path: 'tests/logout.test.js', text: TESTS } }] }],
  },
  quality: {
    tasks: [
      {
        subject: 'Verify the quality',
        steps: [
          {
            call: {
              tool: 'SendMessage',
              input: {
                recipient: LEAD,
                type: 'quality_gate_passed',
                content: { trust5Score: 4.8, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' },
              },
            },
          },
        ],
      },
    ],
  },
};

const OUTPUT = '$ node --version\nv20.19.0, expected 22';

export const SEARCHERS: TeammateScript = {
  'hypothesis-1': {
    tasks: [{ subject: 'Try whether', steps: [], result: `refuted: it was never otherwise\n${OUTPUT}` }],
  },
  'hypothesis-2': { tasks: [{ subject: 'Try whether', steps: [], result: `proven: Node is too old\n${OUTPUT}` }] },
  // It would go on for an hour.
  'hypothesis-3': { tasks: [{ subject: 'Try whether', steps: [{ think_ms: 3_600_000 }] }] },
};

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
          if (!rows(tasks).some(({ owner, status }) => owner === name && status === 'pending')) return 'I am done.';
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
      return 'I stop.';
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
