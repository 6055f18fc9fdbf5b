import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { isWithoutRoom } from '../../../src/base/files/room.ts';
import { tempDir } from '../../support/temp.ts';

test('a disk without room is one, and one that is not known is none', async (t) => {
  const directory = tempDir(t);
  assert.equal(await isWithoutRoom(directory), false);
  assert.equal(await isWithoutRoom(join(directory, 'nowhere')), false);
  // Nothing of it is free.
  assert.equal(await isWithoutRoom('/proc'), true);
});
