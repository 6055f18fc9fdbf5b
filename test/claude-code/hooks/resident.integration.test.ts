import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { RESIDENT_FIELDS } from '../../../src/claude-code/hooks/hook-fields.ts';
import { createServerLiveness } from '../../../src/claude-code/server-liveness.ts';
import { GUARD_CODES } from '../../../src/guard/rules/guard-codes.ts';
import { wordsOf } from '../../support/codes.ts';
import { type Fields, HookedProject, type HookRun, runProgram, SESSION } from '../../support/hooked.ts';
import { McpClient } from '../../support/mcp-client.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

/** What the host fills into the entry of the settings: all of it text. */
function filled(project: HookedProject, who: string, event: string, tool: string, input: Fields): Fields {
  const fields = { ...project.fields(who, event), tool_name: tool, tool_input: JSON.stringify(input) };
  const texts: Fields = fields;
  return Object.fromEntries(Object.entries(RESIDENT_FIELDS).map(([name, field]) => [name, texts[field] ?? '']));
}

function start(t: Cleanup, project: HookedProject, name?: string): Promise<McpClient> {
  const env = { ...project.env, ...project.envOf('2.1.177') };
  return McpClient.start(t, project.root, env, name === undefined ? {} : { name });
}

function mark(project: HookedProject): string {
  return join(project.root, '.tool', 'state', `server-${SESSION}`);
}

async function resident(t: Cleanup, members: readonly string[], before?: (project: HookedProject) => void) {
  const project = await new HookedProject(t).team(...members);
  before?.(project);
  const client = await start(t, project);
  const hook = async (who: string, event: string, tool: string, input: Fields): Promise<Fields> => {
    const { text, isError } = await client.call('Hook', filled(project, who, event, tool, input));
    assert.equal(isError, false, text);
    return JSON.parse(text) as Fields;
  };
  return { project, client, hook };
}

test('the hook on the resident server decides as the compiled one does', async (t) => {
  const { project, hook } = await resident(t, ['backend-dev', 'tester']);
  const cases: readonly [string, string, Fields][] = [
    ['backend-dev', 'Write', { file_path: 'src/api/a.ts', content: 'x' }],
    ['backend-dev', 'Write', { file_path: join(project.root, 'tests/a.ts'), content: '"quoted" \n' }],
    ['backend-dev', 'Edit', { file_path: 'package.json' }],
    ['backend-dev', 'NotebookEdit', { notebook_path: 'tests/a.ipynb' }],
    ['backend-dev', 'Bash', { command: "sed -i 's/a/b/' src/api/a.ts && echo x > src/api/b.ts" }],
    ['backend-dev', 'Bash', { command: "sed -i 's/a/b/' src/api/a.ts && echo x > tests/b.ts" }],
    ['team-lead', 'Write', { file_path: 'src/api/a.ts' }],
    ['team-lead', 'Write', { file_path: '.tool/specs/SPEC-AUTH-001/plan.md' }],
    ['general-purpose', 'Bash', { command: 'touch a' }],
    ['backend-dev', 'Read', { file_path: 'tests/a.ts' }],
  ];
  for (const [who, tool_name, tool_input] of cases) {
    const compiled = await project.hook('pre-tool-use', who, 'PreToolUse', { tool_name, tool_input });
    const answer = await hook(who, 'PreToolUse', tool_name, tool_input);
    const words = {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: compiled.stderr.trimEnd(),
    };
    const expected = compiled.code === 2 ? { hookSpecificOutput: words } : (compiled.json ?? {});
    assert.deepEqual(answer, expected, `${who} ${tool_name} ${JSON.stringify(tool_input)}`);
  }
});

test('mail is delivered by the resident server, under the name of the event, and once', async (t) => {
  const { project, hook } = await resident(t, ['backend-dev']);
  const send = (content: string) =>
    project.call('team-lead', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content });
  for (const event of ['PostToolUse', 'PostToolUseFailure']) {
    await send(`after ${event}`);
    const { hookSpecificOutput } = await hook('backend-dev', event, 'Bash', {});
    assert.ok(
      typeof hookSpecificOutput === 'object' &&
        hookSpecificOutput !== null &&
        'additionalContext' in hookSpecificOutput,
    );
    assert.match(String(hookSpecificOutput.additionalContext), new RegExp(`after ${event}$`));
    assert.ok('hookEventName' in hookSpecificOutput);
    assert.equal(hookSpecificOutput.hookEventName, event);
    assert.deepEqual(await hook('backend-dev', event, 'Bash', {}), {});
  }
});

/** What the hook of a call answers, and the id that the call carries. */
async function named(client: McpClient, project: HookedProject, who: string, tool: string, more: Fields = {}) {
  const given = { ...filled(project, who, 'PreToolUse', `mcp__team__${tool}`, {}), ...more };
  const { text } = await client.call('Hook', given);
  return { answer: JSON.parse(text) as Fields, id: String(given.id) };
}

const GRANTED = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } };

function said(project: HookedProject): readonly string[] {
  return project.state().messages.map(({ from, content }) => `${from}: ${content}`);
}

test('a call is made by the caller that its hook has named, at once and in any order', async (t) => {
  const { project, client } = await resident(t, ['backend-dev', 'tester']);
  const ids = new Map<string, string>();
  for (const who of ['team-lead', 'backend-dev', 'tester']) {
    const { answer, id } = await named(client, project, who, 'SendMessage');
    assert.deepEqual(answer, GRANTED);
    ids.set(who, id);
  }
  const calls = ['tester', 'backend-dev', 'team-lead'].map((who) => {
    const recipient = who === 'tester' ? 'backend-dev' : 'tester';
    return client.call('SendMessage', { recipient, type: 'progress', content: `I am ${who}` }, ids.get(who));
  });
  for (const { isError, text } of await Promise.all(calls)) assert.equal(isError, false, text);
  assert.deepEqual(said(project), [
    'tester: I am tester',
    'backend-dev: I am backend-dev',
    'team-lead: I am team-lead',
  ]);
});

test('a call that no hook has named is nobody’s, the lead’s neither, whatever it says of its caller', async (t) => {
  const { project, client } = await resident(t, ['backend-dev']);
  const lead = await named(client, project, 'team-lead', 'TaskList');
  const refused = async (id: string, input: Fields = {}) => {
    const { isError, text } = await client.call('TaskList', input, id);
    assert.equal(isError, true, text);
    return text;
  };
  const why = /no hook named the caller of this call\. Make the call again\. \(caller_unknown\)$/;
  assert.match(await refused('toolu_unnamed'), why);
  assert.match(await refused('toolu_unnamed', { _caller: 'made.up' }), /a stamp that the hooks did not make/);
  project.tell('team-lead', 'toolu_written');
  assert.match(await refused('toolu_written'), why);
  assert.equal((await client.call('TaskList', { _caller: 'made.up' }, lead.id)).isError, false);
  assert.match(await refused(lead.id), why, 'an id is used once');
});

test('a second hook with the id of another caller leaves the call to nobody', async (t) => {
  const { project, client } = await resident(t, ['backend-dev']);
  const { id } = await named(client, project, 'backend-dev', 'TaskList');
  await named(client, project, 'team-lead', 'TaskList', { id, session: 'another-session' });
  assert.equal((await client.call('TaskList', {}, id)).isError, true);
});

test('after its server was killed a call is told by the transcript, until a hook reaches the next server', async (t) => {
  const { project, client } = await resident(t, ['backend-dev', 'tester']);
  const liveness = createServerLiveness(project.root);
  finallyDo(t, () => liveness.close());
  await named(client, project, 'team-lead', 'TaskList');
  assert.deepEqual(liveness.left(), []);
  await client.kill();
  assert.deepEqual(liveness.left(), [{ session: SESSION, transcript: project.transcript }]);
  const second = await start(t, project);
  const send = (who: string, id: string) => {
    project.tell(who, id, 'mcp__team__SendMessage');
    const input = { recipient: 'tester', type: 'progress', content: `I am ${who}` };
    return second.call('SendMessage', input, id);
  };
  for (const who of ['backend-dev', 'team-lead']) assert.equal((await send(who, `toolu_of_${who}`)).isError, false);
  assert.deepEqual(said(project), ['backend-dev: I am backend-dev', 'team-lead: I am team-lead']);
  const { id } = await named(second, project, 'backend-dev', 'TaskList');
  assert.equal((await second.call('TaskList', {}, id)).isError, false);
  assert.equal((await send('backend-dev', 'toolu_late')).isError, true);
  assert.deepEqual(liveness.left(), []);
});

test('a model does not call it, another client neither, and nobody finds it in the list', async (t) => {
  const { project, client } = await resident(t, ['backend-dev']);
  const input = filled(project, 'backend-dev', 'PreToolUse', 'Write', { file_path: 'tests/a.ts' });
  const byModel = await client.call('Hook', input, 'toolu_1');
  assert.equal(byModel.isError, true);
  assert.match(byModel.text, / Hook\..* TeamCreate, Task, .*\(operation_unknown\)$/);
  const other = await start(t, project, 'another-client');
  assert.equal((await other.call('Hook', input)).isError, true);
  const { tools } = await client.ask('tools/list');
  assert.ok(Array.isArray(tools));
  assert.equal(tools.length, 10);
  assert.doesNotMatch(JSON.stringify(tools), /"Hook"/);
  assert.equal(existsSync(mark(project)), false, 'a refused call is none of a hook');
});

test('what the guard cannot read is refused, what delivery cannot is let be', async (t) => {
  const { project, client } = await resident(t, ['backend-dev']);
  const given = filled(project, 'backend-dev', 'PreToolUse', 'Write', {});
  const answers = async (more: Fields) => (await client.call('Hook', { ...given, ...more })).text;
  assert.match(
    await answers({ input: '{"file_path":' }),
    new RegExp(`"deny".*${wordsOf(GUARD_CODES.writes_path_missing, { tool: 'Write' })}`),
  );
  assert.match(await answers({ input: '' }), /"deny"/);
  assert.equal(await answers({ event: 'Unheard' }), '{}');
  assert.equal(await answers({ event: 'PostToolUse', input: 'x' }), '{}');
  writeFileSync(
    join(project.root, '.tool', 'teams', 'tool-run-spec-auth-001', 'log.jsonl'),
    '\n{"v":99,"type":"x"}\n',
    { flag: 'a' },
  );
  assert.match(
    await answers({ input: '{"file_path":"src/api/a.ts"}' }),
    /"deny".*: .*version 99.*\(guard_cannot_decide\)/,
  );
  assert.equal(await answers({ event: 'PostToolUse' }), '{}');
});

test('the mark is there from the first call of a hook to the end of the server', async (t) => {
  const { project, client, hook } = await resident(t, ['backend-dev']);
  await client.call('TaskList', {}, 'toolu_1');
  assert.equal(existsSync(mark(project)), false);
  await hook('backend-dev', 'PreToolUse', 'Read', {});
  assert.equal(readFileSync(mark(project), 'utf8').split(/\s/)[0], String(client.pid));
  await client.call('Hook', {
    ...filled(project, 'backend-dev', 'PreToolUse', 'Read', {}),
    session: '../../escape',
  });
  assert.equal(existsSync(join(project.root, 'escape')), false);
  await client.close();
  assert.equal(existsSync(mark(project)), false);
});

test('a mark that cannot be written is no reason to answer nothing', async (t) => {
  const { hook } = await resident(t, ['backend-dev'], (project) => {
    rmSync(join(project.root, '.tool', 'state'), { recursive: true });
    project.write('.tool/state', 'no directory');
  });
  assert.match(
    JSON.stringify(await hook('backend-dev', 'PreToolUse', 'Write', { file_path: 'tests/a.ts' })),
    /is tester's/,
  );
});

/** Sets the time of a mark, in seconds from now. */
function setAhead(path: string, seconds: number): void {
  const time = Date.now() / 1000 + seconds;
  utimesSync(path, time, time);
}

/** The shell beside the guard, as it lies in a project. */
function shell(
  project: HookedProject,
): (who: string, path: string, session?: string | null, more?: Readonly<Record<string, string>>) => Promise<HookRun> {
  const hooks = join(project.root, '.tool', 'hooks');
  mkdirSync(hooks, { recursive: true });
  cpSync(join('dist', 'hooks'), hooks, { recursive: true });
  copyFileSync(join('dist', 'hooks', 'guard.sh'), join(hooks, 'guard.sh'));
  return (who, file_path, session = SESSION, more = {}) => {
    const fields = project.fields(who, 'PreToolUse', { tool_name: 'Write', tool_input: { file_path } });
    const { CLAUDE_CODE_SESSION_ID: _, ...env } = { ...project.env, ...project.envOf('2.1.177') };
    const named = session === null ? {} : { CLAUDE_CODE_SESSION_ID: session };
    const all = { ...env, ...named, ...more };
    return runProgram('/bin/sh', [join(hooks, 'guard.sh')], JSON.stringify(fields), all, project.root);
  };
}

test('the shell is silent while the server lives, and the compiled guard decides when it is dead', async (t) => {
  const { project, client, hook } = await resident(t, ['backend-dev', 'tester']);
  const guard = shell(project);
  const isRefused = async (why: string, session?: string | null) => {
    const run = await guard('backend-dev', 'tests/a.ts', session);
    assert.equal(run.code, 2, `${why}: ${run.stderr}`);
    assert.match(run.stderr, /tests\/a\.ts is tester's/);
    assert.equal((await guard('backend-dev', 'src/api/a.ts', session)).code, 0, why);
  };
  await isRefused('there is no mark yet');
  await hook('backend-dev', 'PreToolUse', 'Read', {});
  const alive = await guard('backend-dev', 'tests/a.ts');
  assert.deepEqual([alive.code, alive.stdout, alive.stderr], [0, '', ''], 'the server decides, and nobody else');
  await isRefused('another session', 'another');
  await isRefused('a session without a name', null);
  const right = readFileSync(mark(project), 'utf8');
  for (const garbage of [
    '',
    '\n',
    'x\n',
    '0\n',
    '-1\n',
    '1\n',
    '99999999\n',
    `${client.pid}x\n`,
    `$(touch ${project.root}/pwned)\n`,
    `-s ${client.pid}\n`,
    `${process.pid}\n`,
  ]) {
    writeFileSync(mark(project), garbage);
    await isRefused(`a mark of ${JSON.stringify(garbage)}`);
  }
  assert.equal(existsSync(join(project.root, 'pwned')), false);
  writeFileSync(mark(project), right);
  setAhead(mark(project), 3600);
  assert.equal((await guard('backend-dev', 'tests/a.ts')).stderr, '');
  process.kill(client.pid, 'SIGSTOP');
  while (!/\) T /.test(readFileSync(`/proc/${client.pid}/stat`, 'utf8'))) await pause(5);
  await isRefused('the server is stopped');
  process.kill(client.pid, 'SIGCONT');
  assert.equal((await guard('backend-dev', 'tests/a.ts')).stderr, '');
  await client.kill();
  assert.equal(readFileSync(mark(project), 'utf8'), right, 'killed, it leaves its mark');
  await isRefused('the server is dead');
  const nothing = await guard('backend-dev', 'src/api/a.ts', SESSION, { PATH: '/nonexistent' });
  assert.equal(nothing.code, 2, 'what nothing can tell does not happen');
  assert.match(nothing.stderr, /^toolcrew: the guard did not start \(node is not on the PATH\)/m);
});

test('a server that lives and does not answer is silent until the time of its mark: then the compiled guard decides', async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  const guard = shell(project);
  const answers = () => guard('backend-dev', 'tests/a.ts');
  // This process lives, and answers no hook.
  const liveness = createServerLiveness(project.root);
  liveness.announce(SESSION, null);
  assert.deepEqual([(await answers()).code, (await answers()).stderr], [0, '']);
  setAhead(mark(project), -1);
  const late = await answers();
  assert.equal(late.code, 2);
  assert.match(late.stderr, /tests\/a\.ts is tester's/);
  liveness.close();
  assert.equal(existsSync(mark(project)), false);
});

test("the time of a mark is moved ahead for as long as its server answers, and no longer when it is another's", (t) => {
  const project = new HookedProject(t);
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: 1_000_000 });
  const timeOf = () => statSync(mark(project)).mtimeMs;
  const liveness = createServerLiveness(project.root);
  finallyDo(t, () => liveness.close());
  liveness.announce(SESSION, null);
  const first = timeOf();
  assert.ok(first > Date.now());
  t.mock.timers.tick(10_000);
  assert.equal(timeOf(), first + 10_000);
  writeFileSync(mark(project), '1 2\n');
  const others = timeOf();
  t.mock.timers.tick(10_000);
  assert.equal(timeOf(), others);
  liveness.announce(SESSION, null);
  assert.ok(timeOf() > Date.now(), 'with the next hook that comes it is its own again');
});
