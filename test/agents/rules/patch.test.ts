import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { changedFiles, findDiffs, withCrlf } from '../../../src/agents/rules/patch.ts';
import { fence } from '../../../src/base/rules/text.ts';

const DIFF = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';

test('blocks marked diff or patch, and unmarked ones that look like one', () => {
  const cases: readonly [string, string, number][] = [
    ['marked diff', `text\n\n\`\`\`diff\n${DIFF}\`\`\`\n`, 1],
    ['marked patch, tildes', `~~~patch\n${DIFF}~~~`, 1],
    ['unmarked', `\`\`\`\n${DIFF}\`\`\``, 1],
    ['another language', `\`\`\`js\n${DIFF}\`\`\``, 0],
    ['unmarked prose', '```\nhello\n```', 0],
    ['two', `\`\`\`diff\n${DIFF}\`\`\`\nand\n\`\`\`diff\n${DIFF}\`\`\``, 2],
    ['never closed', `\`\`\`diff\n${DIFF}`, 0],
    ['longer fence around a shorter one', `\`\`\`\`diff\n${DIFF}\`\`\`\n\`\`\`\``, 1],
    ['empty', '```diff\n\n```', 0],
    ['no block', DIFF, 0],
    ['info with options', `\`\`\`diff title="x"\n${DIFF}\`\`\``, 1],
  ];
  for (const [name, text, count] of cases) assert.equal(findDiffs(text).length, count, name);
});

test('the lines of a diff stay as they are; line ends become LF', () => {
  assert.deepEqual(findDiffs(`\`\`\`diff\n${DIFF}\`\`\``), [DIFF]);
  assert.deepEqual(findDiffs(`\`\`\`diff\n${DIFF}\`\`\``.replaceAll('\n', '\r\n')), [DIFF]);
});

test('an indented block, as in a list, loses its indentation', () => {
  const indented = DIFF.split('\n')
    .map((line) => (line === '' ? line : `   ${line}`))
    .join('\n');
  assert.deepEqual(findDiffs(`- item\n\n   \`\`\`diff\n${indented}   \`\`\`\n`), [DIFF]);
});

test('whatever stands in a fenced diff is found again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '+', '-', '`', '~') }), { minLength: 1 }),
      (lines) => {
        const text = `${lines.map((line) => `+${line}`).join('\n')}\n`;
        assert.deepEqual(findDiffs(`words\n${fence(text, 'diff')}\n`), [text]);
      },
    ),
  );
});

test('CR LF is given to the hunks of the named files alone, and to no line without an end', () => {
  const diff =
    '--- a/dos.txt\n+++ b/dos.txt\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n\\ No newline at end of file\n--- a/unix.txt\n+++ b/unix.txt\n@@ -1 +1 @@\n-a\n+b\n';
  assert.deepEqual(changedFiles(diff), ['dos.txt', 'unix.txt']);
  assert.equal(
    withCrlf(diff, new Set(['dos.txt'])),
    '--- a/dos.txt\n+++ b/dos.txt\n@@ -1,3 +1,3 @@\n a\r\n \r\n-b\r\n+c\n\\ No newline at end of file\n--- a/unix.txt\n+++ b/unix.txt\n@@ -1 +1 @@\n-a\n+b\n',
  );
});
