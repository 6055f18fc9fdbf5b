import assert from 'node:assert/strict';
import test from 'node:test';
import { displayWidth } from '../../src/base/display-width.ts';
import { WAITS_FOR_SLOT_TEXT } from '../../src/daemon/intake.ts';
import { HTTP_CODES } from '../../src/daemon/rules/codes/http-codes.ts';
import { summaryOf } from '../../src/daemon/rules/team-summary.ts';
import { textDashboard } from '../../src/web/dashboard.ts';
import { count, dollars, duration } from '../../src/web/format.ts';
import { html, link } from '../../src/web/html.ts';
import { page, pageParts } from '../../src/web/page.ts';
import { columnsOf } from '../../src/web/query.ts';
import { LEAD, TEAM, teamOf } from '../support/team.ts';
import { viewWith } from '../support/view.ts';

const WIDE = 240;

test('what runs, on what, since when, last words, tokens, cost; what waits and why; what is done with its link', () => {
  const text = textDashboard(viewWith(), WIDE);
  const lines = text.split('\n');
  const line = (start: string) => lines.find((one) => one.trim().startsWith(start)) ?? '';
  assert.match(line('#1'), /#1\s+First <b>bold<\/b>\s+2\s+agent\s+1m 05s\s+2s\s+12\.3k\s+\$0\.123\s+Reading <script>/);
  assert.match(line('#2'), /#2\s+Second\s+1\s+20s\s+it broke; in two lines/);
  assert.match(line('#3'), /#3\s+Third\s+stranger, who wrote it, is not/);
  assert.match(line('#4'), /#4\s+Fourth\s+done\s+1\s+1m 01s\s+\$1\.500\s+https:\/\/host\/o\/r\/pull\/9/);
  assert.match(line('#5'), /#5\s+Fifth\s+failed\s+3\s+500ms\s+–\s+no commit/);
});

test('the page counts what is asked and what is followed, where there is any', () => {
  const { counts } = viewWith();
  const facts = (change: Partial<typeof counts>) =>
    pageParts(viewWith({ counts: { ...counts, ...change } })).facts ?? '';
  assert.match(facts({ asking: 3, following: 4 }), />3<[\s\S]*asking[\s\S]*>4<[\s\S]*following/);
  assert.doesNotMatch(facts({}), /asking|following/);
});

test('what waits for an answer, with the question; nothing of it where nobody asks', () => {
  const [running] = viewWith().running;
  assert.ok(running !== undefined);
  const row = {
    ...running,
    question: 'Which <b>one</b>?',
    since: '2026-01-01T10:00:00.000Z',
    until: null,
    paused: false,
  };
  const view = viewWith({ asking: [row], counts: { ...viewWith().counts, asking: 1 } });
  const text = textDashboard(view, WIDE);
  assert.match(text, / 1 asking · /);
  assert.match(text, /\nASKING\n.*\n {2}#1\s+First <b>bold<\/b>\s+2h 00m\s+Which <b>one<\/b>\?\n/);
  assert.match(page(view, 'n', true), /<details open><summary>Waiting for an answer<\/summary>/);
  assert.match(pageParts(view)['ask-1'] ?? '', /Which &lt;b&gt;one&lt;\/b&gt;\?/);
  const paused = viewWith({ asking: [{ ...row, paused: true }] });
  assert.match(textDashboard(paused, WIDE), / \(paused\) Which/);
  assert.match(pageParts(paused)['ask-1'] ?? '', /\(paused\) Which/);
  assert.doesNotMatch(textDashboard(viewWith(), WIDE), /asking|ASKING/);
  assert.match(page(viewWith(), 'n', true), /<details hidden open><summary>Waiting for an answer/);
});

test('what is wrong stands at the top', () => {
  const view = viewWith({
    workflow: { path: '/p', loaded_at: '', error: 'agent.x: 3 is odd', pending_restart: ['server'], follow: 'open' },
    poll: { ...viewWith().poll, last_error: 'it answered 502' },
    rate_limit: {
      limit: null,
      remaining: null,
      reset_at: null,
      paused_until: '2026-01-01T13:00:00Z',
      reason: 'the quota',
    },
  });
  const text = textDashboard(view, WIDE);
  assert.match(text, /! the workflow file cannot be used; the last good one is: agent\.x: 3 is odd/);
  assert.match(text, /! takes effect at the next start: server/);
  assert.match(text, /! paused until 2026-01-01T13:00:00Z: the quota/);
  assert.match(text, /! last poll skipped: it answered 502/);
  assert.match(page(view, 'n', true), /cannot be used; the last good one/);
});

test('with a webhook, when its last delivery came', () => {
  const deliveries = { accepted: 1, ping: 0, known: 0, ignored: 0, forged: 0, malformed: 0 };
  const none = viewWith({ webhook: { last_delivery_at: null, deliveries } });
  const some = viewWith({ webhook: { last_delivery_at: '2026-01-01T11:59:30.000Z', deliveries } });
  assert.match(textDashboard(none, WIDE), / · last delivery none · /);
  assert.match(textDashboard(some, WIDE), / · last delivery 30s ago · /);
  assert.match(page(some, 'n', true), /last delivery <time datetime="2026-01-01T11:59:30\.000Z" data-since>/);
  assert.doesNotMatch(textDashboard(viewWith(), WIDE) + page(viewWith(), 'n', true), /last delivery/);
});

test('an idle daemon', () => {
  const counts = { running: 0, retrying: 0, asking: 0, following: 0, queued: 0, completed: 0, failed: 0 };
  const text = textDashboard(viewWith({ counts, running: [], retrying: [], queued: [], completed: [] }));
  assert.match(text, /RUNNING\n {2}nothing\n/);
  assert.doesNotMatch(text, /WAITING|FINISHED|RETRYING/);
});

test('control characters of a title reach no terminal', () => {
  const view = viewWith();
  const [first] = view.running;
  assert.ok(first !== undefined);
  assert.match(textDashboard({ ...view, running: [{ ...first, title: 'a\u001b[2Jb' }] }), /a\\x1b\[2Jb/);
});

test('a team at work: its tasks, what was said last, what was measured', () => {
  const story = teamOf(['backend-dev', 'tester'], 2).claim('1', 'backend-dev');
  story.tell('member_used', { name: 'backend-dev', task: '1', cost_usd: 0.5 });
  story.tell('message_sent', { to: 'all', by: LEAD, epoch: 0, content: 'mind <b>\u001b[2J' });
  const team = summaryOf(story.state, story.at);
  const view = viewWith();
  const [first] = view.running;
  assert.ok(first !== undefined);
  const at = new Date(story.at + 65_000).toISOString();
  const shown = { ...view, generated_at: at, running: [{ ...first, team }] };
  const text = textDashboard(shown, WIDE);
  assert.match(
    text,
    new RegExp(`TEAM OF #1 · ${TEAM} · \\w+ · implementation · 0 of 2 tasks · 1 message · 0 rejections · \\$0\\.500`),
  );
  const free = { ...shown, running: [{ ...first, team: { ...team, cost_usd: 0 } }] };
  assert.match(textDashboard(free, WIDE), / · 0 rejections\n/, 'what costs nothing has no cost');
  assert.match(text, /\n {2}1\s+in progress\s+backend-dev\s+1m 05s\s+/);
  assert.match(text, /\n {2}2\s+pending\s+–\s+–\s+/);
  assert.match(text, /gate: not measured yet\n {2}team-lead → all, [a-z ]+: mind <b>/);
  const parts = pageParts(shown);
  assert.match(parts['team-1'] ?? '', /mind &lt;b&gt;/);
  assert.match(parts['team-1'] ?? '', /<span class="tag go">in progress<\/span>/);
  assert.equal(pageParts(view)['team-1'], undefined);
});

test('a task under which nothing was changed is shown with the words of its owner', () => {
  const story = teamOf(['backend-dev'], 1).claim('1', 'backend-dev');
  story.tell('task_updated', { status: 'completed', result: 'It was <there>', changed_nothing: true });
  const team = summaryOf(story.state, story.at);
  const view = viewWith();
  const [first] = view.running;
  assert.ok(first !== undefined);
  const shown = { ...view, running: [{ ...first, team }] };
  assert.match(textDashboard(shown, WIDE), /completed .* Task 1; changed nothing: It was <there>/);
  assert.match(pageParts(shown)['team-1'] ?? '', /changed nothing: It was &lt;there&gt;/);
});

test('a team whose issue is over is shown as it was at the end', () => {
  const story = teamOf(['backend-dev'], 2).claim('1', 'backend-dev').complete('1', 'backend-dev');
  const team = summaryOf(story.state, story.at);
  const view = viewWith();
  const [done, ...others] = view.completed;
  assert.ok(done !== undefined);
  const shown = { ...view, completed: [{ ...done, team }, ...others] };
  const text = textDashboard(shown, WIDE);
  assert.match(text, new RegExp(`FINISHED[\\s\\S]*TEAM OF #4 · ${TEAM} · done · implementation · 1 of 2 tasks · `));
  assert.match(text, /\n {2}1\s+completed\s+backend-dev\s+/);
  const parts = pageParts(shown);
  assert.equal(parts['team-4'], undefined, 'it is at work no more');
  assert.match(
    parts[`over-4-${done.finished_at}`] ?? '',
    /aria-label="Team of issue 4"[\s\S]*<span class="tag done">completed<\/span>/,
  );
  assert.deepEqual(
    Object.keys(pageParts(view)).filter((id) => id.startsWith('over-')),
    [],
  );
});

test('markup of an issue is text on the page, a strange address is no link', () => {
  assert.equal(
    html`<p title="${'"x"'}">${'<i>'}${['a', html`<b>c</b>`]}${null}${false}</p>`.text,
    '<p title="&quot;x&quot;">&lt;i&gt;a<b>c</b></p>',
  );
  assert.equal(link('javascript:alert(1)', 'x').text, 'x');
  assert.equal(link('https://h/?a=1&b="', 'x').text, '<a href="https://h/?a=1&amp;b=&quot;" rel="noreferrer">x</a>');
  const parts = pageParts(viewWith());
  assert.doesNotMatch(parts['run-1'] ?? '', /<script>alert|<b>bold/);
});

test('a row that did not change keeps its mark, one that did gets another', () => {
  const mark = (markup: string | undefined, id: string) =>
    new RegExp(`id="${id}" data-row="([^"]+)"`).exec(markup ?? '')?.[1];
  const view = viewWith();
  const [first] = view.running;
  assert.ok(first !== undefined);
  const before = pageParts(view)['run-1'];
  assert.equal(mark(before, 'run-1'), mark(pageParts(viewWith())['run-1'], 'run-1'));
  assert.notEqual(
    mark(before, 'run-1'),
    mark(pageParts({ ...view, running: [{ ...first, last_message: 'else' }] })['run-1'], 'run-1'),
  );
});

test('the page names its tables, shows the whole reason why an issue waits, and folds what waits for a slot', () => {
  const view = viewWith();
  const [first] = view.queued;
  assert.ok(first !== undefined);
  const reason = `it waits for ${'a very long reason '.repeat(20)}`;
  const queued = [
    { ...first, reason },
    { ...first, issue_number: 8, reason: WAITS_FOR_SLOT_TEXT },
  ];
  const unnamed = pageParts({ ...view, queued: [{ ...first, author: null }] })[`wait-${first.issue_number}`];
  assert.ok(unnamed?.includes('data-label="By">–<'), 'the journal does not tell who opened what is at work');
  const next = { ...view.next, queued: 'queued:0-8' };
  const shown = page({ ...view, queued, next, more: { ...view.more, queued: 9_998 } }, 'n', true);
  for (const name of ['Running', 'Retrying', 'Waiting', 'Waiting for a slot', 'Finished'])
    assert.ok(shown.includes(`<table aria-label="${name}"`), name);
  assert.ok(shown.includes(`<td class="words" data-label="Why it waits">${reason}</td>`));
  const [before, fold] = shown.split('<details>');
  assert.match(before ?? '', /id="wait-3"/);
  assert.doesNotMatch(before ?? '', /id="wait-8"/);
  assert.match(
    fold ?? '',
    /<summary>Waits for a slot: <span id="slot-count">9999<\/span><\/summary>[\s\S]*id="wait-8"/,
  );
  assert.match(fold ?? '', /and 9998 more: <a href="\/\?after=queued:0-8">/);
  assert.match(page(view, 'n', true), /<details hidden>/);
});

test('numbers and times as people read them', () => {
  assert.deepEqual([0, 999, 1000, 61_000, 3_600_000, 200 * 3_600_000].map(duration), [
    '0ms',
    '999ms',
    '1s',
    '1m 01s',
    '1h 00m',
    '8d 8h',
  ]);
  assert.deepEqual([0, 999, 1000, 1_234_567].map(count), ['0', '999', '1.0k', '1.2M']);
  assert.deepEqual([0, 0.5, 12.345].map(dollars), ['–', '$0.500', '$12.35']);
});

test('no line of the text is wider than the terminal: titles are cut, wide characters counted, an address is whole or a number', () => {
  const view = viewWith();
  const [first] = view.running;
  const [again] = view.retrying;
  const [waits] = view.queued;
  const [done] = view.completed;
  assert.ok(first !== undefined && again !== undefined && waits !== undefined && done !== undefined);
  const title = '長い題名 and a title that goes on for longer than a line 👩‍👩‍👧 '.repeat(6);
  const story = teamOf(['backend-dev', 'tester'], 2).claim('1', 'backend-dev');
  story.tell('message_sent', { to: 'all', by: LEAD, epoch: 0, content: title });
  const team = summaryOf(story.state, story.at);
  const url = 'https://host.example/an-owner/a-repository/pull/12345';
  const long: typeof view = {
    ...view,
    repository: `an-owner/${'a-very-long-name'.repeat(8)}`,
    workflow: { ...view.workflow, error: title, pending_restart: ['server', 'tracker', 'state'] },
    running: [{ ...first, title, last_message: title, team }],
    retrying: [{ ...again, title, last_error: title }],
    queued: [{ ...waits, title, reason: title }],
    completed: [
      { ...done, title, pull_request: { number: 12345, url } },
      { ...done, title, pull_request: null, reason: title },
    ],
  };
  for (const columns of [undefined, 40, 80, 100, 240]) {
    const text = textDashboard(long, columns);
    for (const line of text.split('\n')) assert.ok(displayWidth(line) <= (columns ?? 80), line);
    assert.match(text, /#3 +長い[^\n]*…/);
    const isWide = columns === 240;
    assert.match(text, isWide ? /done .* https:\S+\/pull\/12345$/m : /長い.* #12345$/m);
    if (columns !== 40) assert.ok(text.includes(url), text);
  }
  assert.match(textDashboard(long, 40), /goes on for\s+longer than/);
});

test('the width of a terminal is asked for by a number, 80 unless it is told', () => {
  assert.equal(columnsOf('/'), 80);
  assert.equal(columnsOf('/?columns=132&limit=5'), 132);
  for (const wrong of ['', '0', '39', '1001', '8e1', 'wide', '-80']) {
    const refused = columnsOf(`/?columns=${wrong}`);
    assert.equal(typeof refused === 'number' ? null : refused.why.of, HTTP_CODES.bad_request, wrong);
  }
});

test('the budget of the day: how much is used, when it begins anew, and what waits for it', () => {
  const budget = { limit_usd: 10, spent_usd: 2.5, renews_at: '2026-01-02T00:00:00.000Z', waiting: 0 };
  const calm = viewWith({ budget });
  assert.match(textDashboard(calm, WIDE), /\nbudget of the day: \$2\.50 of \$10\.00 used, begins anew in 12h 00m\n/);
  assert.match(page(calm, 'n', true), /<b>\$2\.50<\/b>of \$10\.00 today, anew in <time/);
  assert.doesNotMatch(page(calm, 'n', true), /Budget of the day/);
  const spent = viewWith({ budget: { ...budget, spent_usd: 10.1, waiting: 2 } });
  assert.match(
    textDashboard(spent, WIDE),
    /\n! budget of the day: \$10\.10 of \$10\.00 used, .*, 2 issues wait for it\n/,
  );
  assert.match(
    page(spent, 'n', true),
    /\$10\.10 of \$10\.00 used\. It begins anew at 2026-01-02T00:00:00\.000Z\. 2 issues/,
  );
  const idle = { running: 0, queued: 0, last_poll_at: null, problem: null };
  const many = viewWith({
    repositories: [
      { ...idle, repository: 'o/near', budget: { ...budget, spent_usd: 8, waiting: 1 } },
      { ...idle, repository: 'o/far', budget },
      { ...idle, repository: 'o/none', budget: null },
    ],
  });
  const text = textDashboard(many, WIDE);
  assert.match(text, /! budget of the day of o\/near: \$8\.00 of \$10\.00 used, .*, 1 issue waits for it\n/);
  assert.doesNotMatch(text, /o\/far|o\/none/);
  assert.doesNotMatch(textDashboard(viewWith(), WIDE), /budget/);
});

test('a retry that is due shows what it waits for', () => {
  const [first] = viewWith().retrying;
  assert.ok(first !== undefined);
  const view = viewWith({ retrying: [{ ...first, waits_for: 'The issue waits for the quota.' }] });
  assert.match(textDashboard(view, WIDE), /#2\s+Second\s+1\s+20s\s+The issue waits for the quota\./);
  assert.match(pageParts(view)['retry-2'] ?? '', /The issue waits for the quota\./);
});
