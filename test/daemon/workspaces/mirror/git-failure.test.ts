// Failures of git commands in the daemon's copies: the files that they name.

import assert from 'node:assert/strict';
import test from 'node:test';
import { gitFailure } from '../../../../src/daemon/workspaces/mirror/git-failure.ts';
import { GIT_CODES } from '../../../../src/git/rules/git-codes.ts';
import { isOf, wordsOf } from '../../../support/codes.ts';

test('a failure names the command, the files that it was for, and how it ended', () => {
  const files = ['new.bin', 'old.bin'];
  const pushed = gitFailure('lfs push', { exitCode: 2 }, 'no route to host', files);
  isOf(GIT_CODES.git_failed, { command: 'lfs push', exit: 2, files, said: 'no route to host' })(pushed);
  assert.equal(
    pushed.message,
    wordsOf(GIT_CODES.git_failed, {
      command: 'lfs push',
      files,
      exit: 2,
      said: 'no route to host',
    }),
  );
  const ended = gitFailure('fetch', { exitCode: null }, 'it was ended');
  assert.equal(ended.message, 'git fetch failed: it was ended');
});
