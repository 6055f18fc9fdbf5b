// Rows of `tool doctor` of errors that something else threw.

import assert from 'node:assert/strict';
import test from 'node:test';
import { failure } from '../../../src/base/rules/errors.ts';
import { failedBy } from '../../../src/cli/doctor/doctor-row.ts';
import { GITHUB_CODES } from '../../../src/daemon/rules/codes/github-codes.ts';

test('a row says what mends it as the error table does, unless it knows better', () => {
  const error = failure(GITHUB_CODES.app_unknown, { key: 'tracker.app_id', id: '7', said: 'it answered 401' });
  assert.equal(failedBy('token', error, null).mend, GITHUB_CODES.app_unknown.help);
  assert.equal(failedBy('token', error, 'install git').mend, 'install git');
});
