// Words of the commands on an issue.

import assert from 'node:assert/strict';
import test from 'node:test';
import { steerWords } from '../../../src/cli/rules/steer-words.ts';

test('a retry says whether an attempt follows', () => {
  assert.equal(steerWords('retry', 'retrying'), 'is tried again when a slot is free');
  assert.equal(steerWords('retry', 'publishing'), 'is published without waiting');
  assert.equal(steerWords('cancel', 'publishing'), steerWords('cancel', 'running'));
});
