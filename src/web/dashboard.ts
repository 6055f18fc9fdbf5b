// The dashboard as text, for a terminal.

import { clipColumns, displayWidth } from '../base/display-width.ts';
import { asLine } from '../base/rules/text.ts';
import type { StateView } from '../daemon/view.ts';
import type { BudgetView } from '../daemon/view-budget.ts';
import type { ListName } from '../daemon/view-page.ts';
import { coordinatorLines } from '../daemon/view-queue.ts';
import { ownFileLines } from '../daemon/view-repositories.ts';
import type { Row } from '../daemon/view-rows.ts';
import { count, dollars, duration, questionOf, shownBudget } from './format.ts';
import { issuePlace } from './issue-place.ts';
import { finishedTeamsOf, gateWords, type IssueTeam, TASK_MAX, taskWords, teamsOf, teamWords } from './team-lines.ts';
import { COLUMNS, type Column, table, wrapped } from './text-table.ts';

/** So many teams of issues that are over are shown; the state has some more. */
const FINISHED_TEAMS = 3;

function ago(at: string | null, now: number): string {
  return at === null ? '–' : duration(now - Date.parse(at));
}

/** Columns that the finished issues need beside an address, their titles included. */
const BESIDE_ADDRESS = 60;

/** A table's rows, and how many there are beside them. */
function paged(list: ListName, view: StateView, lines: readonly string[]): readonly string[] {
  const next = view.next[list];
  return next === null ? lines : [...lines, `  and ${view.more[list]} more: /?after=${next}`];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

type ListColumn<T> = Column & { readonly of: (row: T) => string };

/** A table whose rows begin with their issues. */
function issueTable<T extends Row>(
  rows: readonly T[],
  columns: readonly ListColumn<T>[],
  room: number,
  isMany: boolean,
): readonly string[] {
  return table(
    [{ title: 'ISSUE', max: isMany ? 40 : 8 }, { title: 'TITLE', max: 44, min: 12 }, ...columns],
    rows.map((row) => [issuePlace(row, isMany).name, row.title, ...columns.map(({ of }) => of(row))]),
    room,
  );
}

/** A team's tasks, what was said last, and what was measured. */
function teamSection(of: IssueTeam, now: number, room: number, isMany: boolean): string[] {
  const { issue, identifier, team } = of;
  const { name } = issuePlace({ issue_number: issue, issue_identifier: identifier }, isMany);
  const tasks = table(
    [
      { title: 'TASK', max: 6 },
      { title: 'STATUS', max: 11 },
      { title: 'OWNER', max: 16, min: 8 },
      { title: 'TOOK', max: 8, drop: 1 },
      { title: 'WHAT', max: TASK_MAX, min: 16 },
    ],
    team.tasks.map((task) => [
      task.id,
      task.status.replace('_', ' '),
      task.owner ?? '–',
      task.seconds === null ? ago(task.started_at, now) : duration(task.seconds * 1000),
      taskWords(task),
    ]),
    room,
  );
  const said = team.messages.last
    .slice(-3)
    .map(({ from, to, type, content }) => `${from} → ${to}, ${type.replaceAll('_', ' ')}: ${content}`);
  return [
    '',
    ...wrapped(`TEAM OF ${name} · ${asLine(team.team)} · ${asLine(teamWords(of))}`, room),
    ...tasks,
    ...wrapped(`gate: ${asLine(gateWords(team))}`, room, '  '),
    ...said.map((line) => clipColumns(`  ${asLine(line)}`, room)),
  ];
}

/** The issues that are over. Beside an address, a narrow terminal has no room for a title: the number stands for it there. */
function finishedSection(view: StateView, room: number): string[] {
  const { completed } = view;
  const [newest, ...older] = completed.flatMap((row) => row.pull_request ?? []);
  if (completed.length === 0) return [];
  const widest = Math.max(0, ...[newest, ...older].map((pull) => displayWidth(pull?.url ?? '')));
  const isNumbered = widest > room - BESIDE_ADDRESS;
  const lines = issueTable(
    completed,
    [
      { title: 'OUTCOME', max: 13, of: (row) => row.outcome },
      { title: 'TRIES', max: 5, drop: 1, of: (row) => String(row.attempts) },
      { title: 'TOOK', max: 9, drop: 3, of: (row) => duration(row.seconds * 1000) },
      { title: 'COST', max: 8, drop: 2, of: (row) => dollars(row.cost_usd) },
      {
        title: 'PULL REQUEST',
        max: 100,
        min: isNumbered ? 12 : Math.max(12, widest),
        of: ({ pull_request: pull, reason }) => (isNumbered && pull ? `#${pull.number}` : pull?.url) ?? reason ?? '',
      },
    ],
    room,
    view.repositories !== undefined,
  );
  const example =
    isNumbered && newest !== undefined && displayWidth(newest.url) <= room - 2
      ? [`  #${newest.number} is at`, `  ${newest.url}`]
      : [];
  return section('FINISHED', [...paged('completed', view, lines), ...example]);
}

function budgetLine(name: string, budget: BudgetView, now: number): string {
  const { spent, limit, isNear, waiting } = shownBudget(budget);
  const anew = duration(Date.parse(budget.renews_at) - now);
  const words = `${name}: ${spent} of ${limit} used, begins anew in ${anew}`;
  return `${isNear ? '! ' : ''}${words}${waiting === '' ? '' : `, ${waiting}`}`;
}

/** The budget of the day for all; of one repository, when little is left of it. */
function budgetLines({ budget, repositories = [] }: StateView, now: number): readonly string[] {
  const near = repositories.flatMap(({ repository, budget: own }) =>
    own !== null && shownBudget(own).isNear ? [budgetLine(`budget of the day of ${repository}`, own, now)] : [],
  );
  return [...(budget === null ? [] : [budgetLine('budget of the day', budget, now)]), ...near];
}

/** The workers of the queue; empty without one. */
function workerSection({ queue, workers = [] }: StateView, now: number, room: number): string[] {
  if (queue === undefined) return [];
  const title = `WORKERS · ${queue.waiting} attempts wait for one · ${queue.active} are with one`;
  const problem = queue.problem === null ? [] : wrapped(`! the queue gives no answer: ${asLine(queue.problem)}`, room);
  if (workers.length === 0) return ['', title, ...problem, '  none was heard of lately'];
  const rows = table(
    [
      { title: 'NAME', max: 32, min: 8 },
      { title: 'SLOTS', max: 14 },
      { title: 'LABELS', max: 40, min: 6, drop: 2 },
      { title: 'VERSION', max: 12, drop: 3 },
      { title: 'UP', max: 9, drop: 1 },
      { title: 'HEARD', max: 9 },
    ],
    workers.map((one) => [
      one.name,
      `${one.used}/${one.slots}${one.draining ? ' drains' : ''}`,
      one.labels.join(',') || '–',
      one.version,
      ago(one.started_at, now),
      ago(one.last_heartbeat_at, now),
    ]),
    room,
  );
  return ['', title, ...problem, ...rows];
}

/**
 * The whole dashboard; ends with a newline.
 * @param room no line takes more columns of a terminal
 */
export function textDashboard(view: StateView, room: number = COLUMNS): string {
  const now = Date.parse(view.generated_at);
  const isMany = view.repositories !== undefined;
  const { counts, poll, totals, rate_limit: limit } = view;
  const error =
    view.workflow.error === null
      ? []
      : [`! the workflow file cannot be used; the last good one is: ${asLine(view.workflow.error)}`];
  const pending =
    view.workflow.pending_restart.length === 0
      ? []
      : [`! takes effect at the next start: ${view.workflow.pending_restart.join(', ')}`];
  const own = ownFileLines(view.workflow.own_files).map((line) => `! ${asLine(line)}`);
  const paused = limit.paused_until === null ? [] : [`! paused until ${limit.paused_until}: ${limit.reason}`];
  const polled =
    poll.last_error === null
      ? `polled ${ago(poll.last_at, now)} ago`
      : `! last poll skipped: ${asLine(poll.last_error)}`;
  const quota = limit.remaining === null ? '' : ` · quota ${limit.remaining}/${limit.limit ?? '?'}`;
  const { webhook } = view;
  const delivered =
    webhook && (webhook.last_delivery_at === null ? 'none' : `${ago(webhook.last_delivery_at, now)} ago`);
  const delivery = delivered === null ? '' : ` · last delivery ${delivered}`;
  const asking = counts.asking === 0 ? '' : ` ${counts.asking} asking ·`;
  const followed = counts.following === 0 ? '' : ` ${counts.following} following ·`;
  const head = [
    `toolcrew ${view.version} · ${view.repository} · ${polled} · every ${duration(poll.interval_ms)}${delivery}${quota}`,
    `${counts.running} running (slots: ${view.slots}) · ${counts.retrying} retrying ·${asking}${followed} ${counts.queued} waiting · ${counts.completed} done · ${counts.failed} failed · ${count(totals.total_tokens)} tokens · ${dollars(totals.cost_usd)}`,
    ...error,
    ...pending,
    ...own,
    ...paused,
    ...budgetLines(view, now),
    ...coordinatorLines(view.coordinators).map(({ words, isProblem }) => `${isProblem ? '! ' : ''}${asLine(words)}`),
  ];
  const list = <T extends Row>(name: ListName, title: string, rows: readonly T[], columns: readonly ListColumn<T>[]) =>
    rows.length === 0 ? [] : section(title, paged(name, view, issueTable(rows, columns, room, isMany)));
  const lines = [
    ...head.flatMap((line) => wrapped(line, room)),
    ...(view.counts.running === 0 ? section('RUNNING', ['  nothing']) : []),
    ...list('running', 'RUNNING', view.running, [
      { title: 'TRY', max: 4, drop: 1, of: (row) => String(row.attempt) },
      { title: 'PHASE', max: 12, of: (row) => row.phase },
      { title: 'SINCE', max: 9, of: (row) => ago(row.started_at, now) },
      { title: 'HEARD', max: 9, drop: 4, of: (row) => ago(row.last_event_at, now) },
      { title: 'TOKENS', max: 8, drop: 2, of: (row) => count(row.tokens.total_tokens) },
      { title: 'COST', max: 8, drop: 3, of: (row) => dollars(row.cost_usd) },
      {
        title: 'LAST WORDS',
        max: 60,
        min: 16,
        of: (row) => row.last_message ?? row.last_event ?? row.last_error ?? '',
      },
    ]),
    ...workerSection(view, now, room),
    ...teamsOf(view).flatMap((team) => teamSection(team, now, room, isMany)),
    ...list('retrying', 'RETRYING', view.retrying, [
      { title: 'TRIED', max: 5, of: (row) => String(row.attempt) },
      {
        title: 'AGAIN IN',
        max: 10,
        of: (row) => (row.due_at === null ? '–' : duration(Math.max(0, Date.parse(row.due_at) - now))),
      },
      { title: 'WHY', max: 80, min: 16, of: (row) => row.waits_for ?? row.last_error ?? '' },
    ]),
    ...list('asking', 'ASKING', view.asking, [
      { title: 'SINCE', max: 9, of: (row) => ago(row.since, now) },
      { title: 'QUESTION', max: 100, min: 24, of: questionOf },
    ]),
    ...list('following', 'FOLLOWING', view.following, [
      { title: 'PULL', max: 8, of: (row) => (row.pull_request === null ? '–' : `#${row.pull_request.number}`) },
      { title: 'ROUNDS', max: 6, of: (row) => String(row.rounds) },
      { title: 'SINCE', max: 9, of: (row) => ago(row.since, now) },
      { title: 'WAITS FOR', max: 80, min: 16, of: (row) => row.waits_for },
    ]),
    ...list('queued', 'WAITING', view.queued, [{ title: 'WHY', max: 100, min: 24, of: (row) => row.reason }]),
    ...finishedSection(view, room),
    ...finishedTeamsOf(view)
      .slice(0, FINISHED_TEAMS)
      .flatMap((team) => teamSection(team, now, room, isMany)),
  ];
  return `${lines.join('\n')}\n`;
}
