// Clones made ahead of the issues that will want them.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { SpareClones } from '../../src/daemon/workspaces/spare-clones.ts';
import { ROOT_DATA } from '../../src/daemon/workspaces/workspace-root.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();

/** The numbers of the spares that lie there. */
function sparesIn(root: string): string[] {
  const path = join(root, ROOT_DATA, 'spares');
  return existsSync(path) ? readdirSync(path).sort() : [];
}

test('a spare becomes the workspace, as a fresh clone would be; no more are kept than wanted', async (t) => {
  const { workspaces, root, ready, task } = await setUpWorkspaces(t);
  await workspaces.keepSpares(2, signal);
  assert.deepEqual(sparesIn(root), ['1', '2']);
  const { path } = await ready(task());
  assert.deepEqual(sparesIn(root), ['2']);
  assert.ok(existsSync(join(path, 'README.md')));
  assert.equal((await gitAs(path, 'status', '--porcelain=v2', '--branch')).includes('branch.head tool/issue-1'), true);
  assert.equal((await gitAs(path, 'status', '--porcelain')).trim(), '');
  const sha = await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  await workspaces.keepSpares(0, signal);
  assert.deepEqual(sparesIn(root), []);
});

test('a spare from before main was renamed, or moved, starts from what main is by then', async (t) => {
  const { workspaces, work, bare, ready, task } = await setUpWorkspaces(t);
  await workspaces.keepSpares(3, signal);
  await gitAs(bare, 'branch', '--move', 'main', 'trunk');
  const first = await ready(task());
  const main = (await gitAs(first.path, 'rev-parse', 'HEAD')).trim();
  assert.equal((await gitAs(first.path, 'rev-parse', 'origin/trunk')).trim(), main);
  const moved = await commitFiles(work, { 'later.txt': 'x\n' }, 'later');
  await gitAs(work, 'push', '--quiet', bare, 'main:trunk');
  const second = await ready(task(1, 1, 2));
  assert.equal((await gitAs(second.path, 'rev-parse', 'HEAD')).trim(), moved);
  const begun = await commitFiles(work, { 'begun.txt': 'x\n' }, 'begun');
  await gitAs(work, 'push', '--quiet', bare, 'main:refs/heads/tool/issue-3');
  const third = await ready(task(1, 1, 3));
  assert.equal(
    (await gitAs(third.path, 'rev-parse', 'tool/issue-3')).trim(),
    begun,
    'the branch that is there is taken up',
  );
});

test('what an earlier process left, or lies there for too long, is not used', async (t) => {
  const { workspaces, mirror, root, ready, task } = await setUpWorkspaces(t);
  await workspaces.keepSpares(1, signal);
  const directory = join(root, ROOT_DATA, 'spares');
  const clock = { ...systemClock, at: 0, elapsed: () => clock.at };
  const spares = new SpareClones(directory, mirror, clock);
  await spares.keep(0, signal);
  assert.deepEqual(sparesIn(root), []);
  assert.ok((await ready(task())).created, 'a spare that somebody took away is no harm');

  await spares.keep(1, signal);
  clock.at += 61 * 60_000;
  const filled = join(root, 'issue-9');
  mkdirSync(filled);
  writeFileSync(join(directory, '1', 'of-the-spare.txt'), '');
  await spares.fill(task(), filled, signal);
  assert.deepEqual(
    [existsSync(join(filled, 'README.md')), existsSync(join(filled, 'of-the-spare.txt'))],
    [true, false],
  );
  assert.deepEqual(sparesIn(root), []);
  await spares.keep(1, signal);
  clock.at += 61 * 60_000;
  await spares.keep(1, signal);
  assert.deepEqual(sparesIn(root), ['3']);
});

test('a clone that fails leaves nothing behind', async (t) => {
  const { workspaces, mirror, root } = await setUpWorkspaces(t);
  await mirror.refresh(signal);
  writeFileSync(join(mirror.source, 'packed-refs'), 'no refs\n');
  await assert.rejects(workspaces.keepSpares(1, signal));
  assert.deepEqual(sparesIn(root), []);
});

test('where a script fills the workspaces, none are made ahead', async (t) => {
  const { workspaces, root } = await setUpWorkspaces(t, { afterCreate: 'git clone --quiet "$TOOL_CLONE_URL" .' });
  await workspaces.keepSpares(2, signal);
  assert.deepEqual(sparesIn(root), []);
});
