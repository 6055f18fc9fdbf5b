// What is found in a Node project, measured with its own tools, and what is said where something is missing.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_QUALITY, rejection } from '../../../src/domain/quality.ts';
import { testProject } from '../../support/checks.ts';

test('the remedy for tests of packages is said in full', async (t) => {
  const project = testProject(t, null);
  const test = 'npm test --workspaces --if-present';
  project.write('package.json', JSON.stringify({ scripts: { test }, workspaces: ['packages/*'] }));
  project.write('packages/a/package.json', '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}');
  project.write('packages/a/a.test.js', "require('node:test')('passes', () => {});\n");
  const words = rejection(await project.gate(), DEFAULT_QUALITY);
  assert.match(words, /: install c8 if they run in Node itself, .*, "vitest run --coverage" in each$/m);
});
