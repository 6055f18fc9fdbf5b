// Lines of a terminal that are drawn again in their place: what stands above them stays, and so do they at the end.

import { type Line, lineWidth, printed } from './table.ts';

/** The part of a terminal that is needed. Some say that they have no columns at all. */
export type Terminal = {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
};

// Not log-update: it leaves old lines on a terminal that became narrower, and installs signal handlers of its own.
export class Redrawn {
  readonly #terminal: Terminal;
  /** How wide each line is that stands there. */
  #drawn: readonly number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get columns(): number {
    return this.#terminal.columns || 80;
  }

  /** So many lines can be drawn again: what has left the screen at its top is out of reach. */
  get most(): number {
    return Math.max(1, (this.#terminal.rows || 24) - 1);
  }

  /** Draws the lines in place of those before, the first `most` of them, each cut to the terminal's width. */
  draw(lines: readonly Line[]): void {
    const { columns } = this;
    // A terminal that became narrower has broken the lines that stand there.
    const rows = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    const up = Math.min(rows, this.most);
    const shown = lines.slice(0, this.most);
    const texts = shown.map((line) => `\u001b[2K${printed(line, columns - 1)}\n`);
    this.#terminal.write(`${up === 0 ? '' : `\u001b[${up}A`}\r${texts.join('')}\u001b[J`);
    this.#drawn = shown.map((line) => Math.min(columns - 1, lineWidth(line)));
  }

  /** What stands there stays; what is drawn next comes below it. */
  leave(): void {
    this.#drawn = [];
  }
}
