// Repositories inside a workspace: nothing of them is lost with it.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { expireSaved } from '../../src/daemon/workspaces/mirror/saved-refs.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const DAY = 24 * 60 * 60_000;

async function savedIn(mirror: Mirror): Promise<string[]> {
  const text = await gitAs(mirror.path, 'for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved');
  return text.split('\n').filter((ref) => ref !== '');
}

/** A repository with one commit and one file that is not committed. */
async function nest(path: string): Promise<string> {
  mkdirSync(path, { recursive: true });
  await gitAs(path, 'init', '--quiet');
  const sha = await commitFiles(path, { 'main.js': 'committed\n' }, path);
  writeFileSync(join(path, 'draft.js'), 'draft\n');
  return sha;
}

test('of a nested repository the commits and the files are saved, also of one inside another', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const app = await nest(join(path, 'app'));
  const deep = await nest(join(path, 'app', 'lib', 'deep'));
  const { head, savedAs } = await workspaces.collect(task(), signal);
  assert.equal(head, null);
  const refs = savedAs?.split(', ') ?? [];
  assert.deepEqual(refs.toSorted(), (await savedIn(mirror)).toSorted());
  const commits = refs.filter((ref) => ref.endsWith('-commits'));
  const kept = await Promise.all(commits.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.deepEqual(kept.toSorted(), [app, deep].toSorted());
  const files = refs.filter((ref) => ref.endsWith('-app') || ref.endsWith('-app-lib-deep'));
  assert.equal(files.length, 2);
  for (const ref of files) assert.equal(await gitAs(mirror.path, 'show', `${ref}:draft.js`), 'draft\n');
});

test('before a workspace goes: a link in the index, commits in a submodule, a worktree in an ignored directory', async (t) => {
  const { workspaces, task, ready, mirror, work, bare, said } = await setUpWorkspaces(t);
  await commitFiles(work, { '.gitignore': '.claude/\n' }, 'ignore');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { path } = await ready(task());
  const linked = await nest(join(path, 'app'));
  await gitAs(path, 'add', 'app');
  await gitAs(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', bare, 'sub');
  const inSub = await commitFiles(join(path, 'sub'), { 'sub.js': 'sub\n' }, 'in the submodule');
  await gitAs(path, 'worktree', 'add', '--quiet', '--detach', '.claude/worktrees/one');
  const inTree = await commitFiles(join(path, '.claude/worktrees/one'), { 'one.js': 'one\n' }, 'in the worktree');
  writeFileSync(join(path, '.claude/worktrees/one', 'half.js'), 'half\n');
  await workspaces.remove(task(), signal);
  assert.ok(!existsSync(path));
  const refs = await savedIn(mirror);
  const at = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  for (const sha of [linked, inSub, inTree]) assert.ok(at.includes(sha), `${sha} of ${at.join(' ')}`);
  const files = (await Promise.all(refs.map((ref) => gitAs(mirror.path, 'ls-tree', '-r', '--name-only', ref)))).flatMap(
    (text) => text.split('\n'),
  );
  for (const file of ['draft.js', 'half.js', 'sub.js']) assert.ok(files.includes(file), file);
  for (const ref of refs) assert.ok(said.join('').includes(ref), ref);
});

test('a workspace with a repository that cannot be read is set aside', async (t) => {
  const { workspaces, task, ready, root, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await nest(join(path, 'app'));
  rmSync(join(path, 'app', '.git', 'objects'), { recursive: true });
  mkdirSync(join(path, 'app', '.git', 'objects'));
  await workspaces.remove(task(), signal);
  assert.ok(!existsSync(path));
  const aside = join(root, '.toolcrew', 'aside');
  assert.deepEqual(readdirSync(aside), ['issue-1-1']);
  assert.ok(existsSync(join(aside, 'issue-1-1', 'app', 'draft.js')));
  assert.match(said.join(''), /is set aside as/);
});

test('commits of a shallow repository, which git hands over to nobody: the workspace is set aside, the others are saved', async (t) => {
  const { workspaces, task, ready, mirror, root, said } = await setUpWorkspaces(t);
  const origin = join(tempDir(t), 'dep');
  await nest(origin);
  await commitFiles(origin, { 'more.txt': 'more\n' }, 'more');
  const { path } = await ready(task());
  await gitAs(path, 'clone', '--quiet', '--depth=1', `file://${origin}`, 'dep');
  const inDep = await commitFiles(join(path, 'dep'), { 'dep.js': 'dep\n' }, 'in the shallow one');
  const app = await nest(join(path, 'app'));
  await workspaces.remove(task(), signal);
  const [aside = ''] = readdirSync(join(root, '.toolcrew', 'aside'));
  const kept = join(root, '.toolcrew', 'aside', aside, 'dep');
  assert.equal((await gitAs(kept, 'rev-parse', 'HEAD')).trim(), inDep);
  const refs = await savedIn(mirror);
  const at = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.ok(at.includes(app), said.join(''));
  assert.doesNotMatch(said.join(''), /commits of dep saved/);
});

test('commits of a submodule that git refuses to take over stay with the workspace, in its own Git directory', async (t) => {
  const { workspaces, task, ready, root, said } = await setUpWorkspaces(t);
  const origin = join(tempDir(t), 'old');
  mkdirSync(origin);
  await gitAs(origin, 'init', '--quiet', '--initial-branch=main');
  await commitFiles(origin, { 'a.txt': 'a\n' }, 'first');
  // A commit as old programs wrote them: no check of git passes it.
  const object = (await gitAs(origin, 'cat-file', 'commit', 'HEAD')).replaceAll(/ [+-]\d{4}$/gm, ' +051800');
  const file = join(tempDir(t), 'object');
  writeFileSync(file, object);
  const old = (await gitAs(origin, 'hash-object', '-t', 'commit', '-w', '--literally', file)).trim();
  await gitAs(origin, 'update-ref', 'refs/heads/main', old);
  const { path } = await ready(task());
  await gitAs(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, 'sub');
  const inSub = await commitFiles(join(path, 'sub'), { 'sub.js': 'sub\n' }, 'in the submodule');
  assert.equal((await workspaces.collect(task(), signal)).head, null);
  await workspaces.remove(task(), signal);
  const [aside = ''] = readdirSync(join(root, '.toolcrew', 'aside'));
  const kept = join(root, '.toolcrew', 'aside', aside, '.git', 'modules', 'sub');
  assert.equal((await gitAs(kept, 'rev-parse', 'HEAD')).trim(), inSub, said.join(''));
});

test('a Git directory that had to be replaced goes with the workspace that is set aside', async (t) => {
  const { workspaces, task, ready, root, bare } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await gitAs(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', bare, 'sub');
  const inSub = await commitFiles(join(path, 'sub'), { 'sub.js': 'sub\n' }, 'in the submodule');
  writeFileSync(join(path, '.git', 'index'), 'no index');
  await workspaces.remove(task(), signal);
  const [aside = ''] = readdirSync(join(root, '.toolcrew', 'aside'));
  const kept = join(root, '.toolcrew', 'aside', aside, '.git', 'toolcrew-replaced', 'modules', 'sub');
  assert.equal(readFileSync(join(kept, 'refs', 'heads', 'main'), 'utf8').trim(), inSub);
});

test('what an attempt had saved is named when the workspace goes, although nothing is left of it there', async (t) => {
  const { workspaces, task, ready } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  writeFileSync(join(path, 'draft.js'), 'draft\n');
  const { savedAs } = await workspaces.collect(task(), signal);
  rmSync(join(path, 'draft.js'));
  const told: string[] = [];
  await workspaces.remove(task(0), signal, async (lines) => {
    told.push(...lines);
  });
  assert.equal(told.length, 1);
  assert.ok(savedAs !== null && told[0]?.endsWith(` saved as ${savedAs}`), told[0]);
});

test('every entry of the stash is saved', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const stashed: string[] = [];
  for (const text of ['one', 'two']) {
    writeFileSync(join(path, 'README.md'), `${text}\n`);
    await gitAs(path, 'stash', 'push', '--quiet');
    stashed.push((await gitAs(path, 'rev-parse', 'refs/stash')).trim());
  }
  // Each look at the workspace puts its Git directory in order first.
  await workspaces.collect(task(), signal);
  await workspaces.remove(task(), signal);
  const refs = await savedIn(mirror);
  const at = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.deepEqual(at.toSorted(), stashed.toSorted());
});

test('commits of a nested repository that a tag alone holds are saved; tags that its remote gave cost no ref', async (t) => {
  const { workspaces, task, ready, mirror, work, bare } = await setUpWorkspaces(t);
  const dead = await commitFiles(work, { 'dead.js': 'never merged\n' }, 'dead');
  await gitAs(work, 'tag', 'v0');
  await gitAs(work, 'reset', '--quiet', '--hard', 'HEAD~1');
  await gitAs(work, 'push', '--quiet', bare, 'v0');
  const { path } = await ready(task());
  const app = join(path, 'app');
  await gitAs(path, 'clone', '--quiet', bare, app);
  await gitAs(app, 'remote', 'set-url', 'origin', 'https://example.com/project.git');
  const made: string[] = [];
  for (const [name, ...how] of [['light'], ['annotated', '-a', '-m', 'annotated']]) {
    made.push(await commitFiles(app, { [`${name}.js`]: 'kept by a tag\n' }, `${name}`));
    await gitAs(app, 'tag', ...how, `${name}`);
    await gitAs(app, 'reset', '--quiet', '--hard', 'HEAD~1');
  }
  await workspaces.remove(task(), signal);
  assert.ok(!existsSync(path));
  const refs = (await savedIn(mirror)).filter((ref) => ref.includes('-app'));
  const at = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.deepEqual(at.toSorted(), made.toSorted());
  assert.ok(!at.includes(dead));
});

test('of a repository that git ignores the commits are saved, and not its files', async (t) => {
  const { workspaces, task, ready, mirror, work, bare } = await setUpWorkspaces(t);
  await commitFiles(work, { '.gitignore': 'vendor/\n' }, 'ignore');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { path } = await ready(task());
  const dep = await nest(join(path, 'vendor', 'dep'));
  await workspaces.remove(task(), signal);
  assert.ok(!existsSync(path));
  const refs = await savedIn(mirror);
  const at = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.deepEqual(at, [dep]);
});

test('saved work is dropped after its days, counted from when it was first seen', async (t) => {
  const { work, mirror } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  const sha = (await gitAs(work, 'rev-parse', 'HEAD')).trim();
  const directory = tempDir(t);
  // The commit is old; its ref is not.
  let now = Date.now() + 400 * DAY;
  const sweeps = async (count: number, days: number): Promise<number> => {
    let dropped = 0;
    for (let n = 0; n < count; n++) {
      now += DAY - 1_000;
      dropped += await expireSaved(mirror, directory, days, now);
    }
    return dropped;
  };
  await mirror.keep(sha, 'refs/toolcrew/saved/issue-1-1-1');
  assert.equal(await sweeps(1, 4), 0);
  await mirror.keep(sha, 'refs/toolcrew/saved/issue-2-1-1');
  assert.equal(await sweeps(4, 4), 0);
  assert.equal(await sweeps(1, 0), 0);
  assert.equal(await sweeps(1, 5), 1);
  assert.deepEqual(await savedIn(mirror), ['refs/toolcrew/saved/issue-2-1-1']);
});

for (const [what, jump] of [
  ['ahead', 400 * DAY],
  ['back', -400 * DAY],
] as const)
  test(`a clock that is set ${what}, and right again, takes no more than a day from saved work`, async (t) => {
    const { work, mirror } = await setUpWorkspaces(t);
    await mirror.refresh(signal);
    const sha = (await gitAs(work, 'rev-parse', 'HEAD')).trim();
    const directory = tempDir(t);
    await mirror.keep(sha, 'refs/toolcrew/saved/issue-1-1-1');
    const start = Date.now();
    // Seen at the start; then the clock jumps and comes back.
    const times = [start, start + jump, start + 1_000, start + DAY, start + 2 * DAY];
    for (const now of times) assert.equal(await expireSaved(mirror, directory, 3, now), 0);
    assert.equal(await expireSaved(mirror, directory, 3, start + 3 * DAY), 1);
  });

test('what was pushed to a directory is published nowhere', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const beside = tempDir(t);
  await gitAs(beside, 'init', '--quiet', '--bare');
  const app = join(path, 'app');
  mkdirSync(app);
  await gitAs(app, 'init', '--quiet', '--initial-branch=main');
  const sha = await commitFiles(app, { 'kept.txt': 'kept\n' }, 'kept');
  await gitAs(app, 'remote', 'add', 'origin', beside);
  await gitAs(app, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  await workspaces.remove(task(), signal);
  const at = await Promise.all((await savedIn(mirror)).map((ref) => gitAs(mirror.path, 'rev-parse', ref)));
  assert.ok(at.map((text) => text.trim()).includes(sha), at.join(' '));
});

test('a clean clone of something that is published costs no ref', async (t) => {
  const { workspaces, task, ready, mirror, bare } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await gitAs(path, 'clone', '--quiet', bare, 'vendor');
  await workspaces.remove(task(), signal);
  assert.ok(!existsSync(path));
  // Git takes the directory itself for a change.
  const refs = await savedIn(mirror);
  assert.ok(!refs.some((ref) => ref.includes('vendor')), refs.join(' '));
});
