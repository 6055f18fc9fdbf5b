import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { treeFingerprint } from '../../../src/gate/run/tree-fingerprint.ts';
import { gitIn } from '../../support/git.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

function place(t: Cleanup, isRepository: boolean) {
  const root = tempDir(t);
  const git = gitIn(root);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('a.txt', 'one\n');
  write('src/b.txt', 'two\n');
  if (isRepository) {
    git('init', '-q');
    git('add', '-A');
    git('commit', '-q', '-m', 'first');
  }
  const tree = (leftOut: readonly string[] = [], at = root) =>
    treeFingerprint({ root: at, leftOut, signal: new AbortController().signal });
  return { root, git, write, tree };
}

test('a clean work tree is the tree of its commit', async (t) => {
  const { git, tree } = place(t, true);
  assert.equal(await tree(), git('rev-parse', 'HEAD^{tree}').trim());
});

for (const isRepository of [true, false])
  test(`each change counts, and what changes back is the same again: ${isRepository ? 'Git' : 'no Git'}`, async (t) => {
    const { root, write, tree } = place(t, isRepository);
    const seen = [await tree()];
    const look = async () => seen.push(await tree());
    write('a.txt', 'six\n');
    await look();
    write('new.txt', 'new\n');
    await look();
    rmSync(join(root, 'src/b.txt'));
    await look();
    chmodSync(join(root, 'a.txt'), 0o755);
    await look();
    symlinkSync('a.txt', join(root, 'link'));
    await look();
    assert.equal(new Set(seen).size, seen.length, seen.join('\n'));
    chmodSync(join(root, 'a.txt'), 0o644);
    rmSync(join(root, 'link'));
    rmSync(join(root, 'new.txt'));
    write('a.txt', 'one\n');
    write('src/b.txt', 'two\n');
    assert.equal(await tree(), seen[0]);
  });

for (const isRepository of [true, false])
  test(`what checks write, the team’s log and what is left out do not count: ${isRepository ? 'Git' : 'no Git'}`, async (t) => {
    const { root, write, tree } = place(t, isRepository);
    const leftOut = ['build/report.xml', join(root, '.tool/cache')];
    const before = await tree(leftOut);
    for (const path of [
      'coverage/lcov.info',
      'lcov.info',
      'src/__pycache__/b.pyc',
      '.coverage',
      'coverage.xml',
      'node_modules/x/index.js',
      'build/report.xml',
      '.tool/cache/x.json',
      '.tool/teams/a/log.jsonl',
    ])
      write(path, 'x');
    assert.equal(await tree(leftOut), before);
    write('.tool/config/workflow.yaml', 'x');
    assert.notEqual(await tree(leftOut), before);
  });

test('what the project ignores does not count, what it tracks does, wherever it lies', async (t) => {
  const { git, write, tree } = place(t, true);
  write('.gitignore', 'out/\n');
  write('out/tracked.txt', 'one\n');
  write('coverage/tracked.txt', 'one\n');
  git('add', '-f', 'out/tracked.txt', 'coverage/tracked.txt');
  const before = await tree();
  write('out/other.txt', 'x');
  assert.equal(await tree(), before);
  write('out/tracked.txt', 'two\n');
  const changed = await tree();
  assert.notEqual(changed, before);
  write('coverage/tracked.txt', 'two\n');
  assert.notEqual(await tree(), changed);
});

test('a file that Git was told to take for unchanged is looked at all the same', async (t) => {
  const { git, write, tree } = place(t, true);
  const before = await tree();
  git('update-index', '--assume-unchanged', 'a.txt');
  git('update-index', '--skip-worktree', 'src/b.txt');
  write('a.txt', 'hidden\n');
  const first = await tree();
  assert.notEqual(first, before);
  write('src/b.txt', 'hidden\n');
  assert.notEqual(await tree(), first);
});

test('the user’s index and object store stay as they are', async (t) => {
  const { root, write, git, tree } = place(t, true);
  write('staged.txt', 'staged\n');
  git('add', 'staged.txt');
  write('untracked.txt', 'untracked\n');
  const index = () => [
    readFileSync(join(root, '.git/index')).toString('hex'),
    statSync(join(root, '.git/index')).mtimeMs,
  ];
  const before = [...index(), git('count-objects', '-v')];
  assert.match(await tree(), /^[0-9a-f]{40}$/);
  assert.deepEqual([...index(), git('count-objects', '-v')], before);
});

test('a project in a directory of its repository; one that the repository around it ignores', async (t) => {
  const { root, write, tree } = place(t, true);
  const inner = join(root, 'inner');
  write('inner/x.txt', 'one\n');
  const before = await tree([], inner);
  assert.match(before, /^[0-9a-f]{40}$/);
  write('inner/x.txt', 'two\n');
  assert.notEqual(await tree([], inner), before);
  write('.gitignore', 'inner/\n');
  const ignored = await tree([], inner);
  assert.match(ignored, /^files-/);
  write('inner/x.txt', 'three\n');
  assert.notEqual(await tree([], inner), ignored);
});

for (const below of ['inner', 'in[n]er* \\?', 'over\ntwo lines'])
  test(`what checks write at the top of a project does not count below the top of its repository: ${JSON.stringify(below)}`, async (t) => {
    const { root, write, tree } = place(t, true);
    const inner = join(root, below);
    write(`${below}/x.txt`, 'one\n');
    const look = () => tree(['report[1].xml'], inner);
    const before = await look();
    assert.match(before, /^[0-9a-f]{40}$/);
    for (const path of [
      'coverage/lcov-report/index.html',
      'coverage.xml',
      'c.out',
      'report[1].xml',
      '.tool/teams/a/log.jsonl',
    ])
      write(`${below}/${path}`, 'x');
    assert.equal(await look(), before);
    write(`${below}/src/coverage/x.txt`, 'x');
    assert.notEqual(await look(), before);
  });

test('where Git cannot take everything in, the files themselves are hashed', async (t) => {
  const { root, tree, write } = place(t, true);
  execaSync`git init -q ${join(root, 'nested')}`;
  write('nested/x.txt', 'one\n');
  const before = await tree();
  write('nested/x.txt', 'two\n');
  assert.notEqual(await tree(), before);
});
