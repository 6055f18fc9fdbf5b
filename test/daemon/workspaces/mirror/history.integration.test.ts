import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Histories } from '../../../../src/daemon/workspaces/mirror/history.ts';
import { commitFiles, gitAs } from '../../../support/forge.ts';
import { type Cleanup, tempDir } from '../../../support/temp.ts';

async function repository(t: Cleanup) {
  const path = tempDir(t);
  await gitAs(path, 'init', '--quiet', '--initial-branch', 'main');
  await commitFiles(path, { 'a.txt': 'a\n' }, 'first');
  await gitAs(path, 'checkout', '--quiet', '-b', 'work');
  const head = async (ref = 'HEAD') => (await gitAs(path, 'rev-parse', ref)).trim();
  const histories = new Histories((args) => gitAs(path, ...args));
  const history = async () => histories.of(await head('main'), await head(), new AbortController().signal);
  return { path, history };
}

test('commits beyond the default branch: what they say, oldest first, and that they change something', async (t) => {
  const { path, history } = await repository(t);
  assert.deepEqual(await history(), { relation: 'nothing', messages: [], mayAddLinks: false });
  await commitFiles(path, { 'b.txt': 'b\n' }, 'one\n\nwith a body\n> and a line like a mark');
  await commitFiles(path, { 'c.txt': 'c\n' }, 'two');
  const messages = ['one\n\nwith a body\n> and a line like a mark', 'two'];
  const told = { relation: 'changes', messages, mayAddLinks: false };
  assert.deepEqual(await history(), told);
  await gitAs(path, 'checkout', '--quiet', 'main');
  await commitFiles(path, { 'd.txt': 'd\n' }, 'main goes on');
  await gitAs(path, 'checkout', '--quiet', 'work');
  assert.deepEqual(await history(), told);
});

test('commits that take each other back change nothing', async (t) => {
  const { path, history } = await repository(t);
  await commitFiles(path, { 'a.txt': 'b\n' }, 'there');
  await commitFiles(path, { 'a.txt': 'a\n' }, 'and back');
  assert.deepEqual(await history(), { relation: 'nothing', messages: ['there', 'and back'], mayAddLinks: false });
});

test('a commit without a change is nothing, whatever it says', async (t) => {
  const { path, history } = await repository(t);
  await gitAs(path, 'commit', '--quiet', '--allow-empty', '-m', 'One', '-m', ':100644 100644 0000000 1111111 M\tb.txt');
  assert.equal((await history()).relation, 'nothing');
});

test('a branch that is behind has nothing; one with no commit in common is unrelated', async (t) => {
  const { path, history } = await repository(t);
  await gitAs(path, 'checkout', '--quiet', 'main');
  await commitFiles(path, { 'b.txt': 'b\n' }, 'ahead');
  await gitAs(path, 'checkout', '--quiet', 'work');
  assert.equal((await history()).relation, 'nothing');
  await gitAs(path, 'checkout', '--quiet', '--orphan', 'other');
  await commitFiles(path, { 'z.txt': 'z\n' }, 'alone');
  assert.equal((await history()).relation, 'unrelated');
});

test('a commit that adds a link may add links; one that only has a link does not', async (t) => {
  const { path, history } = await repository(t);
  mkdirSync(join(path, 'deps/one'), { recursive: true });
  await gitAs(path, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},deps/one`);
  await gitAs(path, 'commit', '--quiet', '-m', 'a link');
  assert.equal((await history()).mayAddLinks, true);
  await gitAs(path, 'branch', '--force', 'main');
  await commitFiles(path, { 'b.txt': 'b\n' }, 'a file');
  assert.equal((await history()).mayAddLinks, false);
  await gitAs(path, 'rm', '--quiet', '--cached', 'deps/one');
  await gitAs(path, 'commit', '--quiet', '-m', ':000000 160000 0000000 1111111 A\tdeps/two');
  assert.deepEqual((await history()).relation, 'changes');
});

test('merges are not told, and where the log does not tell what changes, that is said', async (t) => {
  const { path, history } = await repository(t);
  await commitFiles(path, { 'b.txt': 'b\n' }, 'mine');
  await gitAs(path, 'checkout', '--quiet', 'main');
  await commitFiles(path, { 'c.txt': 'c\n' }, 'theirs');
  await gitAs(path, 'checkout', '--quiet', 'work');
  await gitAs(path, 'merge', '--quiet', '--no-edit', 'main');
  assert.deepEqual(await history(), { relation: null, messages: ['mine'], mayAddLinks: true });
});

test('of very many commits the last ones are told', async (t) => {
  const { path, history } = await repository(t);
  const stream = Array.from({ length: 120 }, (_, index) => {
    const message = `commit ${index}`;
    const from = index === 0 ? 'from refs/heads/main^0\n' : '';
    return `commit refs/heads/many\ncommitter a <a@b> ${1_700_000_000 + index} +0000\ndata ${message.length}\n${message}\n${from}M 644 inline n.txt\ndata ${String(index).length}\n${index}\n`;
  });
  writeFileSync(join(path, 'stream'), stream.join(''));
  await gitAs(path, '-c', 'alias.load=!git fast-import --quiet <stream', 'load');
  await gitAs(path, 'checkout', '--quiet', 'many');
  const { relation, messages } = await history();
  assert.equal(relation, null);
  assert.equal(messages.length, 50);
  assert.equal(messages.at(-1), 'commit 119');
});
