// Output of the team demo: a board redrawn in place, or one line per change without a terminal.

import type { TeamSummary } from '../../agents/rules/team-summary.ts';
import { oneLine } from '../../base/rules/text.ts';
import { phaseWords } from '../../daemon/rules/issue-standing.ts';
import type { StateView } from '../../daemon/view.ts';
import { duration } from '../../web/format.ts';
import { gateWords, taskWords, teamWords } from '../../web/team-lines.ts';
import { paints } from '../screen/paint.ts';
import { Redrawn } from '../screen/redraw-lines.ts';
import { type Line, type Paint, type Span, tableLines } from '../screen/table.ts';
import { cell } from '../screen/team-board-sections.ts';
import { canRedraw } from '../screen/terminal.ts';
import { FRAMES } from './demo-screen.ts';

type Task = TeamSummary['tasks'][number];
type Said = TeamSummary['messages']['last'][number];

/** Current state of the issue, and its team if there is one. */
type IssueProgress = {
  readonly words: string;
  readonly outcome: string | null;
  readonly team: TeamSummary | null;
};

const MESSAGES_SHOWN = 4;

const SYMBOLS: Readonly<Record<Task['status'], { readonly symbol: string; readonly paint: Paint }>> = {
  in_progress: { symbol: '▸', paint: paints.active },
  pending: { symbol: '·', paint: paints.waiting },
  blocked: { symbol: '◦', paint: paints.quiet },
  completed: { symbol: '✔', paint: paints.good },
  failed: { symbol: '✖', paint: paints.bad },
};

function progressOf(state: StateView, issue: number): IssueProgress {
  const done = state.completed.find((row) => row.issue_number === issue);
  if (done !== undefined) {
    const words = done.pull_request === null ? done.outcome : `pull request #${done.pull_request.number}`;
    return { words, outcome: done.outcome, team: done.team };
  }
  const running = state.running.find((row) => row.issue_number === issue);
  if (running !== undefined) {
    const { phase, team } = running;
    const words = phase === 'agent' && team !== null ? 'team at work' : phaseWords(phase);
    return { words, outcome: null, team };
  }
  const waiting = state.retrying.some((row) => row.issue_number === issue);
  return { words: waiting ? 'an attempt failed, trying again' : 'not seen yet', outcome: null, team: null };
}

function took({ seconds, started_at: startedAt }: Task, now: number): string {
  if (seconds !== null) return `${seconds.toFixed(1)} s`;
  return startedAt === null ? '' : duration(Math.max(1000, now - Date.parse(startedAt)));
}

function messageWords({ from, to, type, content }: Said): readonly [string, string, string] {
  return [`${from} → ${to}`, type.replaceAll('_', ' '), content];
}

export type TeamScreenOptions = {
  readonly issue: number;
  readonly title: string;
  /** Print nothing. */
  readonly quiet: boolean;
};

export class DemoTeamScreen {
  readonly #options: TeamScreenOptions;
  readonly #screen = canRedraw(process.stdout) ? new Redrawn(process.stdout) : undefined;
  readonly #said = new Map<string, string>();
  #messages = 0;
  #rejections = 0;
  #frame = 0;

  constructor(options: TeamScreenOptions) {
    this.#options = options;
  }

  show(state: StateView): void {
    if (this.#options.quiet) return;
    const now = Date.parse(state.generated_at);
    const standing = progressOf(state, this.#options.issue);
    if (this.#screen === undefined) this.#tell(standing);
    else this.#screen.draw(this.#board(this.#screen, standing, now));
  }

  /** Leaves the last board on the screen. */
  close(): void {
    this.#screen?.leave();
  }

  #head({ words, outcome }: IssueProgress): readonly Span[] {
    const { issue, title } = this.#options;
    this.#frame += 1;
    const frame = FRAMES[this.#frame % FRAMES.length] ?? '·';
    const [symbol, paint] =
      outcome === null ? [frame, paints.active] : outcome === 'done' ? ['✔', paints.good] : ['✖', paints.bad];
    return [
      cell(`${symbol} #${issue}`, paint),
      { text: '  ' },
      cell(title, paints.strong),
      { text: '  ' },
      cell(words, paint),
    ];
  }

  #board(screen: Redrawn, standing: IssueProgress, now: number): readonly Line[] {
    const width = screen.columns - 4;
    const { team, outcome } = standing;
    const indented = (lines: readonly Line[]) => lines.map((line): Line => [{ text: '  ' }, ...line]);
    if (team === null) return indented([this.#head(standing)]);
    const tasks = tableLines(
      team.tasks.map((task) => {
        const { symbol, paint } = SYMBOLS[task.status];
        return [
          cell(symbol, paint),
          cell(task.id, paints.quiet),
          cell(taskWords(task), task.status === 'blocked' ? paints.quiet : undefined),
          cell(task.owner ?? '–', paints.name),
          cell(took(task, now), paint),
        ];
      }),
      [{}, { align: 'right' }, { grow: true, min: 20 }, { max: 16, min: 8 }, { align: 'right', min: 6, drop: 1 }],
      width,
    );
    const messages = tableLines(
      team.messages.last.slice(-MESSAGES_SHOWN).map((message) => {
        const [who, type, content] = messageWords(message);
        return [cell(who, paints.name), cell(type, paints.note), cell(content, paints.quiet)];
      }),
      [{ max: 34, min: 26 }, { min: 8 }, { grow: true, min: 10, drop: 1 }],
      width,
    );
    const words = teamWords({ outcome, team });
    const more: readonly Line[] = [[], ...messages, [cell(`gate: ${gateWords(team)}`, paints.quiet)]];
    const lines = indented([this.#head(standing), [cell(words, paints.quiet)], [], ...tasks]);
    // On a small terminal, messages are cut before tasks.
    return [...lines, ...indented(more).slice(0, Math.max(0, screen.most - lines.length))];
  }

  #tell({ words, outcome, team }: IssueProgress): void {
    const { issue, title } = this.#options;
    const symbol = outcome === null ? '·' : outcome === 'done' ? '✔' : '✖';
    if (team !== null) this.#tellTeam(team);
    this.#line('issue', words, `${symbol} #${issue} ${title}: ${words}`);
  }

  #tellTeam(team: TeamSummary): void {
    for (const task of team.tasks) {
      const { id, status, owner, seconds } = task;
      if (status === 'pending' || status === 'blocked') continue;
      const time = seconds === null ? '' : ` (${seconds.toFixed(1)} s)`;
      this.#line(`task ${id}`, status, `${SYMBOLS[status].symbol} ${owner ?? '–'}: ${id} ${taskWords(task)}${time}`);
    }
    const { count, last } = team.messages;
    for (const message of last.slice(Math.max(0, last.length - (count - this.#messages)))) {
      const [who, type, content] = messageWords(message);
      this.#print(`${who}, ${type}: ${content}`);
    }
    this.#messages = count;
    if (team.rejections > this.#rejections) this.#print(`✖ not accepted: ${team.rejections} so far`);
    this.#rejections = team.rejections;
  }

  /** Prints the line only if the state of its subject has changed. */
  #line(about: string, stands: string, line: string): void {
    if (this.#said.get(about) === stands) return;
    this.#said.set(about, stands);
    this.#print(line);
  }

  #print(line: string): void {
    process.stdout.write(`  ${oneLine(line, 160)}\n`);
  }
}
