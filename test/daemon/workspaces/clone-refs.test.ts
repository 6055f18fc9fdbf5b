// Refs of a clone in which an agent has been: what differs from the repository that it was cloned from is fetched again.

import assert from 'node:assert/strict';
import test from 'node:test';
import { commitFiles, gitAs } from '../../support/forge.ts';
import { setUpWorkspaces } from '../../support/workspaces.ts';

async function setUp(t: test.TestContext) {
  let fetches = 0;
  const wrap = (file: string, args: readonly string[]): readonly [string, readonly string[]] => {
    if (args.includes('fetch')) fetches += 1;
    return [file, args];
  };
  const world = await setUpWorkspaces(t, {}, undefined, undefined, { isolation: { active: true, wrap } });
  const { path } = await world.ready(world.task());
  const refs = async () => (await gitAs(path, 'for-each-ref', '--format=%(refname) %(objectname)')).trim().split('\n');
  const begin = async (attempt: number) => {
    fetches = 0;
    await world.ready(world.task(attempt));
    return fetches;
  };
  return { ...world, path, refs, begin };
}

const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'moved the branch of the remote': ['update-ref', 'refs/remotes/origin/main', 'refs/heads/other'],
  'removed the branch of the remote': ['update-ref', '-d', 'refs/remotes/origin/main'],
  'made one more branch of the remote': ['update-ref', 'refs/remotes/origin/more', 'HEAD'],
};

for (const [what, change] of Object.entries(CHANGES))
  test(`an agent has ${what}: the next attempt finds it as it was`, async (t) => {
    const { path, refs, begin } = await setUp(t);
    const before = await refs();
    assert.equal(await begin(2), 0);
    await gitAs(path, 'branch', 'other', (await gitAs(path, 'commit-tree', 'HEAD^{tree}', '-m', 'Other')).trim());
    await gitAs(path, ...change);
    assert.equal(await begin(3), 1);
    await gitAs(path, 'branch', '-D', 'other');
    assert.deepEqual(await refs(), before);
  });

test('what is new on the remote comes into a clone that was there before', async (t) => {
  const { path, begin, work } = await setUp(t);
  assert.equal(await begin(2), 0);
  const sha = await commitFiles(work, { 'new.txt': 'new\n' }, 'New');
  await gitAs(work, 'push', '--quiet', 'origin', 'HEAD:more', 'HEAD:main');
  assert.equal(await begin(3), 1);
  const [more, head] = (await gitAs(path, 'rev-parse', 'origin/more', 'HEAD')).split('\n');
  assert.deepEqual([more, head], [sha, sha]);
  assert.equal(await begin(4), 0);
});
