// The guard decides as the rules do: owners of paths, and calls of git.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { expandBraces } from '../../src/domain/guard/braces.ts';
import { gitRows, refusalOf } from '../../src/domain/guard/git-calls.ts';
import { endingsOf, type Policy, policyText, simpleGlobs } from '../../src/domain/guard/policy.ts';
import {
  DEFAULT_OWNERSHIP,
  matcherOf,
  type Ownership,
  ownerOf,
  patternsByPrecedence,
} from '../../src/domain/team/ownership.ts';
import { ask, askingGuard } from '../support/guard-program.ts';
import { numbers } from '../support/numbers.ts';
import { tempDir } from '../support/temp.ts';

const asking = askingGuard();

function policyOf(root: string, ownership: readonly Ownership[], more: Partial<Policy> = {}): string {
  const file = join(root, 'policy');
  const policy: Policy = {
    root,
    member: 'somebody',
    ownership,
    leases: null,
    claims: false,
    allow: [],
    keep: [],
    elsewhere: [],
    gitDirectories: [],
    gitPrograms: [],
    endings: [],
    git: [],
    ...more,
  };
  writeFileSync(file, policyText(policy));
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

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['stash', /git commit -m/],
  ['stash push -u', /git commit -m/],
  ['stash pop', /git commit -m/],
  ['switch main', /git show main:/],
  ['merge main', /one branch/],
  ['rebase -i HEAD~2', /one branch/],
  ['pull', /one branch/],
  ['reset --hard', /everybody/],
  ['reset -q --hard HEAD~1', /everybody/],
  ['checkout main', /git checkout -- src\/ui/],
  ['checkout -b mine', /branch of all/],
  ['checkout .', /git checkout -- src\/ui/],
  ['checkout -- .', /git checkout -- src\/ui/],
  ['restore .', /git checkout -- src\/ui/],
  ['clean -fd', /git clean -fd src\/ui/],
  ['clean -fdx', /git clean/],
  ['add -A', /git add src\/ui/],
  ['add --all', /git add src\/ui/],
  ['add .', /git add src\/ui/],
  ['add -u', /git add/],
  ['commit -a -m x', /git commit -m/],
  ['commit -am x', /git commit -m/],
  ['commit -qam x', /git commit -m/],
  ['commit --all', /git commit -m/],
  ['-C sub -c user.name=x commit -am x', /git commit -m/],
  ['config core.hooksPath /tmp/x', /for everybody/],
  ['config --global alias.st status', /for everybody/],
  ['config --unset core.bare', /for everybody/],
  ['config include.path x', /for everybody/],
];

const ALLOWED = [
  'status',
  'stash list',
  'stash show -p',
  'reset src/ui/a.ts',
  'reset --soft HEAD~1',
  'checkout -- src/ui/a.ts',
  'checkout HEAD -- src/ui/a.ts',
  'restore src/ui/a.ts',
  'restore --staged src/ui/a.ts',
  'clean -n',
  'clean -nd',
  'clean --dry-run',
  'clean -fd src/ui',
  'add src/ui/a.ts',
  'add -A src/ui',
  'add -p src/ui/a.ts',
  'add ./src/ui',
  'add .gitignore',
  'commit -m x',
  'commit -ma',
  'commit -m x -- src/ui/-a',
  'commit --amend --no-edit',
  'log --all',
  'diff -a',
  'config user.name x',
  'config --get core.bare',
  'config core.bare',
  'config --list',
  'branch -a',
  'worktree list',
  'merge-base main HEAD',
  'rebase -h',
  '--version',
];

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

test('what would break a line of the policy is refused by name', (t) => {
  assert.throws(() => policyOf(tempDir(t), [{ owner: 'a', patterns: ['x\ty'] }]), /"x\\ty" cannot stand in a policy/);
});
