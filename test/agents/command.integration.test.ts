import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { CommandRunner } from '../../src/agents/command.ts';
import { Isolation } from '../../src/agents/isolation.ts';
import { AGENT_CODES } from '../../src/agents/rules/agent-codes.ts';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import type { CommandLine } from '../../src/base/rules/command-line.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import { createRunner } from '../../src/daemon/runners/runners.ts';
import { joined, START, wordsLike } from '../support/codes.ts';
import { Bench, messagesOf } from '../support/runner.ts';
import { tempDir } from '../support/temp.ts';
import { workflowWith } from '../support/world.ts';

function runner(bench: Bench, command: CommandLine, env: Readonly<Record<string, string>> = {}): CommandRunner {
  return new CommandRunner({ ...bench.options, name: 'command', program: () => ({ command, env }) });
}

const { active, reason } = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });

test('the prompt is the program’s input as it is; what it prints is what it says', async (t) => {
  const bench = await Bench.create(t);
  const prompt = `/clear\n@file $HOME \`id\` ${'ü'.repeat(10)}\u0000\n`;
  const report = await bench.run(runner(bench, 'cat; echo "  "; printf "no line end"'), { prompt });
  assert.deepEqual(messagesOf(report), ['/clear', '@file $HOME `id` üüüüüüüüüü\u0000', '  ', 'no line end']);
  assert.equal(report.output, `${prompt}  \nno line end\n`);
  assert.deepEqual(report.end, { ok: true, words: '/clear\n@file $HOME `id` üüüüüüüüüü\\x00\nno line end' });
  assert.deepEqual(report.events.at(-1), {
    type: 'usage',
    usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 1 },
  });
});

test('a reviewer’s long line is whole in its words, and short where it failed', async (t) => {
  const bench = await Bench.create(t);
  const line = `{"findings":["${'x'.repeat(6_000)}\u202e"]}`;
  const review = { prompt: '', role: { text: line, model: null } };
  const report = await bench.run(runner(bench, 'head -n 1'), review);
  assert.deepEqual(report.end, { ok: true, words: line });
  assert.deepEqual(messagesOf(report), [line]);
  const broken = await bench.run(runner(bench, 'head -n 1; exit 1'), review);
  assert.ok(!broken.end.ok && broken.end.words.length < 600);
});

test('the prompt is not handed over before the start is on record', async (t) => {
  const bench = await Bench.create(t);
  let recorded = false;
  let heard = () => {};
  const up = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const report = await bench.run(
    runner(bench, 'echo up; cat'),
    { prompt: 'the prompt\n' },
    {
      onStarted: async () => {
        await up;
        recorded = true;
      },
      onEvent: (event) => {
        if (event.type === 'message' && event.text === 'up') heard();
        else assert.ok(recorded);
      },
    },
  );
  assert.deepEqual(messagesOf(report), ['up', 'the prompt']);
});

test('a list is started as it stands, text by the shell', async (t) => {
  const bench = await Bench.create(t);
  const list = await bench.run(runner(bench, ['printf', '%s\n', '$HOME', 'a  b', "it's; exit 3"]));
  assert.deepEqual(messagesOf(list), ['$HOME', 'a  b', "it's; exit 3"]);
  const text = await bench.run(runner(bench, 'echo a  b | tr a-z A-Z; exit 3'));
  assert.deepEqual(messagesOf(text), ['A B']);
  assert.deepEqual(text.end, { ok: false, words: 'it ended with exit code 3: A B', fault: 'agent', resumable: true });
});

test('a program gets what it needs of the person’s environment, and a home of its own', async (t) => {
  const bench = await Bench.create(t);
  Object.assign(bench.env, {
    LANG: 'C.UTF-8',
    GITHUB_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    ANTHROPIC_API_KEY: 'secret',
    SSH_AUTH_SOCK: 'secret',
    TOOL_RUN: 'of-the-daemon',
    MINE: 'named',
  });
  bench.workflow = workflowWith({ tool: { env: ['MINE', 'GITHUB_TOKEN', 'HOME'] } });
  const script = 'env; echo "cwd $PWD"; touch "$TMPDIR/x" && echo "in $TMPDIR"; git config user.name; command -v tool';
  const report = await bench.run(runner(bench, script, { ITS_OWN: '1' }), { env: { TOOL_ISSUE: '7' } });
  const lines = report.output.split('\n');
  const home = join(bench.stateDir, 'issues', '7', 'homes', '1');
  const path = `${join(home, 'bin')}:${bench.env.PATH}`;
  for (const line of ['LANG=C.UTF-8', 'MINE=named', 'ITS_OWN=1', 'TOOL_ISSUE=7', `HOME=${home}`, `PATH=${path}`])
    assert.ok(lines.includes(line), line);
  assert.ok(lines.includes(`cwd ${bench.cwd}`));
  assert.ok(lines.includes('toolcrew'), 'a commit has an author');
  assert.ok(lines.includes(join(home, 'bin', 'tool')));
  assert.doesNotMatch(report.output, /secret|of-the-daemon/);
  const tmp = /^in (.*)$/m.exec(report.output)?.[1] ?? '';
  assert.ok(tmp.startsWith(tmpdir()) && tmp.length < tmpdir().length + 40, 'there is room for the name of a socket');
  assert.equal(existsSync(tmp), false, 'its temporary files went with it');
});

test('how a program failed, in its own last words', async (t) => {
  const bench = await Bench.create(t);
  const words = async (command: CommandLine) => {
    const { end } = await bench.run(runner(bench, command));
    assert.equal(end.ok, false);
    return end.words;
  };
  assert.equal(await words('exit 4'), 'it ended with exit code 4 and printed nothing');
  assert.equal(await words('echo "not \u001b[31mfound" >&2; exit 1'), 'it ended with exit code 1: not \\x1b[31mfound');
  assert.equal(await words('echo up; kill -9 $$'), 'it was ended by SIGKILL: up');
  const last = Array.from({ length: 12 }, (_, index) => String(index + 9));
  assert.equal(await words('seq 20; exit 1'), `it ended with exit code 1: ${last.join('\n')}`);
  assert.match(await words('head -c 3000 /dev/zero | tr "\\0" x; exit 1'), /^it ended with exit code 1: x{399}…$/);
});

test('a program that cannot be run at all is not the issue’s fault', async (t) => {
  const bench = await Bench.create(t);
  const plain = join(tempDir(t), 'plain');
  writeFileSync(plain, 'no program');
  const notStarted = (values: { readonly program?: string; readonly said?: RegExp }) =>
    joined(START, wordsLike(BASE_CODES.program_not_started, values));
  const cases: readonly [CommandLine, 'agent' | 'runtime', RegExp][] = [
    ['no-such-program --flag', 'runtime', /^it ended with exit code 127: .*no-such-program.*not found/],
    [plain, 'runtime', /^it ended with exit code 126: .*denied/],
    [
      ['no-such-program'],
      'runtime',
      notStarted({ program: 'no-such-program', said: /there is no such program on the PATH/ }),
    ],
    [[plain], 'runtime', notStarted({ program: plain, said: /.*EACCES/ })],
    [[], 'runtime', notStarted({})],
    [['/bin/sh', '-c', 'exit 127'], 'agent', /^it ended with exit code 127/],
  ];
  for (const [command, fault, words] of cases) {
    const { end, left } = await bench.run(runner(bench, command));
    assert.ok(!end.ok && end.fault === fault, JSON.stringify([command, end]));
    assert.match(end.words, words);
    assert.deepEqual(left, []);
  }
});

test(
  'the same where agents are isolated',
  active ? {} : { skip: `this kernel gives no namespaces: ${reason}` },
  async (t) => {
    const bench = await Bench.create(
      t,
      await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' }),
    );
    const { end } = await bench.run(runner(bench, ['no-such-program', '--flag']));
    assert.ok(!end.ok && end.fault === 'runtime', JSON.stringify(end));
    assert.match(end.words, /^it ended with exit code 127: .*no-such-program/);
    assert.equal((await bench.run(runner(bench, ['cat']))).end.words, 'the prompt');
  },
);

test('a program that reads nothing of a huge prompt is no error', async (t) => {
  const bench = await Bench.create(t);
  const prompt = 'x'.repeat(8_000_000);
  const { end } = await bench.run(runner(bench, 'exec <&-; echo enough'), { prompt });
  assert.deepEqual(end, { ok: true, words: 'enough' });
});

test('of a line without end the beginning is kept, and the next one is whole', async (t) => {
  const bench = await Bench.create(t);
  let longest = 0;
  const report = await bench.run(
    runner(bench, 'head -c 20000000 /dev/zero | tr "\\0" x; echo; echo next'),
    {},
    {
      output: (text) => {
        longest = Math.max(longest, text.length);
      },
    },
  );
  assert.equal(longest, 16 * 1024 * 1024 + 1);
  assert.match(report.end.words, /^x{399}…\nnext$/);
  assert.ok(messagesOf(report).every((text) => text.length <= 4_000));
});

test('progress that never ends its line is a sign of life', async (t) => {
  const bench = await Bench.create(t);
  const go = join(bench.cwd, 'go');
  const report = await bench.run(
    runner(bench, `printf ...; while [ ! -e ${go} ]; do sleep 0.01; done; echo done`),
    {},
    {
      onEvent: (event) => {
        if (event.type === 'activity') writeFileSync(go, '');
      },
    },
  );
  assert.deepEqual(messagesOf(report), ['...done']);
});

test('output that is no text is taken as it comes', async (t) => {
  const bench = await Bench.create(t);
  const { end, output } = await bench.run(runner(bench, 'printf "\\377\\376\\000\\r\\n\\303"; exit 1'));
  assert.equal(output, '\ufffd\ufffd\u0000\n\ufffd\n');
  assert.equal(end.words, 'it ended with exit code 1: \ufffd\ufffd\\x00\n\ufffd');
});

test('what a program leaves behind ends with it, also what left its group', async (t) => {
  const bench = await Bench.create(t);
  const script =
    'sleep 300 & echo $!; setsid sh -c "echo \\$\\$ > away; exec sleep 300" & while [ ! -s away ]; do sleep 0.01; done; cat away';
  const report = await bench.run(runner(bench, script));
  assert.equal(report.end.ok, true);
  assert.equal(messagesOf(report).length, 2);
  assert.deepEqual(report.left, []);
});

test('an abort ends it in order, or before it began', async (t) => {
  const bench = await Bench.create(t);
  const abortAtOnce = async (script: string) => {
    const stop = new AbortController();
    const onEvent = () => stop.abort();
    // Shells say on stderr that a command of theirs was terminated, now before and now after what they print themselves.
    return bench.run(
      runner(bench, `exec 2>/dev/null; ${script}; echo up; while :; do sleep 0.01; done`),
      {},
      { signal: stop.signal, onEvent },
    );
  };
  const orderly = await abortAtOnce('trap "echo bye; exit 5" TERM');
  assert.equal(orderly.end.words, 'it ended with exit code 5: up\nbye');
  const plain = await abortAtOnce(':');
  assert.equal(plain.end.words, 'it was ended by SIGTERM: up');
  assert.deepEqual([...orderly.left, ...plain.left], []);
  const before = await bench.run(runner(bench, 'sleep 300'), {}, { signal: AbortSignal.abort() });
  assert.match(before.end.words, /^it was ended by SIGTERM/);
});

test('a start that cannot be recorded is no start: the program is ended', async (t) => {
  const bench = await Bench.create(t);
  const report = await bench.run(
    runner(bench, 'cat; sleep 300'),
    {},
    { onStarted: () => Promise.reject(new Error('the disk is full')) },
  );
  assert.deepEqual(report.end, { ok: false, words: 'the disk is full', fault: 'runtime', resumable: true });
  assert.deepEqual(report.left, []);
});

test('runners go by their names; what they run is what the workflow says by then', async (t) => {
  const bench = await Bench.create(t);
  const named = createRunner(bench.options);
  assert.deepEqual(
    ['claude', 'command', 'patch'].map((name) => named(name).name),
    ['claude', 'command', 'patch'],
  );
  assert.throws(
    () => named('robot'),
    (error) =>
      error instanceof ToolError &&
      error.kind === 'config' &&
      error.message.startsWith('tool.runtime: expected one of claude, command, patch, got robot'),
  );
  bench.workflow = workflowWith({ tool: { command: ['echo', 'as changed'] } });
  assert.deepEqual((await bench.run(named('command'))).end, { ok: true, words: 'as changed' });
});

test('a program announces when its quota is there again', async (t) => {
  const bench = await Bench.create(t);
  const from = Date.now();
  const { end } = await bench.run(runner(bench, 'echo "used up" >&2; echo "retry-after: 120" >&2; exit 75'));
  assert.ok(!end.ok && end.fault === 'runtime' && end.resumable);
  const wait = (end.quotaAt ?? 0) - 120_000;
  assert.ok(wait >= from && wait <= Date.now(), String(end.quotaAt));
  assert.match(end.words, /^it ended with exit code 75: used up/);
});

test('an announced quota counts with the exit code, on standard error, and with a value that is a time', async (t) => {
  const bench = await Bench.create(t);
  const end = async (script: string) => {
    const report = await bench.run(runner(bench, script));
    return report.end.ok ? assert.fail(script) : report.end;
  };
  const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
  const dated = await end(`echo "Retry-After: 5" >&2; echo "Retry-After: ${date.toUTCString()}" >&2; exit 75`);
  assert.equal(dated.quotaAt, date.getTime());
  for (const script of ['echo "Retry-After: 60" >&2; exit 1', 'echo "Retry-After: 60"; exit 75', 'exit 75']) {
    const { fault, quotaAt } = await end(script);
    assert.deepEqual([fault, quotaAt], ['agent', undefined], script);
  }
  for (const value of ['-5', 'NaN', 'soon', '', '1e400', 'Infinity', '0x10']) {
    const { fault, quotaAt, words } = await end(`echo "Retry-After: ${value}" >&2; exit 75`);
    assert.deepEqual([fault, quotaAt], ['runtime', undefined], value);
    assert.match(words, wordsLike(AGENT_CODES.retry_after_invalid));
  }
  const from = Date.now();
  const far = await end('echo "Retry-After: 31556952000" >&2; exit 75');
  const most = (far.quotaAt ?? 0) - 8 * 86_400_000;
  assert.ok(most >= from && most <= Date.now());
  assert.match(far.words, /expected at most 8 days, got 31556952000/);
});
