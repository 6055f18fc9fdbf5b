// Clones of a coordinator: made once their files are read, on the commit that the issue has by then.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { isFailure } from '../../src/base/rules/errors.ts';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { WorkCarrier } from '../../src/fleet/work-carrier.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const BRANCH = 'tool/issue-1';
const NOTHING = { head: null, savedAs: null };

async function setUp(t: TestContext, keep = false) {
  const world = await setUpWorkspaces(t, {}, undefined, undefined, { agentsElsewhere: true, keep });
  const { mirror, workspaces, directory, ready, task } = world;
  const { path } = await ready(task());
  const carrier = new WorkCarrier({ mirror, places: workspaces.places });
  /** What a worker begins with. */
  const pack = async (attempt = 1) => {
    const place = join(directory, 'fleet', String(attempt));
    mkdirSync(place, { recursive: true });
    return carrier.pack(task(attempt), join(place, 'handed-out.bundle'), { submodules: false }, signal);
  };
  /** Hands in a commit on top of another one, and adopts it. @param base that it is said to go on from */
  const handIn = async (from: string, file: string, base = from) => {
    const clone = join(tempDir(t), 'clone');
    await gitAs(mirror.path, 'clone', '--quiet', mirror.path, clone);
    await gitAs(clone, 'fetch', '--quiet', mirror.path, from);
    await gitAs(clone, 'checkout', '--quiet', '-B', BRANCH, from);
    const sha = await commitFiles(clone, { [file]: `${file}\n` }, `Add ${file}`);
    const bundle = join(clone, 'handed-in.bundle');
    await gitAs(clone, 'bundle', 'create', '--quiet', bundle, `refs/heads/${BRANCH}`, `^${from}`);
    await carrier.adopt(task(), bundle, { head: sha, files: null }, { base, maxBundleBytes: 1e6 }, signal);
    return sha;
  };
  let last = 'main';
  /** Others push to the default branch. */
  const push = async (file: string, onto = last) => {
    const { work, bare } = world;
    await gitAs(work, 'checkout', '--quiet', '-B', 'pushed', onto);
    const sha = await commitFiles(work, { [file]: `${file}\n` }, `Add ${file}`);
    await gitAs(work, 'push', '--quiet', '--force', bare, 'HEAD:main');
    last = sha;
    return sha;
  };
  const read = (name: string) => readFileSync(join(path, name), 'utf8');
  return { ...world, path, carrier, pack, handIn, push, read };
}

test('a reader finds a clone with the files of the commit, on the branch', async (t) => {
  const { workspaces, task, ready, path, pack, handIn, read, said } = await setUp(t);
  const { head } = await pack();
  const sha = await handIn(head, 'work.txt');
  assert.deepEqual(readdirSync(path), []);
  const { head: at, branch } = await workspaces.stateOf(task(), signal);
  assert.deepEqual({ at, branch }, { at: sha, branch: BRANCH });
  assert.equal(read('work.txt'), 'work.txt\n');
  assert.equal((await gitAs(path, 'status', '--porcelain')).trim(), '');
  // From here on it is a clone like any other.
  assert.equal((await workspaces.prepare(task(2), signal)).created, false);
  await ready(task(2));
  const more = await handIn(sha, 'more.txt', head);
  assert.equal(read('more.txt'), 'more.txt\n');
  assert.equal((await workspaces.collect(task(2), signal)).head, more);
  await workspaces.push(task(2), more, [], signal);
  await workspaces.remove(task(2), signal);
  assert.deepEqual({ said, isThere: existsSync(path) }, { said: [], isThere: false });
});

test('files that are not committed make the clone, and lie in it', async (t) => {
  const { mirror, workspaces, carrier, task, path, pack, read } = await setUp(t);
  const { head } = await pack();
  const tree = (await gitAs(mirror.path, 'rev-parse', `${head}:src`)).trim();
  const files = (await gitAs(mirror.path, 'commit-tree', tree, '-p', head, '-m', 'Files')).trim();
  await carrier.write(task(), { head, files }, signal);
  assert.match(read('greet.js'), /Hello/);
  assert.equal((await gitAs(path, 'rev-parse', 'HEAD')).trim(), head);
  assert.match((await workspaces.collect(task(), signal)).savedAs ?? '', /^refs\/toolcrew\/saved\/issue-1-1-1$/);
});

test('the default branch is taken in without a clone, unless that takes a merge', async (t) => {
  const { workspaces, task, ready, path, pack, handIn, push, read } = await setUp(t);
  const { head } = await pack();
  const second = await push('second.txt');
  assert.deepEqual(await workspaces.collect(task(), signal), NOTHING);
  await ready(task(2));
  assert.equal((await pack(2)).head, second);
  const sha = await handIn(second, 'work.txt', head);
  await ready(task(3));
  assert.equal(await workspaces.peek(task(3), signal), sha);
  assert.deepEqual(readdirSync(path), []);
  const third = await push('third.txt');
  await ready(task(4));
  for (const name of ['second.txt', 'third.txt', 'work.txt']) assert.equal(read(name), `${name}\n`);
  const merged = (await workspaces.collect(task(4), signal)).head ?? '';
  for (const one of [third, sha]) await gitAs(path, 'merge-base', '--is-ancestor', one, merged);
});

test('a commit that the default branch has no more is the base of an attempt all the same', async (t) => {
  const { workspaces, mirror, task, ready, path, pack, push } = await setUp(t);
  const gone = await push('gone.txt');
  await ready(task(2));
  await push('other.txt', 'main');
  mirror.outdate();
  await mirror.refresh(signal);
  assert.equal(await mirror.holds(gone), false);
  assert.equal((await pack(2)).head, gone);
  assert.equal(await mirror.holds(gone), true);
  assert.equal((await workspaces.collect(task(2), signal)).head, gone, 'nobody else has it');
  await ready(task(3));
  assert.equal((await gitAs(path, 'log', '--format=%s', '-1')).trim(), 'Merge origin/main');
});

test('what is published of the branch is where a new one stands', async (t) => {
  const { workspaces, task, ready, path, pack, handIn } = await setUp(t);
  const { head } = await pack();
  const sha = await handIn(head, 'work.txt');
  await workspaces.push(task(), sha, [], signal);
  await workspaces.remove(task(), signal);
  await ready(task(2));
  assert.deepEqual({ head: (await pack(2)).head, files: readdirSync(path) }, { head: sha, files: [] });
});

test('what the worker may not hand in leaves it where it stands', async (t) => {
  const { workspaces, task, pack, handIn, push } = await setUp(t);
  const { head } = await pack();
  const later = await push('later.txt');
  await workspaces.refresh(signal);
  await assert.rejects(handIn(head, 'work.txt', later), (error) => isFailure(error, FLEET_CODES.bundle_base_wrong));
  assert.deepEqual(await workspaces.collect(task(), signal), NOTHING);
});

test('the next process goes on with it, also where one ended while it was made or its directory is gone', async (t) => {
  const { again, task, path, pack, handIn, read } = await setUp(t);
  const sha = await handIn((await pack()).head, 'work.txt');
  rmSync(path, { recursive: true });
  const next = again();
  assert.deepEqual(await next.prepare(task(2), signal), { path, created: false });
  assert.equal((await next.collect(task(2), signal)).head, sha);
  await gitAs(path, 'init', '--quiet');
  writeFileSync(join(path, 'half.txt'), 'half');
  const { directories, heads } = await again().kept(task(2), signal);
  assert.deepEqual({ directories, heads }, { directories: [path], heads: [`branch ${BRANCH}`] });
  assert.equal(read('work.txt'), 'work.txt\n');
  assert.equal(existsSync(join(path, 'half.txt')), false);
});

test('where its commit is lost with the copy of the repository, it begins anew', async (t) => {
  const { workspaces, task, ready, path, pack, said } = await setUp(t);
  const { head } = await pack();
  workspaces.places.delay(1, { branch: BRANCH, head: '1'.repeat(40) });
  await ready(task(2));
  assert.match(said.join(''), /^the clone cannot be used and is made anew: .*1{40}/);
  assert.deepEqual({ head: (await pack(2)).head, files: readdirSync(path) }, { head, files: [] });
});

test('an issue that ends with work that is published nowhere has it saved', async (t) => {
  const { workspaces, mirror, task, pack, handIn, said } = await setUp(t);
  const sha = await handIn((await pack()).head, 'work.txt');
  await workspaces.remove(task(), signal);
  assert.deepEqual(said, ['unpublished commits saved as refs/toolcrew/saved/issue-1-1-1-commits\n']);
  assert.equal(await mirror.hasRef('refs/toolcrew/saved/issue-1-1-1-commits', sha), true);
});

test('with `workspace.keep` the clone is there from the start', async (t) => {
  const { pack, handIn, read } = await setUp(t, true);
  assert.match(read('README.md'), /A line/);
  await handIn((await pack()).head, 'work.txt');
  assert.equal(read('work.txt'), 'work.txt\n');
});
