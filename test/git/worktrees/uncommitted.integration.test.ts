// Files that a writer's commit leaves out: nested repositories, ignored files, submodules. They are reported and saved.

import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { commitAll, projectOf, TEAM } from '../../support/team-worktrees.ts';
import type { Cleanup } from '../../support/temp.ts';

/** A file name that is not valid UTF-8. */
const ODD = Buffer.concat([Buffer.from('src/api/'), Buffer.from([0xff]), Buffer.from('odd.js')]);

async function writer(t: Cleanup) {
  const { git, teamWorktrees } = projectOf(t, { files: { '.gitignore': 'dist/\n.env\n', 'src/api/a.js': '1\n' } });
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const leftOut = (...files: readonly string[]) => teamWorktrees.leftOut(TEAM, 'a', files);
  return { git, teamWorktrees, path, leftOut };
}

for (const [how, make] of [
  ['without a commit', () => undefined],
  ['with one', (place: string) => commitAll(place, 'Begin')],
  [
    'that the writer has committed as a link',
    (place: string, path: string) => {
      commitAll(place, 'Begin');
      gitIn(path)('add', 'src/api/new');
    },
  ],
] as const) {
  test(`a repository in a worktree is told, and what is in it kept: one ${how}`, async (t) => {
    const { git, teamWorktrees, path, leftOut } = await writer(t);
    assert.deepEqual(await leftOut(), { repositories: [], ignored: [], inSubmodules: [] });
    const place = join(path, 'src', 'api', 'new');
    writeTree(place, { 'index.js': 'new\n', 'dist/x.js': 'built\n', 'deep/er.js': 'deep\n' });
    gitIn(place)('init', '-q');
    make(place, path);
    gitIn(join(place, 'deep'))('init', '-q');
    assert.deepEqual((await leftOut()).repositories, ['src/api/new']);
    await teamWorktrees.save(TEAM, 'a', 'Work');
    const kept = (await teamWorktrees.close(TEAM, 'a')) ?? '';
    assert.deepEqual(git('ls-tree', '-r', '--name-only', kept, 'src/').trim().split('\n'), [
      'src/api/a.js',
      'src/api/new/deep/er.js',
      'src/api/new/index.js',
    ]);
    assert.equal(existsSync(path), false);
  });
}

test('a name that is no text is committed as it is, and kept', async (t) => {
  const { git, teamWorktrees, path } = await writer(t);
  const file = Buffer.concat([Buffer.from(`${path}/`), ODD]);
  try {
    writeFileSync(file, 'odd\n');
  } catch {
    t.skip('this file system has no such names');
    return;
  }
  assert.notEqual(await teamWorktrees.save(TEAM, 'a', 'Odd'), null);
  const { commits } = await teamWorktrees.commits(TEAM, 'a');
  assert.deepEqual(
    commits.map(({ files }) => files),
    [['src/api/\uFFFDodd.js']],
  );
  writeFileSync(file, 'odder\n');
  const kept = (await teamWorktrees.close(TEAM, 'a')) ?? '';
  assert.match(git('ls-tree', '-r', '--name-only', kept), /"src\/api\/\\377odd\.js"/);
  assert.match(git('show', '--format=%s', kept), /-odd\n\+odder/);
});

test('of the files that are asked for, those that git ignores are told, and can be kept', async (t) => {
  const { git, teamWorktrees, path, leftOut } = await writer(t);
  writeTree(path, { 'dist/a.js': 'built\n', 'dist/b.js': 'b\n', '.env': 'x\n', 'src/api/a.js': '2\n', ':x': 'x\n' });
  const { ignored } = await leftOut('dist/a.js', 'src/api/a.js', 'dist', 'dist/none.js', 'src/**', ':x', '.env');
  assert.deepEqual(ignored, ['dist/a.js', '.env']);
  gitIn(path)('add', '--force', '.env');
  assert.deepEqual((await leftOut('.env', 'dist/a.js')).ignored, ['dist/a.js']);
  const kept = await teamWorktrees.keep(TEAM, 'a', ['dist/a.js']);
  assert.equal(git('show', `${kept}:dist/a.js`), 'built\n');
  assert.equal(git('show', `${kept}:src/api/a.js`), '2\n');
  assert.doesNotMatch(git('ls-tree', '-r', '--name-only', kept), /b\.js/);
});

test('a change in a submodule is told and kept, once; what was put there is none', async (t) => {
  const files = { 'lib.js': 'old\n', 'gone.js': '1\n', 'deep/er.js': 'old\n', '.gitignore': 'out/\n' };
  const library = projectOf(t, { name: 'library', files });
  const { root, git, teamWorktrees } = projectOf(t, { files: { 'src/api/a.js': '1\n' } });
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'vendor/my lib');
  git('commit', '-qm', 'A library');
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const told = async () => (await teamWorktrees.leftOut(TEAM, 'a', [])).inSubmodules;
  assert.deepEqual(await told(), []);
  writeTree(path, {
    'vendor/my lib/lib.js': 'new\n',
    'vendor/my lib/deep/new.js': 'new\n',
    'vendor/my lib/out/x': 'x',
  });
  rmSync(join(path, 'vendor/my lib/gone.js'));
  const changed = ['vendor/my lib/deep/new.js', 'vendor/my lib/gone.js', 'vendor/my lib/lib.js'];
  assert.deepEqual([...(await told())].sort(), changed);
  assert.equal(await teamWorktrees.save(TEAM, 'a', 'Work'), null);
  const kept = await teamWorktrees.keep(TEAM, 'a', []);
  assert.deepEqual(git('diff', '--name-status', '--no-renames', 'main', kept).trim().split('\n'), [
    'D\tvendor/my lib',
    'A\tvendor/my lib/deep/new.js',
    'A\tvendor/my lib/lib.js',
  ]);
  assert.deepEqual(await told(), []);
  writeTree(path, { 'vendor/my lib/deep/er.js': 'later\n' });
  const last = (await teamWorktrees.close(TEAM, 'a')) ?? '';
  assert.equal(git('show', `${last}:vendor/my lib/deep/er.js`), 'later\n');
  assert.equal(existsSync(path), false);
  assert.equal(existsSync(join(root, 'vendor/my lib/gone.js')), true);
});
