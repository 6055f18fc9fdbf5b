// What git takes in by no commit, in a writer's worktree: it is told, and kept when the worktree goes.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { writeTree } from '../../support/installed.ts';
import type { Cleanup } from '../../support/temp.ts';
import { commitAll, gitIn, projectOf, TEAM } from '../../support/workshop.ts';

/** A name that is bytes and no text. */
const ODD = Buffer.concat([Buffer.from('src/api/'), Buffer.from([0xff]), Buffer.from('odd.js')]);

async function writer(t: Cleanup) {
  const { git, workshop } = projectOf(t, { files: { '.gitignore': 'dist/\n.env\n', 'src/api/a.js': '1\n' } });
  await workshop.begin(TEAM);
  const { path } = await workshop.open(TEAM, 'a');
  const leftOut = (...files: readonly string[]) => workshop.leftOut(TEAM, 'a', files);
  return { git, workshop, path, leftOut };
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
    const { git, workshop, path, leftOut } = await writer(t);
    assert.deepEqual(await leftOut(), { repositories: [], ignored: [] });
    const place = join(path, 'src', 'api', 'new');
    writeTree(place, { 'index.js': 'new\n', 'dist/x.js': 'built\n', 'deep/er.js': 'deep\n' });
    gitIn(place)('init', '-q');
    make(place, path);
    gitIn(join(place, 'deep'))('init', '-q');
    assert.deepEqual((await leftOut()).repositories, ['src/api/new']);
    await workshop.save(TEAM, 'a', 'Work');
    const kept = (await workshop.close(TEAM, 'a')) ?? '';
    assert.deepEqual(git('ls-tree', '-r', '--name-only', kept, 'src/').trim().split('\n'), [
      'src/api/a.js',
      'src/api/new/deep/er.js',
      'src/api/new/index.js',
    ]);
    assert.equal(existsSync(path), false);
  });
}

test('a name that is no text is committed as it is, and kept', async (t) => {
  const { git, workshop, path } = await writer(t);
  const file = Buffer.concat([Buffer.from(`${path}/`), ODD]);
  try {
    writeFileSync(file, 'odd\n');
  } catch {
    t.skip('this file system has no such names');
    return;
  }
  assert.notEqual(await workshop.save(TEAM, 'a', 'Odd'), null);
  const { commits } = await workshop.commits(TEAM, 'a');
  assert.deepEqual(
    commits.map(({ files }) => files),
    [['src/api/\uFFFDodd.js']],
  );
  writeFileSync(file, 'odder\n');
  const kept = (await workshop.close(TEAM, 'a')) ?? '';
  assert.match(git('ls-tree', '-r', '--name-only', kept), /"src\/api\/\\377odd\.js"/);
  assert.match(git('show', '--format=%s', kept), /-odd\n\+odder/);
});

test('of the files that are asked for, those that git ignores are told, and can be kept', async (t) => {
  const { git, workshop, path, leftOut } = await writer(t);
  writeTree(path, { 'dist/a.js': 'built\n', 'dist/b.js': 'b\n', '.env': 'x\n', 'src/api/a.js': '2\n', ':x': 'x\n' });
  const { ignored } = await leftOut('dist/a.js', 'src/api/a.js', 'dist', 'dist/none.js', 'src/**', ':x', '.env');
  assert.deepEqual(ignored, ['dist/a.js', '.env']);
  gitIn(path)('add', '--force', '.env');
  assert.deepEqual((await leftOut('.env', 'dist/a.js')).ignored, ['dist/a.js']);
  const kept = await workshop.keep(TEAM, 'a', ['dist/a.js']);
  assert.equal(git('show', `${kept}:dist/a.js`), 'built\n');
  assert.equal(git('show', `${kept}:src/api/a.js`), '2\n');
  assert.doesNotMatch(git('ls-tree', '-r', '--name-only', kept), /b\.js/);
});
