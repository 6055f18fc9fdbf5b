// Seatbelt decides as the rules do: owners of paths, leases, and what is kept from all.

import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import { gitRows } from '../../../src/guard/rules/git-calls.ts';
import { matcherOf, type Ownership, patternsByPrecedence } from '../../../src/guard/rules/ownership.ts';
import { BARE_POLICY, type Policy, PROTECTED_PATHS } from '../../../src/guard/rules/policy.ts';
import { type SeatbeltInput, seatbeltProfile } from '../../../src/guard/rules/seatbelt.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';
import { numbers } from '../../support/numbers.ts';
import { expressionsOf, playSeatbelt } from '../../support/seatbelt.ts';

const ROOT = '/Users/me/a (b) + "c"\\d [é]{1}|$^ *.x';
const CALM: SeatbeltInput = { leases: [], ignored: [] };
const PARTS =
  'src api services components app styles tokens tests types lib prisma migrations docs node_modules dist .hidden a ab b'.split(
    ' ',
  );
const FILES = 'a.ts b.test.ts c.spec.tsx index.js .env .x.test.js README a b ab tokens.css x.sql é.ts'.split(' ');
const ODD = ['(shop)', 'a b', 'a+b', '$x', '^y', '{z}', 'q"q', 'r\\s', '[id]', 'p|p', '-', ']', '!a', 'x.y', 'x_y'];
const GLOBS: readonly Ownership[] = [
  { owner: 'one', patterns: ['src/{api,lib}/**', 'docs/*.{md,txt,ts}', 'a?/**', '**/[ab]/*', 'src/*/index.js'] },
  {
    owner: 'two',
    patterns: ['src/**/tokens/**', '*.sql', '**/README', 'src/a*b/**', '[!.]*/b', '[^.]*/ab', 'x/{a,b{c,d}}/*'],
  },
  { owner: 'shared', patterns: ['src/types/**', '**/*.d.ts', 'package.json', '.hidden/**/a', '**/.env'] },
];
const NAMES: readonly Ownership[] = [
  { owner: 'one', patterns: ['\\(shop\\)/**', 'a b/*', 'a+b/**', '\\$x/**', 'x.y/**', '**/\\^y'] },
  { owner: 'two', patterns: ['\\{z\\}/**', 'q"q/**', '\\[id\\]/*', '**/p\\|p', '[a-c]*/x.y', '[^a-z(]/**', '**/*\\]'] },
  { owner: 'shared', patterns: ['**/[$^-]*', 'r\\\\s/**'] },
];

function policyOf(more: Partial<Policy>): Policy {
  return { ...BARE_POLICY, root: ROOT, member: 'one', ownership: [], keep: PROTECTED_PATHS, ...more };
}

const isBelow = (path: string, directory: string) => path === directory || path.startsWith(`${directory}/`);

/** The decision of the rules, in the words of the settings. */
function rulesOf({ ownership, member, claims, keep, allow }: Policy, { leases, ignored }: SeatbeltInput) {
  const rules = patternsByPrecedence(ownership).map((one) => ({ ...one, matches: matcherOf(one.pattern) }));
  const holders = new Map(leases.map((one) => [one.path, one.member]));
  return (path: string): boolean => {
    if (allow.some((one) => isBelow(path, one))) return true;
    if (keep.some((one) => isBelow(path, one))) return false;
    const rule = member === null ? undefined : rules.find(({ matches }) => matches(path));
    const isPlace = rule !== undefined && rule.owner !== 'shared' && !/^[*?[]/.test(rule.pattern);
    if (!isPlace && ignored.some((one) => isBelow(path, one))) return true;
    if (rule !== undefined && rule.owner === member) return true;
    const holder = holders.get(path);
    if (holder !== undefined) return holder === member;
    return rule === undefined && member !== null && claims;
  };
}

test('each path has the decision of the rules: own, foreign, shared, unowned, kept, leased and ignored ones', () => {
  const sets: readonly (readonly [readonly Ownership[], readonly string[], readonly (string | null)[]])[] = [
    [DEFAULT_OWNERSHIP, [...PARTS, ...ODD], ['frontend-dev', 'tester', null]],
    [GLOBS, PARTS, ['one', 'two', 'somebody', null]],
    [NAMES, [...ODD, 'a', 'b'], ['one', 'two', 'somebody']],
  ];
  const counts = new Map<string, number>();
  for (const [index, [ownership, parts, members]] of sets.entries()) {
    const next = numbers(index + 1);
    const pick = (list: readonly string[]) => list[next(list.length)] ?? '';
    const made = new Set(['.mcp.json', 'src/api/a\nb.test.ts', 'package.json', 'src/api']);
    while (made.size < 8000) {
      const start =
        next(8) === 0 ? [pick(['.tool', '.claude', '.tool/specs', 'dist', 'src/api/dist', 'src/types/dist'])] : [];
      made.add([...start, ...Array.from({ length: next(4) }, () => pick(parts)), pick([...FILES, ...parts])].join('/'));
    }
    const paths = [...made];
    for (const [turn, member] of members.entries()) {
      const claims = turn % 2 === 0;
      const policy = policyOf({ member, ownership, claims, allow: claims ? [] : ['.tool/specs'] });
      const situation: SeatbeltInput = {
        leases: paths
          .filter((path) => !path.includes('\n'))
          .slice(0, 60)
          .map((path, at) => ({ path, member: at % 2 === 0 ? (member ?? 'one') : 'other' })),
        ignored: ['dist', 'node_modules', 'src/api/dist', 'src/types/dist'],
      };
      const may = playSeatbelt(seatbeltProfile(policy, situation));
      const expected = rulesOf(policy, situation);
      for (const [at, path] of paths.entries()) {
        const operation = at % 2 === 0 ? 'file-write-data' : 'file-write-create';
        const is = may(operation, `${ROOT}/${path}`);
        assert.equal(is, expected(path), `${member} ${claims} ${path}`);
        counts.set(`${index} ${is}`, (counts.get(`${index} ${is}`) ?? 0) + 1);
      }
    }
  }
  assert.ok(counts.size === 6 && [...counts.values()].every((count) => count > 2000), [...counts].join(' '));
});

test('its expressions are those of POSIX as well: grep -E matches the same paths', () => {
  const next = numbers(5);
  const names = [...PARTS, ...ODD, ...FILES];
  const pick = () => names[next(names.length)] ?? '';
  const paths = Array.from({ length: 1500 }, () => [ROOT, ...Array.from({ length: 1 + next(4) }, pick)].join('/'));
  const input = [...new Set(paths)].map((path) => `${path}\0`).join('');
  const env = { LC_ALL: 'C.UTF-8' };
  let matched = 0;
  for (const ownership of [DEFAULT_OWNERSHIP, GLOBS, NAMES])
    for (const one of expressionsOf(seatbeltProfile(policyOf({ ownership }), CALM))) {
      // Its exit code is 1 where nothing matches.
      const script = 'grep -zE -e "$1" || [ $? = 1 ]';
      const found = execaSync({ input, env })`sh -c ${script} sh ${one}`.stdout;
      const expected = input.split('\0').filter((path) => path !== '' && new RegExp(one, 's').test(path));
      assert.deepEqual(found.split('\0').slice(0, -1), expected, one);
      matched += expected.length;
    }
  assert.ok(matched > 500);
});

test('directories can be made anywhere in the project, but not in what is kept; none that holds files of others moves', () => {
  const policy = policyOf({ member: 'frontend-dev', ownership: DEFAULT_OWNERSHIP, claims: true });
  const may = playSeatbelt(seatbeltProfile(policy, CALM));
  const make = (path: string) => may('file-write-create', `${ROOT}/${path}`, 'DIRECTORY');
  const move = (path: string) => may('file-write-unlink', `${ROOT}${path}`, 'DIRECTORY');
  assert.deepEqual(['src', 'src/api/new', 'src/components/x', '.tool/x', '.claude'].map(make), [
    true,
    true,
    true,
    false,
    false,
  ]);
  assert.deepEqual(['', '/src', '/src/api', '/src/styles', '/prisma'].map(move), [false, false, false, false, false]);
  assert.deepEqual(['/src/components', '/build', '/src/components/old'].map(move), [true, true, true]);
});

test('the Git directory is writable without its hooks; other places are nobody’s; a worktree of its own is free', () => {
  const main = '/Users/me/main';
  const policy = policyOf({
    root: `${main}/.tool/worktrees/x/tester`,
    member: 'tester',
    ownership: DEFAULT_OWNERSHIP,
    gitDirectories: [`${main}/.git/objects`, `${main}/.git/hooks`, '/srv/repo.git'],
    gitTrees: [`${main}/.tool/worktrees/x/tester`],
    elsewhere: [
      { owner: 'another worktree', path: `${main}/src` },
      { owner: 'git', path: `${main}/.tool/worktrees/x/tester/.git` },
      { owner: 'toolcrew', path: '/Users/me/.local/state/toolcrew/guard' },
    ],
  });
  const may = playSeatbelt(seatbeltProfile(policy, CALM));
  const paths: readonly (readonly [string, boolean])[] = [
    [`${main}/.git/objects/ab/c`, true],
    [`${main}/.git/hooks/pre-commit`, false],
    ['/srv/repo.git/index', true],
    ['/srv/repo.git/hooks/pre-commit', false],
    [`${policy.root}/src/api/b.js`, true],
    [`${policy.root}/.claude/settings.json`, false],
    [`${policy.root}/.git`, false],
    [`${main}/src/a.js`, false],
    [`${main}/notes`, true],
    ['/Users/me/.local/state/toolcrew/guard/bash', false],
    ['/private/tmp/x', true],
  ];
  for (const [path, expected] of paths)
    for (const operation of ['file-write-data', 'file-write-create', 'file-write-unlink'])
      assert.equal(may(operation, path), expected, `${operation} ${path}`);
  assert.ok(!may('file-write-create', `${main}/.git/hooks/x`, 'DIRECTORY'));
  // A checkout inside of a place of others is the caller's all the same.
  const inner = policyOf({
    root: `${main}/inner`,
    claims: true,
    elsewhere: [{ owner: 'another worktree', path: main }],
  });
  const mayInside = playSeatbelt(seatbeltProfile(inner, CALM));
  assert.deepEqual(
    [`${main}/inner/a`, `${main}/a`].map((path) => mayInside('file-write-data', path)),
    [true, false],
  );
});

test('the table of git’s calls stands in its comments; what would break a line is refused by name', () => {
  const git = gitRows('shared', 'src/ui');
  const rows = seatbeltProfile(policyOf({ git }), CALM)
    .split('\n')
    .filter((line) => line.startsWith(';git\t'));
  assert.deepEqual(
    rows.map((line) => line.split('\t').slice(1)),
    git.map(({ call, refusal }) => [call, refusal]),
  );
  assert.throws(() => seatbeltProfile(policyOf({ root: '/a\nb' }), CALM), /"\/a\\nb" cannot stand in a policy/);
  const odd = [{ owner: 'one', patterns: ['a/[^\\]]'] }];
  assert.throws(() => seatbeltProfile(policyOf({ ownership: odd }), CALM), /cannot stand in a profile/);
});
