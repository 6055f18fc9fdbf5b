// Old workspaces of a coordinator: what they hold is saved, and they are removed, also where a directory is gone.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import test from 'node:test';
import { dropOld } from '../../src/compose/old-workspaces.ts';
import { putWork } from '../../src/daemon/workspaces/late-clone.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();

test('a late clone is saved and dropped, also where its empty directory is gone; what is not there is left alone', async (t) => {
  const { workspaces, mirror, task, ready, work } = await setUpWorkspaces(t, {}, undefined, undefined, {
    agentsElsewhere: true,
  });
  const { path } = await ready(task());
  const head = await commitFiles(work, { 'work.txt': 'done\n' }, 'Work');
  await gitAs(mirror.path, 'fetch', '--quiet', work, head);
  await putWork(workspaces.places, mirror, task(), { head, files: null }, signal);
  rmSync(path, { recursive: true });
  const lines: string[] = [];
  const log = { log: (_: string, __: string, what: unknown) => void lines.push(String(what)) };
  await dropOld([task(), task(1, 1, 2)], workspaces, log, signal);
  const saved = 'refs/toolcrew/saved/issue-1-1-1-commits';
  assert.deepEqual(lines, [`issue #1: unpublished commits saved as ${saved}`]);
  assert.equal(await mirror.hasRef(saved, head), true);
  assert.equal(workspaces.places.isLate(1), false);
  const { created } = await workspaces.prepare(task(2), signal);
  assert.equal(created, true, 'it begins anew');
});
