// Workspaces whose namespaces cannot be made for a while: git does not begin, and nothing is taken for broken or unpublished.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { GIT_CODES } from '../../../src/git/rules/git-codes.ts';
import { failsWith } from '../../support/codes.ts';
import { commitFiles, gitAs } from '../../support/forge.ts';
import { setUpWorkspaces } from '../../support/workspaces.ts';

const { signal } = new AbortController();
const REASON = 'mount point does not exist';

/** Has each program run as it is, or end as `unshare` does for want of namespaces where its words contain the text. */
function isolationThatFails() {
  let failing: string | null = null;
  return {
    fail: (words: string | null) => {
      failing = words;
    },
    isolation: {
      active: true,
      wrap: (file: string, args: readonly string[]): readonly [string, readonly string[]] =>
        failing !== null && args.join(' ').includes(failing)
          ? ['/bin/sh', ['-c', `echo ${REASON} >&2; exit 1`]]
          : [file, args],
    },
  };
}

test('a workspace whose work is published goes later, and nothing of it is told as unpublished', async (t) => {
  const { isolation, fail } = isolationThatFails();
  const { workspaces, mirror, task, ready } = await setUpWorkspaces(t, {}, undefined, undefined, { isolation });
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  await workspaces.push(task(), sha, [], signal);
  const told: string[] = [];
  const remove = () =>
    workspaces.remove({ ...task(), attempt: 0 }, signal, async (lines) => {
      told.push(...lines);
    });

  fail('');
  await failsWith(remove, GIT_CODES.git_not_launched, { said: REASON });
  assert.equal((await gitAs(path, 'rev-parse', 'HEAD')).trim(), sha);

  fail(null);
  await remove();
  assert.equal(existsSync(path), false);
  assert.deepEqual(told, []);
  assert.deepEqual(await mirror.refsBelow('refs/toolcrew/saved/'), []);
});

test('an agent is not blamed for it, and its clone with what is not committed stays', async (t) => {
  const { isolation, fail } = isolationThatFails();
  const { workspaces, task, ready, said } = await setUpWorkspaces(t, {}, undefined, undefined, { isolation });
  const { path } = await ready(task());
  const file = join(path, 'begun.txt');
  writeFileSync(file, 'begun\n');

  fail('');
  await failsWith(workspaces.collect(task(), signal), GIT_CODES.git_not_launched, { said: REASON });
  await failsWith(workspaces.beforeRun(task(2), signal), GIT_CODES.git_not_launched, { said: REASON });

  fail(null);
  await workspaces.beforeRun(task(2), signal);
  assert.equal(readFileSync(file, 'utf8'), 'begun\n');
  assert.deepEqual(said, []);
});

test('a reader of the clone that cannot begin is no failure of git either', async (t) => {
  const { isolation, fail } = isolationThatFails();
  const { workspaces, task, ready, said } = await setUpWorkspaces(t, {}, undefined, undefined, { isolation });
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');

  fail('upload-pack');
  await failsWith(workspaces.collect(task(), signal), GIT_CODES.git_not_launched, { command: 'fetch' });
  await failsWith(workspaces.remove(task(), signal), GIT_CODES.git_not_launched, { command: 'fetch' });
  assert.equal((await gitAs(path, 'rev-parse', 'HEAD')).trim(), sha);
  assert.deepEqual(said, []);

  fail(null);
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
});

for (const place of ['inside', '.tool/worktrees/one/two'])
  test(`changes in ${place} that could not be read for that are saved later, and nothing is set aside`, async (t) => {
    const { isolation, fail } = isolationThatFails();
    const { workspaces, mirror, task, ready, said } = await setUpWorkspaces(t, {}, undefined, undefined, { isolation });
    const { path } = await ready(task());
    mkdirSync(join(path, place), { recursive: true });
    if (place === 'inside') await gitAs(join(path, place), 'init', '--quiet');
    writeFileSync(join(path, place, 'begun.txt'), 'begun\n');

    fail(`--work-tree=${join(path, place)}`);
    await failsWith(workspaces.remove(task(), signal), GIT_CODES.git_not_launched, { said: REASON });
    assert.ok(existsSync(path), said.join(''));

    fail(null);
    await workspaces.remove(task(), signal);
    const refs = await mirror.refsBelow('refs/toolcrew/saved/');
    const texts = await Promise.all(refs.map((ref) => gitAs(mirror.path, 'ls-tree', '-r', '--name-only', ref)));
    assert.ok(
      texts.some((text) => text.includes('begun.txt')),
      said.join(''),
    );
  });
