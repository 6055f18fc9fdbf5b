// The command line itself: help, version, and what is said about a command that is not one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { runTool } from '../support/daemon.ts';

test('--version, -V and -v print the package’s', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const flag of ['--version', '-V', '-v'])
    assert.deepEqual(await runTool([flag]), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
});

test('an error of usage ends with where the help of that command is, and a code', async () => {
  const cases: readonly [string[], string][] = [
    [['--nope'], '`tool --help` lists the commands.'],
    [['serve', '--nope'], '`tool serve --help` lists the commands.'],
    [['serve', 'init', '--nope'], '`tool serve init --help` says more.'],
    [['logs', 'x'], '`tool logs --help` says more.'],
    [['issue', 'show', '--nope'], '`tool issue show --help` says more.'],
  ];
  for (const [args, hint] of cases) {
    const { stderr } = await runTool(args);
    assert.match(stderr, /^tool: [^\n]+\n$/);
    assert.ok(stderr.endsWith(` ${hint} (command_line_invalid)\n`), stderr);
  }
});

test('--help lists the commands, of serve also init', async () => {
  const [all, serve, issue] = await Promise.all(
    [['--help'], ['serve', '--help'], ['issue', '--help']].map((args) => runTool(args)),
  );
  const commands = (text = '') =>
    [...(text.split('Commands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map((match) => match[1]);
  assert.deepEqual(commands(all?.stdout), [
    'serve',
    'worker',
    'demo',
    'logs',
    'explain',
    'pause',
    'resume',
    'cancel',
    'retry',
    'tell',
    'doctor',
    'team',
    'spec',
    'mcp',
    'plan',
    'run',
    'build-fix',
    'team-restart',
    'sync',
    'init',
    'uninstall',
    'issue',
    'pr',
    'help',
  ]);
  assert.deepEqual(commands(serve?.stdout), ['init']);
  assert.deepEqual(commands(issue?.stdout), ['show', 'comment', 'ask', 'done', 'help']);
  for (const flag of ['--port', '--log-format', '--once']) assert.ok(serve?.stdout.includes(flag), flag);
  assert.deepEqual([all?.code, serve?.code, issue?.code], [0, 0, 0]);
});

test('what is no command, option or argument is exit 2, with a suggestion where one is near', async () => {
  const cases: readonly [string[], RegExp][] = [
    [[], /^Usage: tool /],
    [['serv'], /Unknown command 'serv'\. Did you mean serve\?/],
    [['doctr'], /Unknown command 'doctr'\. Did you mean doctor\?/],
    [['issue'], /^Usage: tool issue /],
    [['issue', 'sohw'], /Unknown command 'sohw'\. Did you mean show\?/],
    [['demo', '--isues', '7'], /Unknown option '--isues'\. Did you mean --issues\?/],
    [['demo', 'now'], /Too many arguments for 'demo'\. Expected 0 arguments but got 1\./],
    [['serve', '--port', '99999'], /Expected a port from 0 to 65535, got 99999\./],
    [['serve', '--port', ''], /Expected a port from 0 to 65535, got nothing\./],
    [['serve', '--log-format', 'yaml'], /Allowed choices are text, json\./],
    [['logs'], /Missing required argument 'issue'/],
    [['plan', '!!!', '--command', 'x'], /feature: expected words after tool plan, like tool plan "/],
    [['run', 'SPEC-A-001', '--command', ' '], /--command: expected a program .*, got nothing/],
    [['issue', 'ask'], /<question>: expected a question, or --body-file <file>, got neither/],
    [['issue', 'ask', ' '], /<question>: expected a question, got an empty text/],
    [['pr', 'create'], /Required option '--title <text>' not specified/],
  ];
  await Promise.all(
    cases.map(async ([args, words]) => {
      const { code, stdout, stderr } = await runTool(args);
      assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /^ {4}at /m);
    }),
  );
});

test('a command line with --json that is wrong is an object with a code on standard output', async () => {
  const cases: readonly [string[], string | null][] = [
    [['demo', '--json', '--isues', '7'], '--issues'],
    [['logs', 'x', '--json'], null],
    [['doctor', 'a', 'b', '--json'], null],
    [['doctr', '--json'], 'doctor'],
    [['team', 'bogus', '--json'], null],
    [['team', 'tsak', 'list', '--json'], 'task'],
  ];
  for (const [args, near] of cases) {
    const { code, stdout, stderr } = await runTool(args);
    const { error } = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.values.near ?? null], [2, 'command_line_invalid', near]);
    assert.match(stderr, /\(command_line_invalid\)\n$/);
  }
  const plain = await runTool(['doctor', '--jsn', '--', '--json']);
  assert.deepEqual([plain.code, plain.stdout], [2, '']);
});
