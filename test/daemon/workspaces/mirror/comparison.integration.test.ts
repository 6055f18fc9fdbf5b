// Comparison of commits in a real repository: of a very long diff, a part alone is read.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isFailure } from '../../../../src/base/rules/errors.ts';
import { Comparison } from '../../../../src/daemon/workspaces/mirror/comparison.ts';
import { tryGit } from '../../../../src/git/git.ts';
import { GIT_CODES } from '../../../../src/git/rules/git-codes.ts';
import { commitFiles, gitAs } from '../../../support/forge.ts';
import { tempDir } from '../../../support/temp.ts';

test('of a diff of many megabytes the beginning and the end are read', async (t) => {
  const cwd = tempDir(t);
  await gitAs(cwd, 'init', '--quiet', '--initial-branch', 'main');
  await commitFiles(cwd, { 'a.txt': 'a\n' }, 'first');
  const base = (await gitAs(cwd, 'rev-parse', 'HEAD')).trim();
  await commitFiles(cwd, { 'b.txt': `first line\n${'some line\n'.repeat(500_000)}last line\n` }, 'second');
  const sha = (await gitAs(cwd, 'rev-parse', 'HEAD')).trim();
  const comparison = new Comparison({
    try: (args, signal, maxBytes = 64 * 1024 * 1024) => tryGit(args, { cwd, signal, maxBytes }),
    tip: async () => base,
    relate: async () => undefined,
  });
  const { files, diff } = await comparison.changes(base, sha, new AbortController().signal);
  assert.deepEqual(files, ['A b.txt']);
  // A megabyte, and what the last pieces from the pipe are longer by.
  assert.ok(diff.length < 1_200_000, String(diff.length));
  assert.match(diff, /^\+first line$/m);
  assert.match(diff, /^\+last line$/m);
});

test('a commit that is missing is in no history; a failure of git says nothing of one', async (t) => {
  const cwd = tempDir(t);
  await gitAs(cwd, 'init', '--quiet', '--initial-branch', 'main');
  const first = await commitFiles(cwd, { 'a.txt': 'a\n' }, 'first');
  const second = await commitFiles(cwd, { 'b.txt': 'b\n' }, 'second');
  const { signal } = new AbortController();
  const comparisonIn = (directory: string) =>
    new Comparison({
      try: (args) => tryGit(args, { cwd: directory, signal }),
      ...{ tip: async () => second, relate: async () => undefined },
    });
  const ask = (from: string, commit: string, directory = cwd) => comparisonIn(directory).goesOn(from, commit, signal);
  assert.deepEqual(
    [await ask(first, second), await ask(second, first), await ask('1'.repeat(40), second)],
    [true, false, false],
  );
  await assert.rejects(ask(first, second, tempDir(t)), (error) => isFailure(error, GIT_CODES.git_failed));
});
