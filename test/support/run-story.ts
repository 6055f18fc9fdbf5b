// A team builds a SPEC in the real host: what its lead and its teammates do, and what each is told in between.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { MESSAGES_CODES } from '../../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../../src/team/rules/codes/operations-codes.ts';
import { wordsLike } from './codes.ts';
import { fields } from './forge.ts';
import type { HostVersion } from './host.ts';
import {
  barrier,
  type Call,
  type Conversation,
  gate,
  LEAD,
  type Part,
  type Play,
  playAgents,
} from './played-agents.ts';
import {
  answerOf,
  BANNER,
  BUGGY,
  FAILING_TEST,
  type Form,
  MENDED,
  mentions,
  refused,
  rows,
  SPEC,
  shellRefused,
  TeamHost,
} from './team-host.ts';

const TEAM = 'tool-run-spec-users-001';

type Fields = Readonly<Record<string, unknown>>;

/** Prints what a client of the team's server would send. */
function asked(call: Fields): string {
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const lines = [
    { id: 1, method: 'initialize', params: client },
    { id: 2, method: 'tools/call', params: call },
  ];
  return `printf '%s\\n' ${lines.map((line) => `'${JSON.stringify({ jsonrpc: '2.0', ...line })}'`).join(' ')}`;
}

/** Tools of the host's own, where it offers them. */
const HOSTS_OWN = {
  TaskCreate: { subject: 'x', description: 'x', activeForm: 'x' },
  TeamCreate: { team_name: 'mine', description: 'x' },
};

/** The call that stands ready in a text, like `SendMessage {"recipient":…}`. */
function readyCall(host: TeamHost, text: string, tool: string): Call {
  const input = new RegExp(`${tool} (\\{.*\\})`).exec(text)?.[1];
  assert.ok(input !== undefined, `no ready ${tool} in: ${text}`);
  return { name: host.ours(tool), input: JSON.parse(input) };
}

/** Registers teammates as the team's answer asks for; gives the calls that start them, as they were answered. */
async function register(host: TeamHost, lead: Conversation, next: readonly Fields[]): Promise<readonly Call[]> {
  const answers = await lead.all(next.map(({ tool, input }) => ({ name: host.ours(String(tool)), input })));
  return answers.map((outcome) => {
    const { tool, input } = fields(answerOf(outcome).call);
    return { name: String(tool), input };
  });
}

/** The id of the task that somebody is to do; the first that is not completed. */
async function taskFor(host: TeamHost, agent: Conversation): Promise<string> {
  const { tasks } = answerOf(await agent.use(host.ours('TaskList'), {}));
  const task = rows(tasks).find(({ owner, status }) => owner === agent.who && status === 'pending');
  assert.ok(task !== undefined, `${agent.who} has no task in ${JSON.stringify(tasks)}`);
  return String(task.taskId);
}

type Story = {
  readonly play: Play;
  /** What was seen on the way: how far it came. */
  readonly seen: string[];
};

/** @param host installed into, with a SPEC that is approved */
function runStory(host: TeamHost): Story {
  const seen: string[] = [];
  const bothAsked = barrier(2);
  const [mailed, mended, printed, leadTried, testerReady, leadAsked] = [gate(), gate(), gate(), gate(), gate(), gate()];
  const ours = (tool: string) => host.ours(tool);

  const lead: Part = async (agent) => {
    const { news, request } = agent;
    mentions(news.text, 'toolcrew: /tool:2-run in team mode');
    mentions(news.text, `(${ours('…')})`);
    const create = /TeamCreate (\{[^}]*\})/.exec(news.text)?.[1] ?? '';
    const created = answerOf(await agent.use(ours('TeamCreate'), JSON.parse(create)));
    assert.equal(created.team, TEAM);
    const next = rows(created.next);
    assert.deepEqual(
      next.map(({ input }) => fields(input).name),
      ['backend-dev', 'frontend-dev', 'tester'],
    );
    const [backend = {}, frontend = {}, tester = {}] = next;

    const spawn = { description: 'x', prompt: 'x', subagent_type: 'team-quality' };
    refused(await agent.use(host.spawnTool, spawn), 'only registered teammates may start');
    refused(
      await agent.use(host.spawnTool, { ...spawn, subagent_type: 'general-purpose' }),
      'only registered teammates may start',
    );
    for (const [tool, input] of Object.entries(HOSTS_OWN)) {
      if (!request.tools.includes(tool)) continue;
      refused(await agent.use(tool, input), `call ${ours(tool)} instead`);
      seen.push(`the host's ${tool} is refused`);
    }
    refused(await agent.use('Write', { file_path: host.path('src/api/lead.js'), content: 'x' }), 'The lead delegates');
    await shellRefused(agent, 'echo x > src/api/lead.js', 'The lead delegates');

    const calls = await register(host, agent, [backend, frontend]);
    assert.deepEqual([...new Set(calls.map(({ name }) => name))], [host.spawnTool]);
    const started = await agent.all(calls);
    for (const { isError, text } of started) assert.ok(!isError, text);
    let heard = agent.news.text;
    seen.push('two teammates were started');
    refused(
      await agent.use(ours('TeamDelete'), { team_name: TEAM }),
      wordsLike(OPERATIONS_CODES.team_has_live_members, { team: TEAM, members: /backend-dev \(not asked\).*/ }),
    );
    leadTried.open();

    heard += agent.news.text;
    const ready = /task \d+ for tester can begin now/;
    if (!ready.test(heard)) heard += await agent.hears(ready, 'I wait for my teammates.');
    seen.push('the lead is told whom to start');
    const [start] = await register(host, agent, [tester]);
    assert.ok(start !== undefined);
    assert.ok(!(await agent.use(start.name, start.input)).isError);
    await testerReady.opened;

    const asked = await agent.use(ours('SendMessage'), {
      recipient: 'all',
      type: 'shutdown_request',
      content: 'The work is done.',
    });
    answerOf(asked);
    if (host.hasBackground)
      refused(await agent.use(ours('TeamDelete'), { team_name: TEAM }), 'tester (asked, not read)');
    leadAsked.open();
    for (let turns = 0; ; turns += 1) {
      const deleted = await agent.use(ours('TeamDelete'), { team_name: TEAM });
      if (!deleted.isError) {
        assert.equal(answerOf(deleted).state, 'deleted');
        break;
      }
      assert.ok(host.hasBackground && turns < 10, deleted.text);
      // Its end may be told with the refusal itself: then nothing more would come.
      if (!agent.news.text.includes('<task-notification>')) await agent.say('I wait for the last one.');
    }
    seen.push('the team is deleted');
    return 'All is done.';
  };

  const backendDev: Part = async (agent) => {
    mentions(agent.news.text, `you are backend-dev of team ${TEAM}`);
    await bothAsked();
    const taskId = await taskFor(host, agent);
    assert.equal(
      answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'in_progress' })).status,
      'in_progress',
    );
    answerOf(
      await agent.use(ours('SendMessage'), {
        recipient: 'frontend-dev',
        type: 'api_ready',
        content: { endpoint: 'GET /accounts/:id', schema: { owner: 'string' } },
      }),
    );
    mailed.open();
    if (host.hasBackground) await leadTried.opened;
    const file = host.path('src/api/users.js');
    assert.ok(!(await agent.use('Read', { file_path: file })).isError);
    assert.ok(!(await agent.use('Write', { file_path: file, content: BUGGY })).isError);
    refused(await agent.use(ours('TaskUpdate'), { taskId, status: 'completed' }), FAILING_TEST);
    seen.push('a completion is rejected');
    const written = await agent.use('Write', { file_path: file, content: MENDED });
    assert.ok(!written.isError, written.text);
    const completed = answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'completed', result: 'Mended.' }));
    assert.equal(completed.status, 'completed');
    mended.open();
    return 'The API answers.';
  };

  const frontendDev: Part = async (agent) => {
    mentions(agent.news.text, `you are frontend-dev of team ${TEAM}`);
    await bothAsked();
    seen.push('two teammates work at once');
    await mailed.opened;
    const file = host.path('src/components/banner.js');
    assert.ok(!(await agent.use('Read', { file_path: file })).isError);
    mentions(agent.news.text, /from backend-dev, api_ready: .*GET \/accounts\/:id/);
    seen.push('mail comes with the next tool');
    const taskId = await taskFor(host, agent);
    answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'in_progress' }));

    const foreign = await agent.use('Write', { file_path: host.path('src/api/stolen.js'), content: 'x' });
    refused(foreign, "src/api/stolen.js is backend-dev's");
    const shell = await shellRefused(agent, 'echo x > src/api/stolen.js', "src/api/stolen.js is backend-dev's");
    assert.ok(!existsSync(host.path('src/api/stolen.js')));
    const request = readyCall(host, shell, 'SendMessage');
    assert.equal(answerOf(await agent.use(request.name, request.input)).to, 'backend-dev');
    seen.push('files of others are refused, with what to send');

    assert.ok((await agent.use(ours('TeamDelete'), { team_name: TEAM })).isError);
    const message = { recipient: 'backend-dev', type: 'progress', content: 'Half of it is done.' };
    const unknown = wordsLike(MESSAGES_CODES.parameter_unknown, { field: 'from', operation: 'SendMessage' });
    refused(await agent.use(ours('SendMessage'), { ...message, from: LEAD }), unknown);
    refused(await agent.use(ours('SendMessage'), { ...message, type: 'shutdown_request' }), 'team-lead');
    const forged = await agent.use(ours('SendMessage'), { ...message, _caller: 'e30.AAAA' });
    assert.equal(answerOf(forged).to, 'backend-dev');

    const typed = `exec env -u CLAUDECODE TOOL_TEAMMATE=backend-dev ${host.command} team task update 1 completed`;
    refused(await agent.use('Bash', { command: typed, description: 'x' }), 'this shell belongs to an agent');
    const call = { name: 'TaskUpdate', arguments: { taskId: '1', status: 'completed' } };
    const server = `env -u CLAUDECODE TOOL_TEAMMATE=backend-dev ${host.command} mcp`;
    const piped = await agent.use('Bash', { command: `${asked(call)} | ${server}`, description: 'x' });
    mentions(piped.text, 'an agent of the host started this server itself');

    mentions(await agent.say('I think I am done.'), `You have not finished task ${taskId}`);
    seen.push('nobody rests with work left');
    const written = await agent.use('Write', { file_path: file, content: BANNER });
    assert.ok(!written.isError, written.text);
    await mended.opened;
    answerOf(await agent.use(ours('TaskUpdate'), { taskId, status: 'completed' }));
    printed.open();
    return 'The banner is printed.';
  };

  const tester: Part = async (agent) => {
    mentions(agent.news.text, `you are tester of team ${TEAM}`);
    const first = await taskFor(host, agent);
    answerOf(await agent.use(ours('TaskUpdate'), { taskId: first, status: 'in_progress' }));
    await mended.opened;
    answerOf(await agent.use(ours('TaskUpdate'), { taskId: first, status: 'completed' }));
    // Before, its next task could not begin, and it might rest.
    await printed.opened;
    const told = await agent.say('I have tested it.');
    const [, second = ''] = /task (\d+) "[^"]*" is yours now/.exec(told) ?? [];
    mentions(told, `call TaskUpdate {"taskId":"${second}","status":"in_progress"}`);
    seen.push('the next task is handed out');
    answerOf(await agent.use(ours('TaskUpdate'), { taskId: second, status: 'in_progress' }));
    answerOf(await agent.use(ours('TaskUpdate'), { taskId: second, status: 'completed' }));
    testerReady.open();
    if (host.hasBackground) {
      await leadAsked.opened;
      assert.ok(!(await agent.use('Read', { file_path: host.path('package.json') })).isError);
      mentions(agent.news.text, /from team-lead, shutdown_request/);
      seen.push('a teammate is asked to end');
    }
    return 'All tests pass.';
  };

  return {
    seen,
    play: playAgents({ [LEAD]: lead, 'backend-dev': backendDev, 'frontend-dev': frontendDev, tester }),
  };
}

/** Holds that a team builds a SPEC in this host, and that the rules hold on the way. */
export async function buildsSpec(t: TestContext, version: HostVersion, form: Form): Promise<void> {
  const host = new TeamHost(t, version, form);
  const story = runStory(host);
  t.after(() => t.diagnostic(story.seen.join(' · ')));
  const { code, stderr } = await host.run(`/tool:2-run ${SPEC} --team`, story.play);
  assert.equal(code, 0, stderr);
  assert.equal(host.read('src/api/users.js'), MENDED);
  assert.ok(!existsSync(host.path('src/api/stolen.js')));

  const records = host.records(TEAM);
  assert.match(String(records.find(({ type }) => type === 'created')?.base), /^[0-9a-f]{40}$/, 'what it began from');
  const decisions = records.filter(({ type }) => type === 'decision');
  const decided = (hook: string, decision: string, member: string) =>
    decisions.filter((one) => one.hook === hook && one.decision === decision && one.member === member).length;
  assert.deepEqual(
    {
      foreign: decisions.filter(({ decision, about }) => decision === 'reject' && String(about).includes('stolen.js'))
        .length,
      own: decided('ownership', 'accept', 'frontend-dev'),
      lead: decided('ownership', 'reject', 'team-lead') >= 4,
      idle: decided('teammate_idle', 'reject', 'frontend-dev'),
      completion: decided('task_completed', 'reject', 'backend-dev'),
      completed: decided('task_completed', 'accept', 'backend-dev'),
    },
    { foreign: 2, own: 1, lead: true, idle: 1, completion: 1, completed: 1 },
  );
  const bys = records.filter(({ type, kind }) => type === 'message_sent' && kind === 'progress').map(({ by }) => by);
  assert.ok(bys.includes('frontend-dev') && !bys.includes('team-lead'), 'nobody speaks as another');
}
