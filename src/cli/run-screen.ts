// What is seen of a run while it goes on: the team's board in a terminal, lines anywhere else; what each said is kept.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { TeamHistory } from '../adapters/event-log/team-history.ts';
import { teamsDirectory } from '../adapters/event-log/team-names.ts';
import { watchLog } from '../adapters/event-log/watch-log.ts';
import { messageOf } from '../domain/errors.ts';
import type { TeamSettings } from '../domain/team/settings.ts';
import { visible, visibleLines } from '../domain/text.ts';
import { viewFrom } from './find-team.ts';
import { LiveScreen } from './live-screen.ts';
import { boardScreen } from './team-board-lines.ts';
import { panesFor } from './tmux-panes.ts';

const FOOT = 'q hides the board · Ctrl-C stops; the same command goes on';

/** Times on the board go on though nothing is written. */
const LOOK_MS = 1000;

export type RunScreen = {
  /** A line of the lead's own. */
  readonly say: (words: string) => void;
  /** What a teammate printed. */
  readonly output: (name: string, text: string) => void;
  /** A teammate's process is there, or is gone. */
  readonly presence: (name: string, isThere: boolean) => void;
  /** Takes the board away: lines follow, and a question can be asked. */
  readonly hide: () => void;
  readonly close: () => Promise<void>;
};

/** The files of a run's output, one for each who speaks, beside the team's log. */
class Outputs {
  readonly #directory: string;
  readonly #files = new Map<string, number>();

  constructor(team: string) {
    this.#directory = join(team, 'output');
  }

  /** Where one's words are, from now on at the latest. */
  pathOf(name: string): string {
    this.#open(name);
    return join(this.#directory, `${name}.log`);
  }

  /** What is in it acts on no terminal. */
  write(name: string, text: string): void {
    writeSync(this.#open(name), visibleLines(text));
  }

  #open(name: string): number {
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    mkdirSync(this.#directory, { recursive: true });
    // By its number: the directory is put away while somebody still speaks.
    const file = openSync(join(this.#directory, `${name}.log`), 'a', 0o600);
    this.#files.set(name, file);
    return file;
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
    this.#files.clear();
  }
}

function print(name: string, text: string): void {
  for (const line of text.split('\n').filter((one) => one.trim() !== ''))
    process.stderr.write(`${`[${name}]`.padEnd(11)} ${visible(line)}\n`);
}

/** The board over the whole terminal; null where there is none to draw on. */
function openBoard(directory: string, team: string, onInterrupt: () => void) {
  const history = new TeamHistory({ directory, from: 'snapshot' });
  const found = { name: team, directory, isArchived: false };
  let isShown = true;
  let note = '';
  const screen = new LiveScreen({
    draw: (size) => boardScreen(viewFrom(history, found, Date.now()), size, note === '' ? FOOT : `${note} · ${FOOT}`),
    onLeave: (key) => {
      if (key === 'ctrl-c') onInterrupt();
      else hide();
    },
  });
  const hide = () => {
    isShown = false;
    screen.close();
  };
  const watch = watchLog(directory, LOOK_MS, () => {
    try {
      history.refresh();
      screen.redraw();
    } catch {
      // The team was put away: what was drawn last stays until the end.
    }
  });
  screen.open();
  return {
    isShown: () => isShown,
    /** Stands at the foot from now on. */
    note: (words: string) => {
      note = words;
      screen.redraw();
    },
    hide,
    close: () => {
      watch.close();
      screen.close();
      void history.close();
    },
  };
}

/**
 * @param isLive whether the board is drawn, where there is a terminal
 * @param display where teammates are shown, in a terminal
 * @param onInterrupt called for Ctrl-C, which is no signal while the board is shown
 */
export function openRunScreen(
  main: string,
  team: string,
  isLive: boolean,
  display: TeamSettings['teammateDisplay'],
  onInterrupt: () => void,
): RunScreen {
  const directory = join(teamsDirectory(main), team);
  const outputs = new Outputs(directory);
  const board =
    isLive && process.stdout.isTTY && process.stdin.isTTY ? openBoard(directory, team, onInterrupt) : undefined;
  const kept = (name: string, act: () => void) => {
    try {
      act();
    } catch (error) {
      process.stderr.write(`[lead]      cannot keep what ${name} says: ${visible(messageOf(error))}\n`);
    }
  };
  const show = (name: string, text: string) => {
    kept(name, () => outputs.write(name, text.endsWith('\n') ? text : `${text}\n`));
    if (board?.isShown() !== true && panes?.has(name) !== true) print(name, text);
  };
  const say = (words: string) => show('lead', words);
  const sayOfPanes = (words: string) => {
    board?.note(words);
    say(words);
  };
  const isAsked = isLive && (display === 'tmux' || process.stdout.isTTY === true);
  const panes = isAsked ? panesFor(display, { env: process.env, say: sayOfPanes }) : undefined;
  return {
    say,
    output: show,
    hide: () => board?.hide(),
    presence: (name, isThere) => {
      if (isThere) kept(name, () => panes?.show(name, outputs.pathOf(name)));
      else panes?.end(name);
    },
    close: async () => {
      board?.close();
      await panes?.close();
      outputs.close();
    },
  };
}
