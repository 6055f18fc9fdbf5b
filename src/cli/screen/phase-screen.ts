// Live output of a running phase: the team's board in a terminal, plain lines elsewhere. All output is kept in files.

import { join } from 'node:path';
import { watchLog } from '../../base/files/watch-log.ts';
import { lineWithCode, refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { visible } from '../../base/rules/text.ts';
import { TeamHistory } from '../../team/log/team-history.ts';
import { teamsDirectory } from '../../team/log/team-names.ts';
import type { TeamSettings } from '../../team/rules/settings.ts';
import { viewFrom } from '../find-team.ts';
import { NOTICE_CODES } from '../rules/notice-codes.ts';
import { TeamOutputs } from '../team-outputs.ts';
import { LiveScreen } from './live-screen.ts';
import { boardScreen } from './team-board-lines.ts';
import { canRedraw } from './terminal.ts';
import { panesFor } from './tmux-panes.ts';

const FOOT = 'q hides the board · Ctrl-C stops; the same command goes on';

/** Redraw interval: durations on the board advance without new records. */
const LOOK_MS = 1000;

export type PhaseScreen = {
  /** Prints a line of the lead. */
  readonly say: (words: string) => void;
  /** Output of a teammate. */
  readonly output: (name: string, text: string) => void;
  /** A teammate's process has started or ended. */
  readonly presence: (name: string, isThere: boolean) => void;
  /** Hides the board: lines are printed instead, and a question can be asked. */
  readonly hide: () => void;
  /** Shows the board again, unless the person has hidden it. */
  readonly show: () => void;
  readonly close: () => Promise<void>;
};

function print(name: string, text: string): void {
  for (const line of text.split('\n').filter((one) => one.trim() !== ''))
    process.stderr.write(`${`[${name}]`.padEnd(11)} ${visible(line)}\n`);
}

/** Opens the full-screen board. */
function openBoard(directory: string, team: string, onInterrupt: () => void) {
  const history = new TeamHistory({ directory, from: 'snapshot' });
  const found = { name: team, directory, isArchived: false };
  let isShown = true;
  let isUnwanted = false;
  let note = '';
  const screen = new LiveScreen({
    draw: (size) => boardScreen(viewFrom(history, found, Date.now()), size, note === '' ? FOOT : `${note} · ${FOOT}`),
    onLeave: (key) => {
      if (key === 'ctrl-c') onInterrupt();
      else {
        isUnwanted = true;
        hide();
      }
    },
  });
  const hide = () => {
    isShown = false;
    screen.close();
  };
  const show = () => {
    if (isShown || isUnwanted) return;
    isShown = true;
    screen.open();
  };
  const watch = watchLog(directory, LOOK_MS, () => {
    try {
      history.refresh();
      screen.redraw();
    } catch {
      // The team was archived: keep the last drawing.
    }
  });
  screen.open();
  return {
    isShown: () => isShown,
    /** Shows the text in the footer from now on. */
    note: (words: string) => {
      note = words;
      screen.redraw();
    },
    hide,
    show,
    close: () => {
      watch.close();
      screen.close();
      void history.close();
    },
  };
}

/**
 * @param isLive whether to draw the board if there is a terminal
 * @param display how to display teammates in a terminal
 * @param onInterrupt called for Ctrl-C, which sends no signal while the board is shown
 */
export function openPhaseScreen(
  main: string,
  team: string,
  isLive: boolean,
  display: TeamSettings['teammateDisplay'],
  onInterrupt: () => void,
): PhaseScreen {
  const directory = join(teamsDirectory(main), team);
  const outputs = new TeamOutputs(directory);
  const board =
    isLive && canRedraw(process.stdout) && process.stdin.isTTY ? openBoard(directory, team, onInterrupt) : undefined;
  const kept = (name: string, act: () => void) => {
    try {
      act();
    } catch (error) {
      const problem = refusal(NOTICE_CODES.output_not_kept, { member: name, said: messageOf(error) });
      process.stderr.write(`[lead]      ${lineWithCode(problem)}\n`);
    }
  };
  const isThrough = (name: string) => board?.isShown() !== true && panes?.has(name) !== true;
  const show = (name: string, text: string) => {
    let isWithin = true;
    kept(name, () => {
      isWithin = outputs.write(name, text.endsWith('\n') ? text : `${text}\n`);
    });
    // Output beyond the size limit is neither kept nor shown: it would block the lead.
    if (isWithin && isThrough(name)) print(name, text);
  };
  const say = (words: string) => {
    kept('lead', () => outputs.write('lead', `${words}\n`));
    if (isThrough('lead')) print('lead', words);
  };
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
    show: () => board?.show(),
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
