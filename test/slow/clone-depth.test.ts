// A daemon whose copy of the repository does not go back to the beginning.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { execaSync } from 'execa';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { isOf } from '../support/codes.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const DEPTH = 3;
const COMMITS = 30;

const countOf = async (path: string, ref = 'HEAD') => Number(await gitAs(path, 'rev-list', '--count', ref));

/** A branch of an earlier life stands on the remote, from long before the copy begins. */
async function setUp(t: TestContext) {
  const depth: { value: number | null } = { value: DEPTH };
  const made = await setUpWorkspaces(t, {}, 20_000, undefined, { depth: () => depth.value });
  const { work, bare } = made;
  await gitAs(work, 'checkout', '--quiet', '-b', 'tool/issue-2');
  await commitFiles(work, { 'earlier.txt': 'earlier\n' }, 'earlier');
  await gitAs(work, 'checkout', '--quiet', 'main');
  // All of them by one process.
  const at = `x <x@example.com> ${Math.floor(Date.now() / 1000)} +0000`;
  const stream = Array.from({ length: COMMITS }, (_, number) => {
    const message = `commit ${number}`;
    const from = number === 0 ? 'from refs/heads/main^0\n' : '';
    const head = `commit refs/heads/main\ncommitter ${at}\ndata ${message.length}\n${message}\n${from}`;
    return `${head}M 100644 inline file-${number}.txt\ndata 2\nx\n\n`;
  });
  execaSync({ cwd: work, input: stream.join('') })`git fast-import --quiet`;
  await gitAs(work, 'reset', '--quiet', '--hard');
  const push = (...refs: readonly string[]) => gitAs(work, 'push', '--quiet', bare, ...refs);
  await push('main', 'tool/issue-2');
  return { ...made, push, depth };
}

test('workspaces of a copy that ends early work, merge and publish', async (t) => {
  const { work, bare, push, mirror, workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  assert.equal(await countOf(path), DEPTH);
  assert.equal(await countOf(mirror.path), DEPTH);
  const sha = await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  await commitFiles(work, { 'theirs.txt': 'theirs\n' }, 'theirs');
  await push('main');
  await ready(task(1, 1, 3));
  await ready(task(2));
  assert.ok(existsSync(join(path, 'theirs.txt')));
  const { head } = await workspaces.collect(task(2), signal);
  assert.deepEqual(await workspaces.commitMessages(task(2), head ?? '', signal), ['mine']);
  await workspaces.push(task(2), head ?? '', [], signal);
  assert.equal((await gitAs(bare, 'rev-parse', 'tool/issue-1')).trim(), head);
  await gitAs(bare, 'merge-base', '--is-ancestor', sha, 'tool/issue-1');
  assert.ok((await countOf(mirror.path)) < COMMITS, 'none of that needed more');
  await workspaces.remove(task(2), signal);
});

test('the copy goes back as far as a branch from long ago needs it', async (t) => {
  const { bare, mirror, workspaces, task, ready, said } = await setUp(t);
  const { path } = await ready(task(1, 1, 2));
  assert.deepEqual(said, []);
  for (const name of ['earlier.txt', `file-${COMMITS - 1}.txt`]) assert.ok(existsSync(join(path, name)), name);
  await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  const { head } = await workspaces.collect(task(1, 1, 2), signal);
  assert.deepEqual(await workspaces.commitMessages(task(1, 1, 2), head ?? '', signal), ['earlier', 'mine']);
  await workspaces.push(task(1, 1, 2), head ?? '', [], signal);
  assert.equal((await gitAs(bare, 'rev-parse', 'tool/issue-2')).trim(), head);
  await gitAs(mirror.path, 'merge-base', 'main', head ?? '');
});

test('a branch of somebody else’s from long ago is not overwritten', async (t) => {
  const { bare, push, workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  await push('tool/issue-2:refs/heads/tool/issue-1');
  const theirs = await gitAs(bare, 'rev-parse', 'tool/issue-1');
  await assert.rejects(
    workspaces.push(task(), sha, [], signal),
    isOf(WORKSPACES_CODES.branch_has_foreign_commits, { branch: 'tool/issue-1', commit: theirs.trim().slice(0, 12) }),
  );
  assert.equal(await gitAs(bare, 'rev-parse', 'tool/issue-1'), theirs);
});

test('without the key the copy is completed, and workspaces from before go on', async (t) => {
  const { work, push, mirror, workspaces, task, ready, depth, said } = await setUp(t);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  depth.value = null;
  await commitFiles(work, { 'theirs.txt': 'theirs\n' }, 'theirs');
  await push('main');
  await ready(task(1, 1, 3));
  for (const place of [mirror.path, mirror.source])
    assert.equal((await gitAs(place, 'rev-parse', '--is-shallow-repository')).trim(), 'false', place);
  assert.equal(await countOf(mirror.path), await countOf(work));
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  await ready(task(2));
  assert.equal(readFileSync(join(path, 'theirs.txt'), 'utf8'), 'theirs\n');
  assert.notEqual((await workspaces.collect(task(2), signal)).head, null);
  assert.deepEqual(said, []);
});

test('a main that was made anew from before the copy begins is merged all the same', async (t) => {
  const { work, push, mirror, workspaces, task, ready, said } = await setUp(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  const ends = readFileSync(join(mirror.path, 'shallow'), 'utf8').trim();
  await gitAs(work, 'reset', '--quiet', '--hard', `HEAD~${2 * DEPTH}`);
  await commitFiles(work, { 'theirs.txt': 'theirs\n' }, 'theirs');
  await push('+main');
  await ready(task(2));
  assert.deepEqual(said, []);
  for (const name of ['mine.txt', 'theirs.txt']) assert.ok(existsSync(join(path, name)), name);
  const { head } = await workspaces.collect(task(2), signal);
  assert.equal((await workspaces.commitMessages(task(2), head ?? '', signal)).at(-1), 'mine');
  await gitAs(mirror.path, 'rev-parse', `${ends}~1`);
});

test('what the remote does not have any more is asked for once', async (t) => {
  const { work, bare, push, mirror, workspaces, task, ready } = await setUp(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  await gitAs(work, 'checkout', '--quiet', '--orphan', 'another');
  await commitFiles(work, { 'theirs.txt': 'theirs\n' }, 'theirs');
  await push('+another:main', ':tool/issue-2');
  await gitAs(bare, 'reflog', 'expire', '--expire=now', '--all');
  await gitAs(bare, 'gc', '--quiet', '--prune=now');
  await assert.rejects(
    async () => {
      mirror.outdate();
      await workspaces.refresh(signal);
      await workspaces.collect(task(), signal);
    },
    isOf(WORKSPACES_CODES.history_unrelated, { branch: 'tool/issue-1', base: 'main' }),
  );
  assert.ok(existsSync(join(mirror.path, 'shallow')));
});

test('a larger depth brings the copy further back, a smaller one leaves it', async (t) => {
  const { mirror, workspaces, depth } = await setUp(t);
  await workspaces.refresh(signal);
  for (const [value, count] of [
    [DEPTH + 4, DEPTH + 4],
    [1, DEPTH + 4],
    [DEPTH + 5, DEPTH + 5],
  ] as const) {
    depth.value = value;
    mirror.outdate();
    await workspaces.refresh(signal);
    assert.equal(await countOf(mirror.path, 'main'), count);
  }
});

test('workspaces go on when the copy was made anew, and begins later than theirs', async (t) => {
  const { work, push, mirror, workspaces, task, ready, said } = await setUp(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  for (let number = 0; number < 2 * DEPTH; number++) await commitFiles(work, { 'more.txt': `${number}\n` }, 'more');
  await push('main');
  mirror.distrust();
  await workspaces.refresh(signal);
  assert.equal(await countOf(mirror.path, 'main'), DEPTH);
  const { head } = await workspaces.collect(task(), signal);
  assert.equal((await gitAs(path, 'rev-parse', 'HEAD')).trim(), head);
  await ready(task(2));
  assert.deepEqual(said, []);
  assert.ok(existsSync(join(path, 'more.txt')));
  assert.notEqual((await workspaces.collect(task(2), signal)).head, null);
});
