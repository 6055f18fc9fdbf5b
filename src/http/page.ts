// The status page: rendered here, kept fresh by events that carry the rows again.

import { createHash } from 'node:crypto';
import type { StateView } from '../engine/daemon/view.ts';
import { count, dollars, duration } from './format.ts';
import { Html, html, link } from './html.ts';
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
footer{padding-top:24px;padding-bottom:32px;color:var(--soft);font-size:13px}
#live[data-state=off]{color:var(--bad)}
@media (max-width:720px){thead{position:absolute;left:-9999px}table,tbody,tr,td{display:block;width:100%}tr{padding:8px 0;border-bottom:1px solid var(--line)}td{border:0;padding:2px 12px}td::before{content:attr(data-label) " ";color:var(--soft);font-size:12px}td.words{max-width:none}td:empty{display:none}}
`;

// Replaces the rows that changed and leaves the others alone, so that focus and selection stay where they are.
const SCRIPT = `
(() => {
  const live = document.getElementById('live');
  const span = (ms) => { const s = Math.max(0, Math.floor(ms / 1000)); if (s < 60) return s + 's'; const m = Math.floor(s / 60); if (m < 60) return m + 'm ' + String(s % 60).padStart(2, '0') + 's'; const h = Math.floor(m / 60); if (h < 48) return h + 'h ' + String(m % 60).padStart(2, '0') + 'm'; return Math.floor(h / 24) + 'd ' + (h % 24) + 'h'; };
  let skew = Date.parse(document.body.dataset.now) - Date.now();
  const tick = () => { for (const time of document.querySelectorAll('time[data-since]')) { const text = span(Date.now() + skew - Date.parse(time.dateTime)); if (time.textContent !== text) time.textContent = text; } for (const time of document.querySelectorAll('time[data-until]')) { const text = span(Date.parse(time.dateTime) - Date.now() - skew); if (time.textContent !== text) time.textContent = text; } };
  setInterval(tick, 1000);
  const apply = (id, markup) => {
    const old = document.getElementById(id);
    if (!old || old.dataset.markup === markup) return;
    old.dataset.markup = markup;
    const focused = document.activeElement && old.contains(document.activeElement) ? document.activeElement.closest('[id]') : null;
    const holder = document.createElement('template');
    holder.innerHTML = markup;
    const keep = new Map([...old.querySelectorAll('[data-row]')].map((row) => [row.id, row]));
    for (const row of holder.content.querySelectorAll('[data-row]')) { const known = keep.get(row.id); if (known && known.dataset.row === row.dataset.row) row.replaceWith(known); }
    old.replaceChildren(...holder.content.childNodes);
    if (focused && document.activeElement !== focused) { const again = document.getElementById(focused.id); (again && (again.matches('a,button') ? again : again.querySelector('a,button')) || again)?.focus?.(); }
    tick();
  };
  const source = new EventSource('/api/v1/events?view=page');
  source.addEventListener('page', (event) => { const { now, parts } = JSON.parse(event.data); skew = Date.parse(now) - Date.now(); for (const [id, markup] of Object.entries(parts)) apply(id, markup); live.textContent = 'live'; live.dataset.state = 'on'; });
  source.addEventListener('error', () => { live.textContent = 'not connected'; live.dataset.state = 'off'; });
  document.getElementById('refresh').addEventListener('click', async () => { const answer = await fetch('/api/v1/refresh', { method: 'POST' }); document.getElementById('said').textContent = answer.ok ? 'polling now' : 'refused (' + answer.status + ')'; setTimeout(() => { document.getElementById('said').textContent = ''; }, 2000); });
})();
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

type Cell = { readonly label: string; readonly kind?: 'n' | 'words'; readonly value: unknown };

/** A row begins with its issue, and knows by its mark whether it changed. */
function row(id: string, item: Item, cells: readonly Cell[]): Html {
  const inner = [issueCell(id, item), ...cells].map(
    ({ label, kind, value }) => html`<td class="${kind ?? ''}" data-label="${label}">${value}</td>`,
  );
  const mark = createHash('sha256').update(html`${inner}`.text).digest('base64url').slice(0, 16);
  return html`<tr id="${id}" data-row="${mark}">${inner}</tr>`;
}

function tableOf(titles: readonly string[], rows: readonly Html[], empty: string): Html {
  if (rows.length === 0) return html`<p class="muted">${empty}</p>`;
  return html`<table><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
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

function issueCell(rowId: string, item: Item): Cell {
  return {
    label: 'Issue',
    value: html`<span id="${rowId}-issue">${link(item.issue_url, `#${item.issue_number}`)}</span> ${item.title}`,
  };
}

/** A team's tasks, what was said last, and what was measured. */
function teamPart(of: IssueTeam): Html {
  const { issue, url, team } = of;
  const rows = team.tasks.map(
    ({ id, status, owner, subject, note, started_at: startedAt, seconds }) =>
      html`<tr><td class="n" data-label="Task">${id}</td><td class="n" data-label="Status">${tag(TASK_KINDS[status] ?? '', status.replace('_', ' '))}</td><td class="n" data-label="Owner">${owner ?? '–'}</td><td class="n" data-label="Took">${seconds === null ? since(startedAt) : duration(seconds * 1000)}</td><td data-label="What">${subject}${note === null ? '' : html`<br><span class="muted">${note}</span>`}</td></tr>`,
  );
  const said = team.messages.last
    .slice(-3)
    .map(({ from, to, type, content }) => html`<li>${from} → ${to}, ${type.replaceAll('_', ' ')}: ${content}</li>`);
  return html`<section aria-label="Team of issue ${issue}"><h2>Team of ${link(url, `#${issue}`)}</h2><p class="muted">${team.team} · ${teamWords(of)}</p>${tableOf(['Task', 'Status', 'Owner', 'Took', 'What'], rows, 'No task yet.')}<p class="muted">Gate: ${gateWords(team)}</p>${said.length === 0 ? '' : html`<ul class="muted">${said}</ul>`}</section>`;
}

/** The parts of the page that change, by the id of the element that holds them. */
export function pageParts(view: StateView): Readonly<Record<string, string>> {
  const { counts, totals, poll, rate_limit: limit } = view;
  const facts: readonly [string, unknown][] = [
    [`running (slots: ${view.slots})`, counts.running],
    ['retrying', counts.retrying],
    ['waiting', counts.queued],
    ['done', counts.completed],
    ['failed', counts.failed],
    ['tokens', count(totals.total_tokens)],
    ['cost', dollars(totals.cost_usd)],
  ];
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
  const parts = {
    facts: html`${facts.map(([label, value]) => html`<li><b>${value}</b>${label}</li>`)}`,
    warnings: html`${warnings.map((warning) => html`<p class="warn" role="status">${warning}</p>`)}`,
    running: tableOf(
      ['Issue', 'Try', 'Phase', 'Since', 'Heard', 'Tokens', 'Cost', 'Last words'],
      view.running.map((item) =>
        row(`run-${item.issue_number}`, item, [
          { label: 'Try', kind: 'n', value: item.attempt },
          { label: 'Phase', kind: 'n', value: tag('go', item.phase) },
          { label: 'Since', kind: 'n', value: since(item.started_at) },
          { label: 'Heard', kind: 'n', value: since(item.last_event_at) },
          { label: 'Tokens', kind: 'n', value: count(item.tokens.total_tokens) },
          { label: 'Cost', kind: 'n', value: dollars(item.cost_usd) },
          { label: 'Last words', kind: 'words', value: item.last_message ?? item.last_event ?? item.last_error ?? '' },
        ]),
      ),
      'No agent is at work.',
    ),
    teams: html`${teamsOf(view).map(teamPart)}`,
    retrying: tableOf(
      ['Issue', 'Tried', 'Again in', 'Last error'],
      view.retrying.map((item) =>
        row(`retry-${item.issue_number}`, item, [
          { label: 'Tried', kind: 'n', value: item.attempt },
          { label: 'Again in', kind: 'n', value: until(item.due_at) },
          { label: 'Last error', kind: 'words', value: item.last_error ?? '' },
        ]),
      ),
      'Nothing.',
    ),
    waiting: tableOf(
      ['Issue', 'By', 'Why it waits'],
      view.queued.map((item) =>
        row(`wait-${item.issue_number}`, item, [
          { label: 'By', kind: 'n', value: item.author ?? 'nobody known' },
          { label: 'Why it waits', kind: 'words', value: tag('wait', item.reason) },
        ]),
      ),
      'Nothing.',
    ),
    completed: tableOf(
      ['Issue', 'Outcome', 'Pull request', 'Tries', 'Took', 'Tokens', 'Cost', 'Why'],
      view.completed.map((item) =>
        row(`done-${item.issue_number}-${item.finished_at}`, item, [
          {
            label: 'Outcome',
            kind: 'n',
            value: tag(item.outcome === 'done' ? 'done' : item.outcome === 'failed' ? 'failed' : 'wait', item.outcome),
          },
          { label: 'Pull request', kind: 'n', value: pull(item.pull_request) },
          { label: 'Tries', kind: 'n', value: item.attempts },
          { label: 'Took', kind: 'n', value: duration(item.seconds * 1000) },
          { label: 'Tokens', kind: 'n', value: count(item.tokens.total_tokens) },
          { label: 'Cost', kind: 'n', value: dollars(item.cost_usd) },
          { label: 'Why', kind: 'words', value: item.reason ?? '' },
        ]),
      ),
      'Nothing yet.',
    ),
    'finished-teams': html`${finishedTeamsOf(view).slice(0, FINISHED_TEAMS).map(teamPart)}`,
    polled: html`polled ${since(poll.last_at)} ago · ${poll.requests} requests, ${poll.not_modified} not modified${limit.remaining === null ? '' : ` · quota ${limit.remaining} of ${limit.limit ?? '?'}`}`,
  };
  return Object.fromEntries(Object.entries(parts).map(([id, markup]) => [id, markup.text]));
}

/** The whole page. `nonce` is the one that its content-security policy names. */
export function page(view: StateView, nonce: string): string {
  const parts = pageParts(view);
  const part = (id: string) => new Html(parts[id] ?? '');
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>toolcrew · ${view.repository}</title><style nonce="${nonce}">${new Html(STYLE)}</style></head>
<body data-now="${view.generated_at}">
<header><h1>${view.repository}</h1><span class="muted">toolcrew ${view.version}</span><span class="muted" id="live" data-state="on" role="status">connecting</span><button id="refresh" type="button">Poll now</button><span class="muted" id="said" role="status"></span></header>
<main>
<ul class="facts" id="facts">${part('facts')}</ul>
<div id="warnings">${part('warnings')}</div>
<h2>Running</h2><div id="running">${part('running')}</div>
<div id="teams">${part('teams')}</div>
<h2>Retrying</h2><div id="retrying">${part('retrying')}</div>
<h2>Waiting</h2><div id="waiting">${part('waiting')}</div>
<h2>Finished</h2><div id="completed">${part('completed')}</div>
<div id="finished-teams">${part('finished-teams')}</div>
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
