// A full disk and files of another user in the way: no attempt is lost to them, and nothing that is there either.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isDiskFull } from '../../src/daemon/rules/disk-full.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();

/** As for a daemon that may not remove the files of root. */
const refuse = async (path: string) => {
  if (existsSync(join(path, 'target')))
    throw Object.assign(new Error(`EACCES: permission denied, unlink '${path}/target/out'`), { code: 'EACCES' });
};

test('a workspace with files that cannot be removed is set aside, and the attempt goes on in a new one', async (t) => {
  const { workspaces, task, ready, root, logged } = await setUpWorkspaces(t, {}, 20_000, refuse);
  const leave = (text: string) => {
    mkdirSync(join(root, 'issue-1', 'target'), { recursive: true });
    writeFileSync(join(root, 'issue-1', 'target', 'out'), text);
  };
  leave('half-made');
  const place = await ready(task());
  assert.equal(place.created, true);
  assert.ok(existsSync(join(place.path, 'README.md')));
  assert.ok(!existsSync(join(place.path, 'target')));
  assert.equal((await ready(task(2))).created, false);
  assert.equal(logged.filter((line) => line.includes('is set aside as .toolcrew/aside/issue-1-1 ')).length, 1);
  assert.ok(
    logged.some((line) => /: issue #1: .* \(workspace_set_aside\)$/.test(line)),
    logged.join('\n'),
  );
  leave('of a finished issue');
  await workspaces.remove(task(3), signal);
  assert.ok(!existsSync(place.path));
  const aside = join(root, '.toolcrew', 'aside');
  assert.equal(readFileSync(join(aside, 'issue-1-1', 'target', 'out'), 'utf8'), 'half-made');
  assert.equal(readFileSync(join(aside, 'issue-1-1-2', 'target', 'out'), 'utf8'), 'of a finished issue');
});

test('a hook whose program meets a full disk says so, however much it prints after that', async (t) => {
  const script = 'dd if=/dev/zero of=/dev/full bs=1 count=1 || { seq 30; exit 1; }';
  const { ready, task } = await setUpWorkspaces(t, { beforeRun: script });
  await assert.rejects(ready(task()), (error: unknown) => isDiskFull(error));
});
