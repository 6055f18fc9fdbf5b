// What is found in a Node project, measured with its own tools, and what is said where something is missing.

import assert from 'node:assert/strict';
import test from 'node:test';
import { planChecks } from '../../../src/adapters/checks/plan.ts';
import { DEFAULT_QUALITY, rejection } from '../../../src/domain/quality.ts';
import { testProject } from '../../support/checks.ts';
import type { Cleanup } from '../../support/temp.ts';

test('the remedy for tests of packages is said in full', async (t) => {
  const project = testProject(t, null);
  const test = 'npm test --workspaces --if-present';
  project.write('package.json', JSON.stringify({ scripts: { test }, workspaces: ['packages/*'] }));
  project.write('packages/a/package.json', '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}');
  project.write('packages/a/a.test.js', "require('node:test')('passes', () => {});\n");
  const words = rejection(await project.gate(), DEFAULT_QUALITY);
  assert.match(words, /: install c8 if they run in Node itself, .*, "vitest run --coverage" in each$/m);
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

test('without a script for all tests that of the units is run, unless it watches', async (t) => {
  const plain = await planOf(t, { 'test:unit': 'vitest', test: 'echo "Error: no test specified" && exit 1' }, VITEST);
  assert.deepEqual([plain.tests, plain.coverage?.command], [['npm run test:unit'], 'npx vitest --coverage']);
  assert.deepEqual((await planOf(t, { 'test:unit': 'jest --watch', 'test:ci': 'jest' })).tests, ['npm run test:ci']);
  assert.deepEqual((await planOf(t, { 'test:unit': 'vitest', test: 'node --test' })).tests, ['npm test']);
});
