// Runners of tests that write what they find as what is expected: snapshots beside the tests, or in them.

import type { ShellContext } from '../effects.ts';
import { type Options, type OptionsSpec, otherOptions, readOptions } from '../options.ts';
import { baseOf, isWithin, normalize, parentOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { listing } from '../sink.ts';
import { isText } from '../values.ts';
import { lookUp } from '../variables.ts';
import { outputProgram } from './unknown.ts';

type Runner = {
  readonly names: string;
  /** Options by which it writes them. */
  readonly updates: readonly string[];
  /** All other options with which its operands are surely tests; with any other, any test may run. */
  readonly known: OptionsSpec;
  /** Words before the tests. */
  readonly verbs?: readonly string[];
  /** Which other files it writes for a test; without this any in its directory. */
  readonly beside?: (directory: string, name: string) => readonly string[];
  /** An operand is a path; else a part of the path of each test that is meant. */
  readonly isPath?: boolean;
  /** What it writes are the tests that it finds, and what lies beside them. */
  readonly isFinding?: true;
  /** It runs where one of these lies, at or above the working directory. */
  readonly anchors?: readonly string[];
};

/** Texts by which an option that writes says that it does not. */
const OFF: ReadonlySet<string> = new Set('false none no 0 disable report short-report'.split(' '));
/** Directories that hold no tests of the project. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git']);
const MOST_DIRECTORIES = 2_000;
const PACKAGE = ['package.json'];

const snap = (directory: string, name: string): readonly string[] => [`${directory}__snapshots__/${name}.snap`];

const VITEST: OptionsSpec = {
  short: ['t'],
  isExact: true,
  long: ['testNamePattern=', 'reporter=', 'run', 'silent', 'no-coverage', 'globals', 'bail=', 'retry='],
};

const JEST: OptionsSpec = {
  short: ['t'],
  isExact: true,
  long: ['testNamePattern=', 'runInBand', 'verbose', 'silent', 'ci', 'no-coverage', 'runTestsByPath', 'maxWorkers='],
};

const BUN: Runner = {
  names: 'bun-test',
  updates: ['u', 'update-snapshots'],
  known: { short: ['t'], isExact: true, long: ['test-name-pattern=', 'timeout=', 'bail?', 'only'] },
  beside: snap,
};

/** Of runners that run others, only that they pass the options on is known. */
const ANY: Runner = {
  names: 'nx lerna lage ng craco react-app-rewired vue-cli-service wireit test-storybook',
  updates: ['u', 'update', 'updateSnapshot', 'update-snapshot', 'update-snapshots', 'snapshot-update'],
  known: {},
  anchors: PACKAGE,
};

const RUNNERS: readonly Runner[] = [
  ANY,
  BUN,
  {
    names: 'vitest',
    updates: ['u', 'update'],
    known: VITEST,
    verbs: ['run', 'watch', 'dev'],
    beside: snap,
    isFinding: true,
  },
  {
    names: 'jest react-scripts',
    updates: ['u', 'updateSnapshot', 'update-snapshot'],
    known: JEST,
    verbs: ['test'],
    beside: snap,
    isFinding: true,
    anchors: [...PACKAGE, ...['js', 'ts', 'mjs', 'cjs', 'cts', 'json'].map((end) => `jest.config.${end}`)],
  },
  {
    names: 'playwright',
    updates: ['u', 'update-snapshots'],
    known: { short: ['g', 'j'], isExact: true, long: ['grep=', 'reporter=', 'workers=', 'headed', 'retries='] },
    verbs: ['test'],
    beside: (directory, name) => [`${directory}${name}-snapshots/`],
    isFinding: true,
  },
  { names: 'mocha', updates: [], known: {}, anchors: PACKAGE },
  { names: 'ava', updates: ['u', 'update-snapshots'], known: {}, anchors: PACKAGE },
  { names: 'tap', updates: ['S', 'snapshot'], known: {}, anchors: PACKAGE },
  {
    names: 'pytest py.test',
    updates: ['snapshot-update', 'force-regen', 'regen-all', 'inline-snapshot'],
    known: { short: [...'kmnr'], long: ['maxfail=', 'tb=', 'numprocesses=', 'verbose', 'quiet', 'exitfirst'] },
    isPath: true,
  },
];

/** Variables that tests themselves, or what they compare with, read by custom. */
const BY_CUSTOM = Object.fromEntries(
  'UPDATE_SNAPSHOT UPDATE_SNAPSHOTS SNAPSHOT_UPDATE UPDATE_GOLDEN UPDATE_GOLDENS'
    .split(' ')
    .map((name) => [name, /^(?:0|false|no|none|never)?$/i]),
);

/** Variables by which a runner is told to write what it finds, and the texts that do not. */
const VARIABLES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  cargo: {
    INSTA_UPDATE: /^(?:no)?$/,
    INSTA_FORCE_UPDATE: /^0?$/,
    INSTA_FORCE_UPDATE_SNAPSHOTS: /^0?$/,
    UPDATE_EXPECT: /^$/,
    SNAPSHOTS: /^(?!overwrite)/,
    TRYBUILD: /^(?!overwrite)/,
  },
  go: { UPDATE_SNAPS: /^(?:false)?$/, UPDATE_SNAPSHOTS: /^(?:false)?$/, UPDATE_GOLDEN: /^(?:false|0)?$/ },
  tap: { ...BY_CUSTOM, TAP_SNAPSHOT: /^0?$/ },
  ...Object.fromEntries(
    'vitest jest react-scripts playwright ava mocha bun node'.split(' ').map((name) => [name, BY_CUSTOM]),
  ),
  pytest: {
    ...BY_CUSTOM,
    PYTEST_ADDOPTS: /^(?!.*--(?:snapshot-update|force-regen|regen-all|inline-snapshot=(?:fix|create|update|trim)))/s,
  },
};

/** Whether a variable of the runner's has it write what it finds. */
export function isToldToUpdate(call: Call): boolean {
  const { shell, reader } = call;
  return Object.entries(VARIABLES[call.name] ?? {}).some(([name, off]) => {
    // where any may be set, as by `. venv/bin/activate`, these hardly are
    const value = shell.opaque ? shell.vars.get(name) : lookUp(name, shell, reader.context);
    return value !== undefined && value !== null && !(typeof value === 'string' && off.test(value));
  });
}

/** The directory in which a runner runs: where one of the names lies, or the working directory. */
function runsIn(names: readonly string[], call: Call): readonly string[] | null {
  const { context } = call.reader;
  const isAnchored = (place: string) => names.some((name) => context.kindOf(`${place}/${name}`) === 'file');
  return (
    call.reader.places(call.shell, '.')?.map((start) => {
      let place = start;
      while (!isAnchored(place) && place !== '/') place = parentOf(place);
      return isAnchored(place) ? place : start;
    }) ?? null
  );
}

/** Says that any file where the runner runs may change. */
export function updateAll(call: Call, by: string, anchors: readonly string[] = []): void {
  const places = runsIn(anchors, call);
  for (const place of places ?? ['.']) call.reader.write(call.shell, place, by, { tree: true, entry: true });
}

const TEST = /(?:(?:^|[/.])(?:test|spec)|\/__tests__\/(?:[^/]+\/)*[^/]+)\.[cm]?[jt]sx?$/;
const SNAPSHOT = /\.snap$|(?:\/__snapshots__|-snapshots)\//;

/** The tests in a directory and below it, and the snapshots that there are; null where they are too many to look for. */
function testsBelow(
  directory: string,
  context: ShellContext,
): { readonly tests: readonly string[]; readonly snapshots: readonly string[] } | null {
  const found: string[] = [];
  const waiting = [directory];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    count += 1;
    if (count > MOST_DIRECTORIES) return null;
    for (const path of listing(next, context)) {
      if (SKIPPED.has(baseOf(path))) continue;
      if (context.kindOf(path) !== 'directory') found.push(path);
      else if (context.linkTo(path) === null) waiting.push(path);
    }
  }
  return {
    tests: found.filter((path) => TEST.test(path) && !SNAPSHOT.test(path)),
    snapshots: found.filter((path) => SNAPSHOT.test(path)),
  };
}

/** Whether a file below the directory, but for those below the places, has the text in its path; jest takes its dots for any sign. */
function hasOther(text: string, directory: string, places: readonly string[], context: ShellContext): boolean {
  const wanted = new RegExp(text, 'i');
  const waiting = [directory];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    count += 1;
    if (count > MOST_DIRECTORIES) return true;
    for (const path of listing(next, context)) {
      if (SKIPPED.has(baseOf(path)) || places.some((place) => isWithin(path, place))) continue;
      if (context.kindOf(path) !== 'directory') {
        if (wanted.test(path)) return true;
      } else if (context.linkTo(path) === null) waiting.push(path);
    }
  }
  return false;
}

/** The tests that are named, as paths from the working directory; null: others may run as well. */
function named(options: Options, { verbs = [], isPath, anchors }: Runner, call: Call): readonly string[] | null {
  const { reader, shell } = call;
  const [first] = options.operands;
  const words = options.operands.slice(isText(first) && verbs.includes(first) ? 1 : 0);
  if (words.length === 0 || !words.every(isText)) return null;
  const paths = words.map((word) => (isPath === true ? word.replace(/::.*$/s, '') : word));
  if (paths.some((path) => !/^[\w/.@ -]+$/.test(path) || !/\w/.test(path) || /(^|\/)\.\.(\/|$)/.test(path)))
    return null;
  if (!paths.every((path) => /^(?:file|directory)$/.test(reader.kindAt(shell, path)))) return null;
  if (isPath === true) return paths;
  const roots = runsIn(anchors ?? [], call);
  const places = paths.flatMap((path) => reader.places(shell, path) ?? []);
  const isAlone = (path: string) =>
    roots?.every((root) => !hasOther(normalize(path).slice(1), root, places, reader.context)) ?? false;
  return reader.stirredBy(shell, null) === 'nothing' && paths.every(isAlone) ? paths : null;
}

/** @param isGiven it is told by an option: what tests write that are told by a variable may be anything */
function update(runner: Runner, options: Options, call: Call, isGiven: boolean): void {
  const { reader, shell, name } = call;
  const { updates, known, beside, anchors, isFinding } = runner;
  const names = [...(known.short ?? []), ...(known.long ?? [])].map((one) => one.replace(/[=?]$/, ''));
  const isKnown = otherOptions(options, [...updates, ...names]).length === 0 && !options.isUncertain;
  const by = `${name} that updates snapshots`;
  const tests = isKnown ? named(options, runner, call) : null;
  const one = (test: string, isNamed: boolean) => {
    const directory = test.slice(0, test.lastIndexOf('/') + 1);
    if (beside === undefined) reader.write(shell, directory || '.', by, { tree: true, entry: true });
    else reader.write(shell, test, by);
    for (const path of beside?.(directory, baseOf(test)) ?? []) {
      const tree = path.endsWith('/');
      // not each test that is found takes pictures: their directories count where they are
      if (isNamed || !tree || reader.kindAt(shell, path) !== 'none') reader.write(shell, path, by, { tree });
    }
  };
  /** Whether they could be told. */
  const below = (directory: string): boolean => {
    const found = isFinding === true && isGiven && isKnown ? testsBelow(directory, reader.context) : null;
    for (const path of found?.tests ?? []) one(path, false);
    for (const path of found?.snapshots ?? []) reader.write(shell, path, by);
    // Without any its tests are called otherwise, and any file may be one.
    return found !== null && found.tests.length > 0;
  };
  if (!isKnown) reader.unresolved(`${name} updates snapshots with options that may have it run elsewhere`);
  if (tests === null) {
    const places = reader.stirredBy(shell, null) === 'nothing' ? runsIn(anchors ?? [], call) : null;
    if (places?.every(below) !== true) updateAll(call, by, anchors);
  }
  for (const path of tests ?? []) {
    if (reader.kindAt(shell, path) === 'file') one(path, true);
    else if (reader.places(shell, path)?.every(below) !== true) reader.write(shell, path, by, { tree: true });
  }
}

const BROWSING = ['save-har', 'save-storage', 'user-data-dir'];
const PAGE: OptionsSpec = {
  short: ['b'],
  long: [
    ...BROWSING,
    ...'browser channel color-scheme device geolocation lang load-storage paper-format proxy-bypass proxy-server'.split(
      ' ',
    ),
    ...'save-har-glob timeout timezone user-agent viewport-size wait-for-selector wait-for-timeout'.split(' '),
  ].map((name) => `${name}=`),
};

/** `playwright screenshot URL FILE` and the like. */
function showPage({ args, reader, shell }: Call): void {
  const [verb] = args;
  if (verb !== 'screenshot' && verb !== 'pdf' && verb !== 'open' && verb !== 'codegen') return;
  const options = readOptions(args.slice(1), PAGE);
  const [, file] = options.operands;
  if (file !== undefined && verb !== 'open' && verb !== 'codegen') reader.write(shell, file, `playwright ${verb}`);
  for (const path of options.all(...BROWSING)) reader.write(shell, path, `playwright ${verb}`, { tree: true });
}

/** `--cov-report xml:FILE`, `html:DIRECTORY` and the like. */
function reportCoverage({ args, name, reader, shell }: Call): void {
  for (const text of readOptions(args, { isExact: true, long: ['cov-report='] }).all('cov-report')) {
    const path = /^(?:xml|html|json|lcov|annotate|markdown|markdown-append):(.+)$/s.exec(isText(text) ? text : '')?.[1];
    if (path !== undefined) reader.write(shell, path, `${name} --cov-report`, { tree: true });
  }
}

function runnerProgram(runner: Runner): Program {
  const { known, updates } = runner;
  const spec = { ...known, long: [...(known.long ?? []), ...updates.map((one) => `${one}?`)] };
  return (call) => {
    const options = readOptions(call.args, spec);
    const isGiven = options.all(...updates).some((text) => !isText(text) || !OFF.has(text));
    const isTold = isToldToUpdate(call);
    if (isGiven || isTold) update(runner, options, call, isGiven && !isTold);
    if (call.name === 'playwright') showPage(call);
    if (runner.isPath === true) reportCoverage(call);
    return outputProgram(call);
  };
}

/** `bun test`, whose words are behind the verb. */
export const bunTest = runnerProgram(BUN);
/** Of a script of tests only the words that it is given are known. */
export const anyRunner = runnerProgram(ANY);

export const SNAPSHOT_PROGRAMS: readonly (readonly [string, Program])[] = RUNNERS.flatMap((runner) =>
  runner.names.split(' ').map((name): readonly [string, Program] => [name, runnerProgram(runner)]),
);
