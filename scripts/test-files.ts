// The files of tests of a run: those that are named, or those of a suite.

import { readdirSync } from 'node:fs';
import { join, normalize } from 'node:path';

export function isSlow(file: string): boolean {
  return /^test\/(?:slow|hosts)\//.test(file);
}

function startsPrograms(file: string): boolean {
  return isSlow(file) || file.endsWith('.integration.test.ts');
}

/** On two cores. Tests that start programs wait for them, those of the hosts more than half of their time. */
export function filesAtOnce(files: readonly string[]): number {
  if (files.some((file) => file.startsWith('test/hosts/'))) return 6;
  return files.some(startsPrograms) ? 5 : 3;
}

/** Files by the process that runs them: slow and long ones alone, of others several, most of which take less time than its start. */
export function groupFiles(files: readonly string[]): readonly (readonly string[])[] {
  const isAlone = (file: string) => isSlow(file) || LONGEST.includes(file);
  const others = files.filter((file) => !isAlone(file));
  const enough = Math.ceil(others.length / (files.some(startsPrograms) ? 4 : 16));
  const count = Math.max(enough, Math.min(others.length, filesAtOnce(files)));
  const together = Array.from({ length: count }, (_, group) => others.filter((_, index) => index % count === group));
  return [...files.filter(isAlone).map((file) => [file]), ...together];
}

/** Files that take longest, each as two cores run it beside others: longest first, so that no suite ends with one of them alone. */
const LONGEST = [
  'test/docs/recipes.integration.test.ts',
  'test/hosts/teammates.test.ts',
  'test/hosts/phases.test.ts',
  'test/slow/kill.test.ts',
  'test/slow/team-kill.test.ts',
  'test/slow/demo-team.test.ts',
  'test/hosts/arguments.test.ts',
  'test/hosts/issue.test.ts',
  'test/hosts/team-plugin.test.ts',
  'test/hosts/run-screen.test.ts',
  'test/slow/lfs.test.ts',
  'test/hosts/team-modes.test.ts',
  'test/slow/serve.test.ts',
  'test/slow/pack.test.ts',
  'test/slow/guard-kernels.test.ts',
  'test/slow/team-log.test.ts',
  'test/slow/checkouts.test.ts',
  'test/slow/guarded-commands.test.ts',
];

/**
 * @param named files, or folders of them, below the root; none: the fast suite
 * @param integration whether the files of that suite belong to them, in place of the fast suite
 * @returns the longest first, then the others by name
 * @throws where nothing has that name
 */
export function testFiles(root: string, named: readonly string[], integration: boolean): readonly string[] {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
    .sort();
  const gone = LONGEST.filter((file) => !all.includes(file));
  if (gone.length > 0) throw new Error(`scripts/test-files.ts names ${gone.join(', ')}: no such file`);
  const longestFirst = (files: readonly string[]) => [
    ...LONGEST.filter((file) => files.includes(file)),
    ...files.filter((file) => !LONGEST.includes(file)),
  ];
  const suite = (isWanted: boolean) => all.filter((file) => !isSlow(file) && startsPrograms(file) === isWanted);
  const found = named.map((one) => {
    const files = all.filter((file) => `${file}/`.startsWith(`${normalize(one).replace(/\/$/, '')}/`));
    if (files.length === 0) throw new Error(`${one}: expected a file of tests, or a folder with some`);
    return files;
  });
  if (integration) found.push(suite(true));
  else if (named.length === 0) found.push(suite(false));
  return longestFirst([...new Set(found.flat())]);
}
