// Installed packages, submodules and Python environments of the checkout, as a worktree gets them.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { createTeamWorktrees } from '../../src/team/worktrees/team-worktrees.ts';
import { gitIn } from '../support/git.ts';
import { treeOf, writeTree } from '../support/installed.ts';
import { projectOf, TEAM, textOf } from '../support/team-worktrees.ts';

const { env } = process;
const MODULE = { type: 'module', exports: './index.js' };

function manifest(name: string): string {
  return JSON.stringify({ name, ...MODULE });
}

/** A repository of two packages, one of which uses the other, in the layout of package managers. */
function workspaces(t: Parameters<typeof projectOf>[0]) {
  const project = projectOf(t, {
    files: {
      'package.json': '{}\n',
      '.gitignore': 'node_modules/\n',
      'packages/core/package.json': manifest('@shop/core'),
      'packages/core/index.js': "export const core = 'old';\n",
      'packages/web/package.json': manifest('@shop/web'),
      'packages/web/index.js':
        "import { core } from '@shop/core';\nimport { left } from 'left';\nimport { far } from 'far';\nconsole.log(core, left, far);\n",
    },
  });
  const { root } = project;
  writeTree(root, {
    'node_modules/far/package.json': manifest('far'),
    'node_modules/far/index.js': "export const far = 'far';\n",
    'node_modules/.bin/far': '#!/bin/sh\necho far\n',
    'node_modules/.cache/x': 'the person’s',
    'node_modules/.package-lock.json': '{}',
    'packages/web/node_modules/left/package.json': manifest('left'),
    'packages/web/node_modules/left/index.js': "export const left = 'left';\n",
  });
  mkdirSync(join(root, 'node_modules', '@shop'));
  symlinkSync('../../packages/core', join(root, 'node_modules', '@shop', 'core'));
  symlinkSync(join(root, 'packages', 'core', 'index.js'), join(root, 'node_modules', '.bin', 'core'));
  symlinkSync('../nowhere', join(root, 'node_modules', 'dangling'));
  return project;
}

function runs(root: string): string {
  return execaSync(process.execPath, [join(root, 'packages', 'web', 'index.js')]).stdout;
}

test('packages are found where each has its own, and the project’s own packages are those of the worktree', async (t) => {
  const { root, git, teamWorktrees } = workspaces(t);
  const before = treeOf(join(root, 'node_modules'));
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  writeTree(path, { 'packages/core/index.js': "export const core = 'new';\n" });
  assert.equal(runs(path), 'new left far', 'what is tried out there is what was written there');
  assert.equal(runs(root), 'old left far');
  assert.equal(readlinkSync(join(path, 'node_modules', '.bin', 'core')), '../../packages/core/index.js');
  assert.equal(existsSync(join(path, 'node_modules', '.bin', 'far')), true);
  for (const name of ['.cache', '.package-lock.json'])
    assert.equal(existsSync(join(path, 'node_modules', name)), false, `${name} is not written to by two`);
  assert.equal(gitIn(path)('status', '--porcelain').trim(), 'M packages/core/index.js');
  await teamWorktrees.save(TEAM, 'backend-dev', 'New\n\nTask: 1\n');
  await teamWorktrees.merge(TEAM, 'backend-dev', 'New\n');
  assert.deepEqual(
    (await teamWorktrees.changed(TEAM)).map((one) => one.path),
    ['packages/core/index.js'],
    'it is no part of the work',
  );
  const view = await teamWorktrees.openReadOnly(TEAM, 'gate');
  assert.equal(runs(view.path), 'new left far', 'and measured is what was built');
  await teamWorktrees.openReadOnly(TEAM, 'gate');
  assert.equal(runs(view.path), 'new left far');
  // A teammate can remove its own copy only.
  rmSync(join(path, 'node_modules'), { recursive: true });
  await teamWorktrees.open(TEAM, 'backend-dev');
  await teamWorktrees.end(TEAM, []);
  assert.deepEqual(treeOf(join(root, 'node_modules')), before);
  assert.equal(git('status', '--porcelain'), '');
});

test('what is installed later is there at the next start, and what a teammate has installed itself stays', async (t) => {
  const { root, teamWorktrees } = workspaces(t);
  await teamWorktrees.begin(TEAM);
  rmSync(join(root, 'packages', 'web', 'node_modules'), { recursive: true });
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  assert.throws(() => runs(path));
  writeTree(path, { 'node_modules/mine/index.js': '' });
  writeTree(root, {
    'packages/web/node_modules/left/package.json': manifest('left'),
    'packages/web/node_modules/left/index.js': "export const left = 'later';\n",
  });
  // Left by a start that was killed half-way.
  writeTree(join(root, '.tool', 'worktrees', TEAM), { '.installed-backend-dev/half': '' });
  await createTeamWorktrees({ root, env }).open(TEAM, 'backend-dev');
  assert.equal(runs(path), 'old later far');
  assert.equal(existsSync(join(path, 'node_modules', 'mine')), true);
});

test('what was begun and not finished is filled at the next start', async (t) => {
  const { root, teamWorktrees } = workspaces(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  // Left by a start that was killed half-way.
  for (const place of ['node_modules', 'packages/web/node_modules']) {
    rmSync(join(path, place), { recursive: true });
    mkdirSync(join(path, place));
  }
  await createTeamWorktrees({ root, env }).open(TEAM, 'backend-dev');
  assert.equal(runs(path), 'old left far');
});

test('what cannot be read while it is installed is said, and there at the next start', async (t) => {
  const { root, teamWorktrees } = workspaces(t);
  await teamWorktrees.begin(TEAM);
  // A package manager is still at work: there is no directory yet.
  const scope = join(root, 'packages', 'web', 'node_modules');
  rmSync(scope, { recursive: true });
  writeTree(root, { 'packages/web/node_modules': '' });
  await assert.rejects(teamWorktrees.open(TEAM, 'backend-dev'), /node_modules/);
  rmSync(scope);
  writeTree(root, { 'packages/web/node_modules/left/package.json': manifest('left') });
  writeTree(root, { 'packages/web/node_modules/left/index.js': "export const left = 'left';\n" });
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  assert.equal(runs(path), 'old left far');
});

test('a worktree that is made anew while its lead is at work has what is installed', async (t) => {
  const { teamWorktrees } = workspaces(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  await teamWorktrees.close(TEAM, 'backend-dev');
  await teamWorktrees.open(TEAM, 'backend-dev');
  assert.equal(runs(path), 'old left far');
  rmSync(path, { recursive: true });
  await teamWorktrees.update(TEAM, 'backend-dev');
  await teamWorktrees.open(TEAM, 'backend-dev');
  assert.equal(runs(path), 'old left far');
  const view = await teamWorktrees.openReadOnly(TEAM, 'gate');
  rmSync(view.path, { recursive: true });
  await teamWorktrees.openReadOnly(TEAM, 'gate');
  assert.equal(runs(view.path), 'old left far');
});

test('what the project does not ignore is not put into its worktrees', async (t) => {
  const { root, teamWorktrees } = projectOf(t, { files: { 'package.json': '{}\n' } });
  writeTree(root, { 'node_modules/far/index.js': '' });
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  assert.equal(existsSync(join(path, 'node_modules')), false);
  assert.equal(gitIn(path)('status', '--porcelain'), '');
});

test('a submodule’s files are there as the worktree’s commit has them, and what is changed in them is no part of the work', async (t) => {
  const library = projectOf(t, {
    name: 'library',
    files: { 'lib.js': 'old\n', '.gitattributes': '*.js filter=evil\n' },
  });
  const { root, git, teamWorktrees } = projectOf(t);
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'vendor/my lib');
  git('commit', '-qm', 'A library');
  // A program in the submodule's settings must not start.
  const marker = join(root, '..', 'started');
  gitIn(join(root, 'vendor', 'my lib'))('config', 'filter.evil.smudge', `touch '${marker}'`);
  writeTree(root, { 'vendor/my lib/lib.js': 'the person is at work\n' });
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  assert.equal(textOf(path, 'vendor/my lib/lib.js'), 'old\n');
  writeTree(path, { 'vendor/my lib/lib.js': 'changed\n', 'src/api/a.js': 'new\n' });
  await teamWorktrees.save(TEAM, 'backend-dev', 'New\n\nTask: 1\n');
  await teamWorktrees.merge(TEAM, 'backend-dev', 'New\n');
  assert.deepEqual(
    (await teamWorktrees.changed(TEAM)).map((one) => one.path),
    ['src/api/a.js'],
  );
  for (let count = 0; count < 2; count++) {
    const view = await teamWorktrees.openReadOnly(TEAM, 'gate');
    assert.equal(textOf(view.path, 'vendor/my lib/lib.js'), 'old\n');
    assert.equal(gitIn(view.path)('status', '--porcelain'), '');
  }
  await teamWorktrees.end(TEAM, []);
  assert.equal(existsSync(marker), false);
  assert.equal(textOf(root, 'vendor/my lib/lib.js'), 'the person is at work\n');
});

test('nothing is put where a writer has made a link, and that keeps nobody from a start', async (t) => {
  const library = projectOf(t, { name: 'library', files: { 'lib.js': 'old\n' } });
  const { root, git, teamWorktrees } = workspaces(t);
  for (const place of ['vendor/near', 'vendor/deep/far', 'lib'])
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, place);
  git('commit', '-qm', 'A library');
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  const mine = join(root, '..', 'mine');
  mkdirSync(mine);
  const leads = (place: string, to: string) => {
    rmSync(join(path, place), { recursive: true, force: true });
    symlinkSync(to, join(path, place));
  };
  leads('vendor', mine);
  leads('lib', join(root, '..', 'nothing'));
  leads('packages', mine);
  mkdirSync(join(mine, 'web'));
  await createTeamWorktrees({ root, env }).open(TEAM, 'backend-dev');
  assert.deepEqual(Object.keys(treeOf(mine)), ['', 'web']);
  leads('node_modules', mine);
  await createTeamWorktrees({ root, env }).open(TEAM, 'backend-dev');
  assert.deepEqual(Object.keys(treeOf(mine)), ['', 'web']);
  assert.equal(existsSync(join(root, '..', 'nothing')), false);
  // A path without a link is filled as before.
  rmSync(join(path, 'vendor'));
  await createTeamWorktrees({ root, env }).open(TEAM, 'backend-dev');
  assert.deepEqual(readdirSync(join(path, 'vendor', 'deep', 'far')), ['lib.js']);
});

test('an environment of Python leads to the packages of the worktree, and nothing is written in the checkout’s', async (t) => {
  const files = { 'app/pyproject.toml': '', 'app/src/shop/__init__.py': '', '.gitignore': '.venv/\n' };
  const { root, teamWorktrees } = projectOf(t, { files });
  const site = 'app/.venv/lib/python3.12/site-packages';
  writeTree(root, {
    'app/.venv/pyvenv.cfg': 'home = /usr/bin\n',
    'app/.venv/bin/pytest': `#!${root}/app/.venv/bin/python\n`,
    [`${site}/pytest/__init__.py`]: '',
    [`${site}/__editable__.shop-1.pth`]: `${root}/app/src\n${root}-other/src\n`,
    [`${site}/__editable___shop_1_finder.py`]: `MAPPING = {'shop': '${root}/app/src/shop'}\n`,
    [`${site}/shop-1.dist-info/direct_url.json`]: '{}',
    [`${site}/pytest-8.dist-info/METADATA`]: '',
  });
  symlinkSync(process.execPath, join(root, 'app', '.venv', 'bin', 'python3'));
  symlinkSync('python3', join(root, 'app', '.venv', 'bin', 'python'));
  symlinkSync('lib', join(root, 'app', '.venv', 'lib64'));
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  assert.equal(
    textOf(path, `${site}/__editable__.shop-1.pth`),
    `${path}/app/src\n${root}-other/src\n`,
    'another directory that begins in the same way is another one',
  );
  assert.equal(textOf(path, `${site}/__editable___shop_1_finder.py`), `MAPPING = {'shop': '${path}/app/src/shop'}\n`);
  assert.equal(readlinkSync(join(path, 'app/.venv/bin/python')), 'python3');
  assert.equal(readlinkSync(join(path, 'app/.venv/lib64')), 'lib');
  assert.equal(readlinkSync(join(path, site, 'pytest')), join(root, site, 'pytest'));
  const before = treeOf(join(root, 'app', '.venv'));
  writeTree(path, {
    'app/.venv/bin/pytest': 'changed',
    'app/.venv/pyvenv.cfg': 'changed',
    [`${site}/new/__init__.py`]: '',
    [`${site}/shop-1.dist-info/direct_url.json`]: 'changed',
  });
  assert.deepEqual(treeOf(join(root, 'app', '.venv')), before);
  await teamWorktrees.end(TEAM, []);
  assert.deepEqual(treeOf(join(root, 'app', '.venv')), before);
  assert.equal(
    readFileSync(join(root, site, '__editable__.shop-1.pth'), 'utf8'),
    `${root}/app/src\n${root}-other/src\n`,
  );
});
