// Proposes the gate's commands from package.json: its scripts, its workspaces and the tools that it depends on.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../../base/rules/command-line.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';
import { keysOf, nestedValue, readText } from './project-files.ts';
import {
  type DetectionInput,
  needing,
  type Proposal,
  type Proposed,
  propose,
  proposeNone,
  REPORTS,
} from './proposal.ts';

const MANIFEST = 'package.json';

type Manager = 'npm' | 'pnpm' | 'yarn';

type Package = {
  readonly root: string;
  readonly manager: Manager;
  readonly packages: readonly string[];
  readonly script: (name: string) => string | null;
  readonly workspaces: readonly string[];
};

const INSTALL = {
  npm: 'npm install --save-dev',
  pnpm: 'pnpm add --save-dev',
  yarn: 'yarn add --dev',
} as const;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw failure(GATE_CODES.json_unreadable, { file: MANIFEST, said: messageOf(error) }, { cause: error });
  }
}

function managerOf(root: string, manifest: unknown): Manager {
  const named = nestedValue(manifest, 'packageManager');
  const isOf = (name: string, lock: string) =>
    (typeof named === 'string' && named.startsWith(`${name}@`)) || existsSync(join(root, lock));
  return isOf('pnpm', 'pnpm-lock.yaml') ? 'pnpm' : isOf('yarn', 'yarn.lock') ? 'yarn' : 'npm';
}

/** Directories with a package.json that the patterns of workspaces name, from the root. */
function workspacesOf(root: string, manifest: unknown): readonly string[] {
  const listed = nestedValue(manifest, 'workspaces', 'packages') ?? nestedValue(manifest, 'workspaces');
  const own = Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [];
  const pnpm = [...(readText(root, 'pnpm-workspace.yaml') ?? '').matchAll(/^\s*-\s*['"]?([^'"\s#]+)/gm)];
  const places = [...own, ...pnpm.flatMap(([, pattern]) => pattern ?? [])].flatMap((pattern) => {
    const place = pattern.replace(/^\.\//, '').replace(/\/?\*\*?$/, '');
    if (place.includes('*') || pattern.startsWith('!')) return [];
    if (!pattern.endsWith('*')) return [place];
    const at = join(root, place);
    return existsSync(at) ? readdirSync(at).map((name) => join(place, name)) : [];
  });
  return [...new Set(places)].filter((place) => readText(root, join(place, MANIFEST)) !== null).sort();
}

function readPackage(root: string): Package | null {
  const text = readText(root, MANIFEST);
  if (text === null) return null;
  const manifest = parsed(text);
  return {
    root,
    manager: managerOf(root, manifest),
    packages: ['dependencies', 'devDependencies'].flatMap((part) => keysOf(nestedValue(manifest, part))),
    workspaces: workspacesOf(root, manifest),
    script: (name) => {
      const script = nestedValue(manifest, 'scripts', name);
      // npm writes a test script that only fails.
      const isOne = typeof script === 'string' && script.trim() !== '' && !/no test specified/.test(script);
      return isOne ? script.trim() : null;
    },
  };
}

function run({ manager }: Pick<Package, 'manager'>, name: string, args = ''): string {
  const call = name === 'test' ? `${manager} test` : `${manager} run ${name}`;
  return args === '' ? call : `${call}${manager === 'npm' ? ' --' : ''} ${args}`;
}

const NODE_TEST = /\b(node|tsx)(?= (?:[^&|;]* )?--test(?: |$))/;
const NODE_FLAGS = `--experimental-test-coverage --test-reporter=spec --test-reporter-destination=stdout --test-reporter=lcov --test-reporter-destination="${REPORTS}/lcov.info"`;
const WRAPPER = /\b(c8|nyc)(?= )/;
const WRAPPER_FLAGS = `--reporter=lcovonly --reporter=text-summary --report-dir="${REPORTS}/c8"`;
const JEST_FLAGS = `--coverage --coverageReporters=lcovonly --coverageReporters=text-summary --coverageDirectory="${REPORTS}/jest"`;
const VITEST_FLAGS = `--run --coverage.enabled --coverage.reportOnFailure --coverage.reporter=lcovonly --coverage.reporter=text-summary --coverage.reportsDirectory="${REPORTS}/vitest"`;

/** The test script with flags behind one of its programs, and with the scripts that its manager runs around it. */
function rewritten(own: Package, program: RegExp, flags: string, script: string): string {
  const around = (name: string) => (own.script(name) === null ? [] : [run(own, name)]);
  const line = script.replace(program, (start) => `${start} ${flags}`);
  return [...around('pretest'), line, ...around('posttest')].join(' && ');
}

/** The tests of one package so that they leave a coverage report. */
function coverageOf(own: Package): Proposal {
  const ready = ['test:coverage', 'coverage'].find((name) => own.script(name) !== null);
  if (ready !== undefined) return propose(run(own, ready), `${MANIFEST}: script "${ready}"`);
  const script = own.script('test');
  if (script === null) return proposeNone(`${MANIFEST} has no script "test:coverage" or "coverage"`);
  const from = `${MANIFEST}: script "test"`;
  if (WRAPPER.test(script)) return propose(rewritten(own, WRAPPER, WRAPPER_FLAGS, script), from);
  if (NODE_TEST.test(script)) return propose(rewritten(own, NODE_TEST, NODE_FLAGS, script), from);
  if (/\bvitest\b[^&|;]*$/.test(script))
    return own.packages.some((name) => name.startsWith('@vitest/coverage-'))
      ? propose(run(own, 'test', VITEST_FLAGS), from)
      : proposeNone(
          'vitest measures no coverage without @vitest/coverage-v8',
          `${INSTALL[own.manager]} @vitest/coverage-v8`,
        );
  if (/\b(?:jest|react-scripts test)\b[^&|;]*$/.test(script)) return propose(run(own, 'test', JEST_FLAGS), from);
  const wrapper = ['c8', 'nyc'].find((name) => own.packages.includes(name));
  if (wrapper !== undefined)
    return propose(`npx ${wrapper} ${WRAPPER_FLAGS} ${run(own, 'test')}`, `${from}, ${wrapper}`);
  return proposeNone(
    `${MANIFEST}: script "test" is not seen to measure coverage: install c8 (${INSTALL[own.manager]} c8), add a script "test:coverage", or set quality.commands.coverage`,
  );
}

function inEach(own: Package): string {
  if (own.manager === 'npm') return 'npm test --workspaces --if-present';
  if (own.manager === 'pnpm') return 'pnpm -r test';
  const isBerry = (readText(own.root, 'yarn.lock') ?? '').includes('__metadata:');
  return isBerry ? 'yarn workspaces foreach --all run test' : 'yarn workspaces run test';
}

/** Each package's tests in its own directory; a report says its paths from there. */
function workspaceCoverage(own: Package): Proposal {
  const all = own.workspaces.flatMap((place) => {
    const one = readPackage(join(own.root, place));
    if (one?.script('test') === null || one === null) return [];
    return [{ place, ...coverageOf({ ...one, manager: own.manager, packages: [...one.packages, ...own.packages] }) }];
  });
  const without = all.find(({ command }) => command === null);
  if (without !== undefined) return proposeNone(`${without.place}: ${without.reason}`, without.install);
  if (all.length === 0) return proposeNone(`no workspace of ${MANIFEST} has a script "test"`);
  const parts = all.map(({ place, command }) => {
    const reports = `${REPORTS}/${place}`;
    return `(cd ${shellWord(place)} && export TOOL_REPORTS="${reports}" && mkdir -p "$TOOL_REPORTS" && ${command})`;
  });
  return propose(parts.join(' && '), `${MANIFEST}: workspaces with a script "test"`);
}

const CALLS_ALL = /--workspaces?\b|\s-ws?\b|\s-r\b|--recursive\b|\bworkspaces\b/;

function testing(own: Package): Pick<Proposed, 'tests' | 'coverage'> {
  const script = own.script('test');
  const isRoot = ['test:coverage', 'coverage'].some((name) => own.script(name) !== null);
  const isOfAll = own.workspaces.length > 0 && !isRoot && (script === null || CALLS_ALL.test(script));
  if (script === null && !isOfAll)
    return { tests: proposeNone(`${MANIFEST} has no script "test"`), coverage: coverageOf(own) };
  const coverage = isOfAll ? workspaceCoverage(own) : coverageOf(own);
  const from = script === null ? `${MANIFEST}: workspaces` : `${MANIFEST}: script "test"`;
  const tests = propose(script === null ? inEach(own) : run(own, 'test'), from);
  // A command made from the tests runs them: once is enough.
  const isSame = !isRoot && coverage.command !== null;
  return { tests: isSame ? { ...tests, command: coverage.command } : tests, coverage };
}

/** The first of these scripts, else the first tool that the project depends on. */
function scriptOr(
  own: Package,
  names: readonly string[],
  tools: readonly (readonly [name: string, command: string])[],
  measure: string,
): Proposal {
  const script = names.find((name) => own.script(name) !== null);
  if (script !== undefined) return propose(run(own, script), `${MANIFEST}: script "${script}"`);
  const tool = tools.find(([name]) => own.packages.includes(name));
  if (tool !== undefined) return propose(tool[1], `${MANIFEST}: depends on ${tool[0]}`);
  return proposeNone(`${MANIFEST} has no script ${names.map((name) => `"${name}"`).join(' or ')}; ${measure}`);
}

/** What the packages of package.json need first; null: they are installed, here or above. */
function missingPackages({ root, manager, packages }: Package): string | null {
  const above = (place: string): readonly string[] =>
    dirname(place) === place ? [place] : [place, ...above(dirname(place))];
  const isThere = above(root).some((place) =>
    ['node_modules', '.pnp.cjs'].some((name) => existsSync(join(place, name))),
  );
  if (packages.length === 0 || isThere) return null;
  return manager === 'npm' && existsSync(join(root, 'package-lock.json')) ? 'npm ci' : `${manager} install`;
}

export function detectNode({ root }: DetectionInput): Proposed | null {
  const own = readPackage(root);
  if (own === null) return null;
  const fill = missingPackages(own);
  const filled = (one = proposeNone(`${MANIFEST} has no script "test"`)): Proposal =>
    one.command === null || fill === null ? one : needing(one, `the packages of ${MANIFEST} are not installed`, fill);
  const { tests, coverage } = testing(own);
  const check = own.script('check');
  return {
    tests: filled(tests),
    coverage: filled(coverage),
    lint: scriptOr(
      own,
      ['lint'],
      [
        ['eslint', 'npx eslint .'],
        ['@biomejs/biome', 'npx biome lint .'],
      ],
      'add one, for example "eslint ."',
    ),
    format: scriptOr(
      own,
      [
        'format:check',
        'format-check',
        'check:format',
        ...(/\b(?:biome|prettier)\b/.test(check ?? '') ? ['check'] : []),
      ],
      [
        ['prettier', 'npx prettier --check .'],
        ['@biomejs/biome', 'npx biome format .'],
      ],
      'add one, for example "prettier --check ."',
    ),
    security: scriptOr(own, ['audit', 'security'], [], 'add one, for example "npm audit --audit-level=high"'),
    complexity: scriptOr(
      own,
      ['complexity'],
      [['eslint', `npx eslint --rule '{"complexity":["error",15]}' .`]],
      `add one, for example "eslint --rule 'complexity: [error, 15]' ."`,
    ),
  };
}
