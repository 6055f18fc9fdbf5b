// Versions of programs: read from what they print, and compared by number.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isVersionAtLeast, parseVersion } from '../../../src/base/rules/version.ts';

const VERSIONS: readonly [string, boolean][] = [
  ['2.1.32', true],
  ['2.1.33', true],
  ['2.1.331 (Claude Code)', true],
  ['v2.1.32', true],
  ['2.2.0', true],
  ['10.0.0', true],
  ['2.1.31', false],
  ['2.1.4', false],
  ['2.0.99', false],
  ['1.99.99', false],
  ['2.1.32-beta.1', false],
  ['2.1.33-beta.1', true],
  ['2.1', false],
  ['', false],
  ['latest', false],
];

for (const [version, holds] of VERSIONS)
  test(`${JSON.stringify(version)} is ${holds ? '' : 'not '}2.1.32 or higher`, () =>
    assert.equal(isVersionAtLeast(version, '2.1.32'), holds));

test('versions are compared by number, part by part', () => {
  const cases: readonly [string, string, boolean][] = [
    ['2.1.33', '2.1.100', false],
    ['2.1.100', '2.1.100', true],
    ['2.1.177', '2.1.100', true],
    ['1.99.99', '2.0.0', false],
    ['2.10.0', '2.9.9', true],
  ];
  for (const [version, least, holds] of cases)
    assert.equal(isVersionAtLeast(version, least), holds, `${version} >= ${least}`);
});

test('a version is read from the beginning of what a program prints', () => {
  assert.equal(parseVersion('2.1.331 (Claude Code)\n'), '2.1.331');
  for (const text of ['', 'Claude 2.1.3', '2.1', 'v2.1.3']) assert.equal(parseVersion(text), null, text);
});
