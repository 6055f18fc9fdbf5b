import assert from 'node:assert/strict';
import test from 'node:test';
import { countsAsWriter, judgeTrust } from '../../../src/daemon/rules/trust.ts';

const writer = { actor: { login: 'writer', type: 'User' }, mayWrite: true };
const stranger = { actor: { login: 'stranger', type: 'User' }, mayWrite: false };
const nobody = { actor: null, mayWrite: false };

test('author and labeller must both be able to write', () => {
  assert.deepEqual(judgeTrust('write', 'tool-todo', writer, writer), { trusted: true });
  assert.deepEqual(judgeTrust('write', 'tool-todo', stranger, writer), {
    trusted: false,
    reason: 'stranger, who wrote it, may not write to the repository',
  });
  assert.deepEqual(judgeTrust('write', 'tool-todo', writer, stranger), {
    trusted: false,
    reason: 'stranger, who put tool-todo on it, may not write to the repository',
  });
  assert.deepEqual(judgeTrust('write', 'tool-todo', stranger, nobody), {
    trusted: false,
    reason: 'stranger, who wrote it, may not write to the repository; nobody is known who put tool-todo on it',
  });
});

test('with anyone, nobody is asked', () => {
  assert.deepEqual(judgeTrust('anyone', 'tool-todo', stranger, nobody), { trusted: true });
});

test('a bot counts by its type, not by its name', () => {
  assert.equal(countsAsWriter({ login: 'helper[bot]', type: 'Bot' }), true);
  assert.equal(countsAsWriter({ login: 'helper[bot]', type: 'User' }), false);
});
