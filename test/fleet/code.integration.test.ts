// Code that attempts begin with: one bundle of the default branch for all, and for a worker with an earlier state what came since.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { isFailure } from '../../src/base/rules/errors.ts';
import { WorkspaceManifests } from '../../src/daemon/workspaces/workspace-manifests.ts';
import { WorkspacePlaces } from '../../src/daemon/workspaces/workspace-places.ts';
import { ROOT_DATA } from '../../src/daemon/workspaces/workspace-root.ts';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { unpackDefault, WorkCarrier } from '../../src/fleet/work-carrier.ts';
import { CoordinatorClient } from '../../src/fleet/worker/coordinator-client.ts';
import { attemptOf, jobAt, ORDER, openCoordinator, SHARED_KEY, signed } from '../support/fleet-coordinator.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
/** Compresses badly. */
const LARGE = Array.from({ length: 20_000 }, (_, index) => (index * 2_654_435_761) % 4_294_967_291).join('\n');

/** No bundle can be made from it. */
const BROKEN = 'b'.repeat(40);

async function setUp(t: Cleanup) {
  const world = await setUpWorkspaces(t, {}, 20_000, undefined, { files: { 'large.txt': LARGE } });
  const { mirror, root, directory } = world;
  const isolation = { active: false, wrap: (file: string, args: readonly string[]) => [file, args] as const };
  const places = new WorkspacePlaces({ root, isolation }, new WorkspaceManifests(join(root, ROOT_DATA)));
  const carrier = new WorkCarrier({ mirror, places });
  const pack = async (issue: number) => {
    await world.ready(world.task(1, 1, issue));
    const place = join(directory, 'fleet', String(issue));
    mkdirSync(place, { recursive: true });
    const fills = { submodules: true };
    return carrier.pack(world.task(1, 1, issue), join(place, 'handed-out.bundle'), fills, signal);
  };
  /** The default branch moves on. */
  const move = async (files: Readonly<Record<string, string>>) => {
    const work = join(tempDir(t), 'work');
    await gitAs(directory, 'clone', '--quiet', world.bare, work);
    const sha = await commitFiles(work, files, 'Move');
    await gitAs(work, 'push', '--quiet', 'origin', 'HEAD:main');
    mirror.outdate();
    await mirror.refresh(signal);
    return sha;
  };
  const bare = (name: string) => {
    const path = join(directory, name);
    mkdirSync(path);
    return path;
  };
  return { ...world, carrier, pack, move, bare };
}

test('attempts that begin at the default branch share one file, until it moves', async (t) => {
  const { pack, move, directory } = await setUp(t);
  const [first, second] = [await pack(1), await pack(2)];
  assert.equal(first.defaultHead, first.head);
  assert.equal(statSync(first.path).ino, statSync(second.path).ino);
  const sha = await move({ 'b.txt': 'b' });
  const third = await pack(3);
  assert.deepEqual([third.head, third.defaultHead], [sha, sha]);
  assert.notEqual(statSync(third.path).ino, statSync(first.path).ino);
  assert.ok(readFileSync(first.path).length > 0);
  const shared = readdirSync(join(directory, 'fleet')).filter((name) => name.endsWith('.bundle'));
  assert.deepEqual(shared, [`${sha}.bundle`]);
});

test('a shared file that could not be made, or is gone, is made again for the next attempt', async (t) => {
  const { pack, directory, mirror } = await setUp(t);
  await mirror.refresh(signal);
  const sha = (await mirror.branchHead('main')) ?? assert.fail();
  const shared = join(directory, 'fleet', `${sha}.bundle`);
  mkdirSync(shared, { recursive: true });
  assert.equal((await pack(1)).defaultHead, null);
  rmdirSync(shared);
  assert.equal((await pack(2)).defaultHead, sha);
  rmSync(shared);
  const third = await pack(3);
  assert.equal(third.defaultHead, null);
  assert.ok(statSync(third.path).size > 0);
  assert.equal((await pack(4)).defaultHead, sha);
});

const other = statSync('/dev/shm', { throwIfNoEntry: false });
const isElsewhere = other !== undefined && other.dev !== statSync(tmpdir()).dev;

test('where a hard link is refused, the shared file is copied', {
  skip: isElsewhere ? false : 'this machine has no second file system',
}, async (t) => {
  const { pack, directory } = await setUp(t);
  const place = mkdtempSync('/dev/shm/toolcrew-');
  finallyDo(t, () => rmSync(place, { recursive: true, force: true }));
  mkdirSync(join(directory, 'fleet'));
  symlinkSync(place, join(directory, 'fleet', '1'));
  const { head, defaultHead, path } = await pack(1);
  assert.equal(defaultHead, head);
  assert.deepEqual(readFileSync(path), readFileSync(join(directory, 'fleet', `${head}.bundle`)));
});

test('a worker that has an earlier state gets what came since, and the whole for one that is not of the history', async (t) => {
  const { pack, move, bare, carrier, directory } = await setUp(t);
  const first = await pack(1);
  const [earlier, later] = [bare('earlier.git'), bare('later.git')];
  const branch = first.defaultBranch;
  await unpackDefault(earlier, first.path, { branch, sha: first.head, earlier: null }, signal);
  const sha = await move({ 'b.txt': 'b' });
  const second = await pack(2);
  const { coordinator, address } = await openCoordinator(t);
  const job = signed(jobAt(address));
  coordinator.add(
    attemptOf(job, {
      ...{ order: { ...ORDER, head: sha, base: sha, default_head: sha }, bundle: second.path },
      packSince: async (have, path) => {
        if (have === BROKEN) throw new Error('the mirror is locked');
        return carrier.packSince(2, second, have, path, signal);
      },
    }),
  );
  const client = new CoordinatorClient({
    ...{ job, key: SHARED_KEY, worker: 'w', version: '1.0.0', clock: systemClock, signal },
    onSilent: (said) => assert.fail(said),
  });
  finallyDo(t, () => client.close());
  await client.take();
  const bundle = join(directory, 'received.bundle');
  await client.code(bundle, first.head);
  assert.ok(statSync(bundle).size < 1_000, String(statSync(bundle).size));
  await unpackDefault(later, bundle, { branch, sha, earlier }, signal);
  assert.equal((await gitAs(later, 'rev-parse', branch)).trim(), sha);
  assert.equal((await gitAs(later, 'show', `${branch}:large.txt`)).length, LARGE.length);
  for (const have of ['f'.repeat(40), 'no commit', '', BROKEN]) {
    await client.code(bundle, have);
    assert.equal(statSync(bundle).size, statSync(second.path).size);
  }
});

test('a copy that is made from one of another branch holds its own branch alone', async (t) => {
  const { pack, bare } = await setUp(t);
  const { path, head: sha } = await pack(1);
  const [earlier, later] = [bare('earlier.git'), bare('later.git')];
  await unpackDefault(earlier, path, { branch: 'old', sha, earlier: null }, signal);
  await unpackDefault(later, path, { branch: 'main', sha, earlier }, signal);
  assert.equal((await gitAs(later, 'symbolic-ref', 'HEAD')).trim(), 'refs/heads/main');
  assert.equal((await gitAs(later, 'for-each-ref', '--format=%(refname)')).trim(), 'refs/heads/main');
});

test('a bundle that ends at another commit than the order says is refused', async (t) => {
  const { pack, bare } = await setUp(t);
  const { path, defaultBranch: branch } = await pack(1);
  await assert.rejects(
    unpackDefault(bare('other.git'), path, { branch, sha: 'f'.repeat(40), earlier: null }, signal),
    (error) => isFailure(error, FLEET_CODES.bundle_unreadable),
  );
});
