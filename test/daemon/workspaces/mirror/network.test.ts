import assert from 'node:assert/strict';
import test from 'node:test';
import { telling, withoutProgress } from '../../../../src/daemon/workspaces/mirror/network.ts';

test('git tells of bytes as they come, where it can', () => {
  assert.deepEqual(telling(['-c', 'a=b', 'push', '--porcelain']), ['-c', 'a=b', 'push', '--progress', '--porcelain']);
  assert.deepEqual(telling(['fetch', 'url']), ['fetch', '--progress', 'url']);
  assert.deepEqual(telling(['ls-remote', 'url']), ['ls-remote', 'url']);
});

test('of git’s words what tells how far it is is left out, and nothing else', () => {
  const words = [
    "Cloning into bare repository '/x'...",
    'remote: Enumerating objects: 15, done.        ',
    'remote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.        ',
    'Receiving objects:   0% (1/180)\rReceiving objects:   1% (2/180), 52.00 KiB | 50.00 KiB/s\rerror: RPC failed; curl 18',
    'remote: Checking policies: 3 of them are broken',
    'fatal: early EOF',
    'Delta compression using up to 2 threads',
    'Total 0 (delta 0), reused 0 (delta 0), pack-reused 0',
    '',
  ];
  assert.equal(
    withoutProgress(words.join('\n')),
    [words[0], 'error: RPC failed; curl 18', words[4], words[5], ''].join('\n'),
  );
});
