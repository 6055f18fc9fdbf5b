import assert from 'node:assert/strict';
import { readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { createWorkTree } from '../../src/git/work-tree.ts';
import { gitIn } from '../support/git.ts';
import { type Tree, writeTree } from '../support/installed.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

function repository(t: Cleanup, files: Tree) {
  const root = join(tempDir(t), 'project');
  execaSync`git init -q ${root}`;
  writeTree(root, files);
  return {
    root,
    git: gitIn(root),
    workTree: createWorkTree({ root, objects: join(root, '.tool', 'cache', 'objects') }),
  };
}

test('a change in the second in which the index was written is seen', async (t) => {
  const { root, git, workTree } = repository(t, { 'a.js': '1' });
  const then = new Date('2026-01-01T00:00:00Z');
  const age = (path: string) => utimesSync(join(root, path), then, then);
  // All that then tells the two contents apart is the time of the index.
  git('config', 'core.trustctime', 'false');
  age('a.js');
  git('add', '-A');
  age('.git/index');
  const before = await workTree.tree();
  writeTree(root, { 'a.js': '2' });
  age('a.js');
  const after = await workTree.tree();
  assert.deepEqual(await workTree.changed(before ?? '', after ?? ''), ['a.js']);
});

// An installation ignores what a team writes; a project of its own making may not.
for (const ignored of ['teams/\ncache/\nstate/\n', '']) {
  test(`what changed since a tree was taken, without what teams write (${ignored === '' ? 'not ' : ''}ignored)`, async (t) => {
    const { root, git, workTree } = repository(t, { 'src/a.js': '1', 'src/b.js': '1', '.tool/.gitignore': ignored });
    git('add', '-A');
    git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'Begin');
    writeTree(root, { '.tool/teams/x/log.jsonl': '{}' });
    const before = await workTree.tree();
    assert.match(before ?? 'none', /^[0-9a-f]{40}$/);
    assert.equal(await workTree.tree(), before);
    writeTree(root, { 'src/a.js': '2', 'src/new.js': '1', '.tool/teams/x/log.jsonl': '{}{}', '.tool/state/s': '1' });
    const after = await workTree.tree();
    assert.deepEqual(await workTree.changed(before ?? '', after ?? ''), ['src/a.js', 'src/new.js']);
    assert.equal(git('status', '--short', 'src'), ' M src/a.js\n?? src/new.js\n', 'its own index was left alone');
    const objects = () => readdirSync(join(root, '.tool', 'cache', 'objects'), { recursive: true }).length;
    const count = objects();
    assert.equal(await workTree.tree(), after);
    assert.equal(objects(), count, 'what it keeps for itself is none of what it looks at');
    rmSync(join(root, 'src', 'b.js'));
    const odd = 'src/with\nnewline "quoted" ü.js';
    writeTree(root, { [odd]: '1' });
    const last = await workTree.tree();
    assert.deepEqual(await workTree.changed(after ?? '', last ?? ''), ['src/b.js', odd]);
  });
}

test('a file became a directory, a directory a file, another a link', async (t) => {
  const { root, git, workTree } = repository(t, { 'one/a': '1', 'two/a': '1', three: '1', 'four/a': '1' });
  git('add', '-A');
  const before = await workTree.tree();
  for (const path of ['one', 'two', 'three']) rmSync(join(root, path), { recursive: true });
  writeTree(root, { one: '1', 'three/a': '1' });
  symlinkSync('four', join(root, 'two'));
  const after = await workTree.tree();
  const changed = ['one', 'one/a', 'three', 'three/a', 'two', 'two/a'];
  assert.deepEqual(await workTree.changed(before ?? '', after ?? ''), changed);
});

test('names that are no UTF-8, and a repository in there without a commit', async (t) => {
  const { root, workTree } = repository(t, { a: '1' });
  const odd = Buffer.concat([Buffer.from(join(root, 'odd-')), Buffer.from([0xe9])]);
  writeFileSync(odd, '1');
  const before = await workTree.tree();
  execaSync`git init -q ${join(root, 'nested')}`;
  writeTree(root, { 'nested/a': '1' });
  writeFileSync(odd, '22');
  const after = await workTree.tree();
  assert.deepEqual(await workTree.changed(before ?? '', after ?? ''), ['odd-\ufffd']);
});

test('no tree where there is no repository', async (t) => {
  const root = tempDir(t);
  assert.equal(await createWorkTree({ root, objects: join(root, 'objects') }).tree(), null);
});

test('of a project below the top of its repository its own paths are told, and not what checks leave in it', async (t) => {
  const { root, git } = repository(t, { 'shop/src/a.js': '1', 'other/a.js': '1' });
  git('add', '-A');
  const shop = join(root, 'shop');
  const workTree = createWorkTree({ root: shop, objects: join(shop, '.tool', 'cache', 'objects') });
  const before = await workTree.tree();
  writeTree(root, { 'shop/src/a.js': '2', 'other/a.js': '2', 'shop/lcov.info': 'TN:', 'shop/.coverage': 'x' });
  const after = await workTree.tree();
  assert.deepEqual(await workTree.changed(before ?? '', after ?? ''), ['src/a.js']);
});

for (const below of ['shop', 'sh[o]p* \\?', 'over\ntwo lines'])
  test(`what checks leave at the top of a project is none of its work, wherever that is: ${JSON.stringify(below)}`, async (t) => {
    const { root } = repository(t, { [`${below}/src/a.js`]: '1' });
    const place = join(root, below);
    const workTree = createWorkTree({ root: place, objects: join(place, '.tool', 'cache', 'objects') });
    const before = await workTree.tree();
    assert.match(before ?? 'none', /^[0-9a-f]{40}$/);
    const left = ['coverage/index.html', '.nyc_output/1.json', 'coverage.xml', 'c.out'];
    // A directory of the work's own has that name, as it may at the top of the repository.
    const made = ['src/coverage/a.js', '../coverage.xml'];
    writeTree(place, Object.fromEntries([...left, ...made].map((path) => [path, 'x'])));
    const after = await workTree.tree();
    assert.deepEqual(await workTree.changed(before ?? '', after ?? ''), ['src/coverage/a.js']);
  });
