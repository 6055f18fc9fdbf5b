// Lines that are drawn again in their place, on a terminal that does what it is told.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Redrawn } from '../../../src/cli/screen/redraw-lines.ts';

const ESC = '\u001b';
const PIECES = new RegExp(`${ESC}\\[(\\d+)A|${ESC}\\[2K|${ESC}\\[J|\\r|\\n|[^${ESC}\\r\\n]+`, 'g');

/** A terminal of so many rows; what leaves it at the top is kept, and out of reach. */
class Screen {
  readonly columns: number;
  readonly rows: number;
  readonly #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  get text(): string {
    return this.#lines.join('\n');
  }

  write(text: string): void {
    for (const [piece, up] of text.matchAll(PIECES)) {
      if (up !== undefined) this.#row = Math.max(0, this.#lines.length - this.rows, this.#row - Number(up));
      else if (piece === `${ESC}[2K`) this.#lines[this.#row] = '';
      else if (piece === `${ESC}[J`) this.#lines.splice(this.#row, Number.POSITIVE_INFINITY, '');
      else if (piece === '\r') this.#column = 0;
      else if (piece === '\n') {
        this.#row += 1;
        this.#column = 0;
        if (this.#row === this.#lines.length) this.#lines.push('');
      } else {
        const line = this.#lines[this.#row] ?? '';
        this.#lines[this.#row] = line.slice(0, this.#column).padEnd(this.#column) + piece;
        this.#column += piece.length;
      }
    }
  }
}

const lines = (...texts: readonly string[]) => texts.map((text) => [{ text }]);

test('lines take the place of those before, fewer ones too; what stood above stays, and so do they', () => {
  const screen = new Screen(40, 10);
  screen.write('above\n');
  const redrawn = new Redrawn(screen);
  redrawn.draw(lines('one', 'two', 'three'));
  redrawn.draw(lines('1', '2'));
  assert.equal(screen.text, 'above\n1\n2\n');
  redrawn.leave();
  redrawn.draw(lines('below'));
  redrawn.draw(lines('below, again'));
  assert.equal(screen.text, 'above\n1\n2\nbelow, again\n');
});

test('never more lines than the terminal has, and none wider than it is', () => {
  const screen = new Screen(10, 4);
  const redrawn = new Redrawn(screen);
  assert.equal(redrawn.most, 3);
  for (const round of ['a', 'b']) redrawn.draw(lines(`${round}1`, `${round}2 is too long`, `${round}3`, `${round}4`));
  assert.equal(screen.text, 'b1\nb2 is to…\nb3\n');
});

test('a terminal that does not say its size is taken for a common one', () => {
  const redrawn = new Redrawn({ columns: 0, rows: 0, write: () => true });
  assert.deepEqual([redrawn.columns, redrawn.most], [80, 23]);
});
