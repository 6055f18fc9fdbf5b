// The page of one issue: how it stands, its pull request, attempts, checks, team, output and story; kept fresh by events.

import { visibleLines } from '../base/rules/text.ts';
import type { OutputPart } from '../daemon/ports.ts';
import { coverageWords, outcomeText } from '../daemon/rules/evidence-line.ts';
import type { IssueHistory, PastAttempt } from '../daemon/rules/issue-history.ts';
import { standingWords } from '../daemon/rules/issue-standing.ts';
import { ownFileWords } from '../daemon/rules/own-file.ts';
import type { StateView } from '../daemon/view.ts';
import type { IssueDetails, PullRequestView } from '../daemon/view-issue.ts';
import type { Evidence } from '../gate/rules/evidence.ts';
import { count, dollars, duration } from './format.ts';
import { type Html, html, link } from './html.ts';
import { type IssuePlace, issuePlace } from './issue-place.ts';
import { commandsOf } from './page.ts';
import {
  type Cell,
  cellsPart,
  linePart,
  livePage,
  type Part,
  partOf,
  since,
  steerButtons,
  tableOf,
  tag,
  teamPart,
  within,
} from './page-parts.ts';
import type { Source } from './source.ts';

/** All that the page shows. */
export type ShownIssue = {
  readonly view: Pick<StateView, 'generated_at' | 'repository' | 'repositories'>;
  readonly place: IssuePlace;
  /** Where there are many. */
  readonly repository: string | undefined;
  readonly details: IssueDetails;
  readonly history: IssueHistory;
  /** The end of the newest output; undefined: there is none. */
  readonly output: OutputPart | undefined;
};

/** Undefined: the daemon knows nothing of it. @param from the first byte of the output that is wanted */
export function shownIssue(
  source: ShownSource,
  { issue, repository }: { readonly issue: number; readonly repository: string | undefined },
  view: ShownIssue['view'],
  from?: number,
): ShownIssue | undefined {
  const details = source.issue(issue, repository);
  if (details === undefined) return undefined;
  const place = issuePlace(
    { issue_number: issue, issue_identifier: `${repository}#${issue}` },
    view.repositories !== undefined && repository !== undefined,
  );
  const history = source.history(issue, repository);
  return { view, place, repository, details, history, output: source.output(issue, { from }, repository) };
}

export type ShownSource = Pick<Source, 'issue' | 'history' | 'output'>;

/** Lines of the story that are shown. */
const MOST_LINES = 500;
const SHORT = 12;

function clock(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}Z</time>`;
}

/** The issue's title, as far as anything still tells. */
function titleOf({ details, history }: ShownIssue): string {
  return details.title ?? history.title ?? '';
}

function phaseOf({ running, retrying, asking, following, queued, completed }: IssueDetails): readonly [string, string] {
  if (queued !== null) return ['wait', 'waiting'];
  if (asking !== null) return ['wait', 'asking'];
  if (following !== null) return ['go', 'following'];
  if (running !== null) return ['go', running.phase];
  if (retrying !== null) return ['wait', 'retrying'];
  const outcome = completed[0]?.outcome ?? 'over';
  return [outcome === 'done' || outcome === 'failed' ? outcome : 'wait', outcome.replace('_', ' ')];
}

/** Where it stands, in words. */
function wordsOf({ details }: ShownIssue): string {
  const [last] = details.completed;
  if (last === undefined) return standingWords(details) ?? 'it is over';
  const over = `it is over since ${last.finished_at.slice(0, 19)}Z${last.reason === null ? '' : `: ${last.reason}`}`;
  return standingWords(details) ?? over;
}

function statePart(shown: ShownIssue): Html {
  const { details } = shown;
  const { running } = details;
  const at =
    running === null ? '' : html` · for ${since(running.started_at)}, heard ${since(running.last_event_at)} ago`;
  // Why an attempt ended stands beside it, once another is under way.
  const error = details.retrying?.last_error ?? null;
  const rounds =
    details.rounds === null || details.rounds === 0
      ? ''
      : html`<p class="muted">Failed checks went back to the agent ${details.rounds} ×.</p>`;
  return html`<p>${tag(...phaseOf(details))} ${wordsOf(shown)}${at}</p>${steerButtons('issue', shown.place, commandsOf(details))}${error === null ? '' : html`<p class="warn">${error}</p>`}${rounds}`;
}

const CHECK_KINDS = { passed: 'done', failed: 'failed', pending: 'wait', cancelled: '', waiting: 'wait' } as const;
const MERGE_WORDS = {
  clean: 'can be merged',
  dirty: 'conflicts with its base',
  behind: 'is behind its base',
  blocked: 'is blocked by the rules of its branch',
  unstable: 'can be merged, though a check has not passed',
  unknown: 'whether it can be merged is not worked out yet',
} as const;
const VERDICT_KINDS = { approved: 'done', changes_requested: 'failed', commented: '', dismissed: '' } as const;

function seenPart(seen: NonNullable<PullRequestView['seen']>): Html {
  const checks = seen.checks.map(
    ({ name, state, url }) => html`<li>${tag(CHECK_KINDS[state], state)} ${url === null ? name : link(url, name)}</li>`,
  );
  const reviews = seen.reviews.map(
    ({ login, verdict }) =>
      html`<li>${tag(VERDICT_KINDS[verdict], verdict.replace('_', ' '))} ${login ?? 'somebody'}</li>`,
  );
  return html`<p>${seen.state}, commit ${seen.head.slice(0, SHORT)}, ${seen.draft ? 'a draft, ' : ''}${MERGE_WORDS[seen.merge]}; ${seen.open_threads} open review threads <span class="muted">· read ${since(seen.at)} ago</span></p>${checks.length === 0 ? html`<p class="muted">No check.</p>` : html`<ul aria-label="Checks of the pull request">${checks}</ul>`}${reviews.length === 0 ? html`<p class="muted">No review.</p>` : html`<ul aria-label="Reviews">${reviews}</ul>`}`;
}

/** Of a pull request that is not followed, the journal alone tells. */
function pastPart({ history }: ShownIssue, number: number): Html {
  const past = history.pullRequest;
  if (past === null || past.number !== number) return html``;
  const { openedAt, commit, over } = past;
  const time = (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`;
  const pushed = commit === null ? '' : `, last commit of the daemon ${commit.slice(0, SHORT)}`;
  const end = over === null ? '' : `, ${over.state} as seen ${time(over.at)}`;
  return html`<p>Opened ${time(openedAt)}${pushed}${end}.</p>`;
}

function pullPart(shown: ShownIssue): Html {
  const { pull_request: pull, following } = shown.details;
  if (pull === null) return html`<p class="muted">None yet.</p>`;
  const round = following === null ? '' : html`, round ${following.rounds}, waits for: ${following.waits_for}`;
  const unseen = pull.followed
    ? 'Its checks and reviews have not been read since the daemon started.'
    : 'It is not followed: what became of it since is not read.';
  return html`<p>${link(pull.url, `Pull request #${pull.number}`)}${round}</p>${pull.seen === null ? html`${pastPart(shown, pull.number)}<p class="muted">${unseen}</p>` : seenPart(pull.seen)}`;
}

/** What the list of attempts lacks. The journal keeps two files. */
function attemptsWords({ details, history }: ShownIssue): string {
  const { life, attempts: made } = details;
  const { attempts } = history;
  const held = life === null ? attempts : attempts.filter((one) => one.life === life || one.life === 0);
  if (attempts[0]?.life === 0 || held.length < (made ?? 0)) return 'The journal no longer holds the earlier attempts.';
  return attempts.length === 0 ? 'None yet.' : '';
}

function attemptPart(place: IssuePlace, past: PastAttempt, used: IssueDetails['attempt_usage']): Part {
  const { life, attempt, runtime, ownFile, startedAt, end } = past;
  const tokens = end === null ? used?.total_tokens : end.usage.input_tokens + end.usage.output_tokens;
  const cost = end === null ? used?.cost_usd : end.usage.cost_usd;
  const outcome = end?.outcome === 'succeeded' ? 'done' : end?.outcome === 'failed' ? 'failed' : 'wait';
  const name = `${life}-${attempt}`;
  const why = end === null || end.outcome === 'succeeded' ? '' : end.reason;
  const from = ownFile === null ? '' : ownFileWords(ownFile);
  const cells: readonly Cell[] = [
    { label: 'Attempt', kind: 'n', value: life > 1 ? `${attempt} (life ${life})` : attempt },
    { label: 'Runtime', kind: 'n', value: runtime },
    { label: 'Started', kind: 'n', value: clock(startedAt) },
    {
      label: 'Took',
      kind: 'n',
      value: end === null ? since(new Date(startedAt).toISOString()) : duration(end.at - startedAt),
    },
    {
      label: 'Outcome',
      kind: 'n',
      value: end === null ? tag('go', 'under way') : tag(outcome, end.outcome.replace('_', ' ')),
    },
    { label: 'Tokens', kind: 'n', value: count(tokens ?? 0) },
    { label: 'Cost', kind: 'n', value: dollars(cost ?? 0) },
    { label: 'Why', kind: 'words', value: [why, from].filter((words) => words !== '').join(' · ') },
    { label: 'Output', kind: 'n', value: html`<a href="/api/v1${place.path}/output?of=${name}">as text</a>` },
  ];
  return cellsPart(`attempt-${name}`, 'attempts', cells, -(life * 1e6 + attempt));
}

const OUTCOMES: Readonly<Record<string, string>> = { passed: 'done', failed: 'failed', old_failure: 'wait' };

/** `80.4 % → 81.2 %` */
function coverageMove({ before, after }: Evidence['coverage']): string {
  const [was, is] = [before, after].map((value) => coverageWords({ before: null, after: value }));
  return before === null ? `${is}` : `${was} → ${is}`;
}

function cellsOf(cells: readonly Cell[]): Html {
  return html`<tr>${cells.map(({ label, kind, value }) => html`<td class="${kind ?? ''}" data-label="${label}">${value}</td>`)}</tr>`;
}

function checksPart({ details, history }: ShownIssue): Html {
  const evidence = history.evidence ?? details.evidence;
  const isNew = details.completed.length === 0 && (details.attempts ?? 0) === 0;
  if (evidence === null)
    return html`<p class="muted">${isNew ? 'Not measured yet.' : 'No measurement is in the journal.'}</p>`;
  const { commit, base, ok, checks, commands, coverage, unmeasured } = evidence;
  if (unmeasured !== null) return html`<p class="warn">Nothing was measured: ${unmeasured}</p>`;
  const others = checks.filter(({ outcome }) => outcome === 'not_measured').map(({ check }) => check);
  const rows = checks
    .filter(({ outcome }) => outcome !== 'not_measured')
    .map(({ check, outcome, figure, reason }) =>
      cellsOf([
        { label: 'Check', kind: 'n', value: check },
        { label: 'Result', kind: 'n', value: tag(OUTCOMES[outcome] ?? '', outcomeText(outcome)) },
        {
          label: 'Figure',
          kind: 'n',
          value: check === 'coverage' && coverage.after !== null ? coverageMove(coverage) : (figure ?? ''),
        },
        { label: 'Why', kind: 'words', value: outcome === 'passed' ? '' : reason },
      ]),
    );
  const runs = commands.map(({ command, exit, timed_out: timedOut, seconds }) =>
    cellsOf([
      { label: 'Command', value: html`<code>${command}</code>` },
      { label: 'Exit code', kind: 'n', value: exit ?? (timedOut ? 'timed out' : 'ended by a signal') },
      { label: 'Seconds', kind: 'n', value: seconds },
    ]),
  );
  const left = others.length === 0 ? '' : html`<p class="muted">Not measured: ${others.join(', ')}.</p>`;
  const checksTable = { name: 'Checks', titles: ['Check', 'Result', 'Figure', 'Why'], empty: 'No check.' };
  const runsTable = { name: 'Commands', titles: ['Command', 'Exit code', 'Seconds'], empty: 'No command ran.' };
  return html`<p>${tag(ok ? 'done' : 'failed', ok ? 'passed' : 'not passed')} commit ${commit.slice(0, SHORT)}, with the commands of commit ${base.slice(0, SHORT)}</p>${tableOf('checks', checksTable, rows)}${left}<br>${tableOf('commands', runsTable, runs)}`;
}

function partsOf(shown: ShownIssue): readonly Part[] {
  const { details, history, output, place } = shown;
  const { issue_number: issue, team } = details;
  const url = details.url ?? history.url ?? '';
  const { story } = history;
  const left = story.length - MOST_LINES;
  const outcome = details.phase === null ? (details.completed[0]?.outcome ?? null) : null;
  return [
    ['state', statePart(shown)],
    ['pull', pullPart(shown)],
    ...history.attempts.map((past, index) =>
      attemptPart(place, past, index === history.attempts.length - 1 ? details.attempt_usage : null),
    ),
    ['attempts-left', html`${attemptsWords(shown)}`],
    ['gate', checksPart(shown)],
    ...(team === null
      ? []
      : [teamPart(`team-${issue}`, 'teams', issue, { name: place.name, url, outcome, finishedAt: null, team }, true)]),
    ['output-at', html`${output === undefined ? '' : `${output.name} ${output.to}`}`],
    ...story
      .map(({ at, words }, index) => linePart(`line-${index}`, 'story', html`${clock(at)} ${words}`, index))
      .slice(-MOST_LINES)
      .reverse(),
    ['story-left', html`${left <= 0 ? '' : `${left} older lines: tool explain ${place.name.replace(/^#/, '')}`}`],
  ];
}

/** What changes on the page, as markup by its ids. */
export function issueParts(shown: ShownIssue): Readonly<Record<string, string>> {
  return Object.fromEntries(partsOf(shown).map(([id, markup]) => [id, markup.text]));
}

const ATTEMPTS = {
  name: 'Attempts',
  titles: ['Attempt', 'Runtime', 'Started', 'Took', 'Outcome', 'Tokens', 'Cost', 'Why', 'Output'],
  empty: '',
};

/** The whole page. @param nonce the one that its content-security policy names */
export function issuePage(shown: ShownIssue, nonce: string, maySteer: boolean): string {
  const { view, details, history, output, place } = shown;
  const issue = details.issue_number;
  const parts = partsOf(shown);
  const part = (id: string) => partOf(parts, id);
  const title = titleOf(shown);
  return livePage(
    { title: `${place.name} ${title} · ${view.repository}`, nonce },
    view.generated_at,
    `/api/v1/events?view=page&issue=${issue}${shown.repository === undefined ? '' : `&repository=${shown.repository}`}`,
    maySteer,
    html`
<header><nav><a href="/">${view.repository}</a></nav><h1>${link(details.url ?? history.url ?? '', place.name)} ${title}</h1><span class="muted" id="live" data-state="on" role="status">connecting</span><span class="muted" id="said" role="status"></span></header>
<main id="main" tabindex="-1">
<div id="state">${part('state')}</div>
<h2>Pull request</h2><div id="pull">${part('pull')}</div>
<h2>Attempts</h2>${tableOf('attempts', ATTEMPTS, within(parts, 'attempts'))}<p class="muted" id="attempts-left">${part('attempts-left')}</p>
<h2>Checks</h2><div id="gate">${part('gate')}</div>
<div id="teams">${within(parts, 'teams')}</div>
<h2>Output</h2><button id="follow" type="button" hidden>Stop following</button><span id="output-at" hidden>${part('output-at')}</span>
<pre id="output" tabindex="0" role="region" aria-label="Output of the last attempt" data-name="${output?.name ?? ''}" data-to="${output?.to ?? 0}">${output?.text ?? ''}</pre>
<h2>Events, the newest first</h2><ol id="story" reversed>${within(parts, 'story')}</ol><p class="muted" id="story-left">${part('story-left')}</p>
</main>
<footer><a href="/api/v1${place.path}">issue as JSON</a></footer>
`,
  );
}

/** The same in a few lines, for a terminal. */
export function issueText(shown: ShownIssue): string {
  const { history } = shown;
  const lines = history.story.map(({ at, words }) => `${new Date(at).toISOString().slice(0, 19)}Z  ${words}`);
  const all = [`${shown.place.name} ${titleOf(shown)}`, ...lines, `now: ${wordsOf(shown)}`];
  return `${all.map(visibleLines).join('\n')}\n`;
}
