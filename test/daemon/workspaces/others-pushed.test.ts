// Commits that others push to an issue's branch, with real repositories: they are taken in, and never overwritten.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isFailure } from '../../../src/base/rules/errors.ts';
import { WORKSPACES_CODES } from '../../../src/daemon/rules/codes/workspaces-codes.ts';
import { commitFiles, gitAs } from '../../support/forge.ts';
import { setUpWorkspaces } from '../../support/workspaces.ts';

const { signal } = new AbortController();
const BRANCH = 'tool/issue-1';

test('a commit of others that goes on from ours comes into the workspace, and no push goes without it', async (t) => {
  const { workspaces, task, ready, work, bare } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const ours = await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');
  await workspaces.push(task(), (await workspaces.collect(task(), signal)).head ?? '', [], signal);
  await gitAs(work, 'fetch', '--quiet', bare, BRANCH);
  await gitAs(work, 'checkout', '--quiet', '-B', BRANCH, 'FETCH_HEAD');
  const theirs = await commitFiles(work, { 'typo.txt': 'mended\n' }, 'Mend a typo');
  assert.equal(await workspaces.goesOn(BRANCH, ours, theirs, signal), null, 'it is not pushed yet');
  await gitAs(work, 'push', '--quiet', bare, BRANCH);
  assert.equal(await workspaces.goesOn(BRANCH, ours, theirs, signal), true);
  assert.equal(await workspaces.goesOn(BRANCH, ours, ours, signal), null, 'it is not the last one');
  // Work that was finished meanwhile is joined with theirs.
  await commitFiles(path, { 'more.txt': 'more\n' }, 'More');
  const { head } = await workspaces.takeBase(task(), signal);
  await gitAs(path, 'merge-base', '--is-ancestor', theirs, head ?? '');
  await workspaces.push(task(), head ?? '', [ours], signal, theirs);
  // An agent that rewrites the branch afterwards takes nothing of theirs away.
  await gitAs(path, 'reset', '--quiet', '--hard', ours);
  const without = await commitFiles(path, { 'again.txt': 'again\n' }, 'Again');
  await workspaces.collect(task(), signal);
  await assert.rejects(workspaces.push(task(), without, [ours, head ?? ''], signal, theirs), (error) =>
    isFailure(error, WORKSPACES_CODES.branch_has_foreign_commits),
  );
  assert.equal((await gitAs(bare, 'rev-parse', BRANCH)).trim(), head);
});

test('a branch that others rewrote does not go on from ours', async (t) => {
  const { workspaces, task, ready, work, bare } = await setUpWorkspaces(t);
  const { path } = await ready(task());
  const ours = await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');
  await workspaces.push(task(), (await workspaces.collect(task(), signal)).head ?? '', [], signal);
  await gitAs(work, 'checkout', '--quiet', '-B', BRANCH, 'main');
  const theirs = await commitFiles(work, { 'own.txt': 'another\n' }, 'Another');
  await gitAs(work, 'push', '--quiet', '--force', bare, BRANCH);
  assert.equal(await workspaces.goesOn(BRANCH, ours, theirs, signal), false);
});
