// The status page: rendered here, kept fresh by events that carry the rows that changed.

import { WAITS_FOR_SLOT_TEXT } from '../daemon/intake.ts';
import { REVIEW_WAITS } from '../daemon/rules/issue-standing.ts';
import type { Steer } from '../daemon/rules/record.ts';
import { PAUSED_TEXT, type StateView } from '../daemon/view.ts';
import type { IssueDetails } from '../daemon/view-issue.ts';
import { LISTS, type ListName } from '../daemon/view-page.ts';
import { coordinatorLines } from '../daemon/view-queue.ts';
import { ownFileLines } from '../daemon/view-repositories.ts';
import type { AskingRow, CompletedRow, QueuedRow, RunningRow } from '../daemon/view-rows.ts';
import { count, dollars, duration, questionOf, shownBudget } from './format.ts';
import { html, link } from './html.ts';
import { type IssueId, type IssuePlace, issuePlace } from './issue-place.ts';
import {
  type Cell,
  cellsPart,
  type Item,
  livePage,
  type Part,
  partOf,
  pull,
  since,
  steerButtons,
  type Table,
  tableOf,
  tag,
  teamPart,
  until,
  within,
} from './page-parts.ts';
import { finishedTeamsOf, type IssueTeam, teamsOf } from './team-lines.ts';

/** So many teams of issues that are over are shown; the state has some more. */
const FINISHED_TEAMS = 3;

/** A row begins with its issue and the commands that it takes. The title leads to the issue's page, the number to the hosting service. */
function row(
  id: string,
  into: string,
  place: IssuePlace,
  { issue_url: url, issue_number: issue, title }: Item,
  cells: readonly Cell[],
  order = issue,
  commands: readonly Steer[] = [],
  labels: readonly string[] = [],
): Part {
  const found = labels.length === 0 ? '' : html`<span class="words" hidden>${labels.join(' ')}</span>`;
  const value = html`<span id="${id}-issue">${link(url, place.name)}</span> <a class="own" id="${id}-title" href="${place.path}">${title}</a>${found}${steerButtons(id, place, commands)}`;
  return cellsPart(id, into, [{ label: 'Issue', value }, ...cells], order);
}

/** Phases of a running row in which there is no attempt to pause. */
const SETTLING: readonly string[] = ['publishing', 'giving_up', 'gate', 'review', 'reviving'];

function runningCommands({ phase }: Pick<RunningRow, 'phase'>): readonly Steer[] {
  if (phase === 'cancelling') return [];
  if (phase === REVIEW_WAITS) return ['retry', 'cancel'];
  return SETTLING.includes(phase) ? ['cancel'] : ['pause', 'cancel'];
}

function queuedCommands({ reason, held_back: isHeldBack }: Pick<QueuedRow, 'reason' | 'held_back'>): readonly Steer[] {
  if (isHeldBack) return ['retry', 'pause', 'cancel'];
  return [reason === PAUSED_TEXT ? 'resume' : 'pause', 'cancel'];
}

function askingCommands({ paused }: Pick<AskingRow, 'paused'>): readonly Steer[] {
  return [paused ? 'resume' : 'retry', 'cancel'];
}

const COMMANDS = {
  retrying: ['retry', 'pause', 'cancel'],
  following: ['cancel'],
} as const satisfies Readonly<Record<string, readonly Steer[]>>;

/** Outcomes after which an operator may have an issue tried again. */
const TAKEN_UP_AGAIN: readonly string[] = ['failed', 'label_removed'];

/** The commands that an issue takes, wherever its row stands. */
export function commandsOf({
  running,
  retrying,
  asking,
  following,
  queued,
  completed,
}: IssueDetails): readonly Steer[] {
  if (queued !== null) return queuedCommands(queued);
  if (asking !== null) return askingCommands(asking);
  if (following !== null) return COMMANDS.following;
  if (running !== null) return runningCommands(running);
  if (retrying !== null) return COMMANDS.retrying;
  return completed[0] !== undefined && TAKEN_UP_AGAIN.includes(completed[0].outcome) ? ['retry'] : [];
}

/** How many rows there are beside those of a table, with the way to them. */
function moreOf(view: StateView, list: ListName): Part {
  const next = view.next[list];
  return [
    `more-${list}`,
    next === null ? html`` : html`and ${view.more[list]} more: <a href="/?after=${next}">the next ones</a>`,
  ];
}

const OUTCOMES: Readonly<Record<string, string>> = { done: 'done', failed: 'failed' };

function completedPart(item: CompletedRow, place: IssuePlace): Part {
  return row(
    `done-${place.key}-${item.finished_at}`,
    'completed',
    place,
    item,
    [
      { label: 'Outcome', kind: 'n', value: tag(OUTCOMES[item.outcome] ?? 'wait', item.outcome) },
      { label: 'Pull request', kind: 'n', value: pull(item.pull_request) },
      { label: 'Tries', kind: 'n', value: item.attempts },
      { label: 'Took', kind: 'n', value: duration(item.seconds * 1000) },
      { label: 'Tokens', kind: 'n', value: count(item.tokens.total_tokens) },
      { label: 'Cost', kind: 'n', value: dollars(item.cost_usd) },
      { label: 'Why', kind: 'words', value: item.reason ?? '' },
    ],
    Date.parse(item.finished_at),
  );
}

/** What stands above the tables, and below. */
function factParts(view: StateView): readonly Part[] {
  const { counts, totals, poll, rate_limit: limit } = view;
  const facts: [unknown, unknown][] = [
    [`running (slots: ${view.slots})`, counts.running],
    ['retrying', counts.retrying],
    ['waiting', counts.queued],
    ['done', counts.completed],
    ['failed', counts.failed],
    ['tokens', count(totals.total_tokens)],
    ['cost', dollars(totals.cost_usd)],
  ];
  const budgets = [
    { of: 'the day', budget: view.budget },
    ...(view.repositories ?? []).map(({ repository, budget }) => ({ of: `the day of ${repository}`, budget })),
  ].flatMap(({ of, budget }) => (budget === null ? [] : { of, renewsAt: budget.renews_at, ...shownBudget(budget) }));
  if (view.budget !== null) {
    const { limit, spent } = shownBudget(view.budget);
    facts.push([html`of ${limit} today, anew in ${until(view.budget.renews_at)}`, spent]);
  }
  if (counts.asking > 0) facts.push(['asking', counts.asking]);
  if (counts.following > 0) facts.push(['following', counts.following]);
  if (view.queue !== undefined) facts.push(['wait for a worker', view.queue.waiting]);
  const warnings = [
    view.workflow.error === null
      ? null
      : `The workflow file cannot be used; the last good one is.\n${view.workflow.error}`,
    view.workflow.pending_restart.length === 0
      ? null
      : `Takes effect at the next start: ${view.workflow.pending_restart.join(', ')}`,
    ...ownFileLines(view.workflow.own_files),
    limit.paused_until === null ? null : `Paused until ${limit.paused_until}: ${limit.reason ?? ''}`,
    poll.last_error === null ? null : `The last poll was skipped: ${poll.last_error}`,
    view.queue?.problem ? `The queue gives no answer: ${view.queue.problem}` : null,
    ...budgets.map(({ of, renewsAt, spent, limit, isNear, waiting }) =>
      isNear ? `Budget of ${of}: ${spent} of ${limit} used. It begins anew at ${renewsAt}. ${waiting}` : null,
    ),
  ].filter((warning) => warning !== null);
  const others = coordinatorLines(view.coordinators);
  const quota = limit.remaining === null ? '' : ` · quota ${limit.remaining} of ${limit.limit ?? '?'}`;
  const delivered =
    view.webhook &&
    (view.webhook.last_delivery_at === null ? 'none' : html`${since(view.webhook.last_delivery_at)} ago`);
  const delivery = delivered === null ? '' : html` · last delivery ${delivered}`;
  return [
    ['facts', html`${facts.map(([label, value]) => html`<li><b>${value}</b>${label}</li>`)}`],
    [
      'warnings',
      html`${warnings.map((warning) => html`<p class="warn" role="status">${warning}</p>`)}${others.map(({ words, isProblem }) => html`<p class="${isProblem ? 'warn' : 'muted'}" role="status">${words}</p>`)}`,
    ],
    [
      'polled',
      html`polled ${since(poll.last_at)} ago${delivery} · ${poll.requests} requests, ${poll.not_modified} not modified${quota}`,
    ],
  ];
}

/** The parts of the page that change, by their ids: rows and teams as whole elements, of others what they hold. */
function partsOf(view: StateView): readonly Part[] {
  const isMany = view.repositories !== undefined;
  const at = (item: IssueId) => issuePlace(item, isMany);
  const teamAt = ({ issue, identifier }: IssueTeam) => at({ issue_number: issue, issue_identifier: identifier });
  const isSlot = ({ reason }: QueuedRow) => reason === WAITS_FOR_SLOT_TEXT;
  const forSlot = view.queued.filter(isSlot).length;
  return [
    ...factParts(view),
    ...view.running.map((item) =>
      row(
        `run-${at(item).key}`,
        'running',
        at(item),
        item,
        [
          { label: 'Try', kind: 'n', value: item.attempt },
          { label: 'Phase', kind: 'n', value: tag('go', item.phase) },
          { label: 'Since', kind: 'n', value: since(item.started_at) },
          { label: 'Heard', kind: 'n', value: since(item.last_event_at) },
          { label: 'Tokens', kind: 'n', value: count(item.tokens.total_tokens) },
          { label: 'Cost', kind: 'n', value: dollars(item.cost_usd) },
          { label: 'Last words', kind: 'words', value: item.last_message ?? item.last_event ?? item.last_error ?? '' },
        ],
        item.issue_number,
        runningCommands(item),
        [item.state],
      ),
    ),
    ...(view.workers ?? []).map((one, index) =>
      cellsPart(
        `worker-${one.name}`,
        'workers',
        [
          { label: 'Worker', value: one.name },
          { label: 'Slots', kind: 'n', value: `${one.used} of ${one.slots}${one.draining ? ', drains' : ''}` },
          { label: 'Labels', value: one.labels.join(', ') },
          { label: 'Version', kind: 'n', value: one.version },
          { label: 'Up', kind: 'n', value: since(one.started_at) },
        ],
        index,
      ),
    ),
    ...teamsOf(view).map((of) => {
      const { key, name } = teamAt(of);
      return teamPart(`team-${key}`, 'teams', of.issue, { ...of, name });
    }),
    ...view.retrying.map((item) =>
      row(
        `retry-${at(item).key}`,
        'retrying',
        at(item),
        item,
        [
          { label: 'Tried', kind: 'n', value: item.attempt },
          { label: 'Again in', kind: 'n', value: until(item.due_at) },
          { label: 'Why', kind: 'words', value: item.waits_for ?? item.last_error ?? '' },
        ],
        item.issue_number,
        COMMANDS.retrying,
      ),
    ),
    ...view.asking.map((item) =>
      row(
        `ask-${at(item).key}`,
        'asking',
        at(item),
        item,
        [
          { label: 'Since', kind: 'n', value: since(item.since) },
          { label: 'Given up in', kind: 'n', value: until(item.until) },
          { label: 'Question', kind: 'words', value: questionOf(item) },
        ],
        item.issue_number,
        askingCommands(item),
      ),
    ),
    ...view.following.map((item) =>
      row(
        `follow-${at(item).key}`,
        'following',
        at(item),
        item,
        [
          { label: 'Pull request', kind: 'n', value: pull(item.pull_request) },
          { label: 'Rounds', kind: 'n', value: item.rounds },
          { label: 'Since', kind: 'n', value: since(item.since) },
          { label: 'Waits for', kind: 'words', value: item.waits_for },
        ],
        item.issue_number,
        COMMANDS.following,
      ),
    ),
    ...view.queued.map((item) =>
      row(
        `wait-${at(item).key}`,
        isSlot(item) ? 'waiting-for-slot' : 'waiting',
        at(item),
        item,
        [
          { label: 'By', kind: 'n', value: item.author ?? '–' },
          { label: 'Why it waits', kind: 'words', value: item.reason },
        ],
        item.issue_number,
        queuedCommands(item),
        item.labels,
      ),
    ),
    // Those for a slot come last: what the page has no room for waits for one too.
    ['slot-count', html`${forSlot === 0 ? 0 : forSlot + view.more.queued}`],
    ...view.completed.map((item) => completedPart(item, at(item))),
    ...finishedTeamsOf(view)
      .slice(0, FINISHED_TEAMS)
      .map((of) => {
        const over = of.finishedAt ?? '';
        const { key, name } = teamAt(of);
        return teamPart(`over-${key}-${over}`, 'finished-teams', Date.parse(over), { ...of, name });
      }),
    ...LISTS.map((list) => moreOf(view, list)),
  ];
}

/** The same as markup. */
export function pageParts(view: StateView): Readonly<Record<string, string>> {
  return Object.fromEntries(partsOf(view).map(([id, markup]) => [id, markup.text]));
}

const WAITING = ['Issue', 'By', 'Why it waits'];

const TABLES = {
  running: {
    name: 'Running',
    titles: ['Issue', 'Try', 'Phase', 'Since', 'Heard', 'Tokens', 'Cost', 'Last words'],
    empty: 'No agent is at work.',
  },
  workers: {
    name: 'Workers',
    titles: ['Worker', 'Slots', 'Labels', 'Version', 'Up'],
    empty: 'No worker was heard of lately.',
  },
  retrying: { name: 'Retrying', titles: ['Issue', 'Tried', 'Again in', 'Why'], empty: 'Nothing.' },
  asking: {
    name: 'Waiting for an answer',
    titles: ['Issue', 'Since', 'Given up in', 'Question'],
    empty: 'No agent asks.',
  },
  following: {
    name: 'Following',
    titles: ['Issue', 'Pull request', 'Rounds', 'Since', 'Waits for'],
    empty: 'No pull request is watched.',
  },
  waiting: { name: 'Waiting', titles: WAITING, empty: 'Nothing waits for more than a slot.' },
  'waiting-for-slot': { name: 'Waiting for a slot', titles: WAITING, empty: 'Nothing.' },
  completed: {
    name: 'Finished',
    titles: ['Issue', 'Outcome', 'Pull request', 'Tries', 'Took', 'Tokens', 'Cost', 'Why'],
    empty: 'Nothing yet.',
  },
} as const satisfies Readonly<Record<string, Table>>;

/**
 * The whole page.
 * @param nonce the one that its content-security policy names
 * @param isLive it shows the first page of each list, which events keep fresh
 * @param maySteer it was opened with a token, so it has buttons for commands on issues
 */
export function page(view: StateView, nonce: string, isLive: boolean, maySteer = false): string {
  const parts = partsOf(view);
  const part = (id: string) => partOf(parts, id);
  const table = (id: keyof typeof TABLES) => tableOf(id, TABLES[id], within(parts, id));
  const more = (list: ListName) => html`<p class="muted" id="more-${list}">${part(`more-${list}`)}</p>`;
  const fold = within(parts, 'waiting-for-slot');
  // Without following, there is no such list.
  const hasFollowing = view.workflow.follow !== 'open' || view.following.length > 0;
  const followed = hasFollowing ? html`<h2>Following</h2>${table('following')}${more('following')}\n` : '';
  const frame = { title: `toolcrew · ${view.repository}`, nonce };
  return livePage(
    frame,
    view.generated_at,
    isLive ? '/api/v1/events?view=page' : null,
    maySteer,
    html`
<header><h1>${view.repository}</h1><span class="muted">toolcrew ${view.version}</span><span class="muted" id="live" data-state="on" role="status">${isLive ? 'connecting' : html`as of ${view.generated_at} · <a href="/">the first page</a>`}</span><button id="refresh" type="button">Poll now</button><span role="search" hidden><input id="find" type="search" placeholder="Find issues ( / )" aria-label="Find issues by number, title, phase, reason or label" aria-keyshortcuts="/"> <span class="muted" id="found" role="status"></span></span><span class="muted" id="said" role="status"></span></header>
<main id="main" tabindex="-1">
<ul class="facts" id="facts">${part('facts')}</ul>
<div id="warnings">${part('warnings')}</div>
<h2>Running</h2>${table('running')}${more('running')}
${view.queue === undefined ? '' : html`<h2>Workers</h2>${table('workers')}\n`}<div id="teams">${within(parts, 'teams')}</div>
<h2>Retrying</h2>${table('retrying')}${more('retrying')}
<details${view.asking.length === 0 ? html` hidden` : ''} open><summary>Waiting for an answer</summary>${table('asking')}</details>${more('asking')}
${followed}<h2>Waiting</h2>${table('waiting')}
<details${fold.length === 0 ? html` hidden` : ''}><summary>Waits for a slot: <span id="slot-count">${part('slot-count')}</span></summary>${table('waiting-for-slot')}</details>${more('queued')}
<h2>Finished</h2>${table('completed')}${more('completed')}
<div id="finished-teams">${within(parts, 'finished-teams')}</div>
</main>
<footer><span id="polled">${part('polled')}</span> · <a href="/api/v1/state">state as JSON</a> · <a href="/metrics">metrics</a></footer>
`,
  );
}
