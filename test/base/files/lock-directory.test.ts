// Directory for lock files: private to the user.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ensurePrivateDirectory } from '../../../src/base/files/lock-directory.ts';
import { tempDir } from '../../support/temp.ts';

test('a place is this user’s own, and nobody else looks into it', (t) => {
  const directory = tempDir(t);
  const lax = join(directory, 'lax');
  mkdirSync(lax);
  chmodSync(lax, 0o777);
  assert.ok(ensurePrivateDirectory(lax));
  assert.equal(statSync(lax).mode & 0o777, 0o700);
  const link = join(directory, 'link');
  symlinkSync(lax, link);
  assert.equal(ensurePrivateDirectory(link), false);
});
