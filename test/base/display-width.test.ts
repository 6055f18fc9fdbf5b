// Display width of text in terminal columns: measuring, clipping and padding.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { breakColumns, clipColumns, displayWidth, PLAIN, padColumns } from '../../src/base/display-width.ts';

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
  ['क्षत्रिय', 6],
  ['क्\u200dष', 2],
  ['น้ำ', 2],
  ['ກຳ', 2],
  ['မြန်မာ', 5],
  ['\u1100\u1161\u11a8', 2],
  ['ｶﾞ', 2],
  ['👩🏽‍💻', 2],
  ['👩‍❤️‍💋‍👨', 2],
  ['🏳️‍🌈', 2],
  ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 2],
  ['a\u0323\u0302\u0301', 1],
  ['\u0301', 0],
];

test('wide characters take two columns, marks none, a joined emoji as much as one', () => {
  for (const [text, width] of WIDTHS) assert.deepEqual([text, displayWidth(text)], [text, width]);
});

test('characters that are counted without string-width take one column there, beside each other too', () => {
  // A lone surrogate is no character.
  const all = Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code));
  const counted = all.filter((one) => PLAIN.test(one));
  assert.ok(counted.length > 700, `${counted.length} characters`);
  for (const one of counted) assert.deepEqual([one, stringWidth(one)], [one, 1]);
  for (const first of ['a', 'ü', '…', '─', '●', '✔'])
    for (const pair of counted.flatMap((one) => [first + one, one + first])) {
      assert.deepEqual([pair, stringWidth(pair)], [pair, 2]);
      assert.equal(boundaries(pair).size, 2, pair);
    }
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
  ['a\u0323\u0302b\u0323\u0302c', 2, 'a\u0323\u0302…'],
  ['xx👩🏽‍💻yy', 4, 'xx…'],
  ['xx👩🏽‍💻yy', 5, 'xx👩🏽‍💻…'],
  ['🇩🇪🇫🇷🇮🇹', 4, '🇩🇪…'],
  ['🇩🇪🇫🇷🇮🇹', 5, '🇩🇪🇫🇷…'],
  ['x1️⃣2️⃣', 3, 'x…'],
  ['น้ำน้ำ', 3, 'น้ำ…'],
  ['नमस्ते', 3, 'नम…'],
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

const BREAKS: readonly (readonly [string, number, readonly string[]])[] = [
  ['', 3, ['']],
  ['short', 5, ['short']],
  ['longer', 4, ['long', 'er']],
  ['日本語', 4, ['日本', '語']],
  ['日本語', 3, ['日', '本', '語']],
  ['日本', 1, ['日', '本']],
  ['a👨‍👩‍👧b', 2, ['a', '👨‍👩‍👧', 'b']],
  ['e\u0301e\u0301e\u0301', 2, ['e\u0301e\u0301', 'e\u0301']],
];

test('text is split into pieces, never through a character', () => {
  for (const [text, max, pieces] of BREAKS) assert.deepEqual([text, max, breakColumns(text, max)], [text, max, pieces]);
});

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const boundaries = (text: string) => new Set([...graphemes.segment(text)].map(({ index }) => index));
const anyText = fc
  .array(fc.constantFrom('a ', ...WIDTHS.map(([text]) => text)), { maxLength: 8 })
  .map((parts) => parts.join(''));

test('no cut or piece of any text is too wide, ends inside a character or changes the text', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 2, max: 20 }), (text, max) => {
      const ends = boundaries(text).add(text.length);
      const cut = clipColumns(text, max);
      assert.ok(displayWidth(cut) <= max);
      if (displayWidth(text) <= max) assert.equal(cut, text);
      else assert.ok(text.startsWith(cut.slice(0, -1)) && ends.has(cut.length - 1));
      let end = 0;
      for (const piece of breakColumns(text, max)) {
        end += piece.length;
        assert.ok(ends.has(end) && graphemesFit(piece, max));
      }
      assert.equal(breakColumns(text, max).join(''), text);
    }),
  );
});

/** A single character may be wider than the limit: it is not broken. */
function graphemesFit(piece: string, max: number): boolean {
  return displayWidth(piece) <= max || [...graphemes.segment(piece)].length === 1;
}
