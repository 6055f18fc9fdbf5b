import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import {
  type AgentHomeOptions,
  createAgentHome,
  hookEnvironment,
  passedEnvironment,
} from '../../src/agents/agent-home.ts';
import { issueDirectory } from '../../src/agents/issue-directory.ts';
import { packageVersion } from '../../src/base/package-version.ts';
import { runProgram } from '../../src/base/processes/program.ts';
import { tempDir } from '../support/temp.ts';

function homeOf(stateDir: string, attempt: number, more: Partial<AgentHomeOptions> = {}) {
  const env = { PATH: process.env.PATH };
  return createAgentHome({
    stateDir,
    issue: 7,
    attempt,
    run: 'run',
    tmp: '/tmp',
    env,
    passed: [],
    carry: null,
    ...more,
  });
}

function homesIn(stateDir: string): string[] {
  return readdirSync(join(issueDirectory(stateDir, 7), 'homes'));
}

test('which of a person’s variables an agent gets, and which a hook', () => {
  const both = [
    'PATH',
    'LANG',
    'LC_ALL',
    'TZ',
    'https_proxy',
    'NO_PROXY',
    'NODE_EXTRA_CA_CERTS',
    'JAVA_HOME',
    'RUSTUP_HOME',
    'NAMED',
  ];
  const hookOnly = [
    'HOME',
    'AWS_SECRET_ACCESS_KEY',
    'NPM_TOKEN',
    'SSH_AUTH_SOCK',
    'LD_PRELOAD',
    'NODE_OPTIONS',
    'XPATH',
  ];
  const neither = ['GITHUB_TOKEN', 'GH_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];
  const env: Record<string, string | undefined> = { UNSET: undefined };
  for (const name of [...both, ...hookOnly, ...neither]) env[name] = name;
  assert.deepEqual(Object.keys(passedEnvironment(env, ['NAMED', 'UNSET', 'GH_TOKEN'])), both);
  assert.deepEqual(Object.keys(hookEnvironment(env)), [...both, ...hookOnly]);
});

test('an agent finds `tool` on its path and nothing that hands out a hosting credential', async (t) => {
  const { path, env } = await homeOf(tempDir(t), 1);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  const script = 'tool --version; git config credential.helper; git config user.email; git config push.default';
  const { stdout, stderr } = await runProgram('/bin/sh', ['-c', script], { cwd: path, env });
  assert.equal(stdout, `${packageVersion()}\n\ntoolcrew@localhost\nnothing\n`);
  assert.equal(stderr, '');
  const bare = await homeOf(tempDir(t), 1, { env: {} });
  assert.match(bare.env.PATH ?? '', /\/bin:\/usr\/local\/bin:\/usr\/bin:\/bin$/, 'a daemon without a path has one');
});

test('a tool chain that lies in the person’s home is named where nobody has named it', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, '.rustup'));
  const found = await homeOf(tempDir(t), 1, { env: { HOME: home } });
  assert.equal(found.env.RUSTUP_HOME, join(home, '.rustup'));
  assert.equal('PYENV_ROOT' in found.env, false, 'it is not there');
  const named = await homeOf(tempDir(t), 1, { env: { HOME: home, RUSTUP_HOME: '/opt/rust' } });
  assert.equal(named.env.RUSTUP_HOME, '/opt/rust');
});

test('of the attempt before only what is carried over stays', async (t) => {
  const state = tempDir(t);
  const carry = join('.claude', 'projects');
  const first = await homeOf(state, 1, { carry });
  mkdirSync(join(first.path, carry, 'p'), { recursive: true });
  writeFileSync(join(first.path, carry, 'p', 's.jsonl'), 'first');
  symlinkSync('/etc/hostname', join(first.path, carry, 'link'));
  writeFileSync(join(first.path, '.claude', 'settings.json'), '{}');
  const second = await homeOf(state, 2, { carry });
  assert.deepEqual(homesIn(state), ['2']);
  assert.equal(readFileSync(join(second.path, carry, 'p', 's.jsonl'), 'utf8'), 'first');
  assert.deepEqual(readdirSync(join(second.path, carry)), ['p'], 'a link is left behind');
  assert.deepEqual(readdirSync(join(second.path, '.claude')), ['projects']);
  const tenth = await homeOf(state, 10, { carry });
  assert.ok(existsSync(join(tenth.path, carry, 'p', 's.jsonl')));
  const last = await homeOf(state, 11);
  assert.deepEqual(homesIn(state), ['11']);
  assert.equal(existsSync(join(last.path, '.claude')), false);
});

test('what an attempt of the same number left is not taken over', async (t) => {
  const state = tempDir(t);
  const dead = await homeOf(state, 1);
  writeFileSync(join(dead.path, '.bashrc'), 'echo planted');
  const { path } = await homeOf(state, 1);
  assert.deepEqual(readdirSync(path).toSorted(), ['.gitconfig', 'bin']);
});

test('a commit of an agent’s starts no upkeep of the repository', async (t) => {
  const { path, env } = await homeOf(tempDir(t), 1);
  const git = (...args: string[]) => runProgram('git', args, { cwd: path, env: { ...env, GIT_TRACE: '1' } });
  await git('init', '--quiet');
  const { exitCode, stderr } = await git('commit', '--quiet', '--allow-empty', '--message', 'x');
  assert.equal(exitCode, 0, stderr);
  assert.match(stderr, /git commit/);
  assert.doesNotMatch(stderr, /maintenance/);
});

/** Rights do not bind the superuser: what is about them is done as somebody who has none. */
async function unprivileged(directory: string, action: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return action();
  const nobody = 65_534;
  chownSync(directory, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await action();
  } finally {
    process.seteuid?.(0);
  }
}

test('a home with directories that cannot be written to, as module caches are, goes all the same', async (t) => {
  const state = tempDir(t);
  await homeOf(state, 1);
  const other = tempDir(t);
  await unprivileged(other, async () => {
    const { path } = await homeOf(other, 1);
    const cache = join(path, 'go', 'pkg', 'mod');
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, 'file'), '');
    for (const directory of [cache, join(path, 'go', 'pkg')]) chmodSync(directory, 0o555);
    await homeOf(other, 2);
    assert.deepEqual(homesIn(other), ['2']);
  });
});
