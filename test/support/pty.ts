// A program in a terminal of its own, of which the test sees the screen and has the keys.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

const LIMIT_MS = 5 * 60_000;
const ESC = '\u001b';
const SGR = new RegExp(`${ESC}\\[[\\d;]*m`, 'g');
/** A line that is drawn: to its place, erased, written. */
const DRAWN = new RegExp(`${ESC}\\[(\\d+);1H${ESC}\\[2K((?:(?!${ESC}\\[(?:\\d+;1H|\\?)).)*)`, 'gs');

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const start = (command: string, cwd: string, env: Readonly<Record<string, string | undefined>>) =>
  execa({
    ...{ cwd, env, extendEnv: false, buffer: false, reject: false },
  })`script --quiet --return --flush --command ${command} /dev/null`;

export class Pty {
  readonly #child: ReturnType<typeof start>;
  readonly #directory: string;
  readonly ended: Promise<number | undefined>;
  /** Everything that was written to the terminal. */
  output = '';

  private constructor(
    t: Cleanup,
    args: readonly string[],
    columns: number,
    rows: number,
    env: Record<string, string>,
    cwd: string,
  ) {
    this.#directory = tempDir(t);
    const command = `stty cols ${columns} rows ${rows}; tty > ${quoted(join(this.#directory, 'tty'))}; echo $$ > ${quoted(join(this.#directory, 'pid'))}; exec ${args.map(quoted).join(' ')}`;
    const { PATH } = process.env;
    const all = { PATH, HOME: this.#directory, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env };
    this.#child = start(command, cwd, all);
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.ended = this.#child.then(({ exitCode }) => exitCode);
    finallyDo(t, async () => {
      this.#child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** @param args a program of this Node with its arguments */
  static start(
    t: Cleanup,
    args: readonly string[],
    size: { readonly columns: number; readonly rows: number },
    env: Record<string, string> = {},
    cwd = process.cwd(),
  ): Pty {
    return new Pty(t, [process.execPath, ...args], size.columns, size.rows, env, cwd);
  }

  get pid(): number {
    return Number(readFileSync(join(this.#directory, 'pid'), 'utf8'));
  }

  /** The lines as they stand now, without their colours: what was written to a place since it was last cleared. */
  get screen(): readonly string[] {
    const lines: string[] = [];
    const last = this.output.slice(this.output.lastIndexOf('\u001b[2J') + 4);
    for (const [, row = '', text = ''] of last.matchAll(DRAWN))
      lines[Number(row) - 1] = text.replace(SGR, '').replace(/\r?\n$/, '');
    return Array.from(lines, (line) => line ?? '');
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  resize(columns: number, rows: number): void {
    const tty = readFileSync(join(this.#directory, 'tty'), 'utf8').trim();
    execaSync`stty -F ${tty} cols ${columns} rows ${rows}`;
  }

  /** Waits until the screen is as it is meant to be. */
  async until(isThere: (screen: readonly string[]) => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => done(new Error(`the screen stayed otherwise:\n${this.screen.join('\n')}`)),
        LIMIT_MS,
      );
      const done = (error?: Error) => {
        clearTimeout(timer);
        this.#child.stdout.off('data', look);
        this.#child.off('close', gone);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = () => {
        if (isThere(this.screen)) done();
      };
      const gone = () => done(new Error(`the program ended:\n${this.output}`));
      this.#child.stdout.on('data', look);
      this.#child.once('close', gone);
      look();
    });
  }
}
