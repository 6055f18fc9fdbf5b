import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
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
    const { exitCode } = execaSync({ reject: false })`git check-ref-format --branch ${prefix}issue-1`;
    assert.equal(isBranchPrefix(prefix), exitCode === 0, JSON.stringify(prefix));
  }
});

test('each directory of the prefix is a branch in the way', () => {
  assert.deepEqual(branchesInTheWay('tool/'), ['tool']);
  assert.deepEqual(branchesInTheWay('a/b/c-'), ['a', 'a/b']);
  assert.deepEqual(branchesInTheWay('bot-'), []);
});
