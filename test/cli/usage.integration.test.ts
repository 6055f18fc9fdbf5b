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

test('below an error of usage stands where the help of that command is', async () => {
  const cases: readonly [string[], string][] = [
    [['--nope'], '(tool --help lists the commands)'],
    [['serve', '--nope'], '(tool serve --help lists the commands)'],
    [['serve', 'init', '--nope'], '(tool serve init --help says more)'],
    [['logs', 'x'], '(tool logs --help says more)'],
    [['issue', 'show', '--nope'], '(tool issue show --help says more)'],
  ];
  for (const [args, hint] of cases) assert.equal((await runTool(args)).stderr.trimEnd().split('\n').at(-1), hint);
});

test('--help lists the commands, of serve also init', async () => {
  const [all, serve, issue] = await Promise.all(
    [['--help'], ['serve', '--help'], ['issue', '--help']].map((args) => runTool(args)),
  );
  const commands = (text = '') =>
    [...(text.split('Commands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map((match) => match[1]);
  assert.deepEqual(commands(all?.stdout), [
    'serve',
    'demo',
    'logs',
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
  assert.deepEqual(commands(issue?.stdout), ['show', 'comment', 'done', 'help']);
  for (const flag of ['--port', '--log-format', '--once']) assert.ok(serve?.stdout.includes(flag), flag);
  assert.deepEqual([all?.code, serve?.code, issue?.code], [0, 0, 0]);
});

test('what is no command, option or argument is exit 2, with a suggestion where one is near', async () => {
  const cases: readonly [string[], RegExp][] = [
    [[], /^Usage: tool /],
    [['serv'], /unknown command 'serv'\n\(Did you mean serve\?\)/],
    [['doctr', '--json'], /unknown command 'doctr'\n\(Did you mean doctor\?\)/],
    [['issue'], /^Usage: tool issue /],
    [['issue', 'sohw'], /unknown command 'sohw'\n\(Did you mean show\?\)/],
    [['demo', '--isues', '7'], /unknown option '--isues'\n\(Did you mean --issues\?\)/],
    [['demo', 'now'], /too many arguments for 'demo'\. Expected 0 arguments but got 1\./],
    [['serve', '--port', '99999'], /Expected a port from 0 to 65535, got 99999\./],
    [['serve', '--port', ''], /Expected a port from 0 to 65535, got nothing\./],
    [['serve', '--log-format', 'yaml'], /Allowed choices are text, json\./],
    [['logs'], /missing required argument 'issue'/],
    [['plan', '!!!', '--command', 'x'], /feature: expected words after tool plan, like tool plan "/],
    [['run', 'SPEC-A-001', '--command', ' '], /--command: expected a program .*, got nothing/],
    [['pr', 'create'], /required option '--title <text>' not specified/],
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
