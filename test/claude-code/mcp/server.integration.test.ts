import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { execaSync } from 'execa';
import * as z from 'zod';
import { hookGroups } from '../../../src/install/hook-table.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { inputSchema, isOperation, OPERATIONS } from '../../../src/team/rules/operation.ts';
import { writeApprovedSpec } from '../../support/approved-spec.ts';
import { lineLike } from '../../support/codes.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const TEAM = 'tool-run-spec-auth-001';

/** A project in which team mode is switched on. */
function project(t: Cleanup): { readonly root: string; readonly home: string } {
  const root = join(tempDir(t), 'project');
  const home = tempDir(t);
  mkdirSync(join(root, '.tool', 'config'), { recursive: true });
  writeFileSync(join(root, '.tool', 'config', 'workflow.yaml'), 'workflow:\n  team:\n    enabled: true\n');
  execaSync`git init -q ${root}`;
  writeApprovedSpec(root, 'SPEC-AUTH-001', { HOME: home });
  return { root, home };
}

type Place = ReturnType<typeof project>;

async function connect(
  t: Cleanup,
  { root, home }: Place,
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(process.cwd(), 'dist', 'cli.js'), 'mcp'],
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: home, ...env },
  });
  const client = new Client({ name, version: '2.1.177' });
  await client.connect(transport);
  finallyDo(t, () => client.close());
  return client;
}

const errorSchema = z.object({
  'toolcrew/error': z.object({ code: z.string(), values: z.record(z.string(), z.unknown()) }).optional(),
});

async function call(client: Client, name: string, input: Readonly<Record<string, unknown>> = {}) {
  const result = await client.callTool({ name, arguments: { ...input } });
  const [block] = Array.isArray(result.content) ? result.content : [];
  const text = String(block?.text ?? '');
  const error = errorSchema.parse(result._meta ?? {})['toolcrew/error'];
  return { isError: result.isError === true, text, error, value: result.isError === true ? null : JSON.parse(text) };
}

test('the listing names the ten operations in less than 3.5 KB, and answers what it does not know at once', async (t) => {
  const client = await connect(t, project(t), 'a-client');
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    Object.keys(OPERATIONS),
  );
  for (const tool of tools) assert.deepEqual(tool.inputSchema, isOperation(tool.name) && inputSchema(tool.name));
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  assert.ok(bytes <= 3.5 * 1024, `${bytes} bytes`);
  await assert.rejects(client.request({ method: 'server/discover' } as never, {} as never), /-32601/);
});

test('the specification’s parameters are the required ones', () => {
  const required = (name: string) => (isOperation(name) ? inputSchema(name).required : []);
  assert.deepEqual(required('TeamCreate'), ['team_name']);
  assert.deepEqual(required('Task'), ['subagent_type', 'team_name', 'name', 'prompt']);
  assert.deepEqual(required('SendMessage'), ['recipient', 'type', 'content']);
  assert.deepEqual(required('TaskCreate'), ['subject', 'description']);
  assert.deepEqual(required('TaskUpdate'), ['taskId', 'status']);
  assert.equal(required('TaskList'), undefined);
  assert.deepEqual(required('TaskGet'), ['taskId']);
  assert.deepEqual(required('TeamDelete'), ['team_name']);
});

test('a client of its own leads; teammates are who their environment says', async (t) => {
  const place = project(t);
  const lead = await connect(t, place, 'a-client');
  const created = await call(lead, 'TeamCreate', { team_name: TEAM });
  assert.equal(created.value.state, 'created');
  const registered = await call(lead, 'Task', {
    subagent_type: 'team-tester',
    team_name: TEAM,
    name: 'tester',
    prompt: 'p',
  });
  assert.deepEqual(registered.value.call.environment, {
    TOOL_TEAM: TEAM,
    TOOL_TEAMMATE: 'tester',
    TOOL_TEAMMATE_RUN: '1',
  });
  const tester = await connect(t, place, 'a-client', registered.value.call.environment);
  const offered = (await tester.listTools()).tools.map(({ name }) => name);
  assert.ok(offered.includes('TaskUpdate') && !offered.includes('TeamDelete'), offered.join(', '));
  assert.equal(
    (await call(tester, 'SendMessage', { recipient: 'team-lead', type: 'progress', content: 'hi' })).isError,
    false,
  );
  const mail = await call(lead, 'Inbox');
  assert.equal(mail.value.messages[0].from, 'tester');
  assert.deepEqual((await call(lead, 'Inbox')).value.messages, [], 'read when it was handed on');
  const ghost = await connect(t, place, 'a-client', { TOOL_TEAMMATE: 'ghost' });
  const made = await call(ghost, 'TeamCreate', { team_name: 'tool-run-other' });
  assert.equal(made.error?.code, 'main_agent_only');
  const refusal = await call(tester, 'TeamDelete', { team_name: TEAM });
  assert.equal(refusal.isError, true);
  assert.deepEqual([refusal.error?.code, refusal.error?.values.who], ['lead_only', 'tester']);
  assert.match(refusal.text, lineLike(OPERATIONS_CODES.lead_only, { who: /.*tester.*/ }));
});

test('inside a host an unstamped call is nobody’s, and a stamp that nobody signed is worth nothing', async (t) => {
  const place = project(t);
  const outside = await connect(t, place, 'a-client');
  await call(outside, 'TeamCreate', { team_name: TEAM });
  const host = await connect(t, place, 'claude-code');
  const plain = await call(host, 'TaskList');
  assert.equal(plain.isError, true);
  assert.match(plain.text, /the host does not name its callers.*as "key"\. \(caller_key_missing\)$/);
  const payload = Buffer.from(JSON.stringify({ session: 's', agentId: null, agentType: null, toolUseId: null }));
  const forged = await call(host, 'TaskList', { _caller: `${payload.toString('base64url')}.AAAA` });
  assert.equal(forged.isError, true);
  assert.match(forged.text, /a stamp that the hooks did not make/);
});

test('the tool of the hooks is not for models', async (t) => {
  const client = await connect(t, project(t), 'a-client');
  const answer = await call(client, 'Hook', { event: 'PreToolUse' });
  assert.equal(answer.isError, true);
  assert.match(answer.text, /\(operation_unknown\)$/);
  assert.deepEqual([answer.error?.code, answer.error?.values.name], ['operation_unknown', 'Hook']);
});

test('a hook that hangs on the server is decided by what its entry in the settings fills in', async (t) => {
  const place = project(t);
  const client = await connect(t, place, 'claude-code', { CLAUDE_CODE_SESSION_ID: 'session-1' });
  await call(client, 'TeamCreate', { team_name: TEAM });
  const event = {
    session_id: 'session-1',
    cwd: place.root,
    agent_id: '',
    agent_type: '',
    tool_name: 'Write',
    tool_use_id: 'toolu_1',
    tool_input: JSON.stringify({ file_path: join(place.root, 'src/api/users.ts'), content: 'x' }),
  };
  const groups = hookGroups('resident', { script: (name) => name, watcher: '', refusal: '' });
  const fill = (name: string, fields: Readonly<Record<string, string>>) => {
    const [hook] = groups.find(({ event }) => event === name)?.group.hooks ?? [];
    const text = JSON.stringify(hook?.input).replaceAll(/"\$\{(\w+)\}"/g, (_, field: string) =>
      JSON.stringify(fields[field] ?? ''),
    );
    return call(client, 'Hook', JSON.parse(text));
  };
  const guarded = await fill('PreToolUse', { ...event, hook_event_name: 'PreToolUse' });
  assert.match(JSON.stringify(guarded.value), /"permissionDecision":"deny".*src\/api\/users\.ts.*\(lead_delegates\)/);
  const mark = join(place.root, '.tool', 'state', 'server-session-1');
  assert.ok(existsSync(mark), 'the shell beside the guard can see that this server answers');
  const unnamed = await fill('PreToolUse', { hook_event_name: 'PreToolUse' });
  assert.match(JSON.stringify(unnamed.value), /"permissionDecision":"deny".*the hook names no tool/);
  const after = await fill('PostToolUse', { ...event, hook_event_name: 'PostToolUse' });
  assert.deepEqual(after.value, {});
});

test('each refusal is an error result that names the value, the rule and what is valid', async (t) => {
  const client = await connect(t, project(t), 'a-client');
  await call(client, 'TeamCreate', { team_name: TEAM });
  const { isError, text } = await call(client, 'SendMessage', { recipient: 'testr', type: 'progres', content: 5 });
  assert.equal(isError, true);
  assert.match(text, /\(input_invalid\)$/m);
  assert.match(text, /\n {2}type: .*\bapi_ready,.*"progres".* progress\?\n {2}content: .*\b5\.$/);
  const unknown = await call(client, 'SendMessage', { recipient: 'testr', type: 'progress', content: 'x' });
  assert.match(unknown.text, /\(input_invalid\)\n {2}recipient: .*\bbackend-dev, .*, all\b.*"testr".* tester\?$/);
});

test('a server that an agent of the host starts itself speaks for nobody', async (t) => {
  const place = project(t);
  const lead = await connect(t, place, 'a-client');
  await call(lead, 'TeamCreate', { team_name: TEAM });
  for (const env of [{ CLAUDECODE: '1' }, { CLAUDECODE: '1', TOOL_TEAMMATE: 'team-lead' }]) {
    const agent = await connect(t, place, 'a-client', env);
    const task = await call(agent, 'TaskCreate', { subject: 'Mine', description: 'Now' });
    assert.equal(task.isError, true);
    const why = /an agent of the host started this server itself.*?/;
    assert.match(task.text, lineLike(OPERATIONS_CODES.caller_key_missing, { why }));
    for (const key of [{}, { key: 'made-up' }]) {
      const team = await call(agent, 'TeamCreate', { team_name: 'tool-run-other', ...key });
      assert.equal(team.isError, true);
      assert.match(team.text, lineLike(OPERATIONS_CODES.team_creator_unknown, { team: TEAM }));
    }
  }
  assert.deepEqual((await call(lead, 'TaskList')).value.tasks, []);
});

test('calls that come to one server together are answered each with what it has made', async (t) => {
  const client = await connect(t, project(t), 'a-client');
  await call(client, 'TeamCreate', { team_name: TEAM });
  for (const name of ['backend-dev', 'frontend-dev', 'tester'])
    await call(client, 'Task', { subagent_type: `team-${name}`, team_name: TEAM, name, prompt: 'p' });
  const owners = ['backend-dev', 'frontend-dev', 'tester'];
  const before = (await call(client, 'TaskList')).value.tasks.length;
  const made = await Promise.all(
    owners.map((owner) => call(client, 'TaskCreate', { subject: 'Mend lint', description: owner, owner })),
  );
  const { tasks } = (await call(client, 'TaskList')).value as { tasks: { taskId: string; owner: string }[] };
  assert.deepEqual(
    made.map(({ value }) => value.owner),
    owners,
  );
  for (const { value } of made) assert.equal(tasks.find(({ taskId }) => taskId === value.taskId)?.owner, value.owner);
  assert.equal(tasks.length, before + owners.length);
  const sent = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      call(client, 'SendMessage', { recipient: 'tester', type: 'progress', content: `part ${index}` }),
    ),
  );
  assert.equal(new Set(sent.map(({ value }) => value.message)).size, sent.length);
});
