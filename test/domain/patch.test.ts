import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { findDiffs } from '../../src/domain/patch.ts';
import { fence } from '../../src/domain/text.ts';

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
