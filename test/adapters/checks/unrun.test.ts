// Packages below the root whose tests nothing runs: changed work there does not pass by the tests of the root.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_QUALITY, rejection } from '../../../src/domain/quality.ts';
import { heldAgainst } from '../../../src/domain/unreported.ts';
import { checkOf, commands, testProject } from '../../support/checks.ts';
import type { Cleanup } from '../../support/temp.ts';

type Files = Readonly<Record<string, string>>;

const OWN = {
  'package.json': '{"scripts":{"test":"node --test test/a.test.js"}}',
  'test/a.test.js': "require('node:test')('passes', () => require('../a.js'));\n",
  'a.js': 'exports.a = () => 1;\nexports.a();\n',
};
const GO = { 'svc/go.mod': 'module svc\n', 'svc/a.go': 'package a\n', 'svc/a_test.go': 'package a\n' };

async function measured(t: Cleanup, files: Files) {
  const project = testProject(t, null);
  for (const [path, text] of Object.entries({ ...OWN, ...files })) project.write(path, text);
  return { gate: await project.gate(), again: () => project.gate() };
}

/** The packages that are told, measured without running more than the tests of the root. */
async function told(t: Cleanup, files: Files): Promise<readonly string[]> {
  const { gate } = await measured(t, files);
  return (gate.unrun ?? []).map(({ manifest }) => manifest);
}

test('tests of a package that nothing runs fail what was changed there, and nothing else', async (t) => {
  const { gate, again } = await measured(t, GO);
  assert.equal(checkOf(gate, 'tests').outcome, 'passed');
  for (const changed of [null, ['a.js'], ['svc/README.md'], ['svc2/a.go']])
    assert.equal(heldAgainst(gate, changed, DEFAULT_QUALITY).ok, true, String(changed));
  const held = heldAgainst(gate, ['svc/a.go'], DEFAULT_QUALITY);
  assert.equal(held.ok, false);
  assert.match(
    rejection(held, DEFAULT_QUALITY),
    /^tests: svc\/go\.mod has tests that nothing here runs: .* quality\.commands\.tests of \.tool\/config\/workflow\.yaml, as: npm test && \(cd svc && go test \.\/\.\.\.\)$/m,
  );
  assert.deepEqual((await again()).unrun, gate.unrun, 'as it was kept');
});

test('every kind of package is told that has tests of its own', async (t) => {
  const all = {
    ...GO,
    'server/pyproject.toml': '',
    'server/tests/test_a.py': '',
    'src-tauri/Cargo.toml': '[package]\n',
    'src-tauri/src/lib.rs': '#[cfg(test)]\nmod t { #[test]\nfn a() {} }\n',
    'functions/package.json': '{"scripts":{"test":"mocha"}}',
    'functions/test/a.js': '',
    'functions/inner/package.json': '{"scripts":{"test":"mocha"}}',
  };
  assert.deepEqual(await told(t, all), [
    'functions/package.json',
    'server/pyproject.toml',
    'src-tauri/Cargo.toml',
    'svc/go.mod',
  ]);
});

test('a package that is listed as one of several is taken to be run', async (t) => {
  const nested = '{"scripts":{"test":"node --test"}}';
  const listed: readonly Files[] = [
    { 'go.work': 'go 1.22\nuse (\n  ./svc\n)\n', ...GO },
    {
      'package.json': '{"workspaces":["packages/*"],"scripts":{"test":"node --test test/a.test.js"}}',
      'packages/b/package.json': nested,
      'packages/b/b.test.js': '',
    },
    { 'pnpm-workspace.yaml': 'packages:\n  - "libs/*"\n', 'libs/b/package.json': nested, 'libs/b/b.test.js': '' },
  ];
  for (const files of listed) assert.deepEqual(await told(t, files), [], JSON.stringify(files));
});

test('what has no tests, lies beside the program or may be run is not told', async (t) => {
  const script = (test: string, more: object = {}) => ({
    'package.json': JSON.stringify({ scripts: { test, ...more } }),
  });
  const nested = '{"scripts":{"test":"mocha"}}';
  const beside = (at: string) => ({ [`${at}/package.json`]: nested, [`${at}/a.test.js`]: '' });
  const none: readonly Files[] = [
    { 'svc/go.mod': '', 'svc/a.go': '' },
    {
      'functions/package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
      'functions/a.test.js': '',
    },
    { 'functions/package.json': '{"type":"commonjs"}', 'functions/a.test.js': '' },
    {
      'client/package.json': '{"scripts":{"test":"react-scripts test"}}',
      'client/test/a.css': '',
      'client/App.js': '',
    },
    { 'src-tauri/Cargo.toml': '', 'src-tauri/src/main.rs': 'fn main() {}\n' },
    ...['docs', 'examples/a', 'test/fixtures/b', 'packages/x/templates/c', 'third_party'].map(beside),
    { '.gitignore': 'gen/\n', ...beside('gen') },
    // What the root runs names it, or looks for tests everywhere, or is not read.
    { ...GO, ...script('node --test test/a.test.js && (cd svc && true)') },
    { ...GO, ...script('node --test test/a.test.js && npm run svc', { svc: 'cd svc/ && true' }) },
    { ...GO, ...script('node --test test/a.test.js && sh all.sh'), 'all.sh': '' },
    { ...GO, ...script('node --test test/a.test.js && go test ./... ./svc/...') },
    { ...GO, ...script('node --test test/a.test.js && go test work') },
    {
      ...script('node --test test/a.test.js && npm run unit -ws', { unit: 'node --test test' }),
      ...beside('svc'),
    },
    { ...script('node --test'), 'functions/package.json': nested, 'functions/a.test.js': '' },
  ];
  for (const files of none) assert.deepEqual(await told(t, files), [], JSON.stringify(files));
  const { gate } = testProject(t, null);
  assert.equal((await gate(commands({ tests: 'true' }))).unrun, undefined, 'the command is given');
});

test('values of options are no places, and patterns name the packages that they match', async (t) => {
  const beside = { 'functions/package.json': '{"scripts":{"test":"mocha"}}', 'functions/test/a.test.js': '' };
  const toldBy = (script: string) =>
    told(t, { ...beside, 'package.json': JSON.stringify({ scripts: { test: script } }) });
  for (const script of [
    'vitest run --config vitest.config.js',
    'jest --config jest.config.js',
    'jest -c config/jest.json',
    'node --import tsx/esm --test',
    'node --import ./a.js --test',
    'c8 --reporter text node --test',
    'ava',
    'ava func*/test',
    'mocha func*/test',
    'jest --testPathIgnorePatterns test/ --silent',
    'vitest run --exclude test/**',
    'for d in . functions; do (cd $d && node --test test); done',
    "mocha 'func*/test/**/*.js'",
    'node --test func*/test/*.test.js',
    "mocha '{server,functions}/test/*.js'",
    'mocha "**/*.test.js"',
    'vitest run test/a',
    'react-scripts test',
  ])
    assert.deepEqual(await toldBy(script), [], script);
  for (const script of [
    "mocha 'test/*.js' '!functions/**'",
    'mocha --require ./a.js',
    'eslint functions "**/*.js" && mocha',
    'ava test/a.test.js',
    'vitest run -c vitest.config.js test/b',
    'jest --rootDir test/',
  ])
    assert.deepEqual(await toldBy(script), ['functions/package.json'], script);
});

test('where a runner looks by its own settings, nothing is told', async (t) => {
  const nested = {
    'package.json': '{"scripts":{"test":"mocha"}}',
    'packages/b/package.json': '{"scripts":{"test":"mocha"}}',
    'packages/b/b.test.js': '',
  };
  assert.deepEqual(await told(t, nested), ['packages/b/package.json']);
  assert.deepEqual(await told(t, { ...nested, '.mocharc.json': '{"spec":"packages/*/*.test.js"}' }), []);
});
