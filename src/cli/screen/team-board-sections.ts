// The sections of a team's board: each has a title and rows, and each row has a rank.

import { oneLine } from '../../base/rules/text.ts';
import { beforeAndAfter } from '../../gate/rules/old-failures.ts';
import { dollars } from '../../team/rules/cost.ts';
import { isRefusal } from '../../team/rules/log/state.ts';
import type {
  DecisionView,
  GateView,
  MemberView,
  MessageView,
  TaskView,
  TeamView,
  Trust5View,
} from '../../team/rules/views/view.ts';
import { duration } from '../../web/format.ts';
import { holderWords } from '../rules/record-line.ts';
import { paints } from './paint.ts';
import { type Column, flow, type Line, type Paint, type Span } from './table.ts';

/** `rank`: rows with a lower one are kept longer when there is not room for all. */
export type BoardRow = { readonly cells: Line; readonly rank: number };

export type Section = {
  /** Its lines, the first with the section's name. */
  readonly title: (width: number) => readonly Line[];
  /** Sections with a higher one go first where there is not room for all. */
  readonly importance: number;
  readonly rows: readonly BoardRow[];
  readonly columns: readonly Column[];
  /** What stands for rows that are not shown, before or after the others. */
  readonly cut: { readonly place: 'before' | 'after'; readonly word: string };
  /** Its share of the lines where there are not enough. */
  readonly weight: number;
};

/** More of one text is never shown, however wide the screen. */
const TEXT_MAX = 400;
const GATE = 2;
const AT_END = { place: 'after', word: 'more' } as const;
const AT_START = { place: 'before', word: 'earlier' } as const;

export function cell(text: string, paint?: Paint): Span {
  const line = oneLine(text, TEXT_MAX);
  return paint === undefined ? { text: line } : { text: line, paint };
}

/** A section's name with what stands beside it, and what has no room there in further lines. */
function heading(title: string, ...more: readonly Span[]): Section['title'] {
  return (width) => flow(cell(title, paints.heading), more, width);
}

/** Whole seconds at least: boards are drawn once a second. */
export function elapsed(ms: number): string {
  return duration(Math.floor(ms / 1000) * 1000).replace(/^0ms$/, '0s');
}

function ago(at: string, view: TeamView): string {
  const ms = Date.parse(view.generated_at) - Date.parse(at);
  return ms < 1000 ? 'now' : `${duration(ms)} ago`;
}

const PHASES: Readonly<
  Record<MemberView['phase'], { readonly mark: string; readonly paint: Paint; readonly rank: number }>
> = {
  working: { mark: '●', paint: paints.active, rank: 0 },
  lost: { mark: '!', paint: paints.bad, rank: 1 },
  idle: { mark: '○', paint: paints.waiting, rank: 2 },
  registered: { mark: '·', paint: paints.waiting, rank: 3 },
  stopped: { mark: '◌', paint: paints.quiet, rank: 4 },
  over: { mark: '×', paint: paints.quiet, rank: 5 },
};

function doing(member: MemberView, view: TeamView): string {
  const task = member.task === null ? '' : `${member.task.id} ${member.task.subject}`;
  const asked = member.shutdown_asked_at === null ? '' : 'asked to end';
  switch (member.phase) {
    case 'over':
      return member.ended === null ? '' : `${member.ended.how}: ${member.ended.reason}`;
    case 'lost':
      return `last seen ${ago(member.last_seen_at, view)}${task === '' ? '' : `; had ${task}`}`;
    case 'registered':
      return 'not started yet';
    case 'idle':
      return asked || task || 'has nothing to do';
    case 'stopped':
      return asked || task || 'its run is over';
    case 'working':
      return [asked, task].filter((one) => one !== '').join('; ') || (member.read_only ? 'reads' : 'no task claimed');
  }
}

function costWords(usd: number | null): string {
  return usd === null ? '' : dollars(usd);
}

function membersOf(view: TeamView): Section {
  const { members, lead, writes_held_by: held } = view;
  return {
    title: heading(
      'TEAMMATES',
      ...(members.length === 0 ? [cell('none yet', paints.quiet)] : []),
      ...(held === null ? [] : [cell(holderWords(held), held === 'reader' ? paints.waiting : paints.quiet)]),
      ...(lead.unread === 0 ? [] : [cell(`${lead.unread} unread for the lead`, paints.note)]),
    ),
    importance: 1,
    rows: members.map((member) => {
      const { mark, paint, rank } = PHASES[member.phase];
      const isOver = member.phase === 'over';
      return {
        rank,
        cells: [
          cell(mark, paint),
          cell(member.name, isOver ? paints.quiet : paints.name),
          cell(member.phase, paint),
          cell(doing(member, view), member.task === null ? paints.quiet : undefined),
          cell(member.unread === 0 || isOver ? '' : `${member.unread} unread`, paints.note),
          cell(costWords(member.cost_usd), paints.quiet),
          cell(ago(member.ended?.at ?? member.last_seen_at, view), paints.quiet),
        ],
      };
    }),
    columns: [
      {},
      { max: 24, min: 12 },
      {},
      { grow: true, min: 24 },
      { drop: 2, align: 'right' },
      { drop: 3, align: 'right' },
      { drop: 1, align: 'right' },
    ],
    cut: AT_END,
    weight: 3,
  };
}

const STATUSES: Readonly<
  Record<TaskView['status'], { readonly mark: string; readonly paint: Paint; readonly rank: number }>
> = {
  in_progress: { mark: '▸', paint: paints.active, rank: 0 },
  failed: { mark: '✖', paint: paints.bad, rank: 1 },
  pending: { mark: '·', paint: paints.waiting, rank: 2 },
  blocked: { mark: '◦', paint: paints.quiet, rank: 3 },
  completed: { mark: '✔', paint: paints.good, rank: 4 },
};

const BAR_COLUMNS = 16;

function progress({ task_counts: counts, tasks }: TeamView, width: number): readonly Span[] {
  if (tasks.length === 0) return [cell('none yet', paints.quiet)];
  const columns = width < 80 ? BAR_COLUMNS / 2 : BAR_COLUMNS;
  const done = Math.floor((counts.completed / tasks.length) * columns);
  const rest = (
    [
      [counts.in_progress, 'in progress', paints.active],
      [counts.pending, 'pending', paints.waiting],
      [counts.blocked, 'blocked', paints.quiet],
      [counts.failed, 'failed', paints.bad],
    ] as const
  ).filter(([count]) => count > 0);
  return [
    cell(`${'█'.repeat(done)}${'░'.repeat(columns - done)}`, paints.good),
    cell(`${counts.completed} of ${tasks.length}`),
    ...rest.map(([count, word, paint]) => cell(`${count} ${word}`, paint)),
  ];
}

function tasksOf(view: TeamView): Section {
  return {
    title: (width) => flow(cell('TASKS', paints.heading), progress(view, width), width),
    importance: 0,
    rows: view.tasks.map((task) => {
      const { mark, paint, rank } = STATUSES[task.status];
      const waits = task.waits_for.length === 0 ? '' : `after ${task.waits_for.join(', ')}`;
      const what = task.note === null ? task.subject : `${task.subject}; ${task.note}`;
      return {
        rank,
        cells: [
          cell(mark, paint),
          cell(task.id, paints.quiet),
          cell(
            what,
            task.status === 'blocked' || (task.status === 'completed' && task.note === null) ? paints.quiet : undefined,
          ),
          cell(waits, paints.waiting),
          cell(task.owner ?? '–', task.owner === null ? paints.quiet : paints.name),
          cell(costWords(task.cost_usd), paints.quiet),
          cell(task.seconds === null ? '' : elapsed(task.seconds * 1000), paint),
        ],
      };
    }),
    columns: [
      {},
      { align: 'right' },
      { grow: true, min: 24 },
      { max: 16, min: 8, drop: 2 },
      { max: 24, min: 12 },
      { align: 'right', drop: 3 },
      { align: 'right', drop: 1 },
    ],
    cut: AT_END,
    weight: 3,
  };
}

const RECEIPTS: Readonly<Record<MessageView['status'], Paint>> = {
  queued: paints.waiting,
  delivered: paints.active,
  read: paints.quiet,
};

function messagesOf(view: TeamView): Section {
  const { count, last } = view.messages;
  return {
    title: heading('MESSAGES', cell(String(count), paints.quiet)),
    importance: 5,
    rows: last.map((message) => ({
      rank: -message.seq,
      cells: [
        cell(`${message.from} → ${message.to}`, paints.name),
        cell(message.type, paints.note),
        cell(message.content),
        cell(message.status, RECEIPTS[message.status]),
        cell(ago(message.at, view), paints.quiet),
      ],
    })),
    columns: [{ max: 40, min: 26 }, { min: 14 }, { grow: true, min: 14 }, { drop: 2 }, { align: 'right', drop: 1 }],
    cut: AT_START,
    weight: 2,
  };
}

function leasesOf(view: TeamView): Section {
  const now = Date.parse(view.generated_at);
  return {
    title: heading('LEASES'),
    importance: 6,
    rows: view.leases.map((lease, index) => ({
      rank: index,
      cells: [
        cell(lease.path),
        cell(lease.member, paints.name),
        cell(lease.reason, paints.quiet),
        cell(`${elapsed(Date.parse(lease.until) - now)} left`, paints.waiting),
      ],
    })),
    columns: [{ min: 14 }, { max: 24, min: 12 }, { grow: true, min: 10, drop: 1 }, { align: 'right' }],
    cut: AT_END,
    weight: 1,
  };
}

const OUTCOMES = {
  passed: { mark: '✔', paint: paints.good },
  failed: { mark: '✖', paint: paints.bad },
  not_measured: { mark: '–', paint: paints.quiet },
  old_failure: { mark: '○', paint: paints.waiting },
} as const;

function gateOf(gate: GateView, view: TeamView): Section {
  const about = gate.task === null ? '' : ` for task ${gate.task}`;
  const failed = gate.checks.filter(({ outcome }) => outcome === 'failed');
  const checks = gate.checks.flatMap(({ check, outcome, figure }) => {
    const { mark, paint } = OUTCOMES[outcome];
    return [cell(`${mark} ${check}${figure === null ? '' : ` ${figure}`}`, paint)];
  });
  const verdict = gate.ok ? cell(`passed${about}`, paints.good) : cell(`failed${about}`, paints.bad);
  return {
    title: heading('GATE', verdict, ...checks, cell(ago(gate.at, view), paints.quiet)),
    importance: GATE,
    rows: [
      ...failed.map(({ check, reason }, index) => ({
        rank: index,
        cells: [cell('✖', paints.bad), cell(check, paints.bad), cell(reason)],
      })),
      ...beforeRows(view),
    ],
    ...GATE_TABLE,
  };
}

const GATE_TABLE = { columns: [{}, {}, { grow: true, min: 10 }], cut: AT_END, weight: 1 } as const;

/** Each check that counts before and after, below what fails now. */
function beforeRows({ before, gate }: TeamView): readonly BoardRow[] {
  return beforeAndAfter(before, gate?.checks ?? []).map(([name, words], index) => ({
    rank: 10 + index,
    cells: [cell('○', paints.waiting), cell(name, paints.quiet), cell(words)],
  }));
}

/** Where no work was measured yet. */
function beforeOf(view: TeamView): readonly Section[] {
  if (view.before === null) return [];
  const title = heading('GATE', cell('not measured yet', paints.quiet));
  return [{ title, importance: GATE, rows: beforeRows(view), ...GATE_TABLE }];
}

function points(score: number | null): string {
  return score === null ? '–' : score.toFixed(1);
}

/** Each dimension with what its score is made of; those that stand in the way stay longest. */
function trust5Of({ ok, score, dimensions }: Trust5View): Section {
  const verdict = ok ? cell(`${points(score)} passed`, paints.good) : cell(`${points(score)} not passed`, paints.bad);
  return {
    title: heading('TRUST 5', verdict),
    importance: 3,
    rows: dimensions.map(({ dimension, state, score: own, figures, source }) => {
      const { mark, paint } = OUTCOMES[state];
      return {
        rank: ['failed', 'old_failure', 'not_measured', 'passed'].indexOf(state),
        cells: [
          cell(mark, paint),
          cell(dimension, paint),
          cell(points(own), paint),
          cell(state === 'not_measured' ? 'not measured' : '', paint),
          cell(figures.join('; ')),
          cell(source, paints.quiet),
        ],
      };
    }),
    columns: [{}, {}, { align: 'right' }, {}, { grow: true, min: 24 }, { max: 40, min: 12, drop: 1 }],
    cut: AT_END,
    weight: 1.5,
  };
}

const VERDICTS: Readonly<Record<DecisionView['decision'], Paint>> = {
  accept: paints.good,
  reject: paints.bad,
  escalated: paints.waiting,
  failed: paints.waiting,
};

function refusalsOf(view: TeamView): Section {
  const refusals = view.decisions.filter(isRefusal).slice(-10);
  return {
    title: heading('LAST REFUSALS'),
    importance: 4,
    rows: refusals.map((decision, index) => ({
      rank: -index,
      cells: [
        cell(decision.decision, VERDICTS[decision.decision]),
        cell(decision.member ?? '–', paints.name),
        cell(decision.hook, paints.quiet),
        cell(decision.about),
        cell(decision.reason, paints.bad),
        cell(ago(decision.at, view), paints.quiet),
      ],
    })),
    columns: [
      { drop: 3 },
      { max: 24, min: 12 },
      { drop: 2 },
      { max: 32, min: 8 },
      { grow: true, min: 32 },
      { align: 'right', drop: 1 },
    ],
    cut: AT_START,
    weight: 1.5,
  };
}

/** The sections in the order in which they are read: who does what, and what came of it as far as there is any. */
export function sectionsOf(view: TeamView): { readonly work: readonly Section[]; readonly news: readonly Section[] } {
  const gate = view.gate === null ? beforeOf(view) : [gateOf(view.gate, view)];
  const trust5 = view.gate === null || view.gate.trust5 === null ? [] : [trust5Of(view.gate.trust5)];
  const news = [messagesOf(view), leasesOf(view), ...gate, ...trust5, refusalsOf(view)];
  return {
    work: [membersOf(view), tasksOf(view)],
    news: news.filter(({ rows, importance }) => rows.length > 0 || importance === GATE),
  };
}
