// A pane for each teammate in the tmux that the lead runs in: it follows what that teammate prints, and goes with it.

import { runProgram } from '../../base/processes/program.ts';
import { lineWithCode, refusal } from '../../base/rules/codes.ts';
import { type Environment, setVariables } from '../../base/rules/environment.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { NOTICE_CODES } from '../rules/notice-codes.ts';

/** No answer of tmux's takes longer. */
const ANSWER_MS = 5_000;

/** Follows a file until the lead is gone, however that came. */
const FOLLOW = `tail -n +1 -f -- "$1" & tail=$!
while kill -0 "$2" 2>/dev/null; do sleep 1; done
kill $tail`;

export type PaneOptions = {
  readonly env: Environment;
  /** Takes the one line about why there are no panes, or none any more. */
  readonly say: (words: string) => void;
};

export class TmuxPanes {
  readonly #options: PaneOptions;
  readonly #env: Readonly<Record<string, string>>;
  /** By teammate, the ids of panes in the order in which they were made. */
  readonly #panes = new Map<string, string>();
  #isBroken = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: PaneOptions) {
    this.#options = options;
    this.#env = setVariables(options.env);
  }

  /** Whether a teammate's words are seen in a pane of its own. */
  has(name: string): boolean {
    return !this.#isBroken && this.#panes.has(name);
  }

  /** @param file what the teammate prints is appended to it; it is there */
  show(name: string, file: string): void {
    this.#do(async () => {
      if (this.#panes.has(name)) return;
      const open = (await this.#ask(['list-panes', '-a', '-F', '#{pane_id}'])).split('\n');
      const last = [...this.#panes.values()].findLast((id) => open.includes(id));
      const lead = this.#env.TMUX_PANE;
      const target = last ?? lead;
      const pane = await this.#ask([
        'split-window',
        '-d',
        last === undefined ? '-h' : '-v',
        ...(target === undefined ? [] : ['-t', target]),
        '-P',
        '-F',
        '#{pane_id}',
        'sh',
        '-c',
        FOLLOW,
        'sh',
        file,
        String(process.pid),
      ]);
      this.#panes.set(name, pane);
      await this.#try(['select-pane', '-t', pane, '-T', name]);
      // The next one has room as well.
      if (last !== undefined) await this.#try(['select-layout', '-t', pane, '-E']);
      if (lead !== undefined) await this.#ask(['select-pane', '-t', lead]);
    });
  }

  /** Takes a teammate's pane away. */
  end(name: string): void {
    this.#do(async () => {
      const pane = this.#panes.get(name);
      this.#panes.delete(name);
      if (pane === undefined) return;
      await this.#try(['kill-pane', '-t', pane]);
      // That fails as well where somebody has closed the pane; this one only where there is no tmux any more.
      await this.#ask(['list-sessions']);
    });
  }

  /** Takes all panes away; resolves when they are gone. Never rejects. */
  async close(): Promise<void> {
    for (const name of [...this.#panes.keys()]) this.end(name);
    await this.#work;
    this.#isBroken = true;
  }

  /** One after the other; with the first failure there are no panes any more, and one line says so. */
  #do(act: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#isBroken) return;
      try {
        await act();
      } catch (error) {
        this.#isBroken = true;
        this.#options.say(lineWithCode(refusal(NOTICE_CODES.panes_unavailable, { said: messageOf(error) })));
        for (const pane of this.#panes.values()) await this.#try(['kill-pane', '-t', pane]);
        this.#panes.clear();
      }
    });
  }

  /** For a pane that somebody may have closed at any moment. */
  async #try(args: readonly string[]): Promise<void> {
    await this.#ask(args).catch(() => undefined);
  }

  async #ask(args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr, timedOut } = await runProgram('tmux', args, {
      cwd: '/',
      env: this.#env,
      timeoutMs: ANSWER_MS,
    });
    if (exitCode === 0) return stdout.trim();
    const why = timedOut ? `no answer within ${ANSWER_MS / 1000} s` : oneLine(stderr, 160);
    throw failure(CLI_CODES.tmux_failed, {
      command: args[0] ?? '',
      said: why || `exit code ${exitCode ?? 'none'}`,
    });
  }
}

type Display = 'auto' | 'tmux' | 'inline';

function isInTmux({ TMUX }: Environment): boolean {
  return TMUX !== undefined && TMUX !== '';
}

/** Refuses panes that are asked for by name where there is no tmux to show them. */
export function checkDisplay(display: Display, env: Environment): void {
  if (display !== 'tmux' || isInTmux(env)) return;
  throw failure(CLI_CODES.tmux_unavailable, { said: 'this terminal is not in tmux ($TMUX is not set)' });
}

/** The panes that a run is shown in; undefined where it is shown in the lead's own terminal. */
export function panesFor(display: Display, options: PaneOptions): TmuxPanes | undefined {
  return display === 'inline' || !isInTmux(options.env) ? undefined : new TmuxPanes(options);
}
