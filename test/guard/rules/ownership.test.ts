import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { insideProject, ownerOf } from '../../../src/guard/rules/ownership.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';

const OWNERS: readonly [string, string | null, string | null][] = [
  ['src/api/users.ts', 'backend-dev', 'src/api/**'],
  ['src/api/v1/deep/users.ts', 'backend-dev', 'src/api/**'],
  ['src/api/.env', 'backend-dev', 'src/api/**'],
  ['src/services/mail.ts', 'backend-dev', 'src/services/**'],
  ['src/repositories/a.ts', 'backend-dev', 'src/repositories/**'],
  ['src/models/a.ts', 'backend-dev', 'src/models/**'],
  ['src/middleware/a.ts', 'backend-dev', 'src/middleware/**'],
  ['prisma/migrations/1/up.sql', 'backend-dev', 'prisma/migrations/**'],
  ['prisma/schema.prisma', null, null],
  ['src/components/Form.tsx', 'frontend-dev', 'src/components/**'],
  ['src/pages/index.tsx', 'frontend-dev', 'src/pages/**'],
  ['src/app/layout.tsx', 'frontend-dev', 'src/app/**'],
  ['src/hooks/useUser.ts', 'frontend-dev', 'src/hooks/**'],
  ['src/stores/user.ts', 'frontend-dev', 'src/stores/**'],
  ['src/styles/page.css', 'frontend-dev', 'src/styles/**'],
  ['src/styles/tokens/colour.json', 'designer', 'src/styles/tokens/**'],
  ['design/page.fig', 'designer', 'design/**'],
  ['tests/users.ts', 'tester', 'tests/**'],
  ['__tests__/users.ts', 'tester', '__tests__/**'],
  ['src/api/users.test.ts', 'tester', '**/*.test.*'],
  ['src/components/Form.spec.tsx', 'tester', '**/*.spec.*'],
  ['root.test.js', 'tester', '**/*.test.*'],
  ['cypress/e2e/login.cy.ts', 'tester', 'cypress/**'],
  ['playwright/login.ts', 'tester', 'playwright/**'],
  ['src/types/user.ts', 'shared', 'src/types/**'],
  ['src/utils/date.test.ts', 'tester', '**/*.test.*'],
  ['src/lib/http.ts', 'shared', 'src/lib/**'],
  ['package.json', null, null],
  ['src/index.ts', null, null],
  ['src/apis/users.ts', null, null],
  ['SRC/api/users.ts', null, null],
];

for (const [path, owner, pattern] of OWNERS) {
  test(`${path} is ${owner ?? 'nobody'}'s`, () => {
    assert.deepEqual(ownerOf(path, DEFAULT_OWNERSHIP), { owner, pattern });
  });
}

test('of two patterns that are as good the earlier one counts', () => {
  const both = [
    { owner: 'first', patterns: ['docs/**'] },
    { owner: 'second', patterns: ['docs/**', 'docs/*.md'] },
  ];
  assert.equal(ownerOf('docs/a.txt', both).owner, 'first');
  assert.equal(ownerOf('docs/a.md', both).owner, 'second', 'a file’s name counts more than its place');
});

test('of two patterns the narrower one counts, whichever is first', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    // the path · the wider pattern · the narrower one
    ['tests/x.ts', '**', 'tests/**'],
    ['tests/x.ts', '**/*', 'tests/**'],
    ['tests/x.ts', '*/*', 'tests/**'],
    ['src/components/a.tsx', 'src/**/*', 'src/components/**'],
    ['src/components/a.tsx', 'src/*/*', 'src/components/**'],
    ['src/a/b.ts', '{src,lib}/**', 'src/a/**'],
    ['tests/a.test.ts', 'tests/**/*', '**/*.test.*'],
    ['tests/a.test.ts', 'tests/*', '**/*.test.*'],
    ['tests/a.test.ts', '**', '*/*.test.*'],
    ['src/x.ts', 'src/**', 'src/*'],
    ['src/x.ts', 'src/**/*', 'src/*'],
    ['src/x.ts', 'src/*', 'src/*.ts'],
    ['src/x.ts', '**', 'src/x.ts'],
    ['src/x.ts', '**/*.ts', 'src/x.ts'],
    ['x.ts', '**', '*'],
    ['src/a/x', '**', '**/x'],
  ];
  for (const [path, wide, narrow] of cases) {
    const both = [
      { owner: 'wide', patterns: [wide] },
      { owner: 'narrow', patterns: [narrow] },
    ];
    for (const ownership of [both, [...both].reverse()])
      assert.deepEqual(ownerOf(path, ownership), { owner: 'narrow', pattern: narrow }, `${path}: ${wide}, ${narrow}`);
  }
});

test('a path is one of the project’s, or none', () => {
  const cases: readonly [string, string | null][] = [
    ['src/api/users.ts', 'src/api/users.ts'],
    ['./src//api/./users.ts', 'src/api/users.ts'],
    ['src/components/../api/users.ts', 'src/api/users.ts'],
    ['src/..', null],
    ['.', null],
    ['', null],
    ['../other/src/api/users.ts', null],
    ['src/../../x', null],
    ['/etc/passwd', null],
    ['src/a\0b', null],
    ['...', '...'],
  ];
  for (const [path, expected] of cases) assert.equal(insideProject(path), expected, path);
});

test('whatever is written before it, a path inside stays inside and is found the same', () => {
  const part = fc.constantFrom('src', 'api', '..', '.', '', 'a.test.ts', 'tokens');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const inside = insideProject(parts.join('/'));
      if (inside === null) return;
      assert.ok(!inside.split('/').some((one) => one === '..' || one === '.' || one === ''));
      assert.equal(insideProject(inside), inside);
      assert.deepEqual(
        ownerOf(inside, DEFAULT_OWNERSHIP),
        ownerOf(insideProject(`./x/../${inside}`) ?? '', DEFAULT_OWNERSHIP),
      );
    }),
  );
});
