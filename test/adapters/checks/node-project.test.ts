// What is found in a Node project, measured with its own tools, and what is said where something is missing.

import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { planChecks } from '../../../src/adapters/checks/plan.ts';
import { DEFAULT_QUALITY, rejection } from '../../../src/domain/quality.ts';
import { heldAgainst } from '../../../src/domain/unreported.ts';
import { checkOf, commands, LCOV, type TestProject, testProject } from '../../support/checks.ts';
import type { Cleanup } from '../../support/temp.ts';

test('the remedy for tests of packages is said in full', async (t) => {
  const project = testProject(t, null);
  const test = 'npm test --workspaces --if-present';
  project.write('package.json', JSON.stringify({ scripts: { test }, workspaces: ['packages/*'] }));
  project.write('packages/a/package.json', '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}');
  project.write('packages/a/a.test.js', "require('node:test')('passes', () => {});\n");
  const { reason } = checkOf(await project.gate(), 'coverage');
  assert.match(reason, /: install c8 if they run in Node itself, .*, "vitest run --coverage" in each$/);
});

/** What a Node project of these scripts is measured with. */
async function planOf(t: Cleanup, scripts: Readonly<Record<string, string>>, packages: readonly string[] = []) {
  const project = testProject(t, null);
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  project.write('package.json', JSON.stringify({ scripts, devDependencies }));
  const around = { root: project.root, env: { PATH: '/nowhere' }, ask: async () => null };
  const { testing, lint } = await planChecks(DEFAULT_QUALITY, around);
  const [first] = testing;
  return {
    tests: first?.tests.ways.map(({ command }) => command),
    coverage: first?.coverage.ways[0],
    gap: first?.coverage.gap,
    lint: lint.ways.map(({ command }) => command),
  };
}

const VITEST = ['vitest', '@vitest/coverage-v8'];

test('a script that calls another one is measured with the runner that it comes to', async (t) => {
  const unit = { 'test:unit': 'vitest' };
  for (const [test, more, begins] of [
    ['npm run test:unit', unit, /^vitest --coverage\.enabled /],
    ['npm run -s test:unit -- src', unit, /^vitest --coverage\.enabled .* src$/],
    ['yarn test:unit src', unit, /^vitest --coverage\.enabled .* src$/],
    ['npm run build && npm run test:unit', { ...unit, build: 'tsc' }, /^npm run build && vitest --coverage\.enabled /],
    ['npm run all', { all: 'npm run jest', jest: 'jest --ci', prejest: 'tsc' }, /^tsc && jest --coverage .* --ci$/],
    ['dotenv -e .env.test -- vitest run', {}, /^dotenv -e \.env\.test -- vitest run --coverage\.enabled /],
    ['env-cmd -f .env.test jest', {}, /^env-cmd -f \.env\.test jest --coverage /],
  ] as const) {
    const { coverage, gap } = await planOf(t, { test, ...more }, VITEST);
    assert.match(coverage?.script ?? gap ?? '', begins, test);
  }
  const typed = (await planOf(t, { test: 'dotenv -- vitest run' }, VITEST)).coverage?.command;
  assert.equal(typed, 'npx dotenv -- vitest run --coverage');
  const twice = { test: 'npm run a && npm run b', a: 'vitest run a', b: 'vitest run b' };
  assert.match(
    (await planOf(t, twice, VITEST)).gap ?? '',
    /"test" comes to vitest more than once .*"vitest run --coverage"$/,
  );
  const ofPackages = { 'test:coverage': 'npm run test --workspaces', test: 'vitest' };
  assert.equal((await planOf(t, ofPackages, VITEST)).coverage?.script, 'npm run test:coverage');
});

test('a script that goes elsewhere leaves what stands beside it where it was', async (t) => {
  const web = { web: 'cd web && vitest run' };
  const flags = / --coverage\S+| --coverage\.\S+="[^"]*"/g;
  const plain = async (scripts: Readonly<Record<string, string>>) =>
    ((await planOf(t, scripts, VITEST)).coverage?.script ?? '').replace(flags, '');
  const beside = { test: 'npm run web && npm run api', ...web, api: 'cd api && go test ./...' };
  assert.equal(await plain(beside), '( cd web && vitest run ) && npm run api');
  assert.equal(await plain({ test: 'npm run web -- --bail=1', ...web }), 'cd web && vitest run --bail=1', 'alone');
  const before = { test: 'npm run unit', preunit: 'cd web && tsc', unit: 'export A=b && vitest' };
  assert.equal(await plain(before), '( cd web && tsc ) && ( export A=b && vitest )');
  const deep = { test: 'npm run all -- --bail=1', all: 'npm run api && npm run web', api: 'tsc', ...web };
  assert.equal(await plain(deep), 'npm run api && ( cd web && vitest run --bail=1 )');
  const project = testProject(t, null);
  const scripts = { test: 'npm run web && npm run api', web: 'cd web && node --test', api: 'cd api && node check.js' };
  project.write('package.json', JSON.stringify({ scripts }));
  project.write('web/package.json', '{}');
  project.write('web/a.js', 'exports.a = 1;\n');
  project.write('web/a.test.js', "require('node:test')('passes', () => require('./a.js'));\n");
  project.write('api/check.js', '');
  const { checks } = await project.gate();
  assert.deepEqual(
    checks.slice(0, 2).map(({ outcome }) => outcome),
    ['passed', 'passed'],
    project.said(),
  );
});

test('what c8 has counted lies where a later script has it make a report of it', async (t) => {
  const kept = async (more: Readonly<Record<string, string>>) => {
    const scripts = { test: 'mocha', run: 'c8 --reporter=none mocha', ...more };
    const { script = '' } = (await planOf(t, scripts, ['c8'])).coverage ?? {};
    assert.match(script, /c8 --reporter=lcovonly .*mocha/, script);
    return / --temp-directory=(\S+)/.exec(script)?.[1];
  };
  const parts = { coverage: 'npm run run && npm run report' };
  for (const [more, place] of [
    [{ ...parts, report: 'c8 report --reporter=lcov' }, 'coverage/tmp'],
    [{ ...parts, report: 'npx c8 check-coverage --lines 80 -o cov' }, 'cov/tmp'],
    [{ ...parts, report: 'c8 report --temp-directory kept; true' }, 'kept'],
    [{ coverage: 'c8 mocha && npm run report', report: 'c8 report' }, 'coverage/tmp'],
    [{ coverage: 'c8 mocha', postcoverage: 'c8 report' }, 'coverage/tmp'],
    [{ coverage: 'npm run run && c8 check-coverage' }, 'coverage/tmp'],
    [{ ...parts, report: 'echo done' }, undefined],
    [{ coverage: 'c8 --temp-directory=own mocha && npm run report', report: 'c8 report' }, 'own'],
  ] as const)
    assert.equal(await kept(more), place, JSON.stringify(more));
});

test('without a script for all tests that of the units is run, unless it watches', async (t) => {
  const plain = await planOf(t, { 'test:unit': 'vitest', test: 'echo "Error: no test specified" && exit 1' }, VITEST);
  assert.deepEqual([plain.tests, plain.coverage?.command], [['npm run test:unit'], 'npx vitest --coverage']);
  assert.deepEqual((await planOf(t, { 'test:unit': 'jest --watch', 'test:ci': 'jest' })).tests, ['npm run test:ci']);
  assert.deepEqual((await planOf(t, { 'test:unit': 'vitest', test: 'node --test' })).tests, ['npm test']);
});

test('without a script "lint" those are run whose own words run a linter and write nothing', async (t) => {
  const lint = async (scripts: Readonly<Record<string, string>>) => (await planOf(t, scripts)).lint;
  assert.deepEqual(await lint({ eslint: 'eslint .', build: 'tsc' }), ['npm run eslint']);
  assert.deepEqual(
    await lint({ 'lint:js': 'eslint .', 'lint:css': 'stylelint "**/*.css"', 'lint:fix': 'eslint --fix .' }),
    ['npm run lint:js', 'npm run lint:css'],
  );
  assert.deepEqual(await lint({ format: 'biome check --write .', check: 'tsc --noEmit && biome check .' }), [
    'npm run check',
  ]);
  assert.deepEqual(await lint({ check: 'biome check .', ci: 'biome ci .', style: 'cross-env A=1 npx xo' }), [
    'npm run check',
    'npm run style',
  ]);
  for (const own of [
    'eslint --fix .',
    'biome check --write .',
    'biome format .',
    'eslint . && npm publish',
    'eslint $FILES',
    'node eslint.js',
    'tsc',
  ])
    assert.deepEqual(await lint({ other: own }), [], own);
  assert.deepEqual(await lint({ lint: 'sh lint.sh', eslint: 'eslint .' }), ['npm run lint']);
});

function install(project: TestProject, name: string, script: string): void {
  project.write(`node_modules/.bin/${name}`, script);
  chmodSync(join(project.root, 'node_modules/.bin', name), 0o755);
}

const ESLINT = '#!/bin/sh\n[ ! -e a.js ] || { echo "$@"; echo "a.js:1:1 error"; exit 1; }\n';

test('a linter that is configured and installed is run without a script, on what Git does not ignore', async (t) => {
  const project = testProject(t, null);
  const lint = async () => checkOf(await project.gate(commands({ tests: 'true', coverage: LCOV })), 'lint');
  project.write('package.json', '{"scripts":{"fix":"prettier --write ."}}');
  assert.equal((await lint()).reason, 'package.json has no script "lint"');
  project.write('eslint.config.js', '');
  const missing = await lint();
  assert.deepEqual(
    [missing.outcome, missing.reason],
    ['not_measured', 'package.json has no script "lint"; eslint is configured (eslint.config.js), but not installed'],
  );
  install(project, 'eslint', ESLINT);
  project.write('.gitignore', 'node_modules\ndist\n');
  project.write('dist/a.js', '');
  assert.equal((await lint()).outcome, 'passed');
  project.write('a.js', '');
  const failed = await lint();
  assert.deepEqual([failed.outcome, failed.command], ['failed', 'npx eslint .']);
  assert.match(failed.details.join('\n'), /^\. --quiet --no-error-on-unmatched-pattern .*--ignore-pattern dist\/$/m);
  project.write('package.json', '{"scripts":{"fix":"eslint --fix src"}}');
  assert.equal((await lint()).details[0], 'src --quiet', 'the script says what it is about');
  project.write('package.json', '{"scripts":{"test":"npm run all","all":"eslint . && mocha"}}');
  assert.equal((await lint()).reason, 'eslint is part of the script "test", and measured with the tests');
});

test('a linter that is told of no file is no way to lint, where it looks at none then', async (t) => {
  const project = testProject(t, null);
  install(project, 'eslint', '#!/bin/sh\necho "$@"; exit 1\n');
  project.write('.eslintrc.json', '{}');
  project.write('a.js', '');
  const lint = async (scripts: Readonly<Record<string, string>>) => {
    project.write('package.json', JSON.stringify({ scripts }));
    const { command } = checkOf(await project.gate(commands({ tests: 'true', coverage: LCOV })), 'lint');
    return command;
  };
  for (const version of ['8.57.0', '9.1.0']) {
    project.write('node_modules/eslint/package.json', `{"version": "${version}"}`);
    const isOld = version.startsWith('8');
    assert.equal(await lint({ eslint: 'eslint' }), isOld ? 'npx eslint .' : 'npm run eslint');
    assert.equal(await lint({ lint: 'eslint --ext .js' }), isOld ? 'npx eslint --ext .js .' : 'npm run lint');
    assert.equal(await lint({ lint: 'tsc --noEmit && eslint --ext .js' }), 'npm run lint');
    assert.equal(await lint({ fix: 'eslint --fix' }), isOld ? 'npx eslint .' : null);
    assert.equal(await lint({ eslint: 'eslint --ext .js src' }), 'npm run eslint');
    assert.equal(await lint({ style: 'xo' }), 'npm run style');
  }
});

test('settings of eslint that the installed one does not read are no lint errors', async (t) => {
  const project = testProject(t, null);
  project.write('package.json', '{"eslintConfig":{}}');
  install(project, 'eslint', ESLINT);
  project.write('node_modules/eslint/package.json', '{"version": "9.1.0"}');
  const settings = commands({ tests: 'true', coverage: LCOV });
  const lint = checkOf(await project.gate(settings), 'lint');
  assert.match(lint.reason, /; eslint 9 does not read its settings in package\.json$/);
  project.write('node_modules/eslint/package.json', '{"version": "8.57.0"}');
  project.write('a.js', '');
  assert.equal(checkOf(await project.gate(settings), 'lint').command, 'npx eslint .');
});

test('biome lints a project that it is configured for', async (t) => {
  const project = testProject(t, null);
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'));
  project.write('package.json', '{}');
  project.write('biome.json', '{}\n');
  project.write('.gitignore', 'node_modules\nlcov.info\ndist\n');
  install(project, 'biome', `#!/bin/sh\nexec '${process.execPath}' '${biome}' "$@"\n`);
  for (const path of ['dist/a.js', 'b.js']) project.write(path, 'debugger;\n');
  const lint = async () => checkOf(await project.gate(commands({ tests: 'true', coverage: LCOV })), 'lint');
  const failed = await lint();
  assert.deepEqual([failed.outcome, failed.command], ['failed', 'npx biome lint .']);
  assert.match(failed.details.join('\n'), /b\.js.*noDebugger/);
  assert.doesNotMatch(failed.details.join('\n'), /dist/);
  project.write('b.js', '1;\n');
  assert.equal((await lint()).outcome, 'passed');
  project.write('biome.json', '{ "linter": { "enabled": false } }\n');
  assert.equal((await lint()).outcome, 'passed', 'it is there to format alone');
});

test('errors that a linter finds by its configuration are held against who changed the file', async (t) => {
  const project = testProject(t, null);
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'));
  project.write('package.json', '{}');
  project.write('biome.json', '{"linter":{"rules":{"suspicious":{"noDebugger":"error","noVar":"warn"}}}}\n');
  project.write('.gitignore', 'node_modules\nlcov.info\n');
  install(project, 'biome', `#!/bin/sh\nexec '${process.execPath}' '${biome}' "$@"\n`);
  project.write('public/old.js', 'debugger;\n');
  project.write('src/a.js', 'var a = 1;\nconsole.log(a);\n');
  const settings = commands({ tests: 'true', coverage: LCOV });
  const whole = await project.gate(settings);
  assert.deepEqual((await project.gate(settings)).lintErrors, ['public/old.js'], 'as it was kept');
  const heldFor = (changed: readonly string[] | null) => checkOf(heldAgainst(whole, changed, DEFAULT_QUALITY), 'lint');
  assert.deepEqual(
    [null, ['src/a.js'], ['public/old.js']].map((changed) => heldFor(changed).outcome),
    ['failed', 'passed', 'failed'],
  );
  assert.equal(
    heldFor(['src/a.js']).reason,
    'no lint errors in what changed; 1 other file with errors is linted by no script',
  );
  assert.equal(checkOf(whole, 'lint').failures, undefined, 'old by its files, not as a command');
  project.write('src/a.js', 'debugger;\n');
  const both = checkOf(heldAgainst(await project.gate(settings), ['src/a.js'], DEFAULT_QUALITY), 'lint');
  assert.deepEqual([both.outcome, both.details], ['failed', ['src/a.js: changed, and has lint errors']]);
  project.write('biome.json', '{ "nothing": 1 }\n');
  const broken = heldAgainst(await project.gate(settings), ['src/a.js'], DEFAULT_QUALITY);
  assert.equal(checkOf(broken, 'lint').outcome, 'failed', 'it has not looked');
  project.write('biome.json', '{}\n');
  project.write('package.json', '{"scripts":{"lint":"biome lint ."}}');
  assert.equal((await project.gate(settings)).lintErrors, undefined, 'a script says what is linted');
});

test('lint errors in what was installed are said to be a person’s, with what leaves it out', async (t) => {
  const words = async (program: string, lint: string) => {
    const project = testProject(t, null);
    project.write('package.json', JSON.stringify({ scripts: { lint } }));
    project.write('.tool/installed.json', '{"a":  1}\n');
    install(
      project,
      lint.split(' ')[0] ?? '',
      `#!/bin/sh\nexec '${process.execPath}' '${fileURLToPath(program)}' "$@"\n`,
    );
    const settings = commands({ tests: 'true', coverage: LCOV });
    return rejection(await project.gate(settings), { ...DEFAULT_QUALITY, ...settings });
  };
  const biome = await words(import.meta.resolve('@biomejs/biome/bin/biome'), 'biome check .');
  assert.match(biome, /Fix the linter errors\. .* to exclude them: Biome \(biome\.json\): add "!\.tool"/);
  assert.doesNotMatch(biome, /Prettier/);
  const prettier = await words(import.meta.resolve('prettier/bin/prettier.cjs'), 'prettier --check .');
  assert.match(prettier, /to exclude them: Prettier: add \.tool\/, /);
  const other = await words(import.meta.resolve('prettier/bin/prettier.cjs'), 'prettier --check package.json');
  assert.match(other, /Fix the linter errors\.$/m);
});
