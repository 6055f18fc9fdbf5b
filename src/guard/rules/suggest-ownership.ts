// Proposes who owns what in a repository, from the areas of its files: for a project whose folders the defaults do not know.

import { type Area, areasOf } from './areas.ts';
import { matcherOf, type Ownership } from './ownership.ts';

type Owner = 'backend-dev' | 'frontend-dev' | 'designer' | 'tester' | 'shared';

const OWNERS: readonly Owner[] = ['backend-dev', 'frontend-dev', 'designer', 'tester', 'shared'];

/** Null: pages and configuration are everybody's and nobody's; they need a lease. */
const OWNER_OF: Readonly<Record<Area, Owner | null>> = {
  backend: 'backend-dev',
  database: 'backend-dev',
  core: 'backend-dev',
  frontend: 'frontend-dev',
  design: 'designer',
  tests: 'tester',
  infrastructure: null,
  documentation: null,
};

/** The role that works on an area; null for pages and configuration. */
export function roleOfArea(area: Area): string | null {
  return OWNER_OF[area];
}

const TEST_NAMES: readonly { readonly pattern: string; readonly name: RegExp }[] = [
  { pattern: '**/*.test.*', name: /\.test\./ },
  { pattern: '**/*.spec.*', name: /\.spec\./ },
  { pattern: '**/*.cy.*', name: /\.cy\./ },
  { pattern: '**/*.tst.*', name: /\.tst\./ },
  { pattern: '**/test_*.py', name: /^test_.*\.py$/ },
  { pattern: '**/tests.py', name: /^tests\.py$/ },
  { pattern: '**/conftest.py', name: /^conftest\.py$/ },
  { pattern: '**/*_test.go', name: /_test\.go$/ },
  { pattern: '**/*_spec.rb', name: /_spec\.rb$/ },
];

const SHARED_FOLDER = /^(?:types|utils?|helpers?|common|shared|lib)$/;

type Found = { readonly owner: Owner; readonly pattern: string };

/** Globs by owner, the widest that hold for all below them; an owner of nothing is left out. */
export function suggestOwnership(files: readonly string[]): readonly Ownership[] {
  const areas = areasOf(files);
  const names = files.map((file) => file.slice(file.lastIndexOf('/') + 1));
  const tests = TEST_NAMES.filter(({ name }) => names.some((one) => name.test(one)));
  const hasSides = [...areas.values()].includes('backend') && [...areas.values()].includes('frontend');
  const owned = [...areas]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, area]) => {
      const folders = path.split('/').slice(0, -1);
      const isShared = hasSides && area !== 'tests' && folders.some((folder) => SHARED_FOLDER.test(folder));
      const owner = isShared ? 'shared' : OWNER_OF[area];
      const isTest = tests.some(({ name }) => name.test(path.slice(path.lastIndexOf('/') + 1)));
      return owner === null || isTest ? [] : [{ path, owner }];
    });
  const found: readonly Found[] = [
    ...cover('', owned, null),
    ...tests.map(({ pattern }) => ({ owner: 'tester' as const, pattern })),
  ];
  return OWNERS.flatMap((owner) => {
    const patterns = found.filter((one) => one.owner === owner).map((one) => one.pattern);
    return patterns.length === 0 ? [] : [{ owner, patterns: [...new Set(patterns)] }];
  });
}

/** A pattern beside those that a project has, with why: so many files that nobody owned. */
export type ProposedPattern = { readonly owner: string; readonly pattern: string; readonly files: number };

/** So many of an owner's patterns are proposed; of a project in which everything lies together there would be hundreds. */
const MOST_PROPOSED = 20;

/** Patterns for what nobody owns, those with the most files first. */
export function proposeOwnership(
  files: readonly string[],
  ownership: readonly Ownership[],
): readonly ProposedPattern[] {
  const owned = ownership.flatMap(({ patterns }) => patterns.map(matcherOf));
  const unowned = files.filter((file) => !owned.some((matches) => matches(file)));
  return suggestOwnership(files).flatMap(({ owner, patterns }) =>
    patterns
      .map((pattern) => ({ owner, pattern, files: unowned.filter(matcherOf(pattern)).length }))
      .filter((one) => one.files > 0)
      .sort((a, b) => b.files - a.files)
      .slice(0, MOST_PROPOSED),
  );
}

/** What is proposed, behind what there is. */
export function withProposed(
  ownership: readonly Ownership[],
  proposed: readonly Pick<ProposedPattern, 'owner' | 'pattern'>[],
): readonly Ownership[] {
  const owners = [...new Set([...ownership, ...proposed].map(({ owner }) => owner))];
  return owners.map((owner) => ({
    owner,
    patterns: [
      ...ownership.filter((one) => one.owner === owner).flatMap(({ patterns }) => patterns),
      ...proposed.filter((one) => one.owner === owner).map(({ pattern }) => pattern),
    ],
  }));
}

type Owned = { readonly path: string; readonly owner: Owner };

/** So much of a folder is one owner's that what else is in it is the exception. */
const MAJORITY = 0.7;
// Folders that hold all there is: one owner's today, they would be too much to give away.
const CONTAINER = /^(?:src|lib|app|apps|packages)$/;

function cover(folder: string, owned: readonly Owned[], inherited: Owner | null): readonly Found[] {
  const owner = mainOwner(folder, owned) ?? inherited;
  const below = new Map<string, Owned[]>();
  const here: Owned[] = [];
  for (const one of owned) {
    const rest = folder === '' ? one.path : one.path.slice(folder.length + 1);
    const child = rest.includes('/') ? rest.slice(0, rest.indexOf('/')) : null;
    if (child === null) here.push(one);
    else below.set(child, [...(below.get(child) ?? []), one]);
  }
  const names = [...below].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...(owner === null || owner === inherited ? [] : [{ owner, pattern: `${escaped(folder)}/**` }]),
    ...here.filter((one) => one.owner !== owner).map((one) => ({ owner: one.owner, pattern: escaped(one.path) })),
    ...names.flatMap(([name, inside]) => cover(folder === '' ? name : `${folder}/${name}`, inside, owner)),
  ];
}

function mainOwner(folder: string, owned: readonly Owned[]): Owner | null {
  if (folder === '') return null;
  const [best] = OWNERS.map((owner) => ({ owner, count: owned.filter((one) => one.owner === owner).length })).sort(
    (a, b) => b.count - a.count,
  );
  const least = CONTAINER.test(folder) ? 1 : MAJORITY;
  return best !== undefined && best.count >= least * owned.length ? best.owner : null;
}

/** A path as a pattern that means itself alone: `app/[id]/page.tsx` has no wildcard in mind. */
function escaped(path: string): string {
  return path.replace(/[*?[\]{}()!+@\\]/g, '\\$&');
}
