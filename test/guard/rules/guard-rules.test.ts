// The rules that the write guard is told: calls of git, alternatives in globs, endings.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import assert from 'node:assert/strict';
import test from 'node:test';
import { expandBraces } from '../../../src/guard/rules/braces.ts';
import { gitRows, refusalOf } from '../../../src/guard/rules/git-calls.ts';
import { endingsOf } from '../../../src/guard/rules/policy.ts';
import { canNameTicket, commandPattern, withTicket } from '../../../src/guard/rules/ticket.ts';
import { ALLOWED, REFUSED } from '../../support/git-calls.ts';

test('git over the whole tree is refused with what one does instead', () => {
  const rows = gitRows('shared', 'src/ui');
  for (const [call, expected] of REFUSED) assert.match(refusalOf(call.split(' '), rows) ?? '-', expected, call);
  for (const call of ALLOWED) assert.equal(refusalOf(call.split(' '), rows), null, call);
});

test('in a worktree of its own an agent is kept from other branches alone, but for the one that it is told to merge', () => {
  const rows = gitRows('own', 'src/ui', ['merge tool/shop', 'merge --abort']);
  const refused = (call: string) => refusalOf(call.split(' '), rows) !== null;
  for (const call of [
    'stash',
    'reset --hard',
    'clean -fd',
    'add -A',
    'commit -am x',
    'merge tool/shop',
    'merge --abort',
  ])
    assert.ok(!refused(call), call);
  for (const call of ['switch main', 'merge main', 'merge tool/shop x', 'rebase main', 'merge tool/shopping'])
    assert.ok(refused(call), call);
});

test('alternatives become globs of their own', () => {
  assert.deepEqual(expandBraces('src/{a,b{c,d}}/*.{ts,js}'), [
    'src/a/*.ts',
    'src/a/*.js',
    'src/bc/*.ts',
    'src/bc/*.js',
    'src/bd/*.ts',
    'src/bd/*.js',
  ]);
  for (const glob of ['src/**', 'a{b}c', '{', 'a{b,c', 'a\\{b,c}']) assert.deepEqual(expandBraces(glob), [glob]);
});

test('endings are what follows the last dot, and whole names', () => {
  assert.deepEqual(endingsOf(['src/a.ts', 'b.d.ts', '.env', 'Makefile', 'x/y.tar.gz']), [
    '.env',
    'Makefile',
    'gz',
    'ts',
  ]);
});

test('a command is marked with the path of its ticket, which is a word without quotes', () => {
  assert.equal(withTicket('npm test', '/run/t/a-1'), 'npm test\n# tool:/run/t/a-1');
  assert.equal(commandPattern('git diff "$A" | wc -l > ${B:-x}.txt'), 'gitdiff*wcl*txt');
  assert.equal(commandPattern(': | $X'), null);
  assert.ok(canNameTicket('/home/me/.local/state/toolcrew/guard/bash'));
  for (const path of ['/a b', "/a'b", 'a', '/a\nb'])
    assert.throws(() => withTicket('ls', path), /cannot name a ticket/);
});
