// The guard decides as the rules do: owners of paths, and calls of git.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gitRows, refusalOf } from '../../src/guard/rules/git-calls.ts';
import { matcherOf, type Ownership, ownerOf, patternsByPrecedence } from '../../src/guard/rules/ownership.ts';
import { BARE_POLICY, type Policy, policyText, simpleGlobs } from '../../src/guard/rules/policy.ts';
import { DEFAULT_OWNERSHIP } from '../../src/team/rules/default-ownership.ts';
import { ALLOWED, REFUSED } from '../support/git-calls.ts';
import { ask, askingGuard } from '../support/guard-program.ts';
import { numbers } from '../support/numbers.ts';
import { tempDir } from '../support/temp.ts';

const asking = askingGuard();

function policyOf(root: string, ownership: readonly Ownership[], more: Partial<Policy> = {}): string {
  const file = join(root, 'policy');
  writeFileSync(file, policyText({ ...BARE_POLICY, root, member: 'somebody', ownership, ...more }));
  return file;
}

const PARTS =
  'src api services components pages app hooks styles tokens tests test types lib prisma migrations design docs .hidden a ab b'.split(
    ' ',
  );
const FILES = 'a.ts b.test.ts c.spec.tsx index.js .env .x.test.js README Makefile a b ab tokens.css x.sql é.ts'.split(
  ' ',
);
const OWN: readonly Ownership[] = [
  { owner: 'one', patterns: ['src/{api,lib}/**', 'docs/*.{md,txt}', 'a?/**', '**/[ab]/*', 'src/*/index.js'] },
  {
    owner: 'two',
    patterns: ['**', 'src/**/tokens/**', '*.sql', '**/README', 'src/a*b/**', '[!.]*/b', '[^.]*/ab', 'x/{a,b{c,d}}/*'],
  },
  { owner: 'shared', patterns: ['src/types/**', '**/*.d.ts', 'package.json', '.hidden/**/a'] },
];

test('20,000 paths have the same owner and pattern for the guard and for the rules', (t) => {
  for (const [index, ownership] of [DEFAULT_OWNERSHIP, OWN].entries()) {
    const next = numbers(index + 1);
    const pick = (list: readonly string[]) => list[next(list.length)] ?? '';
    const paths = Array.from({ length: 20_000 }, () =>
      [...Array.from({ length: next(5) }, () => pick(PARTS)), pick(FILES)].join('/'),
    );
    const told = ask(
      asking,
      policyOf(tempDir(t), ownership),
      paths.map((path) => `owner\t${path}`),
    );
    assert.equal(told.length, paths.length);
    const rules = patternsByPrecedence(ownership).map((rule) => ({ ...rule, matches: matcherOf(rule.pattern) }));
    for (const [at, path] of paths.entries()) {
      const rule = rules.find(({ matches }) => matches(path));
      // To compile all patterns for each path takes long.
      if (at < 300) assert.equal(ownerOf(path, ownership).pattern, rule?.pattern ?? null, path);
      const expected = rule === undefined ? ['-'] : simpleGlobs(rule.pattern).map((one) => `${rule.owner}\t${one}`);
      assert.ok(expected.includes(told[at] ?? ''), `${path}: ${told[at]} instead of ${expected.join(' or ')}`);
    }
    assert.ok(new Set(told).size > 10, 'many patterns decide');
  }
});

test('git over the whole tree is refused with what one does instead, by the guard as by the table', (t) => {
  const rows = gitRows('shared', 'src/ui');
  const calls = [...REFUSED.map(([call]) => call), ...ALLOWED].map((call) => call.split(' '));
  const told = ask(
    asking,
    policyOf(tempDir(t), [], { git: rows }),
    calls.map((args) => ['git', ...args].join('\t')),
  );
  for (const [at, args] of calls.entries()) {
    const expected = REFUSED[at]?.[1];
    const answer = told[at] ?? '';
    if (expected === undefined) assert.equal(answer, '-', args.join(' '));
    else assert.match(answer, expected, args.join(' '));
    assert.equal(refusalOf(args, rows) ?? '-', answer, args.join(' '));
  }
});

test('what would break a line of the policy is refused by name', (t) => {
  assert.throws(() => policyOf(tempDir(t), [{ owner: 'a', patterns: ['x\ty'] }]), /"x\\ty" cannot stand in a policy/);
});
