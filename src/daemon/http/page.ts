// The status page: rendered here, kept fresh by events that carry the rows that changed.

import { createHash } from 'node:crypto';
import { WAITS_FOR_SLOT_TEXT } from '../intake.ts';
import type { Steer } from '../rules/record.ts';
import { PAUSED_TEXT, type StateView } from '../view.ts';
import { LISTS, type ListName } from '../view-page.ts';
import type { CompletedRow, QueuedRow } from '../view-rows.ts';
import { count, dollars, duration } from './format.ts';
import { Html, html, link } from './html.ts';
import { SCRIPT } from './page-script.ts';
import { finishedTeamsOf, gateWords, type IssueTeam, teamsOf, teamWords } from './team-lines.ts';

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5d6880;--line:#dfe4ee;--back:#f6f8fb;--card:#fff;--go:#0b7a4b;--wait:#8a5a00;--bad:#b3261e;--accent:#2456c9}
@media (prefers-color-scheme:dark){:root{--ink:#e7ebf3;--soft:#9aa6bd;--line:#2b3345;--back:#11151d;--card:#181e29;--go:#4cc38a;--wait:#e0a84a;--bad:#ff8a80;--accent:#8ab0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header,main,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{display:flex;flex-wrap:wrap;gap:8px 24px;align-items:baseline;padding-top:24px;padding-bottom:8px}
h1{font-size:20px;margin:0}h2{font-size:13px;letter-spacing:.06em;text-transform:uppercase;color:var(--soft);margin:28px 0 8px}
.muted{color:var(--soft)}.facts{display:flex;flex-wrap:wrap;gap:12px;margin:12px 0 0;padding:0;list-style:none}
.facts li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 16px;min-width:108px}
.facts b{display:block;font-size:22px;font-variant-numeric:tabular-nums}
.warn{border-left:4px solid var(--wait);background:var(--card);padding:10px 14px;margin:12px 0 0;border-radius:6px;overflow-wrap:anywhere;white-space:pre-wrap}
table{width:100%;border-collapse:collapse;background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
th{text-align:left;white-space:nowrap;font-size:12px;color:var(--soft);font-weight:600}th,td{padding:9px 12px;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}td.n{white-space:nowrap;font-variant-numeric:tabular-nums}td.words{color:var(--soft);max-width:420px}
.tag{display:inline-block;border:1px solid currentColor;border-radius:999px;padding:0 9px;font-size:12px;white-space:nowrap}
.done{color:var(--go)}.failed{color:var(--bad)}.wait{color:var(--wait)}.go{color:var(--accent)}
a{color:var(--accent)}a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
button{font:inherit;padding:6px 14px;border-radius:8px;border:1px solid var(--line);background:var(--card);color:var(--ink);cursor:pointer}
.steer{display:none;gap:6px;margin-top:6px}body[data-steer=yes] .steer{display:flex}.steer button{padding:1px 10px;font-size:13px}
footer{padding-top:24px;padding-bottom:32px;color:var(--soft);font-size:13px}
#live[data-state=off]{color:var(--bad)}
[hidden]{display:none!important}details{margin-top:12px}summary{cursor:pointer;color:var(--soft);margin-bottom:8px}p.muted:empty{display:none}
@media (max-width:720px){thead{position:absolute;left:-9999px}table,tbody,tr,td{display:block;width:100%}tr{padding:8px 0;border-bottom:1px solid var(--line)}td{border:0;padding:2px 12px}td::before{content:attr(data-label) " ";color:var(--soft);font-size:12px}td.words{max-width:none}td:empty{display:none}}
`;

/** So many teams of issues that are over are shown; the state has some more. */
const FINISHED_TEAMS = 3;

function since(at: string | null): Html {
  return at === null ? html`–` : html`<time datetime="${at}" data-since>${at}</time>`;
}

function until(at: string | null): Html {
  return at === null ? html`–` : html`<time datetime="${at}" data-until>${at}</time>`;
}

type Item = { readonly issue_number: number; readonly issue_url: string; readonly title: string };

/** An id with the markup of what stands under it. */
type Part = readonly [string, Html];

type Cell = { readonly label: string; readonly kind?: 'n' | 'words'; readonly value: unknown };

/** What an element says by which the script knows whether it changed, where it belongs, and before which others. */
function rowAttributes(into: string, order: number, inner: Html): Html {
  const hash = createHash('sha256').update(inner.text).digest('base64url').slice(0, 16);
  return html`data-row="${hash}" data-into="${into}" data-order="${order}"`;
}

/** A row of a table begins with its issue and the commands that it takes. The highest order comes first. */
function row(
  id: string,
  into: string,
  item: Item,
  cells: readonly Cell[],
  order = item.issue_number,
  commands: readonly Steer[] = [],
): Part {
  const inner = html`${[issueCell(id, item, commands), ...cells].map(
    ({ label, kind, value }) => html`<td class="${kind ?? ''}" data-label="${label}">${value}</td>`,
  )}`;
  return [id, html`<tr id="${id}" ${rowAttributes(into, order, inner)}>${inner}</tr>`];
}

type Table = { readonly name: string; readonly titles: readonly string[]; readonly empty: string };

/** A table with its name; the sentence in its place while it has no row. */
function tableOf(id: string, { name, titles, empty }: Table, rows: readonly Html[]): Html {
  const hidden = (isHidden: boolean) => (isHidden ? html` hidden` : '');
  return html`<table aria-label="${name}"${hidden(rows.length === 0)}><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead><tbody id="${id}">${rows}</tbody></table><p class="muted"${hidden(rows.length > 0)}>${empty}</p>`;
}

function tag(kind: string, text: string): Html {
  return html`<span class="tag ${kind}">${text}</span>`;
}

function pull(request: { readonly number: number; readonly url: string } | null): Html {
  return request === null ? html`–` : link(request.url, `#${request.number}`);
}

const TASK_KINDS: Readonly<Record<string, string>> = {
  pending: '',
  blocked: 'wait',
  in_progress: 'go',
  completed: 'done',
  failed: 'failed',
};

/** Only a page that was opened with a token shows the buttons. Their ids keep the focus when the row changes. */
function steerButtons(rowId: string, issue: number, commands: readonly Steer[]): Html | '' {
  const button = (command: Steer) =>
    html`<button type="button" id="${rowId}-${command}" data-steer="${command}" data-issue="${issue}" aria-label="${command} #${issue}">${command}</button>`;
  return commands.length === 0 ? '' : html`<span class="steer">${commands.map(button)}</span>`;
}

function issueCell(rowId: string, item: Item, commands: readonly Steer[]): Cell {
  const { issue_url: url, issue_number: issue, title } = item;
  return {
    label: 'Issue',
    value: html`<span id="${rowId}-issue">${link(url, `#${issue}`)}</span> ${title}${steerButtons(rowId, issue, commands)}`,
  };
}

/** Phases of a running row in which there is no attempt to pause. */
const SETTLING: readonly string[] = ['publishing', 'giving_up', 'gate', 'review', 'reviving'];

function commandsFor(phase: string): readonly Steer[] {
  if (phase === 'cancelling') return [];
  return SETTLING.includes(phase) ? ['cancel'] : ['pause', 'cancel'];
}

/** A team's tasks, what was said last, and what was measured. */
function teamPart(id: string, into: string, order: number, of: IssueTeam): Part {
  const { issue, url, team } = of;
  const rows = team.tasks.map(
    ({ id: task, status, owner, subject, note, started_at: startedAt, seconds }) =>
      html`<tr><td class="n" data-label="Task">${task}</td><td class="n" data-label="Status">${tag(TASK_KINDS[status] ?? '', status.replace('_', ' '))}</td><td class="n" data-label="Owner">${owner ?? '–'}</td><td class="n" data-label="Took">${seconds === null ? since(startedAt) : duration(seconds * 1000)}</td><td data-label="What">${subject}${note === null ? '' : html`<br><span class="muted">${note}</span>`}</td></tr>`,
  );
  const said = team.messages.last
    .slice(-3)
    .map(({ from, to, type, content }) => html`<li>${from} → ${to}, ${type.replaceAll('_', ' ')}: ${content}</li>`);
  const table = {
    name: `Tasks of the team of issue ${issue}`,
    titles: ['Task', 'Status', 'Owner', 'Took', 'What'],
    empty: 'No task yet.',
  };
  const inner = html`<h2>Team of ${link(url, `#${issue}`)}</h2><p class="muted">${team.team} · ${teamWords(of)}</p>${tableOf(`${id}-tasks`, table, rows)}<p class="muted">Gate: ${gateWords(team)}</p>${said.length === 0 ? '' : html`<ul class="muted">${said}</ul>`}`;
  return [
    id,
    html`<section id="${id}" aria-label="Team of issue ${issue}" ${rowAttributes(into, order, inner)}>${inner}</section>`,
  ];
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

function completedPart(item: CompletedRow): Part {
  return row(
    `done-${item.issue_number}-${item.finished_at}`,
    'completed',
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
  const facts: [string, unknown][] = [
    [`running (slots: ${view.slots})`, counts.running],
    ['retrying', counts.retrying],
    ['waiting', counts.queued],
    ['done', counts.completed],
    ['failed', counts.failed],
    ['tokens', count(totals.total_tokens)],
    ['cost', dollars(totals.cost_usd)],
  ];
  if (counts.asking > 0) facts.push(['asking', counts.asking]);
  const warnings = [
    view.workflow.error === null
      ? null
      : `The workflow file cannot be used; the last good one is.\n${view.workflow.error}`,
    view.workflow.pending_restart.length === 0
      ? null
      : `Takes effect at the next start: ${view.workflow.pending_restart.join(', ')}`,
    limit.paused_until === null ? null : `Paused until ${limit.paused_until}: ${limit.reason ?? ''}`,
    poll.last_error === null ? null : `The last poll was skipped: ${poll.last_error}`,
  ].filter((warning) => warning !== null);
  const quota = limit.remaining === null ? '' : ` · quota ${limit.remaining} of ${limit.limit ?? '?'}`;
  const delivered =
    view.webhook &&
    (view.webhook.last_delivery_at === null ? 'none' : html`${since(view.webhook.last_delivery_at)} ago`);
  const delivery = delivered === null ? '' : html` · last delivery ${delivered}`;
  return [
    ['facts', html`${facts.map(([label, value]) => html`<li><b>${value}</b>${label}</li>`)}`],
    ['warnings', html`${warnings.map((warning) => html`<p class="warn" role="status">${warning}</p>`)}`],
    [
      'polled',
      html`polled ${since(poll.last_at)} ago${delivery} · ${poll.requests} requests, ${poll.not_modified} not modified${quota}`,
    ],
  ];
}

/** The parts of the page that change, by their ids: rows and teams as whole elements, of others what they hold. */
function partsOf(view: StateView): readonly Part[] {
  const isSlot = ({ reason }: QueuedRow) => reason === WAITS_FOR_SLOT_TEXT;
  const forSlot = view.queued.filter(isSlot).length;
  return [
    ...factParts(view),
    ...view.running.map((item) =>
      row(
        `run-${item.issue_number}`,
        'running',
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
        commandsFor(item.phase),
      ),
    ),
    ...teamsOf(view).map((of) => teamPart(`team-${of.issue}`, 'teams', of.issue, of)),
    ...view.retrying.map((item) =>
      row(
        `retry-${item.issue_number}`,
        'retrying',
        item,
        [
          { label: 'Tried', kind: 'n', value: item.attempt },
          { label: 'Again in', kind: 'n', value: until(item.due_at) },
          { label: 'Last error', kind: 'words', value: item.last_error ?? '' },
        ],
        item.issue_number,
        ['retry', 'pause', 'cancel'],
      ),
    ),
    ...view.asking.map((item) =>
      row(
        `ask-${item.issue_number}`,
        'asking',
        item,
        [
          { label: 'Since', kind: 'n', value: since(item.since) },
          { label: 'Given up in', kind: 'n', value: until(item.until) },
          { label: 'Question', kind: 'words', value: item.question },
        ],
        item.issue_number,
        ['retry', 'cancel'],
      ),
    ),
    ...view.following.map((item) =>
      row(
        `follow-${item.issue_number}`,
        'following',
        item,
        [
          { label: 'Pull request', kind: 'n', value: pull(item.pull_request) },
          { label: 'Rounds', kind: 'n', value: item.rounds },
          { label: 'Since', kind: 'n', value: since(item.since) },
          { label: 'Waits for', kind: 'words', value: item.waits_for },
        ],
        item.issue_number,
        ['cancel'],
      ),
    ),
    ...view.queued.map((item) =>
      row(
        `wait-${item.issue_number}`,
        isSlot(item) ? 'waiting-for-slot' : 'waiting',
        item,
        [
          { label: 'By', kind: 'n', value: item.author ?? 'nobody known' },
          { label: 'Why it waits', kind: 'words', value: item.reason },
        ],
        item.issue_number,
        [item.reason === PAUSED_TEXT ? 'resume' : 'pause', 'cancel'],
      ),
    ),
    // Those for a slot come last: what the page has no room for waits for one too.
    ['slot-count', html`${forSlot === 0 ? 0 : forSlot + view.more.queued}`],
    ...view.completed.map(completedPart),
    ...finishedTeamsOf(view)
      .slice(0, FINISHED_TEAMS)
      .map((of) => {
        const at = of.finishedAt ?? '';
        return teamPart(`over-${of.issue}-${at}`, 'finished-teams', Date.parse(at), of);
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
  retrying: { name: 'Retrying', titles: ['Issue', 'Tried', 'Again in', 'Last error'], empty: 'Nothing.' },
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
  const within = (into: string) =>
    parts.filter(([, markup]) => markup.text.includes(` data-into="${into}" `)).map(([, markup]) => markup);
  const part = (id: string) => parts.find(([one]) => one === id)?.[1] ?? '';
  const table = (id: keyof typeof TABLES) => tableOf(id, TABLES[id], within(id));
  const more = (list: ListName) => html`<p class="muted" id="more-${list}">${part(`more-${list}`)}</p>`;
  const fold = within('waiting-for-slot');
  // Without following, there is no such list.
  const hasFollowing = view.workflow.follow !== 'open' || view.following.length > 0;
  const followed = hasFollowing ? html`<h2>Following</h2>${table('following')}${more('following')}\n` : '';
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>toolcrew · ${view.repository}</title><style nonce="${nonce}">${new Html(STYLE)}</style></head>
<body data-now="${view.generated_at}" data-live="${isLive ? 'yes' : 'no'}" data-steer="${maySteer ? 'yes' : 'no'}">
<header><h1>${view.repository}</h1><span class="muted">toolcrew ${view.version}</span><span class="muted" id="live" data-state="on" role="status">${isLive ? 'connecting' : html`as of ${view.generated_at} · <a href="/">the first page</a>`}</span><button id="refresh" type="button">Poll now</button><span class="muted" id="said" role="status"></span></header>
<main>
<ul class="facts" id="facts">${part('facts')}</ul>
<div id="warnings">${part('warnings')}</div>
<h2>Running</h2>${table('running')}${more('running')}
<div id="teams">${within('teams')}</div>
<h2>Retrying</h2>${table('retrying')}${more('retrying')}
<details${view.asking.length === 0 ? html` hidden` : ''} open><summary>Waiting for an answer</summary>${table('asking')}</details>${more('asking')}
${followed}<h2>Waiting</h2>${table('waiting')}
<details${fold.length === 0 ? html` hidden` : ''}><summary>Waits for a slot: <span id="slot-count">${part('slot-count')}</span></summary>${table('waiting-for-slot')}</details>${more('queued')}
<h2>Finished</h2>${table('completed')}${more('completed')}
<div id="finished-teams">${within('finished-teams')}</div>
</main>
<footer><span id="polled">${part('polled')}</span> · <a href="/api/v1/state">state as JSON</a> · <a href="/metrics">metrics</a></footer>
<script nonce="${nonce}">${new Html(SCRIPT)}</script>
</body></html>
`.text;
}

/** The page that asks for the token. */
export function loginPage(nonce: string, refused: boolean): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>toolcrew</title><style nonce="${nonce}">${new Html(STYLE)}</style></head>
<body><main><h1>toolcrew</h1>${refused ? html`<p class="warn" role="alert">That is not the token.</p>` : ''}
<form method="post" action="/login"><p><label for="token">Token of this server (server.token)</label></p><p><input id="token" name="token" type="password" autocomplete="current-password" required autofocus> <button type="submit">Open</button></p></form></main></body></html>
`.text;
}
