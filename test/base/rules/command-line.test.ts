import assert from 'node:assert/strict';
import test from 'node:test';
import { splitCommand } from '../../../src/base/rules/command-line.ts';

test('a list is file and arguments as they stand, text is the shell’s', () => {
  assert.deepEqual(splitCommand(['node', '-e', 'a b', '']), ['node', ['-e', 'a b', '']]);
  assert.deepEqual(splitCommand('a | b "c d"'), ['/bin/sh', ['-c', 'a | b "c d"']]);
  assert.deepEqual(splitCommand([]), ['', []]);
});
