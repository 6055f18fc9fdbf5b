// Workspaces of a repository whose files were committed before an attribute for line endings came.

import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { mergeIfClean } from '../../src/git/clone.ts';
import type { Launch } from '../../src/git/git.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const LINES = Array.from({ length: 20 }, (_, index) => `line ${index}`);

/** A file's text with these endings, one line another. */
function textWith(ending: string, changed = -1): string {
  return LINES.map((line, index) => (index === changed ? 'other' : line) + ending).join('');
}

/** Has the index hold a file as it is, whatever the attributes say, and commits that. */
async function commitAsIs(work: string, name: string, text: string): Promise<void> {
  writeFileSync(join(work, 'as-is'), text);
  const id = (await gitAs(work, 'hash-object', '-w', '--no-filters', 'as-is')).trim();
  await gitAs(work, 'update-index', '--add', '--cacheinfo', `100644,${id},${name}`);
  await gitAs(work, 'commit', '--quiet', '-m', `${name} as it is`);
}

/** Commits one file and no other: git would put other endings into those as it adds them. */
async function commitAlone(path: string, name: string, text: string): Promise<void> {
  writeFileSync(join(path, name), text);
  await gitAs(path, 'add', name);
  await gitAs(path, 'commit', '--quiet', '-m', name);
}

/** A workspace with one file that git calls modified, as after the second in which it was cloned. */
async function setUp(t: TestContext, attributes = '*.txt text eol=crlf\n', text = textWith('\r\n')) {
  const made = await setUpWorkspaces(t);
  const { work, bare, ready, task } = made;
  await commitFiles(work, { '.gitattributes': attributes }, 'attributes');
  await commitAsIs(work, 'windows.txt', text);
  const push = () => gitAs(work, 'push', '--quiet', bare, 'main');
  await push();
  const { path } = await ready(task());
  const file = join(path, 'windows.txt');
  /** Its date is not the index's any more: git reads it. */
  const touch = () => utimesSync(file, 1_000_000_000, 1_000_000_000);
  touch();
  assert.equal(await gitAs(path, 'status', '--porcelain'), ' M windows.txt\n');
  return { ...made, push, path, file, touch };
}

for (const [what, attributes, text] of [
  ['CRLF although the attributes say text', '*.txt text\n', textWith('\r\n')],
  ['CRLF with CRLF in the worktree', '* text=auto\n*.txt text eol=crlf\n', textWith('\r\n')],
  ['both endings', '*.txt text eol=crlf\n', `${textWith('\r\n')}${textWith('\n')}`],
] as const) {
  test(`a file committed with ${what} is no change`, async (t) => {
    const { workspaces, task, ready, said, path, file, push, work } = await setUp(t, attributes, text);
    assert.deepEqual(await workspaces.collect(task(), signal), { head: null, savedAs: null });
    const before = readFileSync(file);
    await commitAlone(path, 'mine.md', 'mine\n');
    await commitAsIs(work, 'windows.txt', text.replace('line 0', 'theirs'));
    await push();
    await ready(task(2));
    assert.deepEqual(said, []);
    assert.equal(readFileSync(file, 'latin1'), before.toString('latin1').replace('line 0', 'theirs'));
    assert.equal(readFileSync(join(path, 'mine.md'), 'utf8'), 'mine\n');
    await workspaces.remove(task(2), signal);
    assert.doesNotMatch(said.join(''), /uncommitted/);
  });
}

test('what was changed beside such a file is saved, without it', async (t) => {
  const { workspaces, task, mirror, path, file } = await setUp(t);
  writeFileSync(join(path, 'half.md'), 'half\n');
  const { savedAs } = await workspaces.collect(task(), signal);
  const changed = await gitAs(mirror.path, 'diff-tree', '-r', '--name-only', 'main', savedAs ?? '');
  assert.equal(changed, 'half.md\n');
  // A change of its own counts, in a byte as well.
  writeFileSync(file, textWith('\r\n').replace('line 3', 'LINE 3'));
  const again = await workspaces.collect(task(), signal);
  const both = await gitAs(mirror.path, 'diff-tree', '-r', '--name-only', 'main', again.savedAs ?? '');
  assert.equal(both, 'half.md\nwindows.txt\n');
  writeFileSync(join(path, 'half.md'), '');
  writeFileSync(file, textWith('\n'));
  assert.notEqual((await workspaces.collect(task(), signal)).savedAs, null);
});

test('a change of the agent’s in such a file is in the way of main’s, and stays', async (t) => {
  const { task, ready, said, path, file, push, work } = await setUp(t);
  await commitAlone(path, 'mine.md', 'mine\n');
  writeFileSync(file, textWith('\r\n', 3));
  await commitAsIs(work, 'windows.txt', textWith('\r\n', 15));
  await push();
  await ready(task(2));
  assert.match(said.join(''), /origin\/main .*; it is left out/);
  assert.equal(readFileSync(file, 'latin1'), textWith('\r\n', 3));
});

test('a file that the agent committed with other endings merges with main’s', async (t) => {
  const { workspaces, task, ready, said, path, file, push, work } = await setUp(t);
  // Git takes the CR out as it is added.
  writeFileSync(file, textWith('\r\n', 3));
  await gitAs(path, 'commit', '--quiet', '--all', '-m', 'mine');
  await commitAsIs(work, 'windows.txt', textWith('\r\n', 15));
  await push();
  await ready(task(2));
  assert.deepEqual(said, []);
  const merged = textWith('\r\n', 3).replace('line 15', 'other');
  assert.equal(readFileSync(file, 'latin1'), merged);
  assert.notEqual((await workspaces.collect(task(2), signal)).head, null);
});

test('a merge that meets a conflict elsewhere is taken back whole', async (t) => {
  const { task, ready, said, path, file, push, work } = await setUp(t);
  await commitAlone(path, 'README.md', 'mine\n');
  await commitAlone(work, 'README.md', 'theirs\n');
  await commitAsIs(work, 'windows.txt', textWith('\r\n', 15));
  await push();
  await ready(task(2));
  assert.match(said.join(''), /origin\/main .*; it is left out/);
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'mine\n');
  assert.equal(readFileSync(file, 'latin1'), textWith('\r\n'));
  assert.doesNotMatch(await gitAs(path, 'status'), /merg/i);
});

test('what is not committed outlives a merge that is refused', async (t) => {
  const { task, ready, said, path, push, work } = await setUp(t);
  await commitAlone(path, 'mine.md', 'mine\n');
  writeFileSync(join(path, 'mine.md'), 'not committed\n');
  writeFileSync(join(path, 'README.md'), 'not committed\n');
  writeFileSync(join(path, 'staged.md'), 'staged\n');
  await gitAs(path, 'add', 'staged.md');
  await commitAlone(work, 'README.md', 'theirs\n');
  await push();
  await ready(task(2));
  assert.match(said.join(''), /origin\/main .*; it is left out/);
  for (const name of ['mine.md', 'README.md'])
    assert.equal(readFileSync(join(path, name), 'utf8'), 'not committed\n', name);
  assert.match(await gitAs(path, 'status', '--porcelain'), /^A {2}staged\.md$/m);
});

test('git that cannot merge apart merges in place', async (t) => {
  const { path, push, work, mirror } = await setUp(t);
  await commitAlone(path, 'mine.md', 'mine\n');
  await commitAlone(work, 'theirs.md', 'theirs\n');
  const bring = async () => {
    await push();
    await mirror.refresh(signal);
    await gitAs(path, 'fetch', '--quiet', 'origin');
  };
  await bring();
  // As a git that does not know the command ends: what comes before it tells that git began.
  const launch: Launch = (file, args) =>
    args.includes('merge-tree')
      ? [file, [...args.slice(0, args.indexOf('git')), 'sh', '-c', 'exit 129']]
      : [file, args];
  const old = { path, launch, timeoutMs: 20_000 };
  assert.equal(await mergeIfClean(old, 'refs/remotes/origin/main', signal), true);
  assert.equal(readFileSync(join(path, 'theirs.md'), 'utf8'), 'theirs\n');
  await commitAlone(path, 'README.md', 'mine\n');
  await commitAlone(work, 'README.md', 'theirs\n');
  await bring();
  assert.equal(await mergeIfClean(old, 'refs/remotes/origin/main', signal), false);
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'mine\n');
});
