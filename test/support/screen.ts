// A program on a screen of its own: typed to, and looked at, through tmux.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execaSync } from 'execa';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

/** To look starts a program, and keeps this process, a played model's often, from all else. */
const LOOK_MS = 200;

export type ScreenOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
};

export class Screen {
  readonly #socket: string;
  readonly #pid: number;

  constructor(t: Cleanup, { cwd, env, command }: ScreenOptions) {
    this.#socket = join(tempDir(t), 'tmux');
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    // Nothing of this process's own surroundings, and no settings of whoever runs it.
    this.#tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '150',
      '-y',
      '50',
      '-c',
      cwd,
      'env',
      '-i',
      ...variables,
      ...command,
    );
    this.#pid = Number(this.#tmux('display-message', '-p', '#{pane_pid}'));
    finallyDo(t, () => this.#end(-this.#pid));
  }

  /** Ends the program alone, and nothing that it started. */
  async kill(): Promise<void> {
    await this.#end(this.#pid);
  }

  /** @param target its process, or the group of it as a negative number */
  async #end(target: number): Promise<void> {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
    // tmux goes with its last program, which has written its last by then.
    while (existsSync(`/proc/${this.#pid}`)) await pause(20);
  }

  /** What stands on it. */
  get text(): string {
    return this.#tmux('capture-pane', '-p');
  }

  /** Waits until a text stands on it; whoever waits for nothing is ended by the test's limit. */
  async shows(text: string | RegExp): Promise<void> {
    while (!(typeof text === 'string' ? this.text.includes(text) : text.test(this.text))) await pause(LOOK_MS);
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  /** Types a line, and sends it until it was taken: a menu of commands may take the first key. */
  async enter(text: string, taken: Promise<unknown>, failed: Promise<never>): Promise<void> {
    this.type(text);
    await this.shows(text);
    let isTaken = false;
    const there = taken.then(() => {
      isTaken = true;
    });
    while (!isTaken) {
      this.press('Enter');
      await Promise.race([there, failed, pause(1_000)]);
    }
  }

  press(key: string): void {
    this.#tmux('send-keys', key);
  }

  #tmux(...args: readonly string[]): string {
    return execaSync`tmux -S ${this.#socket} ${args}`.stdout;
  }
}
