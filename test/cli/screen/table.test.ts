// Tables and lines of a terminal that hold wide characters, joined emoji and combining marks.

import assert from 'node:assert/strict';
import test from 'node:test';
import { displayWidth } from '../../../src/base/display-width.ts';
import { lineWidth, printed, tableLines, wrap } from '../../../src/cli/screen/table.ts';

const WORDS = ['plain words', '日本語の課題', 'e\u0301te\u0301 e\u0301te\u0301', '👨‍👩‍👧 and 👩🏽‍💻', 'น้ำ नमस्ते'];

test('columns stay aligned at each width, whatever characters they hold', () => {
  const rows = WORDS.map((text) => [{ text }, { text: 'end' }]);
  for (let width = 8; width <= 30; width += 1) {
    const lines = tableLines(rows, [{ grow: true, min: 2 }, {}], width);
    assert.deepEqual(
      lines.map((line) => [lineWidth(line), line.at(-1)?.text]),
      rows.map(() => [width, 'end']),
    );
  }
});

test('a printed line is cut once, between characters', () => {
  const line = [{ text: '日本' }, { text: '👩🏽‍💻e\u0301語' }];
  const cuts = [1, 2, 3, 5, 6, 7, 8].map((width) => printed(line, width));
  assert.deepEqual(cuts, ['…', '…', '日…', '日本…', '日本…', '日本👩🏽‍💻…', '日本👩🏽‍💻e\u0301…']);
  assert.equal(printed(line, 9), '日本👩🏽‍💻e\u0301語');
});

test('words wrap by their columns, and keep each character as it is', () => {
  assert.deepEqual(wrap('日本 語 ab', 6), ['日本', '語 ab']);
  assert.deepEqual(wrap('日本語 ab', 4), ['日本', '語', 'ab']);
  const command = "git add 'cafe\u0301.txt'";
  assert.equal(wrap(command, 80).join(' '), command);
  for (const word of WORDS) for (const line of wrap(word, 5)) assert.ok(displayWidth(line) <= 5, line);
});
