// A Node project: the scripts of package.json, run by the package manager whose lock file lies beside it.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, ToolError } from '../../domain/errors.ts';
import { familyOf } from './coverage-commands.ts';
import { followed, reporting, runsSameTests } from './node-coverage.ts';
import { findLint } from './node-lint.ts';
import { found, gap, inside, keysOf, type Project, readText, type Surroundings, type Ways, way } from './project.ts';
import { programsOf, type Scripts } from './script-programs.ts';

const MANIFEST = 'package.json';

const LOCK_FILES: readonly (readonly [string, string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
];

const INSTALL: Readonly<Record<string, string>> = {
  npm: 'npm install --save-dev',
  pnpm: 'pnpm add --save-dev',
  yarn: 'yarn add --dev',
  bun: 'bun add --dev',
};

/** What makes the packages of a lock file be there. */
const FILL: Readonly<Record<string, string>> = { pnpm: 'pnpm install', yarn: 'yarn install', bun: 'bun install' };

/** A call of another language's runner alone, for all of its tests. */
const OTHER_RUNNER =
  /^(?:(?:uv|poetry|pipenv|pdm|hatch|rye) run +)?(?:python3? -m +|\.?[\w.-]+\/bin\/)?(pytest|unittest|go test|cargo test)(?: +(?:\.\/\.\.\.|-v|-q))*$/;

/** A call of the scripts of packages. */
const MANY = /(?:^|\s)(?:--workspaces?|-ws?|-r|--recursive|--filter)(?:[\s=]|$)|\b(?:workspaces|turbo|lerna|nx)\b/;
const OF_PACKAGES =
  'runs those of its packages: install c8 if they run in Node itself, else add one by which each leaves a report in its coverage/ (ignored by Git), as "npm run test:coverage -ws --if-present", "vitest run --coverage" in each';
const OF_NOBODY = 'names no known test runner; install c8, which measures what any of them runs in Node';

/** Where there is no "test". */
const TESTS = ['test:unit', 'unit', 'test:ci'];
/** It ends by nobody's doing. */
const WATCHES = / --(?:watch(?:All)?|ui)(?![\w=])|\bwatch\b/;

/** Both are published together: one of another version is refused by package managers. */
function versionOf(manifest: unknown, name: string): string {
  const range = ['devDependencies', 'dependencies'].map((part) => inside(manifest, part, name)).find(Boolean);
  return typeof range === 'string' && /^[\^~]?\d+(?:\.\d+)*$/.test(range) ? `@${range}` : '';
}

function runnerIn(script: string, scripts: Scripts): 'vitest' | 'jest' | undefined {
  const families = programsOf({ text: script, where: MANIFEST }, scripts).map(({ words }) => familyOf(words));
  return families.find((one) => one === 'vitest' || one === 'jest');
}

/** What stands in the way of measuring a script that is not made to leave a report. */
function whyUnread(script: string, scripts: Scripts): string {
  if (MANY.test(script)) return OF_PACKAGES;
  const runner = runnerIn(script, scripts);
  if (runner === undefined) return OF_NOBODY;
  const call = runner === 'vitest' ? 'vitest run --coverage' : 'jest --coverage';
  return `comes to ${runner} more than once or in a way that is not followed: add one that runs all of it once, like "${call}"`;
}

function managerOf(root: string): string {
  return LOCK_FILES.find(([file]) => existsSync(join(root, file)))?.[1] ?? 'npm';
}

/** The packages that package.json names, where none is installed at or above it: the gap, with the command that closes it. */
export function uninstalledPackages(root: string): Ways | null {
  const manifest = parsed(readText(root, MANIFEST) ?? '{}');
  const names = ['dependencies', 'devDependencies'].flatMap((part) => keysOf(inside(manifest, part)));
  const places = (directory: string): readonly string[] =>
    dirname(directory) === directory ? [directory] : [directory, ...places(dirname(directory))];
  const isFilled = places(root).some((place) =>
    ['node_modules', '.pnp.cjs'].some((name) => existsSync(join(place, name))),
  );
  if (names.length === 0 || isFilled) return null;
  const npm = existsSync(join(root, 'package-lock.json')) ? 'npm ci' : 'npm install';
  return gap(`the packages of ${MANIFEST} are not installed`, FILL[managerOf(root)] ?? npm);
}

export async function findNodeProject(around: Surroundings): Promise<Project | null> {
  const { root } = around;
  const text = readText(root, MANIFEST);
  if (text === null) return null;
  const manifest = parsed(text);
  const scripts = (name: string): string | null => {
    const script = inside(manifest, 'scripts', name);
    return typeof script === 'string' && script.trim() !== '' ? script.trim() : null;
  };
  const manager = managerOf(root);
  const run = (name: string) => (name === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${name}`);

  const packages = ['dependencies', 'devDependencies'].flatMap((part) => keysOf(inside(manifest, part)));
  // What npm writes into a new package is none.
  const isTest = (name: string) => scripts(name) !== null && !/no test specified/.test(scripts(name) ?? '');
  const testName = isTest('test')
    ? 'test'
    : (TESTS.find((name) => isTest(name) && !WATCHES.test(scripts(name) ?? '')) ?? null);
  const test = testName === null ? null : scripts(testName);
  const coverageName = ['test:coverage', 'coverage'].find((name) => scripts(name) !== null) ?? testName;
  const coverageScript = coverageName === null ? null : scripts(coverageName);
  const calls = coverageName === testName ? OTHER_RUNNER.exec(coverageScript ?? '')?.[1] : undefined;

  const one = (names: readonly string[]): Ways => {
    const name = names.find((candidate) => scripts(candidate) !== null);
    return name === undefined
      ? gap(`${MANIFEST} has no script ${names.map((candidate) => `"${candidate}"`).join(' or ')}`)
      : found(way(run(name)));
  };
  const coverage = (): Ways => {
    if (coverageName === null || coverageScript === null)
      return gap(`${MANIFEST} has no script "test:coverage" or "coverage"`);
    const own = (name: string) => (scripts(name) === null ? [] : [`${manager} run ${name}`]);
    const [before, after] = [own(`pre${coverageName}`), own(`post${coverageName}`)];
    const behind = { scripts, after: after.join('') };
    const report = reporting(followed(coverageScript, scripts), run(coverageName), packages, behind);
    if (report === null)
      return coverageName === testName
        ? gap(
            `${MANIFEST} has no script "test:coverage" or "coverage", and its script "${testName}" ${whyUnread(coverageScript, scripts)}`,
          )
        : found(way(run(coverageName)));
    if (report.report === null) return found(way(run(coverageName)));
    if (report.report === 'vitest/lcov.info' && !packages.some((name) => name.startsWith('@vitest/coverage-')))
      return gap(
        'vitest measures no coverage without @vitest/coverage-v8',
        `${INSTALL[manager] ?? INSTALL.npm} @vitest/coverage-v8${versionOf(manifest, 'vitest')}`,
      );
    const isAlone = before.length + after.length === 0;
    const script = [...before, isAlone ? report.script : `(\n${report.script}\n)`, ...after].join(' && ');
    const command = coverageName === testName ? report.command : run(coverageName);
    const env = scriptEnvironment(root, manifest, coverageName, coverageScript);
    return found(way(command, { ...report, script, env }));
  };
  return {
    manifest: MANIFEST,
    languages: ['javascript', 'typescript'],
    tests: testName !== null ? found(way(run(testName))) : gap(`${MANIFEST} has no script "test"`),
    ...(calls === undefined ? {} : { calls }),
    coverage: coverage(),
    coverageRunsTests: coverageScript !== null && test !== null && runsSameTests(coverageScript, test),
    lint: await findLint(around, manifest, {
      scripts,
      names: keysOf(inside(manifest, 'scripts')),
      run,
      test: testName,
    }),
    security: one(['audit', 'security']),
  };
}

/** What package managers tell a script that they run of its package and of itself, as far as tests read it. */
function scriptEnvironment(root: string, manifest: unknown, name: string, script: string): Record<string, string> {
  const told = ['name', 'version'].flatMap((key) => {
    const value = inside(manifest, key);
    return typeof value === 'string' ? [[`npm_package_${key}`, value] as const] : [];
  });
  return {
    ...Object.fromEntries(told),
    npm_package_json: join(root, MANIFEST),
    npm_lifecycle_event: name,
    npm_lifecycle_script: script,
    INIT_CWD: root,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolError('config', `${MANIFEST}: expected JSON: ${messageOf(error)}`, { cause: error });
  }
}
