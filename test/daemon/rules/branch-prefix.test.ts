import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { branchesInTheWay, isBranchPrefix } from '../../../src/daemon/rules/branch-prefix.ts';

const PREFIXES = [
  ...['tool/', 'a/b/', 'bot-', 'tool', 'x.lock-', 'ü/', 'a@/', '@'],
  ...[
    '/tool',
    'a//b',
    '-x',
    '.a/',
    'a/.b',
    'a.lock/',
    'a..b',
    'a b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\',
    'a@{b',
    'a\tb',
    'a\x7f',
  ],
];

test('a prefix is one exactly where git accepts the branch', () => {
  for (const prefix of PREFIXES) {
    const { status } = spawnSync('git', ['check-ref-format', '--branch', `${prefix}issue-1`]);
    assert.equal(isBranchPrefix(prefix), status === 0, JSON.stringify(prefix));
  }
});

test('each directory of the prefix is a branch in the way', () => {
  assert.deepEqual(branchesInTheWay('tool/'), ['tool']);
  assert.deepEqual(branchesInTheWay('a/b/c-'), ['a', 'a/b']);
  assert.deepEqual(branchesInTheWay('bot-'), []);
});
