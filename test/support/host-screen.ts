// A user of the real host at its own screen, in the mode in which it starts where nobody chooses one.

import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { hostProgram } from './host.ts';
import { ModelServer } from './model-server.ts';
import type { Play } from './played-agents.ts';
import { Screen } from './screen.ts';
import type { TeamHost } from './team-host.ts';
import type { Cleanup } from './temp.ts';

const QUESTION = /Do you want to .*\?/;

export class HostScreen {
  /** Questions of the host that the user has agreed to. */
  readonly asked: string[] = [];
  /** Lines in which the host told the user of an error of a hook. */
  readonly hookErrors = new Set<string>();
  readonly #screen: Screen;
  readonly #play: Play;

  private constructor(screen: Screen, play: Play) {
    this.#screen = screen;
    this.#play = play;
  }

  /** Starts a session, and waits for its prompt. */
  static async start(t: Cleanup, host: TeamHost, play: Play, args: readonly string[] = []): Promise<HostScreen> {
    const model = await ModelServer.start(t, play.script);
    const screen = new Screen(t, {
      cwd: host.root,
      env: { ...host.env(model.url), TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      command: [hostProgram(host.version), ...args],
    });
    const user = new HostScreen(screen, play);
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
    await this.#screen.enter(line, taken, this.#play.failed);
  }

  /** Agrees to whatever the host asks, until that has come. */
  async until(come: Promise<unknown>): Promise<void> {
    let isThere = false;
    const there = come.then(() => {
      isThere = true;
    });
    while (!isThere) {
      await Promise.race([there, this.#play.failed, pause(500)]);
      const { text } = this.#screen;
      for (const [line] of text.matchAll(/^.*hook error.*$/gim)) this.hookErrors.add(line.trim());
      const [question] = QUESTION.exec(text) ?? [];
      if (question === undefined) continue;
      this.asked.push(question);
      this.#screen.press('Enter');
    }
  }

  async shows(text: string | RegExp): Promise<void> {
    await Promise.race([this.#screen.shows(text), this.#play.failed]);
  }

  /** Begins with a fresh context; `last` stands on the screen before. */
  async clear(last: string): Promise<void> {
    await this.shows(last);
    this.#screen.type('/clear');
    await this.shows('/clear');
    while (this.#screen.text.includes(last)) {
      this.#screen.press('Enter');
      await Promise.race([this.#play.failed, pause(1_000)]);
    }
  }

  /** Ends the host by force, and nothing that it started. */
  async kill(): Promise<void> {
    await this.#screen.kill();
  }
}
