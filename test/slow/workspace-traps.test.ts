// Attacks from an agent's clone on the daemon and its git: planted settings, links, pipes and objects.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { Isolation } from '../../src/agents/isolation.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { failsWith, isOf } from '../support/codes.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const probe = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });
const possible = probe.active ? {} : { skip: `this kernel gives no namespaces: ${probe.reason}` };

/** A submodule of the clone whose git settings start a program. */
async function plantSubmodule(path: string, program: string) {
  const inner = join(path, 'sub');
  mkdirSync(inner);
  await gitAs(inner, 'init', '--quiet', '--initial-branch=main');
  await commitFiles(inner, { 'a.txt': 'a\n' }, 'inner');
  const sha = (await gitAs(inner, 'rev-parse', 'HEAD')).trim();
  writeFileSync(
    join(path, '.gitmodules'),
    '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tfetchRecurseSubmodules = true\n',
  );
  await gitAs(path, 'update-index', '--add', '--cacheinfo', `160000,${sha},sub`);
  await gitAs(path, 'add', '.gitmodules');
  await gitAs(path, 'commit', '--quiet', '-m', 'a submodule');
  for (const [key, value] of [
    ['remote.origin.url', inner],
    ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
    ['remote.origin.uploadpack', program],
    ['filter.x.clean', program],
    ['core.fsmonitor', program],
  ] as const)
    await gitAs(inner, '-c', 'core.fsmonitor=false', 'config', key, value);
  writeFileSync(join(inner, '.gitattributes'), '* filter=x\n');
  writeFileSync(join(inner, 'a.txt'), 'changed\n');
}

test('repositories inside the clone start no program out of the namespaces', possible, async (t) => {
  const { workspaces, task, ready, directory } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const trace = join(directory, 'outside');
  const program = join(path, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${trace}\ncat\n`);
  chmodSync(program, 0o755);
  await plantSubmodule(path, program);
  writeFileSync(join(path, 'half.txt'), 'half\n');
  rmSync(trace, { force: true });
  await workspaces.collect(task(), signal);
  await ready(task(2));
  await ready(task(1, 2));
  await workspaces.remove(task(1, 2), signal);
  assert.equal(existsSync(trace), false, existsSync(trace) ? readFileSync(trace, 'utf8') : '');
});

test('git in a script of the file’s follows no repository inside the clone either', async (t) => {
  const beforeRun = 'git fetch --quiet origin; git status; git diff --stat; git checkout --quiet "$TOOL_BRANCH"';
  const { task, ready, directory, said } = await setUpWorkspaces(t, { beforeRun: `${beforeRun} || true` });
  const { path } = await ready(task());
  const trace = join(directory, 'outside');
  const program = join(path, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${trace}\ncat\n`);
  chmodSync(program, 0o755);
  await plantSubmodule(path, program);
  rmSync(trace, { force: true });
  await ready(task(2));
  assert.match(said.join(''), /On branch tool\/issue-1/);
  assert.equal(existsSync(trace), false, existsSync(trace) ? readFileSync(trace, 'utf8') : '');
});

test('git in a clone where an agent has been can write to the workspace alone', possible, async (t) => {
  const { workspaces, task, ready, directory } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const outside = join(directory, 'outside');
  const inside = join(path, '.git', 'inside');
  // The name of a filter driver is free: no option of the daemon can switch it off in advance.
  const program = join(path, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho x >> ${inside}\necho x >> ${outside}\ncat\n`);
  chmodSync(program, 0o755);
  const config = readFileSync(join(path, '.git', 'config'), 'utf8');
  const mark = join(directory, 'workspaces', '.toolcrew', 'issue-1.json');
  writeFileSync(mark, JSON.stringify({ issue: 1, config: `${config}[filter "x"]\n\tclean = ${program}\n` }));
  writeFileSync(join(path, '.gitattributes'), '* filter=x\n');
  writeFileSync(join(path, 'half.txt'), 'half\n');
  const { savedAs } = await workspaces.collect(task(), signal);
  assert.ok(savedAs !== null);
  assert.ok(existsSync(inside), 'the program ran');
  assert.equal(existsSync(outside), false);
});

test('links in the Git directory lead nowhere', async (t) => {
  const { workspaces, task, ready, directory } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const victim = join(directory, 'victim');
  mkdirSync(victim);
  const files = ['truncated', 'profile', 'attributes', 'grafts', 'index', 'refs', 'packed-refs'];
  for (const file of files) writeFileSync(join(victim, file), 'keep me\n');
  const git = join(path, '.git');
  const link = (name: string, to: string) => {
    rmSync(join(git, name), { recursive: true, force: true });
    symlinkSync(to, join(git, name));
  };
  const plant = () => {
    link('FETCH_HEAD', join(victim, 'truncated'));
    link('ORIG_HEAD', join(victim, 'truncated'));
    mkdirSync(join(git, 'logs'), { recursive: true });
    link('logs/HEAD', join(victim, 'profile'));
    link('info', victim);
    link('hooks', victim);
    link('refs/heads/planted', join(victim, 'refs'));
    writeFileSync(join(path, 'half.txt'), 'half\n');
  };
  await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  plant();
  await workspaces.collect(task(), signal);
  plant();
  await ready(task(2));
  plant();
  link('index', join(victim, 'index'));
  link('packed-refs', join(victim, 'packed-refs'));
  await ready(task(1, 2));
  plant();
  await workspaces.remove(task(1, 2), signal);
  assert.deepEqual(readdirSync(victim).sort(), [...files].sort());
  for (const file of files) assert.equal(readFileSync(join(victim, file), 'utf8'), 'keep me\n', file);
});

test('a pipe in the Git directory blocks nobody', async (t) => {
  const { workspaces, task, ready } = await setUpWorkspaces(t, {}, 2_000);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  const pipe = (name: string) => {
    rmSync(join(path, '.git', name), { recursive: true, force: true });
    execaSync`mkfifo ${join(path, '.git', name)}`;
  };
  pipe('HEAD');
  pipe('packed-refs');
  assert.equal(await workspaces.peek(task(), signal), null, 'git waits for the pipe, and is ended');
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  const later = await commitFiles(path, { 'later.txt': 'later\n' }, 'later');
  const [directory = '', file = ''] = [later.slice(0, 2), later.slice(2)];
  pipe(join('objects', directory, file));
  await assert.rejects(workspaces.collect(task(), signal), isOf(GIT_CODES.workspace_broken_by_agent));
  await ready(task(2));
  assert.ok(lstatSync(join(path, '.git', 'HEAD')).isFile());
  assert.deepEqual(await workspaces.collect(task(2), signal), { head: null, savedAs: null });
});

test('no file of a clone is one of the mirror’s, however it was made', async (t) => {
  const built = await setUpWorkspaces(t);
  const scripted = await setUpWorkspaces(t, { afterCreate: 'git clone --quiet "$TOOL_CLONE_URL" .' });
  for (const { ready, task, mirror } of [built, scripted]) {
    const { path } = await ready(task());
    const inodes = (directory: string) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(directory, name)))
        .filter((status) => status.isFile())
        .map((status) => status.ino);
    const own = new Set(inodes(join(path, '.git')));
    assert.ok(own.size > 0);
    assert.deepEqual(
      [mirror.path, mirror.source].flatMap(inodes).filter((inode) => own.has(inode)),
      [],
    );
  }
});

test('objects that git would not take from a stranger do not reach the mirror', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const tree = (await gitAs(path, 'rev-parse', 'HEAD^{tree}')).trim();
  const parent = (await gitAs(path, 'rev-parse', 'HEAD')).trim();
  const text = `tree ${tree}\nparent ${parent}\nauthor no mail 1 +0000\ncommitter no mail 1 +0000\n\nbad\n`;
  writeFileSync(join(path, 'commit'), text);
  const sha = (await gitAs(path, 'hash-object', '-t', 'commit', '-w', '--literally', 'commit')).trim();
  rmSync(join(path, 'commit'));
  await gitAs(path, 'update-ref', 'HEAD', sha);
  await failsWith(workspaces.collect(task(), signal), GIT_CODES.workspace_broken_by_agent);
  assert.equal(await mirror.holds(sha), false);
});
