import assert from 'node:assert/strict';
import test from 'node:test';
import { parseDiff } from '../../../src/gate/readers/diff.ts';

/** What git prints, and the lines of which file were added. */
const DIFFS: readonly [string, string, readonly string[]][] = [
  ['nothing', '', []],
  ['a line', '+++ b/a.js\n@@ -0,0 +1 @@\n+one', ['a.js:1 one']],
  [
    'two hunks',
    '+++ b/a.js\n@@ -1 +1 @@\n-x\n+one\n@@ -9,0 +10,2 @@ f() {\n+ten\n+eleven',
    ['a.js:1 one', 'a.js:10 ten', 'a.js:11 eleven'],
  ],
  [
    'two files',
    '+++ b/a.js\n@@ -0,0 +1 @@\n+one\ndiff --git a/b.js b/b.js\n--- a/b.js\n+++ b/b.js\n@@ -3 +3 @@\n-x\n+three',
    ['a.js:1 one', 'b.js:3 three'],
  ],
  [
    'lines that look like headers',
    '+++ b/a.js\n@@ -1,2 +1,3 @@\n--- b/x\n-y\n+++ b/z.js\n+@@ -1 +1 @@\n+three',
    ['a.js:1 ++ b/z.js', 'a.js:2 @@ -1 +1 @@', 'a.js:3 three'],
  ],
  [
    'a line without an end',
    '+++ b/a.js\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+one\n\\ No newline at end of file',
    ['a.js:1 one'],
  ],
  [
    'a file that is gone',
    '--- a/a.js\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n+++ b/b.js\n@@ -0,0 +1 @@\n+one',
    ['b.js:1 one'],
  ],
  [
    'names with spaces, quotes and escapes',
    '+++ b/a b.js\t\n@@ -0,0 +1 @@\n+one\n+++ "b/c\\td\\"\\001.js"\n@@ -0,0 +1 @@\n+two',
    ['a b.js:1 one', 'c\td"\u0001.js:1 two'],
  ],
];

for (const [name, text, lines] of DIFFS)
  test(`a diff of ${name}`, () => {
    const found = parseDiff(text).files.flatMap(({ path, added }) =>
      added.map((one) => `${path}:${one.line} ${one.text}`),
    );
    assert.deepEqual(found, lines);
  });

test('a removed line that begins with two dashes is a removed line, and a header is none', () => {
  const text =
    '--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1 @@\n--- pass = x\n-y\n+z\n--- a/b.sql\n+++ /dev/null\n@@ -1 +0,0 @@\n-w';
  assert.equal(parseDiff(text).removed, '-- pass = x\ny\nw');
});
