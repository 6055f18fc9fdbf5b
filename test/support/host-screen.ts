// A user of the real host at its own screen, in the mode in which it starts where nobody chooses one.

import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { hostProgram } from './host.ts';
import { ModelServer } from './model-server.ts';
import type { Play } from './played-agents.ts';
import { Screen } from './screen.ts';
import type { TeamHost } from './team-host.ts';
import { type Cleanup, finallyDo } from './temp.ts';

const QUESTION = /Do you want to .*\?/;

/** Who waits for something that never comes is ended, and told what stands on the screen. The longest story takes a fifth of it on a quiet machine. */
const LIMIT_MS = 8 * 60_000;

export class HostScreen {
  /** Questions of the host that the user has agreed to. */
  readonly asked: string[] = [];
  /** Lines in which the host told the user of an error of a hook. */
  readonly hookErrors = new Set<string>();
  readonly #screen: Screen;
  /** Rejects as soon as a part of the play fails, or there is no end in sight; never resolves. */
  readonly #failed: Promise<never>;
  #limit: NodeJS.Timeout | undefined;

  private constructor(t: Cleanup, screen: Screen, play: Play) {
    this.#screen = screen;
    const late = new Promise<never>((_, reject) => {
      const tell = () =>
        reject(new Error(`no end in sight: ${play.unfinished().join(', ')} wait; on the screen:\n${screen.text}`));
      this.#limit = setTimeout(tell, LIMIT_MS);
      finallyDo(t, () => clearTimeout(this.#limit));
    });
    this.#failed = Promise.race([late, play.failed]);
    this.#failed.catch(() => undefined);
  }

  /** Starts a session, and waits for its prompt. */
  static async start(t: Cleanup, host: TeamHost, play: Play, args: readonly string[] = []): Promise<HostScreen> {
    const model = await ModelServer.start(t, play.script);
    const screen = new Screen(t, {
      cwd: host.root,
      env: { ...host.env(model.url), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      command: [hostProgram(host.version), ...args],
    });
    const user = new HostScreen(t, screen, play);
    await user.shows(/\? for shortcuts|shift\+tab to cycle/);
    return user;
  }

  /** Does what the user does; when it does not work out, what stands on the screen is told. */
  async during(t: TestContext, action: () => Promise<void>): Promise<void> {
    try {
      await action();
      t.diagnostic(`asked: ${this.asked.join(' · ')}`);
    } catch (error) {
      t.diagnostic(this.#screen.text);
      throw error;
    }
  }

  /** Types a line, and sends it until it was taken. */
  async enter(line: string, taken: Promise<unknown>): Promise<void> {
    await Promise.race([this.#screen.enter(line, taken, this.#failed), this.#failed]);
  }

  /** Agrees to whatever the host asks, until that has come. */
  async until(come: Promise<unknown>): Promise<void> {
    let isThere = false;
    const there = come.then(() => {
      isThere = true;
    });
    while (!isThere) {
      await Promise.race([there, this.#failed, pause(500)]);
      const { text } = this.#screen;
      for (const [line] of text.matchAll(/^.*hook error.*$/gim)) this.hookErrors.add(line.trim());
      const [question] = QUESTION.exec(text) ?? [];
      if (question === undefined) continue;
      this.asked.push(question);
      this.#screen.press('Enter');
    }
  }

  async shows(text: string | RegExp): Promise<void> {
    await Promise.race([this.#screen.shows(text), this.#failed]);
  }

  /** Begins with a fresh context; `last` stands on the screen before. */
  async clear(last: string): Promise<void> {
    await this.shows(last);
    this.#screen.type('/clear');
    await this.shows('/clear');
    while (this.#screen.text.includes(last)) {
      this.#screen.press('Enter');
      await Promise.race([this.#failed, pause(1_000)]);
    }
  }

  /** Ends the host by force, and nothing that it started. */
  async kill(): Promise<void> {
    clearTimeout(this.#limit);
    await this.#screen.kill();
  }
}
