// The dashboard as text, for a terminal.

import { clipColumns, displayWidth } from '../../base/rules/display-width.ts';
import { asLine } from '../../base/rules/text.ts';
import type { StateView } from '../view.ts';
import type { ListName } from '../view-page.ts';
import { count, dollars, duration } from './format.ts';
import { finishedTeamsOf, gateWords, type IssueTeam, TASK_MAX, taskWords, teamsOf, teamWords } from './team-lines.ts';
import { COLUMNS, table, wrapped } from './text-table.ts';

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

/** A team's tasks, what was said last, and what was measured. */
function teamSection(of: IssueTeam, now: number, room: number): string[] {
  const { issue, team } = of;
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
    ...wrapped(`TEAM OF #${issue} · ${asLine(team.team)} · ${asLine(teamWords(of))}`, room),
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
  const lines = table(
    [
      { title: 'ISSUE', max: 8 },
      { title: 'TITLE', max: 44, min: 12 },
      { title: 'OUTCOME', max: 13 },
      { title: 'TRIES', max: 5, drop: 1 },
      { title: 'TOOK', max: 9, drop: 3 },
      { title: 'COST', max: 8, drop: 2 },
      { title: 'PULL REQUEST', max: 100, min: isNumbered ? 12 : Math.max(12, widest) },
    ],
    completed.map((row) => [
      `#${row.issue_number}`,
      row.title,
      row.outcome,
      String(row.attempts),
      duration(row.seconds * 1000),
      dollars(row.cost_usd),
      (isNumbered && row.pull_request !== null ? `#${row.pull_request.number}` : row.pull_request?.url) ??
        row.reason ??
        '',
    ]),
    room,
  );
  const example =
    isNumbered && newest !== undefined && displayWidth(newest.url) <= room - 2
      ? [`  #${newest.number} is at`, `  ${newest.url}`]
      : [];
  return section('FINISHED', [...paged('completed', view, lines), ...example]);
}

/**
 * The whole dashboard; ends with a newline.
 * @param room no line takes more columns of a terminal
 */
export function textDashboard(view: StateView, room: number = COLUMNS): string {
  const now = Date.parse(view.generated_at);
  const { counts, poll, totals, rate_limit: limit } = view;
  const error =
    view.workflow.error === null
      ? []
      : [`! the workflow file cannot be used; the last good one is: ${asLine(view.workflow.error)}`];
  const pending =
    view.workflow.pending_restart.length === 0
      ? []
      : [`! takes effect at the next start: ${view.workflow.pending_restart.join(', ')}`];
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
    ...paused,
  ];
  const lines = [
    ...head.flatMap((line) => wrapped(line, room)),
    ...section(
      'RUNNING',
      view.running.length === 0
        ? counts.running === 0
          ? ['  nothing']
          : []
        : paged(
            'running',
            view,
            table(
              [
                { title: 'ISSUE', max: 8 },
                { title: 'TITLE', max: 44, min: 12 },
                { title: 'TRY', max: 4, drop: 1 },
                { title: 'PHASE', max: 12 },
                { title: 'SINCE', max: 9 },
                { title: 'HEARD', max: 9, drop: 4 },
                { title: 'TOKENS', max: 8, drop: 2 },
                { title: 'COST', max: 8, drop: 3 },
                { title: 'LAST WORDS', max: 60, min: 16 },
              ],
              view.running.map((row) => [
                `#${row.issue_number}`,
                row.title,
                String(row.attempt),
                row.phase,
                ago(row.started_at, now),
                ago(row.last_event_at, now),
                count(row.tokens.total_tokens),
                dollars(row.cost_usd),
                row.last_message ?? row.last_event ?? row.last_error ?? '',
              ]),
              room,
            ),
          ),
    ),
    ...teamsOf(view).flatMap((team) => teamSection(team, now, room)),
    ...section(
      view.retrying.length === 0 ? '' : 'RETRYING',
      view.retrying.length === 0
        ? []
        : paged(
            'retrying',
            view,
            table(
              [
                { title: 'ISSUE', max: 8 },
                { title: 'TITLE', max: 44, min: 12 },
                { title: 'TRIED', max: 5 },
                { title: 'AGAIN IN', max: 10 },
                { title: 'LAST ERROR', max: 80, min: 16 },
              ],
              view.retrying.map((row) => [
                `#${row.issue_number}`,
                row.title,
                String(row.attempt),
                row.due_at === null ? '–' : duration(Math.max(0, Date.parse(row.due_at) - now)),
                row.last_error ?? '',
              ]),
              room,
            ),
          ),
    ),
    ...section(
      'ASKING',
      view.asking.length === 0
        ? []
        : paged(
            'asking',
            view,
            table(
              [
                { title: 'ISSUE', max: 8 },
                { title: 'TITLE', max: 44, min: 12 },
                { title: 'SINCE', max: 9 },
                { title: 'QUESTION', max: 100, min: 24 },
              ],
              view.asking.map((row) => [`#${row.issue_number}`, row.title, ago(row.since, now), row.question]),
              room,
            ),
          ),
    ),
    ...section(
      view.following.length === 0 ? '' : 'FOLLOWING',
      view.following.length === 0
        ? []
        : paged(
            'following',
            view,
            table(
              [
                { title: 'ISSUE', max: 8 },
                { title: 'TITLE', max: 44, min: 12 },
                { title: 'PULL', max: 8 },
                { title: 'ROUNDS', max: 6 },
                { title: 'SINCE', max: 9 },
                { title: 'WAITS FOR', max: 80, min: 16 },
              ],
              view.following.map((row) => [
                `#${row.issue_number}`,
                row.title,
                row.pull_request === null ? '–' : `#${row.pull_request.number}`,
                String(row.rounds),
                ago(row.since, now),
                row.waits_for,
              ]),
              room,
            ),
          ),
    ),
    ...section(
      'WAITING',
      view.queued.length === 0
        ? []
        : paged(
            'queued',
            view,
            table(
              [
                { title: 'ISSUE', max: 8 },
                { title: 'TITLE', max: 44, min: 12 },
                { title: 'WHY', max: 100, min: 24 },
              ],
              view.queued.map((row) => [`#${row.issue_number}`, row.title, row.reason]),
              room,
            ),
          ),
    ),
    ...finishedSection(view, room),
    ...finishedTeamsOf(view)
      .slice(0, FINISHED_TEAMS)
      .flatMap((team) => teamSection(team, now, room)),
  ];
  return `${lines.join('\n')}\n`;
}
