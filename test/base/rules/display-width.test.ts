// Display width of text in terminal columns: measuring, clipping and padding.

import assert from 'node:assert/strict';
import test from 'node:test';
import { clipColumns, displayWidth, padColumns } from '../../../src/base/rules/display-width.ts';

const WIDTHS: readonly (readonly [string, number])[] = [
  ['', 0],
  ['plain', 5],
  ['naïve', 5],
  ['e\u0301', 1],
  ['日本語', 6],
  ['한국', 4],
  ['ﾊﾝｶｸ', 4],
  ['（）', 4],
  ['🔐', 2],
  ['👨‍👩‍👧', 2],
  ['👍🏽', 2],
  ['❤️', 2],
  ['❤', 1],
  ['🇩🇪', 2],
  ['1️⃣', 2],
  ['a\u200bb', 2],
  ['→ ✔ ● … █ ░', 11],
  ['𠮷', 2],
  ['नमस्ते', 4],
  ['कि', 2],
];

test('wide characters take two columns, marks none, a joined emoji as much as one', () => {
  for (const [text, width] of WIDTHS) assert.deepEqual([text, displayWidth(text)], [text, width]);
});

const CLIPS: readonly (readonly [string, number, string])[] = [
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['日本語', 6, '日本語'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['日本語', 1, '…'],
  ['日本語', 0, ''],
  ['a👨‍👩‍👧b', 3, 'a…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
];

test('text is cut to columns, never through a character', () => {
  for (const [text, max, cut] of CLIPS) {
    assert.deepEqual([text, max, clipColumns(text, max)], [text, max, cut]);
    assert.ok(displayWidth(cut) <= max);
  }
});

test('text is filled up to columns on either side', () => {
  assert.equal(padColumns('日本', 6), '日本  ');
  assert.equal(padColumns('日本', 6, 'left'), '  日本');
  assert.equal(padColumns('日本語', 3), '日本語');
});
