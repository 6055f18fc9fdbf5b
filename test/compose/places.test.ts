// Places of repositories on the disk.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { placesBelow } from '../../src/compose/places.ts';
import { tempDir } from '../support/temp.ts';

test('places of repositories are found without anybody naming them', (t) => {
  const base = tempDir(t);
  for (const path of ['o/dropped/.toolcrew', 'o/other', 'issue-1/src/deep'])
    mkdirSync(join(base, path), { recursive: true });
  writeFileSync(join(base, 'o', 'other', 'journal.jsonl'), '');
  writeFileSync(join(base, 'lock'), '');
  assert.deepEqual([...placesBelow(base)].sort(), [join(base, 'o', 'dropped'), join(base, 'o', 'other')]);
  assert.deepEqual(placesBelow(join(base, 'missing')), []);
});
