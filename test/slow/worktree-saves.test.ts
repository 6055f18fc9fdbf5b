// Saved work of teammates: changes and loose commits in their worktrees outlive the workspace.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Mirror } from '../../src/daemon/workspaces/mirror/mirror.ts';
import { commitFiles, gitAs } from '../support/forge.ts';
import { setUpWorkspaces } from '../support/workspaces.ts';

const { signal } = new AbortController();
const TEAM = 'tool-run-issue-1';
const SAVED = 'refs/toolcrew/saved/issue-1-1-1';

async function savedIn(mirror: Mirror): Promise<string[]> {
  const text = await gitAs(mirror.path, 'for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved');
  return text.split('\n').filter((ref) => ref !== '');
}

/** A worktree as a team makes it. */
async function worktree(path: string, name: string, ...how: readonly string[]): Promise<string> {
  const place = join(path, '.tool', 'worktrees', TEAM, name);
  const branch = how.length > 0 ? how : ['-b', `tool/${TEAM}--${name}`];
  await gitAs(path, 'worktree', 'add', '--quiet', ...branch, place);
  writeFileSync(join(path, '.git', 'info', 'exclude'), '/.tool/worktrees/\n');
  return place;
}

test('what is not committed in a worktree is saved, untracked files too, ignored ones not', async (t) => {
  const { workspaces, task, ready, mirror, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const place = await worktree(path, 'backend-dev');
  const committed = await commitFiles(place, { 'a.txt': 'committed\n', '.gitignore': 'ignored.txt\n' }, 'one');
  writeFileSync(join(place, 'a.txt'), 'changed\n');
  writeFileSync(join(place, 'new.txt'), 'new\n');
  writeFileSync(join(place, 'ignored.txt'), 'ignored\n');
  await worktree(path, 'tester');
  await workspaces.remove(task(), signal);
  const ref = `${SAVED}-${TEAM}-backend-dev`;
  assert.deepEqual(await savedIn(mirror), [`${SAVED}-commits`, ref].sort());
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:a.txt`), 'changed\n');
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:new.txt`), 'new\n');
  await assert.rejects(gitAs(mirror.path, 'show', `${ref}:ignored.txt`));
  assert.equal(
    (await gitAs(mirror.path, 'rev-parse', `${ref}^`)).trim(),
    committed,
    'it goes on from what it stood on',
  );
  assert.ok(said.includes(`uncommitted changes of ${TEAM}/backend-dev saved as ${ref}\n`), said.join(''));
});

test('commits under no branch are saved: of a worktree that left its own, and what a team kept aside', async (t) => {
  const { workspaces, task, ready, mirror } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const place = await worktree(path, 'backend-dev', '--detach');
  const loose = await commitFiles(place, { 'loose.txt': '1\n' }, 'loose');
  const other = await worktree(path, 'tester', '--detach');
  const aside = await commitFiles(other, { 'aside.txt': '1\n' }, 'aside');
  await gitAs(path, 'update-ref', `refs/toolcrew/refused/${TEAM}/tester/${aside}`, aside);
  await gitAs(other, 'checkout', '--quiet', '--detach', 'main');
  await workspaces.remove(task(), signal);
  const kept = await Promise.all(
    (await savedIn(mirror)).map(async (ref) => (await gitAs(mirror.path, 'rev-parse', ref)).trim()),
  );
  assert.deepEqual(kept.sort(), [loose, aside].sort());
});

test('a worktree whose commit cannot be told is saved as it lies there, and so are all of a broken clone', async (t) => {
  const { workspaces, task, ready, mirror, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const place = await worktree(path, 'backend-dev');
  writeFileSync(join(place, 'new.txt'), 'new\n');
  writeFileSync(join(path, '.git', 'config'), 'no settings [');
  writeFileSync(join(path, '.git', 'HEAD'), 'nonsense\n');
  writeFileSync(join(place, '.git'), 'gitdir: /nowhere/at/all\n');
  await workspaces.remove(task(), signal);
  const ref = (await savedIn(mirror)).find((name) => name.endsWith('backend-dev'));
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:new.txt`), 'new\n', said.join(''));
});

test('no link is followed out of the workspace, and what a worktree says of its settings does not count', async (t) => {
  const { workspaces, task, ready, mirror, directory, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const place = await worktree(path, 'backend-dev');
  writeFileSync(join(place, 'new.txt'), 'new\n');
  const outside = join(directory, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'secret\n');
  symlinkSync(outside, join(path, '.tool', 'worktrees', TEAM, 'linked'));
  const elsewhere = join(path, 'elsewhere');
  await gitAs(path, 'init', '--quiet', elsewhere);
  await gitAs(elsewhere, 'config', 'filter.x.clean', `sh -c 'touch ${directory}/ran; cat'`);
  writeFileSync(join(place, '.gitattributes'), '* filter=x\n');
  writeFileSync(join(place, '.git'), `gitdir: ${join(elsewhere, '.git')}\n`);
  await workspaces.remove(task(), signal);
  const refs = await savedIn(mirror);
  const ref = refs.find((name) => name.endsWith('backend-dev'));
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:new.txt`), 'new\n', said.join(''));
  assert.equal(
    refs.some((name) => name.includes('linked')),
    false,
  );
  assert.throws(() => symlinkSync('x', join(directory, 'outside')), /EEXIST/);
  await assert.rejects(gitAs(directory, 'hash-object', join(directory, 'ran')));
});

test('what was on its way out of a team, or half in, is nobody’s work; what was set aside is', async (t) => {
  const { workspaces, task, ready, mirror, said } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  await worktree(path, 'backend-dev');
  for (const word of ['gone', 'installed', 'aside']) {
    const place = join(path, '.tool', 'worktrees', TEAM, `.${word}-backend-dev`);
    mkdirSync(place);
    writeFileSync(join(place, 'left.txt'), 'left\n');
  }
  await workspaces.remove(task(), signal);
  const [ref = '', ...others] = await savedIn(mirror);
  assert.match(ref, /-aside-backend-dev$/, said.join(''));
  assert.deepEqual(others, []);
  assert.equal(await gitAs(mirror.path, 'show', `${ref}:left.txt`), 'left\n');
});
