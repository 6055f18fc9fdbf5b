// Clones of a coordinator: made once their files are read, on the commit that the issue has by then.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { isFailure } from '../../src/base/rules/errors.ts';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { WorkCarrier } from '../../src/fleet/work-carrier.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const BRANCH = 'tool/issue-1';
const NOTHING = { head: null, savedAs: null };

async function setUp(t: TestContext, keep = false, afterCreate: string | null = null) {
  const world = await setUpWorkspaces(t, { afterCreate }, undefined, undefined, { agentsElsewhere: true, keep });
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

test('where the remote fails before a merge, the commit that was handed in stays, and is merged the next time', async (t) => {
  const { workspaces, mirror, bare, task, ready, path, pack, handIn, push, read } = await setUp(t);
  const sha = await handIn((await pack()).head, 'work.txt');
  await push('second.txt');
  const refresh = mirror.refresh.bind(mirror);
  let failures = 0;
  mirror.refresh = async (end, branch) => {
    if (branch === undefined || failures > 0) return refresh(end, branch);
    failures += 1;
    renameSync(bare, `${bare}.away`);
    await refresh(end, branch).finally(() => renameSync(`${bare}.away`, bare));
  };
  await assert.rejects(ready(task(2)), (error) => isFailure(error, GIT_CODES.git_failed));
  assert.deepEqual({ failures, late: workspaces.places.lateOf(1)?.head }, { failures: 1, late: sha });
  await ready(task(2));
  for (const name of ['second.txt', 'work.txt']) assert.equal(read(name), `${name}\n`);
  await gitAs(path, 'merge-base', '--is-ancestor', sha, 'HEAD');
});

/** Has git write no ref of that name. Gives what ends that. */
function lockRef(mirror: string, ref: string) {
  const lock = join(mirror, `${ref}.lock`);
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(lock, '');
  return () => rmSync(lock);
}

test('where the commit of an issue that ends cannot be saved, all stays for another try', async (t) => {
  const { workspaces, mirror, task, path, pack, handIn, said } = await setUp(t);
  const sha = await handIn((await pack()).head, 'work.txt');
  const saved = 'refs/toolcrew/saved/issue-1-1-1-commits';
  const unlock = lockRef(mirror.path, saved);
  await assert.rejects(workspaces.remove(task(), signal), (error) => isFailure(error, GIT_CODES.git_failed));
  assert.equal(workspaces.places.lateOf(1)?.head, sha);
  assert.equal(await mirror.hasRef(`refs/toolcrew/work/issue-1/${sha}`, sha), true);
  unlock();
  const told: string[] = [];
  await workspaces.remove(task(), signal, async (lines) => void told.push(...lines));
  assert.deepEqual(told, [`unpublished commits saved as ${saved}`]);
  assert.equal(said.at(-1), `unpublished commits saved as ${saved}\n`);
  assert.deepEqual(await mirror.refsBelow('refs/toolcrew/'), [saved]);
  assert.deepEqual(
    { isThere: existsSync(path), isLate: workspaces.places.isLate(1) },
    { isThere: false, isLate: false },
  );
});

test('a fault that passes while an issue ends loses none of its commits', async (t) => {
  const { workspaces, mirror, task, pack, handIn, said } = await setUp(t);
  const sha = await handIn((await pack()).head, 'work.txt');
  const saved = 'refs/toolcrew/saved/issue-1-1-1-commits';
  const unlock = lockRef(mirror.path, saved);
  const output = (text: string) => {
    if (said.push(text) === 1) unlock();
  };
  await workspaces.remove({ ...task(), output }, signal);
  assert.match(said[0] ?? '', /^the clone in .* cannot be used/);
  assert.deepEqual(said.slice(1), [`unpublished commits saved as ${saved}\n`]);
  assert.equal(await mirror.hasRef(saved, sha), true);
});

test('where agents run here again, the workspace is made with the files of the commit', async (t) => {
  const { again, task, ready, path, pack, handIn, push, read, said } = await setUp(t);
  const sha = await handIn((await pack()).head, 'work.txt');
  await push('second.txt');
  const here = again({ agentsElsewhere: false });
  assert.equal((await ready(task(2), here)).created, true);
  for (const name of ['second.txt', 'work.txt']) assert.equal(read(name), `${name}\n`);
  await gitAs(path, 'merge-base', '--is-ancestor', sha, 'HEAD');
  assert.deepEqual({ isLate: here.places.isLate(1), said }, { isLate: false, said: [] });
  writeFileSync(join(path, 'own.txt'), 'own');
  assert.equal((await ready(task(3), here)).created, false);
  assert.equal(read('own.txt'), 'own');
});

test('where agents run here again, a script of the operator fills the workspace, also after a process that ended in it', async (t) => {
  const script = 'git clone --quiet "$TOOL_SOURCE" . && echo made > .git/made';
  const { again, mirror, task, ready, pack, handIn, read } = await setUp(t, false, script);
  const sha = await handIn((await pack()).head, 'work.txt');
  const hookEnv = () => ({ PATH: process.env.PATH ?? '', TOOL_SOURCE: mirror.source });
  const broken = again({ agentsElsewhere: false, hookEnv });
  await broken.prepare(task(2), signal);
  await broken.afterCreate(task(2), signal);
  const here = again({ agentsElsewhere: false, hookEnv });
  assert.equal((await ready(task(2), here)).created, true);
  assert.deepEqual([read('.git/made'), read('work.txt')], ['made\n', 'work.txt\n']);
  assert.equal((await here.collect(task(2), signal)).head, sha);
});

test('where agents run here again, and the commit is lost, that is said', async (t) => {
  const { workspaces, again, task, ready, read, said } = await setUp(t);
  workspaces.places.delay(1, { branch: BRANCH, head: '1'.repeat(40) });
  await ready(task(2), again({ agentsElsewhere: false }));
  assert.deepEqual(said, [`commit ${'1'.repeat(40)} of an earlier attempt is lost; the branch starts anew\n`]);
  assert.match(read('README.md'), /A line/);
});

test('a reader finds a clone also where its source is not there', async (t) => {
  const { again, mirror, task, pack, handIn, read } = await setUp(t);
  await handIn((await pack()).head, 'work.txt');
  rmSync(mirror.source, { recursive: true });
  await again().stateOf(task(), signal);
  assert.equal(read('work.txt'), 'work.txt\n');
});

test('with `workspace.keep` the clone is there from the start', async (t) => {
  const { pack, handIn, read } = await setUp(t, true);
  assert.match(read('README.md'), /A line/);
  await handIn((await pack()).head, 'work.txt');
  assert.equal(read('work.txt'), 'work.txt\n');
});
