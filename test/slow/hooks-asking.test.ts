// Hooks that ask the team server that stays, instead of working it out by themselves.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { execa, execaSync } from 'execa';
import { runProgram } from '../../src/base/processes/program.ts';
import { answerHooks } from '../../src/claude-code/hooks/hook-channel.ts';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { NOT_ACCEPTED } from '../support/checks.ts';
import { joined, lineLike, START, wordsLike } from '../support/codes.ts';
import { ENABLED, type Fields, HookedProject, type HookRun, specific, TEAM } from '../support/hooked.ts';
import { McpClient } from '../support/mcp-client.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

function start(t: Cleanup, project: HookedProject, name = 'claude-code'): Promise<McpClient> {
  return McpClient.start(t, project.root, { ...project.env, ...project.envOf('2.1.177') }, { name });
}

/** Where servers of this project take questions. */
function channels(project: HookedProject): readonly string[] {
  const directory = join(project.root, '.tool', 'state');
  try {
    return readdirSync(directory)
      .filter((name) => name.startsWith('hooks-'))
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** What is waited for may never come: the test then fails at its limit, whose signal ends the wait. */
const LIMITED = { timeout: 120_000 };

async function until(t: TestContext, isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(5, undefined, { signal: t.signal });
}

/** Whether somebody reads the pipe: it is there a moment before. */
function isAttended(channel: string): boolean {
  try {
    closeSync(openSync(join(channel, 'bell'), constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

async function channelOf(t: TestContext, project: HookedProject): Promise<string> {
  const find = () => channels(project).find(isAttended);
  await until(t, () => find() !== undefined);
  return find() ?? assert.fail('the channel is gone again');
}

/** The hooks without what they would work an answer out with. */
function bareHooks(t: Cleanup): string {
  const directory = join(tempDir(t), 'hooks');
  mkdirSync(directory);
  for (const name of readdirSync(join('dist', 'hooks')))
    if (/\.(js|json)$/.test(name)) copyFileSync(join('dist', 'hooks', name), join(directory, name));
  return directory;
}

function outcome({ code, stdout, stderr }: HookRun) {
  return { code, stdout, stderr };
}

const GUARDED: readonly (readonly [string, string, Fields])[] = [
  ['backend-dev', 'Write', { file_path: 'src/api/a.ts', content: 'x' }],
  ['backend-dev', 'Write', { file_path: 'tests/a.ts', content: '"quoted" \n\u2028' }],
  ['backend-dev', 'Bash', { command: 'cat $HOME/x > "$TMPDIR/y" && echo x > tests/b.ts' }],
  ['team-lead', 'Write', { file_path: 'src/api/a.ts' }],
  ['team-lead', 'mcp__team__TaskList', {}],
  ['general-purpose', 'Bash', { command: 'touch a' }],
];

test('a hook gets from the server what it would have worked out itself', LIMITED, async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  const guard = ([who, tool_name, tool_input]: (typeof GUARDED)[number]) =>
    project.hook('pre-tool-use', who, 'PreToolUse', { tool_name, tool_input, tool_use_id: 'toolu_same' });
  const alone = await Promise.all(GUARDED.map(guard));
  assert.deepEqual(
    alone.map(({ code }) => code),
    [0, 2, 2, 2, 0, 2],
  );
  await start(t, project);
  await channelOf(t, project);
  project.hooks = bareHooks(t);
  for (const [index, one] of GUARDED.entries()) {
    const run = await guard(one);
    assert.deepEqual(outcome(run), outcome(alone[index] ?? run), `${one[0]} ${one[1]}`);
  }
});

test('all that a team is told by hooks comes from the server as well', LIMITED, async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await start(t, project);
  await channelOf(t, project);
  project.hooks = bareHooks(t);
  const send = () =>
    project.call('team-lead', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content: 'thank you' });
  await send();
  const after = await project.hook('post-tool-use', 'backend-dev', 'PostToolUseFailure', { tool_name: 'Read' });
  assert.match(String(specific(after).additionalContext), /thank you/);
  assert.equal(specific(after).hookEventName, 'PostToolUseFailure');
  await send();
  const idle = await project.hook('teammate-idle', 'backend-dev', 'TeammateIdle', {
    teammate_name: 'backend-dev',
    team_name: TEAM,
  });
  assert.equal(idle.code, 2);
  assert.match(idle.stderr, /\(work_unfinished\)$/m);
  const stop = await project.hook('subagent-stop', 'backend-dev', 'SubagentStop', { stop_hook_active: false });
  assert.deepEqual(outcome(stop), { code: 0, stdout: '', stderr: '' });
  assert.equal(project.state().members.get('backend-dev')?.phase, 'stopped');
  const session = await project.hook('session-start', 'team-lead', 'SessionStart', { source: 'compact' });
  assert.match(String(specific(session).additionalContext), new RegExp(TEAM));
  const lead = await project.hook('stop', 'team-lead', 'Stop', { stop_hook_active: false });
  assert.equal(lead.code, 0, lead.stderr);
  const task = { task_id: '1', task_subject: 'x' };
  const completed = await project.hook('task-completed', 'backend-dev', 'TaskCompleted', task);
  assert.equal(completed.code, 2);
  assert.match(completed.stderr, joined(START, lineLike(NOT_ACCEPTED, { checks: ['tests'] })));
  const { decisions } = project.state();
  assert.ok(decisions.some(({ hook, decision }) => hook === 'task_completed' && decision === 'reject'));
});

test('before there is a team nobody is asked, and from its beginning on the server is', LIMITED, async (t) => {
  const project = new HookedProject(t);
  const client = await start(t, project);
  await client.call('TaskList', {}, 'toolu_1');
  assert.deepEqual(channels(project), []);
  await project.team('backend-dev');
  await client.call('TaskList', {}, 'toolu_1');
  await channelOf(t, project);
  await client.close();
  assert.deepEqual(channels(project), [], 'it is gone with the server');
});

test("a server of another client, and a teammate's, are not asked", async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  const other = await start(t, project, 'another-client');
  const member = await McpClient.start(t, project.root, {
    ...project.env,
    TOOL_TEAM: TEAM,
    TOOL_TEAMMATE: 'backend-dev',
  });
  for (const client of [other, member]) await client.call('TaskList', {});
  assert.deepEqual(channels(project), []);
});

test(
  'where the server is dead or hangs, the hook decides by itself; the next server removes what is left',
  LIMITED,
  async (t) => {
    const project = await new HookedProject(t).team('backend-dev', 'tester');
    const foreign = { tool_name: 'Write', tool_input: { file_path: 'tests/a.ts' } };
    const isRefused = async (why: string) => {
      const run = await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', foreign);
      assert.equal(run.code, 2, why);
      assert.match(run.stderr, /tests\/a\.ts is tester's/, why);
    };
    const first = await start(t, project);
    const left = await channelOf(t, project);
    process.kill(first.pid, 'SIGSTOP');
    await isRefused('it hangs');
    await first.kill();
    assert.deepEqual(channels(project), [left], 'killed, it leaves its channel');
    await isRefused('it is dead');
    const older = join(project.root, '.tool', 'state', 'hooks-0.0.0-1');
    mkdirSync(older);
    await isRefused('another version');
    assert.deepEqual(readdirSync(older), []);
    rmSync(older, { recursive: true });
    writeFileSync(join(dirname(left), `${basename(left)}0`), 'no directory');
    const copied = join(dirname(left), `${basename(left)}1`);
    mkdirSync(copied);
    writeFileSync(join(copied, 'bell'), '');
    await isRefused('something else of that name');
    assert.equal(readFileSync(join(copied, 'bell'), 'utf8'), '', 'a file is no pipe');
    await start(t, project);
    await until(t, () => !channels(project).includes(left));
    await channelOf(t, project);
    project.hooks = bareHooks(t);
    await isRefused('the next one answers');
  },
);

test(
  'the word of the user is heard by its own hook alone, and questions of nobody get no answer',
  LIMITED,
  async (t) => {
    const project = await new HookedProject(t).team('backend-dev');
    await start(t, project);
    const channel = await channelOf(t, project);
    assert.equal(statSync(channel).mode & 0o777, 0o700);
    let count = 0;
    const ask = async (question: unknown): Promise<string> => {
      count += 1;
      const [asked, answered] = [join(channel, `${count}.question`), join(channel, `${count}.answer`)];
      writeFileSync(asked, typeof question === 'string' ? question : JSON.stringify(question));
      writeFileSync(join(channel, 'bell'), `${count}\n`);
      await until(t, () => existsSync(answered));
      assert.equal(existsSync(asked), false);
      // Below the question.
      return readFileSync(answered, 'utf8').split('\n').at(-1) ?? '';
    };
    const input = JSON.stringify(project.fields('team-lead', 'SessionStart', { source: 'compact' }));
    const question = { hook: 'SessionStart', input, cwd: project.root, env: project.env };
    assert.match(await ask(question), /^\{"said":\[\],"printed":"/);
    const prompt = JSON.stringify(project.fields('team-lead', 'UserPromptSubmit', { prompt: 'approve SPEC-AUTH-001' }));
    const elsewhere = new HookedProject(t).root;
    for (const wrong of [
      '',
      '{',
      '[]',
      'null',
      '3',
      { ...question, hook: 'UserPromptSubmit', input: prompt },
      { ...question, hook: 'constructor' },
      { ...question, hook: 'Stop' },
      { ...question, input: '{' },
      { ...question, input: 3 },
      { ...question, cwd: null },
      { ...question, env: [1] },
      { ...question, env: { ...project.env, CLAUDE_PROJECT_DIR: elsewhere } },
    ])
      assert.equal(await ask(wrong), 'null', JSON.stringify(wrong));
    writeFileSync(join(channel, 'bell'), `../../config/workflow\n\n999\n${'9'.repeat(10_000)}\n`);
    assert.match(await ask(question), /"printed"/, 'it goes on');
  },
);

test('what two are told at once is each one\u2019s own', LIMITED, async (t) => {
  const members = ['backend-dev', 'tester'] as const;
  const project = await new HookedProject(t).team(...members);
  for (const [index, owner] of members.entries()) {
    await project.call('team-lead', 'TaskCreate', { subject: `Of ${owner}`, description: 'd', owner });
    await project.call(owner, 'TaskUpdate', { taskId: String(index + 1), status: 'in_progress' });
  }
  const server = await start(t, project);
  await channelOf(t, project);
  const stop = (who: string) => project.hook('subagent-stop', who, 'SubagentStop', { stop_hook_active: false });
  for (let count = 0; count < 3; count++) for (const who of members) assert.equal((await stop(who)).code, 2);
  // Stopped meanwhile, it finds both questions in the pipe.
  process.kill(server.pid, 'SIGSTOP');
  const runs = members.map(stop);
  await new Promise((resolve) => setTimeout(resolve, 400));
  process.kill(server.pid, 'SIGCONT');
  assert.deepEqual((await Promise.all(runs)).map(outcome), Array(2).fill({ code: 0, stdout: '', stderr: '' }));
  const { messages } = project.state();
  assert.equal(messages.length, 2);
  const escalated = wordsLike(WORK_CODES.stop_escalated, { member: /(\S+)/, reason: /.* "Of (\S+)"/ });
  const told = messages.map(({ content }) => escalated.exec(String(content))?.slice(1));
  assert.deepEqual(told.sort(), members.map((name) => [name, name]).sort());
});

test('an answer is told to its end, also on a pipe that does not block', LIMITED, async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await start(t, project);
  await channelOf(t, project);
  const tool_input = { content: 'x'.repeat(300_000) };
  const fields = project.fields('team-lead', 'PreToolUse', { tool_name: 'mcp__team__SendMessage', tool_input });
  const pipe = join(tempDir(t), 'pipe');
  execaSync`mkfifo ${pipe}`;
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const hook = join(project.hooks, 'pre-tool-use.js');
  const child = spawn('sh', ['-c', 'exec "$0" "$1" >&3', process.execPath, hook], {
    cwd: project.root,
    env: { ...project.env, ...project.envOf('2.1.177') },
    stdio: ['pipe', 'ignore', 'inherit', fd],
  });
  child.stdin?.end(JSON.stringify(fields));
  let isOver = false;
  const ended = once(child, 'close').then(([code]) => {
    isOver = true;
    assert.equal(code, 0);
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  let text = '';
  const buffer = Buffer.alloc(65_536);
  for (let wasOver = false; ; wasOver = isOver) {
    try {
      text += buffer.toString('utf8', 0, readSync(fd, buffer));
    } catch {
      if (wasOver) break;
      await delay(5, undefined, { signal: t.signal });
    }
  }
  closeSync(fd);
  await ended;
  assert.ok(text.endsWith('}\n'), `${text.length} characters`);
  const { hookSpecificOutput } = JSON.parse(text) as { hookSpecificOutput: { updatedInput: Fields } };
  assert.equal(hookSpecificOutput.updatedInput.content, tool_input.content);
});

test('a rejection counts where nobody hears its reason', async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  const fields = project.fields('backend-dev', 'PreToolUse', {
    tool_name: 'Write',
    tool_input: { file_path: 'tests/a.ts' },
  });
  const child = execa(process.execPath, [join(project.hooks, 'pre-tool-use.js')], {
    ...{ cwd: project.root, env: { ...project.env, ...project.envOf('2.1.177') }, extendEnv: false },
    ...{ buffer: false, reject: false },
  });
  child.stdout.destroy();
  child.stderr.destroy();
  const closed = once(child, 'close');
  setTimeout(() => child.stdin.end(JSON.stringify(fields)), 50);
  assert.deepEqual(await closed, [2, null]);
});

test('where no channel can be made, the server stays all the same', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  rmSync(join(project.root, '.tool', 'state'), { recursive: true, force: true });
  writeFileSync(join(project.root, '.tool', 'state'), 'no directory');
  const client = await start(t, project);
  for (let count = 0; count < 3; count++) {
    await client.call('TaskList', {}, 'toolu_1');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(client.child.exitCode, null);
});

test('where the pipe is full, the hook takes its question away with it', LIMITED, async (t) => {
  const project = await new HookedProject(t).team('backend-dev', 'tester');
  const server = await start(t, project);
  const channel = await channelOf(t, project);
  process.kill(server.pid, 'SIGSTOP');
  const fd = openSync(join(channel, 'bell'), constants.O_WRONLY | constants.O_NONBLOCK);
  assert.throws(() => {
    for (;;) writeSync(fd, '\n');
  }, /EAGAIN/);
  closeSync(fd);
  const run = await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', {
    tool_name: 'Write',
    tool_input: { file_path: 'tests/a.ts' },
  });
  const left = readdirSync(channel);
  process.kill(server.pid, 'SIGCONT');
  assert.equal(run.code, 2);
  assert.deepEqual(left, ['bell']);
});

test('the checks run in the environment of the hook', LIMITED, async (t) => {
  const config = `${ENABLED}quality:\n  commands:\n    tests: 'echo "as $MARK"; false'\n`;
  const project = await new HookedProject(t, { config }).team('backend-dev');
  await start(t, project);
  await channelOf(t, project);
  project.hooks = bareHooks(t);
  const input = JSON.stringify(project.fields('backend-dev', 'TaskCompleted', { task_id: '1', task_subject: 'x' }));
  const run = await project.raw('task-completed', input, { ...project.envOf('2.1.177'), MARK: 'the hook' });
  assert.equal(run.code, 2);
  assert.match(run.stderr, /as the hook/);
});

test('an answer that cannot be written is none, and is not waited for', async (t) => {
  const root = tempDir(t);
  const channel = await answerHooks(root, () => Promise.resolve(1n), runProgram);
  assert.ok(channel !== undefined);
  t.after(channel.close);
  const place = join(root, '.tool', 'state');
  const [name = ''] = readdirSync(place);
  writeFileSync(join(place, name, '1.question'), '{}');
  writeFileSync(join(place, name, 'bell'), '1\n');
  const answer = join(place, name, '1.answer');
  for (let tries = 0; tries < 200 && !existsSync(answer); tries++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(existsSync(answer));
  channel.close();
  assert.deepEqual(readdirSync(place), []);
});
