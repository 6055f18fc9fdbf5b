import assert from 'node:assert/strict';
import test from 'node:test';
import { refusal } from '../../../src/base/rules/codes.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import { countsAsWriter, judgeTrust } from '../../../src/daemon/rules/trust.ts';

const writer = { actor: { login: 'writer', type: 'User' }, mayWrite: true };
const stranger = { actor: { login: 'stranger', type: 'User' }, mayWrite: false };
const nobody = { actor: null, mayWrite: false };

test('author and labeller must both be able to write', () => {
  assert.deepEqual(judgeTrust('write', 'tool-todo', writer, writer), { trusted: true });
  assert.deepEqual(judgeTrust('write', 'tool-todo', stranger, writer), {
    trusted: false,
    why: [refusal(WORK_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' })],
  });
  assert.deepEqual(judgeTrust('write', 'tool-todo', writer, stranger), {
    trusted: false,
    why: [refusal(WORK_CODES.issue_untrusted, { person: 'stranger', role: 'put tool-todo on it' })],
  });
  assert.deepEqual(judgeTrust('write', 'tool-todo', stranger, nobody), {
    trusted: false,
    why: [
      refusal(WORK_CODES.issue_untrusted, { person: 'stranger', role: 'wrote it' }),
      refusal(WORK_CODES.issue_person_unknown, { role: 'put tool-todo on it' }),
    ],
  });
});

test('with anyone, nobody is asked', () => {
  assert.deepEqual(judgeTrust('anyone', 'tool-todo', stranger, nobody), { trusted: true });
});

test('a bot counts by its type, not by its name', () => {
  assert.equal(countsAsWriter({ login: 'helper[bot]', type: 'Bot' }), true);
  assert.equal(countsAsWriter({ login: 'helper[bot]', type: 'User' }), false);
});
