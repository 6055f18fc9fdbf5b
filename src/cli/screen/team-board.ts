// `tool team board`: a team as it is now; in a terminal, as it goes on.

import { watchLog } from '../../base/files/watch-log.ts';
import { TeamHistory } from '../../team/log/team-history.ts';
import type { TeamView } from '../../team/rules/views/view.ts';
import { type FoundTeam, findTeam, readTeam, viewFrom } from '../find-team.ts';
import { jsonText } from '../json-text.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from '../signals.ts';
import { LiveScreen } from './live-screen.ts';
import { boardScreen, boardText } from './team-board-lines.ts';
import { canRedraw } from './terminal.ts';

export type BoardOptions = { readonly once?: boolean; readonly json?: boolean };

/** Times on the board go on though nothing is written. */
const LOOK_MS = 1000;
/** Where lines are not shown on a terminal. */
const PLAIN_COLUMNS = 120;

/** How wide a line may be that is printed. */
export function outputColumns(): number {
  return process.stdout.columns || Math.max(0, Number(process.env.COLUMNS)) || PLAIN_COLUMNS;
}

/** The board as text, once. */
export function printedBoard(view: TeamView): string {
  return `${boardText(view, outputColumns()).join('\n')}\n`;
}

/** @param root the project, that of the checkout in a team's worktree */
export async function boardCommand(root: string, name: string | undefined, options: BoardOptions): Promise<void> {
  const team = await findTeam(root, name);
  if (options.json === true) {
    process.stdout.write(`${jsonText(await readTeam(team, Date.now()), 2)}\n`);
    return;
  }
  if (options.once === true || !canRedraw(process.stdout)) {
    process.stdout.write(printedBoard(await readTeam(team, Date.now())));
    return;
  }
  await liveBoard(team);
}

function foot(team: FoundTeam, state: string): string {
  if (team.isArchived) return 'archived · q leaves';
  return state === 'deleted' ? 'the team has been deleted · q leaves' : 'q leaves';
}

async function liveBoard(team: FoundTeam): Promise<void> {
  const history = new TeamHistory({ directory: team.directory, from: 'snapshot' });
  await new Promise<void>((resolve, reject) => {
    const screen = new LiveScreen({
      draw: (size) => {
        const view = viewFrom(history, team, Date.now());
        return boardScreen(view, size, foot(team, view.state));
      },
      onLeave: (key) => end(key === 'q' ? null : SIGNAL_CODES.SIGINT),
    });
    const look = () => {
      try {
        history.refresh();
        screen.redraw();
      } catch (error) {
        close();
        reject(error);
      }
    };
    const watch = watchLog(team.directory, LOOK_MS, look);
    const onSignal = (signal: EndSignal) => end(SIGNAL_CODES[signal]);
    // The terminal is gone: there is nothing to draw on.
    const onGone = () => end(null);
    const close = () => {
      watch.close();
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.stdout.off('error', onGone);
      screen.close();
      void history.close();
    };
    const end = (code: number | null) => {
      close();
      if (code !== null) process.exitCode = code;
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, onSignal);
    process.stdout.on('error', onGone);
    try {
      screen.open();
    } catch (error) {
      close();
      reject(error);
    }
  });
}
