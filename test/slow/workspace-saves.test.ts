// Recovery of an agent's unpublished work: at a retry, from a broken clone, after the workspace is removed.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { parse } from 'yaml';
import { isFailure } from '../../src/base/rules/errors.ts';
import { workflowText } from '../../src/cli/workflow-text.ts';
import { faultOf } from '../../src/daemon/fault.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import type { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const isAgents = (error: unknown) => faultOf(error) === 'agent';

async function savedIn(mirror: Mirror): Promise<string[]> {
  const text = await gitAs(mirror.path, 'for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved');
  return text.split('\n').filter((ref) => ref !== '');
}

test('unpublished commits outlive the workspace, published ones are not kept twice', async (t) => {
  const { workspaces, task, ready, mirror, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const first = await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  await workspaces.push(task(), first, [], signal);
  await gitAs(path, 'checkout', '--quiet', '-b', 'aside', 'HEAD~1');
  const aside = await commitFiles(path, { 'aside.txt': 'aside\n' }, 'aside');
  await gitAs(path, 'checkout', '--quiet', 'tool/issue-1');
  const second = await commitFiles(path, { 'b.txt': '2\n' }, 'two');
  await workspaces.remove(task(), signal);
  const refs = await savedIn(mirror);
  assert.deepEqual(refs, ['refs/toolcrew/saved/issue-1-1-1-commits', 'refs/toolcrew/saved/issue-1-1-1-commits-2']);
  const kept = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.deepEqual(kept.sort(), [aside, second].sort());
  assert.match(said.join(''), /unpublished commits saved as/);
  assert.equal(await gitAs(mirror.path, 'for-each-ref', 'refs/toolcrew/work'), '');

  const other = task(1, 1, 2);
  const place = await ready(other);
  await workspaces.push(other, await commitFiles(place.path, { 'c.txt': '3\n' }, 'three'), [], signal);
  await workspaces.remove(other, signal);
  assert.equal((await savedIn(mirror)).length, 2);
});

test('commits that a tag alone holds outlive the workspace, and what the remote has under a tag is not kept twice', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const own: string[] = [];
  for (const [tag, ...how] of [['light'], ['heavy', '-a', '-m', 'a tag']]) {
    await gitAs(path, 'checkout', '--quiet', '--detach', 'origin/main');
    own.push(await commitFiles(path, { [`${tag}.txt`]: 'x\n' }, String(tag)));
    await gitAs(path, 'tag', ...how, String(tag));
  }
  await gitAs(path, 'tag', 'known', 'origin/main');
  await gitAs(path, 'checkout', '--quiet', 'tool/issue-1');
  await gitAs(path, 'pack-refs', '--all');
  const { heads } = await workspaces.kept(task(), signal);
  assert.deepEqual([...heads].sort(), own.map((sha) => `commit ${sha}`).sort());
  await workspaces.remove(task(), signal);
  const refs = await savedIn(mirror);
  const kept = await Promise.all(refs.map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()));
  assert.deepEqual(kept.sort(), own.sort());
});

test('kept work is named by its directories, its branches and its refs, and what is published is not', async (t) => {
  const { workspaces, task, ready, root, mirror, directory } = await setUpWorkspaces(t);
  assert.deepEqual(await workspaces.kept(task(), signal), { directories: [], heads: [], refs: [] });
  const { path } = await ready(task());
  writeFileSync(join(path, 'open.txt'), 'open\n');
  const { savedAs } = await workspaces.collect(task(), signal);
  const published = await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  await workspaces.push(task(), published, [], signal);
  const nothing = await workspaces.kept(task(), signal);
  assert.deepEqual(nothing, { directories: [path], heads: [], refs: [savedAs] });
  await gitAs(path, 'checkout', '--quiet', '-b', 'my/own');
  await commitFiles(path, { 'b.txt': '2\n' }, 'two');
  await gitAs(path, 'checkout', '--quiet', '--detach');
  const loose = await commitFiles(path, { 'c.txt': '3\n' }, 'three');
  const kept = await workspaces.kept(task(), signal);
  assert.deepEqual(kept, { directories: [path], heads: ['branch my/own', `commit ${loose}`], refs: [savedAs] });
  assert.deepEqual(await workspaces.kept(task(1, 2), signal).then(({ refs }) => refs), [], 'another life');
  for (const name of ['issue-1-1', 'issue-1-1-2', 'issue-1-11'])
    mkdirSync(join(root, '.toolcrew', 'aside', name), { recursive: true });
  const { directories } = await workspaces.kept(task(), signal);
  const aside = ['issue-1-1', 'issue-1-1-2'].map((name) => join(root, '.toolcrew', 'aside', name));
  assert.deepEqual(directories, [path, ...aside]);
  // No path of the state directory is named: it holds the credential files.
  assert.ok(!JSON.stringify(kept).includes(join(directory, 'state')));
  assert.ok((await mirror.refsBelow('refs/toolcrew/saved/')).length > 0);
});

test('saving twice in one attempt loses neither', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  writeFileSync(join(path, 'one.txt'), 'one\n');
  const first = await workspaces.collect(task(), signal);
  rmSync(join(path, 'one.txt'));
  writeFileSync(join(path, 'two.txt'), 'two\n');
  const second = await workspaces.collect(task(), signal);
  assert.equal(await gitAs(mirror.path, 'show', `${first.savedAs}:one.txt`), 'one\n');
  assert.equal(await gitAs(mirror.path, 'show', `${second.savedAs}:two.txt`), 'two\n');
});

test('a merge that an agent had begun is saved before it is undone', async (t) => {
  const { work, bare, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'README.md': 'mine\n' }, 'mine');
  await commitFiles(work, { 'README.md': 'theirs\n' }, 'theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  await mirror.refresh(signal);
  await gitAs(path, 'fetch', '--quiet', 'origin');
  await assert.rejects(gitAs(path, 'merge', 'origin/main'), /conflict/i);
  writeFileSync(join(path, 'README.md'), 'both, worked out\n');
  await ready(task(2));
  const [ref = ''] = await savedIn(mirror);
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:README.md`), 'both, worked out\n');
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'mine\n');
  assert.equal(existsSync(join(path, '.git', 'MERGE_HEAD')), false);
});

test('a retry goes on from a branch of the agent’s own, and saves one that leads elsewhere', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  await gitAs(path, 'checkout', '--quiet', '-b', 'my-own');
  const ahead = await commitFiles(path, { 'b.txt': '2\n' }, 'two');
  writeFileSync(join(path, 'half.txt'), 'half\n');
  await ready(task(2));
  assert.equal((await gitAs(path, 'branch', '--show-current')).trim(), 'tool/issue-1');
  assert.equal((await workspaces.collect(task(2), signal)).head, ahead);
  assert.ok(existsSync(join(path, 'half.txt')));
  await gitAs(path, 'checkout', '--quiet', '-b', 'elsewhere', 'HEAD~1');
  const elsewhere = await commitFiles(path, { 'c.txt': '3\n' }, 'three');
  await ready(task(3));
  assert.equal((await workspaces.collect(task(3), signal)).head, ahead);
  const [ref = ''] = (await savedIn(mirror)).filter((name) => name.includes('commits'));
  assert.equal((await gitAs(mirror.path, 'rev-parse', ref)).trim(), elsewhere);
});

test('locks that a git left behind are in nobody’s way', async (t) => {
  const { work, bare, task, ready } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  await commitFiles(work, { 'theirs.txt': 'theirs\n' }, 'theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const locks = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock', 'refs/heads/tool/issue-1.lock'];
  for (const lock of [...locks, 'refs/remotes/origin/main.lock', 'shallow.lock'])
    writeFileSync(join(path, '.git', lock), '');
  await ready(task(2));
  for (const file of ['a.txt', 'theirs.txt']) assert.ok(existsSync(join(path, file)), file);
});

test('commits without any in common with main are the agent’s fault, and the next attempt starts anew', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await gitAs(path, 'checkout', '--quiet', '--orphan', 'fresh');
  const orphan = await commitFiles(path, { 'a.txt': '1\n' }, 'orphan');
  await gitAs(path, 'checkout', '--quiet', '-B', 'tool/issue-1');
  assert.equal(await workspaces.peek(task(), signal), null);
  await assert.rejects(
    workspaces.collect(task(), signal),
    (error: unknown) => isAgents(error) && isFailure(error, WORKSPACES_CODES.history_unrelated),
  );
  await ready(task(2));
  assert.deepEqual(await workspaces.collect(task(2), signal), { head: null, savedAs: null });
  const [ref = ''] = await savedIn(mirror);
  assert.equal((await gitAs(mirror.path, 'rev-parse', ref)).trim(), orphan);
});

test('a clone that git cannot use any more is made anew, its files and commits saved', async (t) => {
  const { workspaces, task, ready, mirror, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const sha = await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  writeFileSync(join(path, 'half.txt'), 'half\n');
  writeFileSync(join(path, '.git', 'index'), 'not an index');
  assert.equal((await workspaces.collect(task(), signal)).head, sha, 'what was committed can be read');
  await ready(task(2));
  assert.match(said.join(''), /the clone cannot be used and is made anew/);
  assert.equal((await gitAs(path, 'status', '--porcelain')).trim(), '');
  const refs = await savedIn(mirror);
  const commits = refs.find((ref) => ref.includes('commits')) ?? '';
  const files = refs.find((ref) => !ref.includes('commits')) ?? '';
  assert.equal((await gitAs(mirror.path, 'rev-parse', commits)).trim(), sha);
  assert.equal(await gitAs(mirror.path, 'show', `${files}:half.txt`), 'half\n');

  writeFileSync(join(path, '.git', 'index'), 'not an index');
  await assert.rejects(
    workspaces.collect(task(2), signal),
    (error: unknown) => isAgents(error) && isFailure(error, GIT_CODES.workspace_broken_by_agent),
  );
  writeFileSync(join(path, 'again.txt'), 'again\n');
  rmSync(join(path, '.git'), { recursive: true });
  await assert.rejects(workspaces.collect(task(2), signal), isAgents);
  assert.equal((await ready(task(3))).created, true);
  const last = (await savedIn(mirror)).find((ref) => ref.endsWith('issue-1-1-3')) ?? '';
  assert.equal(await gitAs(mirror.path, 'show', `${last}:again.txt`), 'again\n');
});

test('of the branches that an agent left, each is kept that can be read, also when git had packed them', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await gitAs(path, 'checkout', '--quiet', '-b', 'aside');
  const aside = await commitFiles(path, { 'aside.txt': '1\n' }, 'aside');
  await gitAs(path, 'checkout', '--quiet', '-b', 'amended', 'main');
  await commitFiles(path, { 'b.txt': '1\n' }, 'first');
  await gitAs(path, 'pack-refs', '--all');
  await gitAs(path, 'commit', '--quiet', '--amend', '-m', 'second');
  const amended = (await gitAs(path, 'rev-parse', 'HEAD')).trim();
  await gitAs(path, 'reflog', 'expire', '--expire=now', '--all');
  await gitAs(path, 'prune', '--expire=now');
  await workspaces.remove(task(), signal);
  const kept = await Promise.all((await savedIn(mirror)).map((ref) => gitAs(mirror.path, 'rev-parse', ref)));
  assert.deepEqual(kept.map((sha) => sha.trim()).sort(), [aside, amended].sort());
});

test('work in a clone without history, made by a script, is collected and published', async (t) => {
  const afterCreate = 'git clone --quiet --depth 1 "$TOOL_CLONE_URL" .';
  const { work, bare, workspaces, task, ready } = await setUpWorkspaces(t, { afterCreate });
  await commitFiles(work, { 'later.txt': 'x\n' }, 'later');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  const { path } = await ready(task());
  assert.ok(existsSync(join(path, '.git', 'shallow')));
  const sha = await commitFiles(path, { 'a.txt': '1\n' }, 'one');
  assert.equal(await workspaces.peek(task(), signal), sha);
  assert.equal((await workspaces.collect(task(), signal)).head, sha);
  assert.deepEqual(await workspaces.commitMessages(task(), sha, signal), ['one']);
  await workspaces.push(task(), sha, [], signal);
  assert.equal((await gitAs(bare, 'rev-list', '--count', 'tool/issue-1')).trim(), '3');
});

/** The scripts as the wizard writes them. */
function wizardHooks() {
  const text = workflowText({ repo: 'o/r', apiUrl: null, label: 'x', root: '/w', port: 0, maxAgents: 1 }, false);
  const { hooks } = parse(text.split('---\n')[1] ?? '');
  return { afterCreate: String(hooks.after_create), beforeRun: String(hooks.before_run) };
}

test('the wizard’s scripts do what the daemon does without them', async (t) => {
  const { work, bare, workspaces, task, ready, mirror, said } = await setUpWorkspaces(t, wizardHooks());
  const { path } = await ready(task());
  assert.equal((await gitAs(path, 'branch', '--show-current')).trim(), 'tool/issue-1');
  const first = await commitFiles(path, { 'mine.txt': 'mine\n' }, 'mine');
  await workspaces.push(task(), first, [], signal);
  // A person pushes to the branch, main moves on, and what is not committed overlaps it.
  await gitAs(work, 'fetch', '--quiet', bare, 'tool/issue-1:tool/issue-1');
  await gitAs(work, 'checkout', '--quiet', 'tool/issue-1');
  await commitFiles(work, { 'human.txt': 'x\n' }, 'by a person');
  await gitAs(work, 'push', '--quiet', bare, 'tool/issue-1');
  await gitAs(work, 'checkout', '--quiet', 'main');
  await commitFiles(work, { 'README.md': 'theirs\n' }, 'theirs');
  await gitAs(work, 'push', '--quiet', bare, 'main');
  writeFileSync(join(path, 'README.md'), 'uncommitted\n');
  await ready(task(2));
  assert.ok(existsSync(join(path, 'human.txt')));
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'uncommitted\n');
  assert.match(said.join(''), /origin\/main .*; it is left out/);
  // A merge under way.
  await commitFiles(path, { 'README.md': 'mine\n' }, 'mine, too');
  await assert.rejects(gitAs(path, 'merge', 'origin/main'), /conflict/i);
  writeFileSync(join(path, 'README.md'), 'worked out\n');
  await ready(task(3));
  assert.equal(await gitAs(mirror.path, 'show', 'refs/toolcrew/saved/issue-1-1-3:README.md'), 'worked out\n');
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'mine\n');
  // The issue starts over, with the next `life`.
  writeFileSync(join(path, 'left.txt'), 'left\n');
  await ready(task(1, 2));
  assert.equal((await gitAs(path, 'branch', '--show-current')).trim(), 'tool/issue-1-2');
  assert.equal(existsSync(join(path, 'left.txt')), false);
  assert.equal(readFileSync(join(path, 'README.md'), 'utf8'), 'theirs\n');
  assert.equal(await gitAs(mirror.path, 'show', 'refs/toolcrew/saved/issue-1-2-1:left.txt'), 'left\n');
});
