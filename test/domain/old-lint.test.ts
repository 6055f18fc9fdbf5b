// Which files a linter tells of, by what it prints.

import assert from 'node:assert/strict';
import test from 'node:test';
import { filesWithErrors } from '../../src/domain/old-lint.ts';

const FILES = ['lib/old.js', 'app/[slug]/page.js', 'app/(shop)/my page.js'];

function told(output: string): readonly string[] | null {
  const end = { command: 'lint', script: 'lint', exitCode: 1, timedOut: false, durationMs: 1, output, errors: '' };
  return filesWithErrors([end], FILES);
}

test('files are told by their whole names, whatever signs are in them', () => {
  assert.deepEqual(told('lib/old.js:1:1 lint/a ━━━\n\napp/[slug]/page.js:1:23 lint/b ━━━\n'), [
    'lib/old.js',
    'app/[slug]/page.js',
  ]);
  assert.deepEqual(told('app/(shop)/my page.js\n  1:23  error  x\n\n✖ 1 problem\n'), ['app/(shop)/my page.js']);
  assert.deepEqual(told("  x eslint(no-a): y\n   ,-[lib/old.js:1:1]\n 1 | a\n   '----\n"), ['lib/old.js']);
});

test('where a place is no file that is known, nothing is told', () => {
  assert.equal(told('lib/old.js:1:1 lint/a ━━━\nelsewhere/x.js:1:23 lint/b ━━━\n'), null);
  assert.equal(told('it broke down\n'), null);
});
