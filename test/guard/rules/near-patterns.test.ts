import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { nearPatterns } from '../../../src/guard/rules/near-patterns.ts';
import { ownerOf } from '../../../src/guard/rules/ownership.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';

test('far patterns are left out, and none that counts is', () => {
  assert.deepEqual(
    nearPatterns('src/api/users.ts', DEFAULT_OWNERSHIP).flatMap(({ patterns }) => patterns),
    ['src/api/**', '**/*.test.*', '**/*.spec.*'],
  );
});

const part = fc.constantFrom('src', 'api', 'a', 'a.ts', 'b.test.ts', 'x+y', '@x', '[id]', 'é', '.hidden', '(group)');
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const piece = fc.constantFrom(
  'src',
  'api',
  'a',
  'a.ts',
  '**',
  '*',
  '*.ts',
  '?',
  '{a,src}',
  '[ab]',
  '!(a)',
  '+(a)',
  '@(a|b)',
  'a?',
  '\\(group\\)',
  '.hidden',
  '!a',
);
const pattern = fc
  .tuple(fc.constantFrom('', '', '', './', '!', '/'), fc.array(piece, { minLength: 1, maxLength: 4 }))
  .map(([before, pieces]) => before + pieces.join('/'));

test('the owner is the same among the near patterns as among all', () => {
  fc.assert(
    fc.property(path, fc.array(pattern, { minLength: 1, maxLength: 5 }), (one, patterns) => {
      const ownership = patterns.map((each, index) => ({ owner: `owner-${index}`, patterns: [each] }));
      assert.deepEqual(ownerOf(one, nearPatterns(one, ownership)), ownerOf(one, ownership));
    }),
    { numRuns: 1_000 },
  );
});
