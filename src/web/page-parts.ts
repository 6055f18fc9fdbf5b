// Parts of the pages: elements that events replace one by one, tables, tags, times, buttons.

import { createHash } from 'node:crypto';
import type { Steer } from '../daemon/rules/record.ts';
import { dollars, duration } from './format.ts';
import { Html, html, link } from './html.ts';
import type { IssueId, IssuePlace } from './issue-place.ts';
import { SCRIPT } from './page-script.ts';
import { STYLE } from './page-style.ts';
import { gateWords, type IssueTeam, teamWords } from './team-lines.ts';

export function since(at: string | null): Html {
  return at === null ? html`–` : html`<time datetime="${at}" data-since>${at}</time>`;
}

export function until(at: string | null): Html {
  return at === null ? html`–` : html`<time datetime="${at}" data-until>${at}</time>`;
}

export type Item = IssueId & { readonly issue_url: string; readonly title: string };

/** An id with the markup of what stands under it. */
export type Part = readonly [string, Html];

export type Cell = { readonly label: string; readonly kind?: 'n' | 'words'; readonly value: unknown };

/** What an element says by which the script knows whether it changed, where it belongs, and before which others. */
function rowAttributes(into: string, order: number, inner: Html): Html {
  const hash = createHash('sha256').update(inner.text).digest('base64url').slice(0, 16);
  return html`data-row="${hash}" data-into="${into}" data-order="${order}"`;
}

/** A row of cells. The highest order comes first. */
export function cellsPart(id: string, into: string, cells: readonly Cell[], order: number): Part {
  const inner = html`${cells.map(
    ({ label, kind, value }) => html`<td class="${kind ?? ''}" data-label="${label}">${value}</td>`,
  )}`;
  return [id, html`<tr id="${id}" ${rowAttributes(into, order, inner)}>${inner}</tr>`];
}

/** A line of a list. */
export function linePart(id: string, into: string, line: Html, order: number): Part {
  return [id, html`<li id="${id}" ${rowAttributes(into, order, line)}>${line}</li>`];
}

/** The parts that belong into an element. */
export function within(parts: readonly Part[], into: string): readonly Html[] {
  return parts.filter(([, markup]) => markup.text.includes(` data-into="${into}" `)).map(([, markup]) => markup);
}

export function partOf(parts: readonly Part[], id: string): Html | '' {
  return parts.find(([one]) => one === id)?.[1] ?? '';
}

export type Table = { readonly name: string; readonly titles: readonly string[]; readonly empty: string };

/** A table with its name; the sentence in its place while it has no row. */
export function tableOf(id: string, { name, titles, empty }: Table, rows: readonly Html[]): Html {
  const hidden = (isHidden: boolean) => (isHidden ? html` hidden` : '');
  return html`<table aria-label="${name}"${hidden(rows.length === 0)}><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead><tbody id="${id}">${rows}</tbody></table><p class="muted"${hidden(rows.length > 0)}>${empty}</p>`;
}

export function tag(kind: string, text: string): Html {
  return html`<span class="tag ${kind}">${text}</span>`;
}

export function pull(request: { readonly number: number; readonly url: string } | null): Html {
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
export function steerButtons(rowId: string, { name, path }: IssuePlace, commands: readonly Steer[]): Html | '' {
  const button = (command: Steer) =>
    html`<button type="button" id="${rowId}-${command}" data-steer="${command}" data-at="${path}" data-name="${name}" aria-label="${command} ${name}">${command}</button>`;
  return commands.length === 0 ? '' : html`<span class="steer">${commands.map(button)}</span>`;
}

/** `name`: of its issue. */
export type ShownTeam = Omit<IssueTeam, 'issue' | 'identifier'> & { readonly name: string };

/** A team's tasks, what was said last, and what was measured. @param isWhole its members and more of what was said, too */
export function teamPart(id: string, into: string, order: number, of: ShownTeam, isWhole = false): Part {
  const { name, url, team } = of;
  const issue = name.replace(/^#/, '');
  const rows = team.tasks.map(
    ({ id: task, status, owner, subject, note, started_at: startedAt, seconds }) =>
      html`<tr><td class="n" data-label="Task">${task}</td><td class="n" data-label="Status">${tag(TASK_KINDS[status] ?? '', status.replace('_', ' '))}</td><td class="n" data-label="Owner">${owner ?? '–'}</td><td class="n" data-label="Took">${seconds === null ? since(startedAt) : duration(seconds * 1000)}</td><td data-label="What">${subject}${note === null ? '' : html`<br><span class="muted">${note}</span>`}</td></tr>`,
  );
  const said = team.messages.last
    .slice(isWhole ? 0 : -3)
    .map(({ from, to, type, content }) => html`<li>${from} → ${to}, ${type.replaceAll('_', ' ')}: ${content}</li>`);
  const members = team.members.map(
    ({ name, phase, task, cost_usd: cost }) =>
      html`<li>${name}: ${phase}${task === null ? '' : `, task ${task}`}${cost === 0 ? '' : `, ${dollars(cost)}`}</li>`,
  );
  const table = {
    name: `Tasks of the team of issue ${issue}`,
    titles: ['Task', 'Status', 'Owner', 'Took', 'What'],
    empty: 'No task yet.',
  };
  const inner = html`<h2>Team of ${link(url, name)}</h2><p class="muted">${team.team} · ${teamWords(of)}</p>${tableOf(`${id}-tasks`, table, rows)}${isWhole ? html`<ul class="muted" aria-label="Members">${members}</ul>` : ''}<p class="muted">Gate: ${gateWords(team)}</p>${said.length === 0 ? '' : html`<ul class="muted">${said}</ul>`}`;
  return [
    id,
    html`<section id="${id}" aria-label="Team of issue ${issue}" ${rowAttributes(into, order, inner)}>${inner}</section>`,
  ];
}

export type Frame = {
  readonly title: string;
  readonly nonce: string;
  /** Attributes of the body, for the script. */
  readonly body: Html;
};

/** A whole page. */
function framed({ title, nonce, body }: Frame, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style nonce="${nonce}">${new Html(STYLE)}</style></head>
<body${body}>${content}</body></html>
`.text;
}

/** With the script that keeps it fresh. @param events where they come from; null: nowhere */
export function livePage(
  frame: Omit<Frame, 'body'>,
  at: string,
  events: string | null,
  maySteer: boolean,
  content: Html,
): string {
  const body = html` data-now="${at}" data-live="${events ?? ''}" data-steer="${maySteer ? 'yes' : 'no'}"`;
  const script = html`<script nonce="${frame.nonce}">${new Html(SCRIPT)}</script>`;
  return framed({ ...frame, body }, html`<a class="skip" href="#main">Skip to the content</a>${content}${script}`);
}

/** The page that asks for the token. @param path the page to go on to */
export function loginPage(nonce: string, refused: boolean, path: string): string {
  return framed(
    { title: 'toolcrew', nonce, body: html`` },
    html`<main><h1>toolcrew</h1>${refused ? html`<p class="warn" role="alert">That is not the token.</p>` : ''}
<form method="post" action="/login"><input type="hidden" name="then" value="${path}"><p><label for="token">Token of this server (server.token)</label></p><p><input id="token" name="token" type="password" autocomplete="current-password" required autofocus> <button type="submit">Open</button></p></form></main>`,
  );
}

/** A page with one sentence. */
export function sentencePage(nonce: string, sentence: string): string {
  return framed(
    { title: 'toolcrew', nonce, body: html`` },
    html`<main><h1>toolcrew</h1><p>${sentence}</p><p><a href="/">All issues</a></p></main>`,
  );
}
