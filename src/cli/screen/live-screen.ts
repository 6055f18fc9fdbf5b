// The whole terminal for a picture that changes: taken, drawn line by line where a line is another, given back.

import type { ScreenSize } from './team-board-lines.ts';

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const CTRL_C = '\u0003';

/** Some terminals say that they have no columns at all. */
function sizeOf({ columns, rows }: NodeJS.WriteStream): ScreenSize {
  return { columns: columns || 80, rows: rows || 24 };
}

export type LiveScreenOptions = {
  readonly draw: (size: ScreenSize) => readonly string[];
  /** Somebody pressed `q`, or Ctrl-C. */
  readonly onLeave: (key: 'q' | 'ctrl-c') => void;
};

// Not log-update: its relative cursor moves miss after a resize, and it has no alternate screen.
export class LiveScreen {
  readonly #options: LiveScreenOptions;
  #drawn: readonly string[] = [];
  #isOpen = false;
  readonly #restore = () => this.close();
  readonly #resized = () => {
    this.#drawn = [];
    process.stdout.write('\u001b[2J');
    this.redraw();
  };
  readonly #typed = (bytes: Buffer) => {
    const keys = bytes.toString('latin1');
    if (keys.includes(CTRL_C)) this.#options.onLeave('ctrl-c');
    // A key of more than one byte, like an arrow, begins with an escape.
    else if (!keys.startsWith('\u001b') && /q/i.test(keys)) this.#options.onLeave('q');
  };

  /** The terminal is gone. */
  readonly #ended = () => this.#options.onLeave('q');

  constructor(options: LiveScreenOptions) {
    this.#options = options;
  }

  /** A screen that was closed may be opened again. */
  open(): void {
    this.#isOpen = true;
    this.#drawn = [];
    process.stdout.write(ENTER);
    // Whatever ends the process, the terminal is as it was.
    process.on('exit', this.#restore);
    process.stdout.on('resize', this.#resized);
    const { stdin } = process;
    if (stdin.isTTY) {
      stdin.setRawMode(true);
      stdin.on('data', this.#typed);
      // It stays after the screen is closed, and is there once.
      stdin.off('error', this.#ended);
      stdin.on('error', this.#ended);
      stdin.resume();
    }
    this.redraw();
  }

  /** Writes the lines that are not as they stand on the screen. */
  redraw(): void {
    if (!this.#isOpen) return;
    const lines = this.#options.draw(sizeOf(process.stdout));
    const count = Math.max(lines.length, this.#drawn.length);
    const changes = Array.from({ length: count }, (_, index) =>
      // Erased first: after a full line the cursor stands on its last character.
      lines[index] === this.#drawn[index] ? '' : `\u001b[${index + 1};1H\u001b[2K${lines[index] ?? ''}`,
    );
    this.#drawn = lines;
    const text = changes.join('');
    if (text !== '') process.stdout.write(text);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#restore);
    process.stdout.off('resize', this.#resized);
    const { stdin } = process;
    if (stdin.isTTY) {
      stdin.off('data', this.#typed);
      stdin.setRawMode(false);
      stdin.pause();
    }
    process.stdout.write(LEAVE);
  }
}
