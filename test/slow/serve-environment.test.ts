// The built daemon in the environment of a person: git settings, a caller's repository, terminals, homes and paths.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { CONFIG_CODES } from '../../src/daemon/rules/codes/config-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { END, joined, lineLike, START } from '../support/codes.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { CLI, cleanEnv, Daemon } from '../support/daemon.ts';
import { commitFiles, DAEMON_TOKEN, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { Pty } from '../support/pty.ts';

/** Settings of a person under which a plain `git push` would go elsewhere or fail. */
function oddSettings(forge: TestForge, directory: string): string {
  const { url } = forge.forge;
  return `[url "http://127.0.0.1:1/"]
	pushInsteadOf = ${url}/
	insteadOf = ${url}/
[push]
	gpgSign = true
	followTags = true
[commit]
	gpgSign = true
[core]
	hooksPath = ${join(directory, 'githooks')}
	attributesFile = ${join(directory, 'attributes')}
[credential]
	helper = "!touch ${join(directory, 'asked')}; false"
[init]
	templateDir = ${join(directory, 'githooks')}
[transfer]
	hideRefs = refs/heads
[remote "toolcrew"]
	mirror = true
`;
}

test('a person’s git settings change nothing of what the daemon’s git does, but for the proxy', async (t) => {
  const forge = await startForge(t);
  const proxy = await ConnectProxy.start(t);
  await forge.open('one');
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  mkdirSync(join(daemon.directory, 'githooks'));
  for (const hook of ['pre-push', 'pre-commit', 'post-checkout', 'reference-transaction'])
    writeFileSync(join(daemon.directory, 'githooks', hook), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  writeFileSync(join(daemon.directory, 'attributes'), '* text eol=crlf\n');
  const settings = oddSettings(forge, daemon.directory);
  writeFileSync(join(daemon.home, '.gitconfig'), `${settings}[http "${forge.forge.url}/"]\n\tproxy = ${proxy.url}\n`);
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.equal(existsSync(join(daemon.directory, 'asked')), false);
  const git = proxy.seen.filter((line) => /git-(upload|receive)-pack/.test(line));
  assert.ok(git.length > 1, proxy.seen.join('\n'));
  assert.ok(!daemon.log.includes('p%40ss'), daemon.log);
});

test('started from an alias of git in a linked worktree, it leaves the person’s repository alone', async (t) => {
  const forge = await startForge(t);
  await forge.open('one');
  const daemon = await Daemon.create(t, forge, {
    yaml: `${agentRunning(COMMITS)}\nhooks: { before_run: "git checkout --quiet -B elsewhere; git config own.touched yes; env | grep ^GIT_DIR= || true" }`,
  });
  const main = join(daemon.directory, 'mine');
  mkdirSync(main);
  await gitAs(main, 'init', '--quiet', '--initial-branch=main');
  await commitFiles(main, { 'a.txt': 'a\n' }, 'One');
  const linked = join(daemon.directory, 'linked');
  await gitAs(main, 'worktree', 'add', '--quiet', '-b', 'side', linked);
  const state = async () => [
    await gitAs(main, 'symbolic-ref', 'HEAD'),
    await gitAs(linked, 'symbolic-ref', 'HEAD'),
    await gitAs(main, 'for-each-ref'),
    await gitAs(main, 'config', '--local', '--list'),
    await gitAs(linked, 'status', '--porcelain'),
  ];
  const before = await state();
  const alias = `!GIT_INDEX_FILE="$(git rev-parse --git-dir)/index" exec '${process.execPath}' '${CLI}' serve --once '${daemon.workflow}'`;
  const child = cleanEnv(daemon.home, { GITHUB_TOKEN: DAEMON_TOKEN });
  const options = { cwd: linked, env: child, extendEnv: false, stdin: 'ignore', all: true } as const;
  const { all: log } = await execa(options)`git -c alias.crew=${alias} crew`;
  assert.deepEqual(await state(), before, log);
  assert.equal((await forge.pulls()).length, 1, log);
});

test('without any terminal SIGHUP ends nothing, and SIGTERM still does', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.start(t, forge, { yaml: agentRunning(COMMITS) });
  await daemon.logged('watching');
  process.kill(daemon.pid, 'SIGHUP');
  const issue = await forge.open('after the hangup');
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  assert.equal(await daemon.stop(), 143);
  assert.doesNotMatch(daemon.log, /SIGHUP/);
});

test('at a terminal SIGHUP ends it in order', async (t) => {
  const forge = await startForge(t);
  await forge.open('one');
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  const env = { GITHUB_TOKEN: DAEMON_TOKEN };
  const pty = Pty.start(t, [CLI, 'serve', daemon.workflow], { columns: 200, rows: 40 }, env);
  // By then it listens to signals.
  await pty.until(() => pty.output.includes('state changed to tool-done'));
  process.kill(pty.pid, 'SIGHUP');
  assert.equal(await pty.ended, 129, pty.output);
  assert.match(pty.output, /SIGHUP: agents at work are ended/);
});

test('without HOME and without an entry among the users it ends with one line that names HOME', async (t) => {
  const forge = await startForge(t);
  const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
  const { HOME: _, ...env } = cleanEnv(daemon.home, { GITHUB_TOKEN: DAEMON_TOKEN });
  const args = ['--user', '--map-user=12345', process.execPath, CLI, 'serve', daemon.workflow];
  const options = { cwd: daemon.directory, env, extendEnv: false, reject: false, stripFinalNewline: false } as const;
  const { exitCode, stderr } = execaSync(options)`unshare ${args}`;
  assert.equal(exitCode, 2, stderr);
  assert.match(stderr, joined(START, 'tool: ', lineLike(CONFIG_CODES.home_missing, { user: '12345' }), '\n', END));
  assert.equal(existsSync(daemon.stateDir), false);
});

test('a colon in a path is refused by name before anything is made', async (t) => {
  const forge = await startForge(t);
  for (const key of ['state.dir', 'workspace.root', 'TMPDIR']) {
    const daemon = await Daemon.create(t, forge, { yaml: agentRunning(COMMITS) });
    const place = join(daemon.directory, 'a:b');
    const own = { 'state.dir': daemon.stateDir, 'workspace.root': daemon.root, TMPDIR: '' }[key] ?? '';
    if (own !== '') daemon.overwrite(daemon.read().replace(own, place));
    daemon.start(['--once'], own === '' ? { TMPDIR: place } : {});
    assert.equal(await daemon.exit(), 2, daemon.log);
    const line = lineLike(CONFIG_CODES.path_with_delimiter, { key, delimiter: ':', path: place });
    assert.match(daemon.log, joined(START, 'tool: ', line));
    assert.equal(daemon.log.split('\n').length, 2, 'one line');
    assert.equal(existsSync(place), false);
  }
});
