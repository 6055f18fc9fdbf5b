// A tmux server of a test's own, and what is to be seen in it.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execaSync } from 'execa';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';

const LIMIT_MS = 300_000;

export const hasTmux = !execaSync({ reject: false })`tmux -V`.failed;

export class Tmux {
  readonly #socket: string;
  readonly #env: Readonly<Record<string, string>>;

  /** @param command what the first pane runs, and with which variables */
  constructor(t: Cleanup, command: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = '/') {
    this.#socket = join(tempDir(t), 's');
    this.#env = { PATH: process.env.PATH ?? '', SHELL: '/bin/sh', TERM: 'xterm-256color', ...env };
    finallyDo(t, () => {
      execaSync({ env: this.#env, extendEnv: false, reject: false })`tmux -S ${this.#socket} kill-server`;
    });
    const size = ['-x', '200', '-y', '60'];
    this.ask('-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, ...command);
    this.ask('set-option', '-g', 'remain-on-exit', 'off');
  }

  /** As a program in its first pane has them. */
  get variables(): Readonly<Record<string, string>> {
    return { ...this.#env, TMUX: `${this.#socket},0,0`, TMUX_PANE: '%0' };
  }

  ask(...args: readonly string[]): string {
    return execaSync({ env: this.#env, extendEnv: false })`tmux -S ${this.#socket} ${args}`.stdout.trim();
  }

  /** By title, what stands in each pane but the first. */
  get panes(): ReadonlyMap<string, string> {
    const rows = this.ask('list-panes', '-a', '-F', '#{pane_id} #{pane_title}').split('\n');
    return new Map(
      rows.flatMap((row) => {
        const [id = '', title = ''] = row.split(' ');
        return id === '%0' ? [] : [[title, this.ask('capture-pane', '-p', '-t', id).trim()]];
      }),
    );
  }

  /** Waits until its panes are as they are meant to be. */
  async until(isThere: (panes: ReadonlyMap<string, string>) => boolean): Promise<void> {
    const giveUpAt = Date.now() + LIMIT_MS;
    for (;;) {
      let panes: ReadonlyMap<string, string> = new Map();
      try {
        panes = this.panes;
        if (isThere(panes)) return;
      } catch {
        // A pane went while it was asked about.
      }
      if (Date.now() > giveUpAt) throw new Error(`the panes stayed otherwise: ${JSON.stringify([...panes])}`);
      await delay(200);
    }
  }

  kill(): void {
    this.ask('kill-server');
  }
}
