// The demo's live view: one line an issue, drawn again in place; without a terminal, one line a change.

import kleur from 'kleur';
import { clipColumns, padColumns } from '../../base/display-width.ts';
import { oneLine } from '../../base/rules/text.ts';
import { phaseWords } from '../../daemon/rules/issue-standing.ts';
import type { StateView } from '../../daemon/view.ts';
import { Redrawn } from '../screen/redraw-lines.ts';
import { canRedraw } from '../screen/terminal.ts';

export type ScreenOptions = {
  readonly issues: readonly { readonly number: number; readonly title: string }[];
  readonly quiet: boolean;
};

type IssueProgress = { readonly symbol: string; readonly text: string; readonly paint: (text: string) => string };

export const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

function progressOf(state: StateView, number: number, frame: string): IssueProgress {
  const done = state.completed.find((row) => row.issue_number === number);
  if (done?.outcome === 'done')
    return { symbol: '✔', text: `pull request #${done.pull_request?.number ?? '–'}`, paint: kleur.green };
  if (done !== undefined)
    return { symbol: '✖', text: `${done.outcome} after ${done.attempts} attempts`, paint: kleur.red };
  const running = state.running.find((row) => row.issue_number === number);
  if (running !== undefined) {
    const again = running.attempt > 1 ? ` (attempt ${running.attempt})` : '';
    return { symbol: frame, text: phaseWords(running.phase) + again, paint: kleur.cyan };
  }
  const retrying = state.retrying.find((row) => row.issue_number === number);
  if (retrying !== undefined)
    return { symbol: '↻', text: `attempt ${retrying.attempt} failed, trying again`, paint: kleur.yellow };
  const waiting = state.queued.find((row) => row.issue_number === number);
  if (waiting !== undefined) return { symbol: '…', text: waiting.reason, paint: kleur.yellow };
  return { symbol: '·', text: 'not seen yet', paint: kleur.dim };
}

export class DemoScreen {
  readonly #options: ScreenOptions;
  readonly #screen = canRedraw(process.stdout) ? new Redrawn(process.stdout) : undefined;
  readonly #said = new Map<number, string>();
  #frame = 0;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  show(state: StateView): void {
    if (this.#options.quiet) return;
    this.#frame += 1;
    const frame = FRAMES[this.#frame % FRAMES.length] ?? '·';
    const width = process.stdout.columns ?? 100;
    const lines = this.#options.issues.map(({ number, title }) => {
      const { symbol, text, paint } = progressOf(state, number, frame);
      const left = `${symbol} #${number}`.padEnd(6);
      const room = Math.max(20, Math.min(48, width - 40));
      return {
        number,
        plain: `${left} ${padColumns(clipColumns(oneLine(title), room), room)}  ${clipColumns(text, Math.max(10, width - room - 12))}`,
        text,
        paint,
      };
    });
    if (this.#screen !== undefined)
      this.#screen.draw(lines.map(({ plain, paint }) => [{ text: '  ' }, { text: plain, paint }]));
    else for (const line of lines) this.#say(line.number, line.text, line.plain);
  }

  /** Without a terminal a line is printed when an issue stands elsewhere than before. */
  #say(number: number, text: string, line: string): void {
    if (this.#said.get(number) === text) return;
    this.#said.set(number, text);
    process.stdout.write(`  ${line.trimEnd()}\n`);
  }

  close(): void {
    this.#screen?.leave();
  }
}
