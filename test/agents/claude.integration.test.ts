// Over 400 lines: its cases share the played model and the homes of the host.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { ClaudeRunner, claudeVersion, runtimeLogin } from '../../src/agents/claude.ts';
import type { RunHooks, RunRequest } from '../../src/agents/ports.ts';
import { AGENT_CODES } from '../../src/agents/rules/agent-codes.ts';
import { processStartTime } from '../../src/base/processes/processes.ts';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import type { Workflow } from '../../src/daemon/rules/workflow.ts';
import { wordsLike, wordsOf } from '../support/codes.ts';
import { Bench, messagesOf, type Report } from '../support/runner.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

const HOST = join(process.cwd(), 'test', 'support', 'programs', 'host.mjs');
const NEWEST = '2.1.331';

type Message = { readonly role: string; readonly content: readonly { readonly type: string; readonly text: string }[] };
type Seen = {
  readonly args?: string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly message?: Message;
  readonly ended?: boolean;
};

type Script = {
  readonly session?: string;
  /** Printed before any prompt is read. */
  readonly start?: readonly unknown[];
  /** What each prompt is answered with. */
  readonly turns?: readonly (readonly unknown[])[];
  readonly atEnd?: 'exit' | 'stay';
};

const DONE = { type: 'result', subtype: 'success', is_error: false, result: 'Done.', total_cost_usd: 0.5 };

function say(text: string, id = 'm1') {
  const usage = { input_tokens: 10, output_tokens: 2 };
  return { type: 'assistant', message: { id, role: 'assistant', content: [{ type: 'text', text }], usage } };
}

/** The host, played by a program that follows a script. */
class Host {
  readonly bench: Bench;
  readonly path: string;
  readonly program: string;
  readonly runner: ClaudeRunner;

  private constructor(t: Cleanup, bench: Bench, exitMs: number) {
    this.bench = bench;
    const directory = tempDir(t);
    this.path = join(directory, 'script.json');
    this.program = join(directory, 'claude');
    const script = `#!/bin/sh
if [ "$1" = --version ]; then (echo asked; env) >> ${this.path}.asked; exec cat ${this.path}.version; fi
exec ${process.execPath} ${HOST} ${this.path} "$@"
`;
    writeFileSync(this.program, script, { mode: 0o755 });
    this.says(NEWEST);
    this.runner = new ClaudeRunner({ ...bench.options, exitMs });
    this.use();
  }

  static async create(t: Cleanup, exitMs = 60_000): Promise<Host> {
    return new Host(t, await Bench.create(t), exitMs);
  }

  use(tool: Partial<Workflow['tool']> = {}): void {
    this.bench.workflow = workflowWith({ tool: { runtime: 'claude', command: [this.program], ...tool } });
  }

  /** Its version from now on; null: it fails when it is asked. */
  says(version: string | null): void {
    if (version === null) rmSync(`${this.path}.version`, { force: true });
    else writeFileSync(`${this.path}.version`, `${version} (Claude Code)\n`);
  }

  play(script: Script, request: Partial<RunRequest> = {}, hooks: Partial<RunHooks> = {}): Promise<Report> {
    rmSync(`${this.path}.seen`, { force: true });
    writeFileSync(this.path, JSON.stringify({ turns: [[DONE]], ...script }));
    return this.bench.run(this.runner, request, hooks);
  }

  /** What reached the program last time. */
  get seen(): readonly Seen[] {
    const lines = readFileSync(`${this.path}.seen`, 'utf8').trim().split('\n');
    return lines.map((line): Seen => JSON.parse(line));
  }

  get args(): readonly string[] {
    return this.seen.find(({ args }) => args !== undefined)?.args ?? [];
  }

  get env(): Record<string, string> {
    return this.seen.find(({ args }) => args !== undefined)?.env ?? {};
  }

  get prompts(): readonly string[] {
    return this.seen.flatMap(({ message }) => message?.content[0]?.text ?? []);
  }
}

/** The arguments that differ from run to run. */
function moreThanUsual(args: readonly string[]): readonly string[] {
  const usual = ['-p', '--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose'];
  assert.deepEqual(args.slice(0, usual.length), usual);
  return args.slice(usual.length);
}

test('a prompt is played: what is said, used and done with it', async (t) => {
  const host = await Host.create(t);
  const call = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } };
  const report = await host.play({
    turns: [
      [
        say('I look.'),
        { type: 'assistant', message: { id: 'm2', content: [call], usage: { input_tokens: 5, output_tokens: 1 } } },
        { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] } },
        'a warning of its own',
        { stderr: 'a complaint' },
        DONE,
      ],
    ],
  });
  assert.deepEqual(report.end, { ok: true, words: 'Done.' });
  assert.deepEqual(
    report.events.filter(({ type }) => type !== 'usage'),
    [
      { type: 'activity', name: 'system/init' },
      { type: 'session', sessionId: 'session-1' },
      { type: 'message', text: 'I look.' },
      { type: 'tool_started', id: 't1', name: 'Bash', limitMs: null },
      { type: 'tool_ended', id: 't1' },
    ],
  );
  assert.deepEqual(report.events.at(-1), {
    type: 'usage',
    usage: { input_tokens: 15, output_tokens: 3, cost_usd: 0.5, turns: 1 },
  });
  assert.deepEqual(
    report.output
      .split('\n')
      .filter((line) => line !== '')
      .toSorted(),
    ['> Bash npm test', 'I look.', 'a complaint', 'a warning of its own'],
  );
  assert.deepEqual(report.left, []);
});

test('the prompt is the first of two blocks: the host looks for commands and files in the last one only', async (t) => {
  const host = await Host.create(t);
  const prompt = '/clear\n@secret.txt\n"quoted" \\n \u2028 end';
  await host.play({}, { prompt });
  const { message } = host.seen.find((seen) => seen.message !== undefined) ?? {};
  assert.equal(message?.role, 'user');
  assert.deepEqual(
    message?.content.map(({ type }) => type),
    ['text', 'text'],
  );
  assert.equal(message?.content[0]?.text, prompt);
  assert.match(message?.content[1]?.text ?? '', /^\w[^/@]*$/);
});

test('the arguments: what the workflow says, and the leading agent as the version takes it', async (t) => {
  const host = await Host.create(t);
  const own = join(host.bench.cwd, '.claude', 'agents', 'jarvis.md');
  const shipped = readFileSync('agents/jarvis.md', 'utf8').split('---\n').slice(2).join('---\n').trim();

  await host.play({});
  assert.deepEqual(moreThanUsual(host.args), ['--permission-mode', 'default']);

  host.use({ permissionMode: 'acceptEdits', allowedTools: ['Bash(git log:*)', 'Edit'], agent: 'jarvis' });
  const fixed = ['--permission-mode', 'acceptEdits', '--allowedTools', 'Bash(git log:*),Edit'];
  await host.play({}, { budgetUsd: 0.4 });
  assert.deepEqual(moreThanUsual(host.args), [...fixed, '--append-system-prompt', shipped, '--max-budget-usd', '0.4']);

  mkdirSync(dirname(own), { recursive: true });
  writeFileSync(own, '---\nname: jarvis\n---\n\nLead as we do here.\n');
  const appended = ['--append-system-prompt', 'Lead as we do here.'];
  for (const [version, expected] of [
    ['2.1.33', appended],
    ['2.1.100', ['--agent', 'jarvis']],
    ['nonsense', appended],
  ] as const) {
    const other = await Host.create(t);
    other.says(version);
    other.use({ agent: 'jarvis' });
    await other.play({}, { cwd: host.bench.cwd });
    assert.deepEqual(moreThanUsual(other.args), ['--permission-mode', 'default', ...expected], version);
  }

  host.use({ agent: 'nobody' });
  await host.play({});
  assert.deepEqual(moreThanUsual(host.args), ['--permission-mode', 'default'], 'an agent that is nowhere is left out');
});

test('an agent’s file that leads out of the clone is not read', async (t) => {
  const host = await Host.create(t);
  const outside = join(host.bench.directory, 'hosts.yml');
  writeFileSync(outside, 'oauth_token: the-login');
  mkdirSync(join(host.bench.cwd, '.claude', 'agents'), { recursive: true });
  symlinkSync(outside, join(host.bench.cwd, '.claude', 'agents', 'mine.md'));
  host.use({ agent: 'mine' });
  host.says('2.1.33');
  await host.play({});
  assert.deepEqual(moreThanUsual(host.args), ['--permission-mode', 'default']);
});

test('an agent that only reads is given its text, no tool that writes, and a home beside that of the work', async (t) => {
  const host = await Host.create(t);
  host.use({ agent: 'jarvis' });
  const role = { text: 'Read it.', model: 'opus' };
  await host.play({ session: 'abc-1' });
  await host.play({}, { role });
  const tools = ['--disallowedTools', 'Edit,Write,MultiEdit,NotebookEdit'];
  const told = ['--append-system-prompt', 'Read it.', '--model', 'opus'];
  assert.deepEqual(moreThanUsual(host.args), ['--permission-mode', 'default', ...tools, ...told]);
  assert.equal(host.env.HOME, join(host.bench.stateDir, 'issues', '7', 'review', 'issues', '7', 'homes', '1'));
  await host.play({}, { attempt: 2, resume: 'abc-1' });
  assert.deepEqual(moreThanUsual(host.args).slice(-2), ['--resume', 'abc-1'], 'the session of the work is still there');
});

test('a session is gone on with only where it is still there', async (t) => {
  const host = await Host.create(t);
  const first = await host.play({ session: 'abc-1' });
  assert.ok(first.events.some((event) => event.type === 'session' && event.sessionId === 'abc-1'));
  const again = await host.play({}, { attempt: 2, resume: 'abc-1' });
  assert.deepEqual(again.end, { ok: true, words: 'Done.' });
  assert.deepEqual(moreThanUsual(host.args).slice(-2), ['--resume', 'abc-1']);
  const homes = join(host.bench.stateDir, 'issues', '7', 'homes');
  assert.equal(host.env.HOME, join(homes, '2'));
  assert.equal(existsSync(join(homes, '1')), false, 'the home before it has gone');
  for (const [attempt, resume] of [
    [3, 'another'],
    [4, '../abc-1'],
    [5, null],
  ] as const) {
    await host.play({}, { attempt, resume });
    assert.ok(!host.args.includes('--resume'), `${attempt}: ${resume}`);
  }
});

test('the environment: the login by its names, a home of its own, nothing else of the person’s or the daemon’s', async (t) => {
  const host = await Host.create(t);
  Object.assign(host.bench.env, {
    ANTHROPIC_API_KEY: 'key',
    ANTHROPIC_BASE_URL: 'http://model',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9',
    BASH_DEFAULT_TIMEOUT_MS: '8',
    AWS_SECRET_ACCESS_KEY: 'secret',
    GITHUB_TOKEN: 'secret',
    GH_TOKEN: 'secret',
    CLAUDE_CONFIG_DIR: 'secret',
    CLAUDECODE: 'secret',
    NODE_OPTIONS: '--secret',
    TOOL_RUN: 'of-the-daemon',
    MINE: 'named',
  });
  host.use({ env: ['MINE', 'GH_TOKEN'] });
  await host.play({}, { env: { TOOL_ISSUE: '7', TOOL_SOCKET: '/socket' } });
  const { PATH, TMPDIR, TOOL_RUN, ...rest } = host.env;
  // Shells and Node add some of their own.
  const env = Object.entries(rest).filter(([name]) => !/^(PWD|OLDPWD|SHLVL|_|NODE_V8_COVERAGE)$/.test(name));
  const home = join(host.bench.stateDir, 'issues', '7', 'homes', '1');
  assert.deepEqual(Object.fromEntries(env), {
    ANTHROPIC_API_KEY: 'key',
    ANTHROPIC_BASE_URL: 'http://model',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9',
    BASH_DEFAULT_TIMEOUT_MS: '8',
    DISABLE_AUTOUPDATER: '1',
    MINE: 'named',
    TOOL_ISSUE: '7',
    TOOL_SOCKET: '/socket',
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    CI: 'true',
  });
  assert.match(TOOL_RUN ?? '', /^test\./);
  assert.equal(PATH, `${join(home, 'bin')}:${host.bench.env.PATH}`);
  assert.equal(existsSync(TMPDIR ?? ''), false, 'temporary files went with it');
  assert.equal(host.seen.find(({ args }) => args !== undefined)?.cwd, host.bench.cwd);
});

test('asked for its version, the program learns nothing; it is asked once, and again while it says none', async (t) => {
  const host = await Host.create(t);
  host.bench.env.ANTHROPIC_API_KEY = 'key';
  host.says(null);
  const asked = async () => {
    await host.play({});
    return readFileSync(`${host.path}.asked`, 'utf8').split('asked\n').slice(1);
  };
  await asked();
  const [first = '', ...more] = await asked();
  assert.doesNotMatch(first, /key/);
  assert.match(first, /^HOME=\/nonexistent$/m);
  assert.equal(more.length, 1);
  host.says(NEWEST);
  await asked();
  assert.equal((await asked()).length, 3);
});

test('early versions, which do not say why they try again, try less often', async (t) => {
  for (const [version, env, expected] of [
    ['2.1.33', {}, '3'],
    ['2.1.33', { CLAUDE_CODE_MAX_RETRIES: '7' }, '7'],
  ] as const) {
    const host = await Host.create(t);
    Object.assign(host.bench.env, env);
    host.says(version);
    await host.play({});
    assert.equal(host.env.CLAUDE_CODE_MAX_RETRIES, expected, version);
  }
});

test('a command in text is the shell’s to read, and gets the arguments as they are', async (t) => {
  const host = await Host.create(t);
  const text = `MARK="a  b" $HOST_PROGRAM`;
  host.bench.env.HOST_PROGRAM = host.program;
  host.use({ command: text, env: ['HOST_PROGRAM'], allowedTools: ['Bash(echo "$HOME" *)'] });
  const { end } = await host.play({});
  assert.deepEqual(end, { ok: true, words: 'Done.' });
  assert.equal(moreThanUsual(host.args).at(-1), 'Bash(echo "$HOME" *)');
  assert.equal(host.env.MARK, 'a  b');
});

test('turn follows turn in one process until none is asked for', async (t) => {
  const host = await Host.create(t);
  const asked: string[] = [];
  const next = ['second', 'third', null];
  const turn = (number: number, tokens: number) => [
    say(`turn ${number}`, `m${number}`),
    {
      ...DONE,
      result: `Done ${number}.`,
      total_cost_usd: number / 10,
      usage: { input_tokens: tokens, output_tokens: 2 },
    },
  ];
  const report = await host.play(
    { turns: [turn(1, 10), turn(2, 20), turn(3, 30), turn(4, 40)] },
    { prompt: 'first' },
    {
      nextTurn: async () => {
        const prompt = next[asked.length] ?? null;
        asked.push(String(prompt));
        return prompt;
      },
    },
  );
  assert.deepEqual(report.end, { ok: true, words: 'Done 3.' });
  assert.deepEqual(host.prompts, ['first', 'second', 'third']);
  assert.deepEqual(asked, ['second', 'third', 'null']);
  assert.deepEqual(messagesOf(report), ['turn 1', 'turn 2', 'turn 3']);
  assert.equal(report.pids.length, 1);
  assert.deepEqual(report.events.at(-1), {
    type: 'usage',
    usage: { input_tokens: 60, output_tokens: 6, cost_usd: 0.3, turns: 3 },
  });
});

test('turns that the host takes by itself ask for no prompt of their own', async (t) => {
  const host = await Host.create(t);
  let asked = 0;
  const report = await host.play(
    { turns: [[DONE, { ...DONE, result: 'The background is done, too.' }], [{ ...DONE, result: 'All done.' }]] },
    {},
    {
      nextTurn: async () => {
        asked += 1;
        return asked === 1 ? 'go on' : null;
      },
    },
  );
  assert.deepEqual(host.prompts, ['the prompt', 'go on']);
  assert.equal(asked, 2);
  assert.deepEqual(report.end, { ok: true, words: 'All done.' });
});

test('a next prompt that cannot be had ends the session at what it has', async (t) => {
  const host = await Host.create(t);
  const { end } = await host.play({}, {}, { nextTurn: () => Promise.reject(new Error('no workspace')) });
  assert.deepEqual(end, { ok: true, words: 'Done.' });
  assert.equal(host.seen.at(-1)?.ended, true, 'its input was closed, it ended by itself');
});

test('a turn that failed is not followed by another', async (t) => {
  const host = await Host.create(t);
  const { end } = await host.play(
    { turns: [[{ type: 'result', subtype: 'success', is_error: true, result: 'it broke' }, { exit: 1 }]] },
    {},
    { nextTurn: () => assert.fail('nothing is to be asked') },
  );
  assert.deepEqual(end, { ok: false, words: 'it broke', fault: 'agent', resumable: true });
});

test('a result counts, however the process ends after it', async (t) => {
  const host = await Host.create(t);
  assert.equal((await host.play({ turns: [[DONE, { exit: 1 }]] })).end.ok, true);
});

test('an end without a result: its own words, and whether the program could work at all', async (t) => {
  const host = await Host.create(t);
  const quiet = await host.play({ turns: [[say('I look.'), { exit: 0 }]] });
  const words = wordsOf(AGENT_CODES.agent_ended_early, { program: 'claude', how: 'ended with exit code 0' });
  assert.deepEqual(quiet.end, { ok: false, words, fault: 'agent', resumable: true });
  const loud = await host.play({ start: [{ stderr: 'error: unknown option --agent' }, { exit: 1 }] });
  assert.deepEqual(loud.end, {
    ok: false,
    words: wordsOf(AGENT_CODES.agent_ended_early, {
      program: 'claude',
      how: 'ended with exit code 1',
      said: 'error: unknown option --agent',
    }),
    fault: 'runtime',
    resumable: true,
  });
  // As a shell tells of a program that was killed, in the middle of its work.
  const killed = await host.play({ turns: [[say('I work.'), { exit: 137 }]] });
  assert.equal(killed.end.ok ? 'ok' : killed.end.fault, 'agent');
  const long = await host.play({ start: [{ stderr: `${'x'.repeat(5_000)}\nthe end` }, { exit: 1 }] });
  assert.ok(long.end.words.length < 2_100 && long.end.words.endsWith('the end'));
});

test('bad credentials end it at once', async (t) => {
  const host = await Host.create(t);
  const retry = { type: 'system', subtype: 'api_retry', attempt: 1, error_status: 401, error: 'authentication_failed' };
  const { end, output, left } = await host.play({ turns: [[retry, retry]] });
  assert.deepEqual(end, {
    ok: false,
    words: wordsOf(AGENT_CODES.runtime_unauthorized, {
      said: "the model's service answered 401 (authentication_failed)",
    }),
    fault: 'runtime',
    resumable: true,
  });
  assert.match(output, /^! the model's service answered 401/);
  assert.deepEqual(left, []);
});

test('a program that is not there is named, and found once it is', async (t) => {
  const host = await Host.create(t);
  renameSync(host.program, `${host.program}.later`);
  const { end, left } = await host.play({});
  assert.ok(!end.ok && end.fault === 'runtime');
  assert.match(
    end.words,
    wordsLike(BASE_CODES.program_not_started, { program: /\S*claude/, said: 'there is no such program' }),
  );
  assert.deepEqual(left, []);
  renameSync(`${host.program}.later`, host.program);
  assert.deepEqual((await host.play({}, { attempt: 2 })).end, { ok: true, words: 'Done.' });
});

test('an abort ends it', async (t) => {
  const host = await Host.create(t);
  const stop = new AbortController();
  const { end, left } = await host.play(
    { turns: [[say('I look.')]] },
    {},
    {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'message') stop.abort();
      },
    },
  );
  assert.equal(end.words, wordsOf(AGENT_CODES.agent_ended_early, { program: 'claude', how: 'was ended by SIGTERM' }));
  assert.deepEqual(left, []);
});

test('an abort while the next prompt is being asked for leaves nothing to wait for', async (t) => {
  const host = await Host.create(t);
  const stop = new AbortController();
  let answer: (prompt: null) => void = () => assert.fail('nobody asked');
  const report = await host.play(
    {},
    {},
    {
      signal: stop.signal,
      nextTurn: () => {
        stop.abort();
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    },
  );
  answer(null);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(report.left, []);
  assert.deepEqual(
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout'),
    [],
  );
});

test('a start that cannot be recorded is no start: the program is ended', async (t) => {
  const host = await Host.create(t);
  const { end, left } = await host.play({}, {}, { onStarted: () => Promise.reject(new Error('the disk is full')) });
  assert.deepEqual(end, { ok: false, words: 'the disk is full', fault: 'runtime', resumable: true });
  assert.deepEqual(left, []);
});

test('a process that stays after its input was closed is ended; its result counts', async (t) => {
  const host = await Host.create(t, 100);
  const { end, pids, left } = await host.play({ atEnd: 'stay' });
  assert.deepEqual(end, { ok: true, words: 'Done.' });
  assert.equal(existsSync(`${host.path}.stays`), true);
  assert.equal(processStartTime(pids[0] ?? 0), null);
  assert.deepEqual(left, []);
});

test('the login that an agent is given', (t) => {
  const home = tempDir(t);
  const file = join(home, '.claude', '.credentials.json');
  mkdirSync(dirname(file));
  const store = (text: string) => writeFileSync(file, text);
  assert.deepEqual(runtimeLogin({ HOME: join(home, 'nobody') }), {});
  store(JSON.stringify({ claudeAiOauth: { accessToken: 'access', refreshToken: 'refresh' } }));
  assert.deepEqual(runtimeLogin({ HOME: home }), { CLAUDE_CODE_OAUTH_TOKEN: 'access' });
  assert.deepEqual(runtimeLogin({ HOME: '/', CLAUDE_CONFIG_DIR: dirname(file) }), {
    CLAUDE_CODE_OAUTH_TOKEN: 'access',
  });
  for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'])
    assert.deepEqual(runtimeLogin({ HOME: home, [name]: 'x' }), { [name]: 'x' }, 'a variable comes first');
  const cloud = { AWS_REGION: 'r', AWS_SECRET_ACCESS_KEY: 's', GOOGLE_APPLICATION_CREDENTIALS: 'g' };
  assert.deepEqual(runtimeLogin({ HOME: home, ...cloud }), { CLAUDE_CODE_OAUTH_TOKEN: 'access' });
  const bedrock = { CLAUDE_CODE_USE_BEDROCK: '1', ...cloud };
  assert.deepEqual(runtimeLogin({ HOME: home, ...bedrock }), bedrock, 'a cloud’s own login goes with its use only');
  for (const text of ['', 'null', '{"claudeAiOauth":null}', '{"claudeAiOauth":{"accessToken":7}}']) {
    store(text);
    assert.deepEqual(runtimeLogin({ HOME: home }), {}, text);
  }
});

test('the version is read from what the program says', async () => {
  assert.equal(await claudeVersion(['/bin/echo', '2.0.1'], {}), '2.0.1');
  assert.equal(await claudeVersion(['/bin/false'], {}), null);
  assert.equal(await claudeVersion(['/no/such/program'], {}), null);
});
