// The page of one issue as it is rendered, and the colours of all pages.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { IssueHistory } from '../../src/daemon/rules/issue-history.ts';
import { summaryOf } from '../../src/daemon/rules/team-summary.ts';
import type { IssueDetails } from '../../src/daemon/view-issue.ts';
import { issuePage, issueParts, issueText, type ShownIssue } from '../../src/web/issue-page.ts';
import { page } from '../../src/web/page.ts';
import { pageAfterLogin, routeOf } from '../../src/web/routes.ts';
import { teamOf } from '../support/team.ts';
import { issueWith, NO_HISTORY, viewWith } from '../support/view.ts';

const AT = Date.UTC(2026, 0, 1, 11, 58, 55);
const EVIL = '<img src=x onerror=alert(1)>';
const USAGE = { input_tokens: 1_000, output_tokens: 234, cost_usd: 0.5, turns: 2, seconds: 60 };

const HISTORY: IssueHistory = {
  pullRequest: null,
  title: 'Claimed title',
  url: 'https://host/o/r/issues/1',
  attempts: [
    {
      life: 1,
      attempt: 1,
      runtime: 'claude',
      ownFile: { commit: '1a2b3c4d5e6f', sets: ['prompt', 'done_label'] },
      startedAt: AT - 120_000,
      end: { at: AT - 60_000, outcome: 'failed', reason: `it broke ${EVIL}`, usage: USAGE },
    },
    { life: 1, attempt: 2, runtime: 'claude', ownFile: null, startedAt: AT, end: null },
  ],
  evidence: {
    commit: 'c0ffee0123456789',
    base: 'ba5e0123456789',
    ok: false,
    checks: [
      { check: 'tests', outcome: 'failed', reason: `2 fail ${EVIL}`, figure: '7 tests' },
      { check: 'coverage', outcome: 'passed', reason: '', figure: '81.2 %' },
      { check: 'lint', outcome: 'not_measured', reason: 'no script', figure: null },
    ],
    commands: [
      { command: `npm test ${EVIL}`, exit: 1, timed_out: false, seconds: 3.2 },
      { command: 'npm run slow', exit: null, timed_out: true, seconds: 600 },
    ],
    coverage: { before: 80.4, after: 81.23 },
    rejection: 'tests fail',
    unmeasured: null,
  },
  story: [
    { at: AT - 120_000, words: 'taken up' },
    { at: AT, words: `the agent asks: ${EVIL}` },
  ],
};

const PULL: IssueDetails['pull_request'] = {
  number: 9,
  url: 'https://host/o/r/pull/9',
  followed: true,
  seen: {
    at: '2026-01-01T11:59:00.000Z',
    state: 'open',
    head: 'c0ffee0123456789',
    conflicts: false,
    merge: 'clean',
    draft: false,
    checks: [
      { name: `build ${EVIL}`, state: 'failed', url: 'javascript:alert(1)' },
      { name: 'docs', state: 'passed', url: 'https://ci/docs' },
    ],
    reviews: [{ login: EVIL, verdict: 'changes_requested' }],
    open_threads: 2,
  },
};

function shownWith(change: Partial<ShownIssue> = {}): ShownIssue {
  return {
    view: viewWith(),
    place: { name: '#1', path: '/issues/1', key: '1' },
    repository: undefined,
    details: issueWith({ pull_request: PULL }),
    history: HISTORY,
    output: { name: '1-2', from: 0, to: 40, text: `hello ${EVIL}\n` },
    ...change,
  };
}

/** What a reader of the markup reads. */
function textOf(markup: string | undefined): string {
  return (markup ?? '').replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('phase, attempts with their cost, figures, story, output and pull request, nothing of it as markup', () => {
  const shown = shownWith();
  const parts = issueParts(shown);
  assert.match(textOf(parts.state), /^ agent attempt 2: agent at work · for 2026-01-01T11:58:55\.000Z , heard /);
  assert.match(textOf(parts['attempt-1-1']), / 1 claude 2026-01-01 11:56:55Z 1m 00s failed 1\.2k \$0\.500 it broke /);
  assert.match(textOf(parts['attempt-1-2']), / 2 claude .* under way 5\.7k \$0\.050 /);
  assert.match(parts['attempt-1-2'] ?? '', /href="\/api\/v1\/issues\/1\/output\?of=1-2"/);
  const gate = textOf(parts.gate);
  for (const words of [
    'not passed commit c0ffee012345, with the commands of commit ba5e01234567',
    'tests failed 7 tests 2 fail',
    'coverage passed 80.4 % → 81.2 %',
    'Not measured: lint.',
    '1 3.2',
    'npm run slow timed out 600',
  ])
    assert.ok(gate.includes(words), `${words} in ${gate}`);
  const pull = textOf(parts.pull);
  assert.match(pull, / #9 open, commit c0ffee012345, can be merged; 2 open review threads/);
  assert.match(pull, / failed build .* passed docs changes requested /);
  assert.match(textOf(parts['line-1']), /^ 2026-01-01 11:58:55Z the agent asks: /);
  assert.equal(parts['output-at'], '1-2 40');
  const whole = issuePage(shown, 'n', false);
  for (const markup of [whole, ...Object.values(parts)])
    assert.doesNotMatch(markup, /<img|<b>bold|href="javascript/, markup);
  assert.match(whole, /<pre id="output"[^>]* data-name="1-2" data-to="40">hello &lt;img /);
  assert.match(whole, /<h1><a href="https:\/\/host\/o\/r\/issues\/1" rel="noreferrer">#1<\/a> First &lt;b&gt;bold/);
  assert.ok(whole.indexOf('id="line-1"') < whole.indexOf('id="line-0"'), 'the newest line comes first');
});

test('the page says in words how an issue stands that waits, asks, is followed, or is over', () => {
  const view = viewWith();
  const [queued = null] = view.queued;
  const [retrying = null] = view.retrying;
  const [, failed] = view.completed;
  assert.ok(failed !== undefined);
  const idle = { running: null, phase: null, attempt_usage: null } as const;
  const words = (change: Partial<IssueDetails>) =>
    textOf(issueParts(shownWith({ details: issueWith({ ...idle, ...change }) })).state).trim();
  assert.match(words({ queued }), /^waiting it waits: stranger, who wrote it, is not trusted pause cancel$/);
  assert.match(words({ queued: queued && { ...queued, held_back: true } }), / retry pause cancel$/);
  const asking = { ...view.running[0], question: 'Which?', since: '', until: null };
  const asks = (paused: boolean) => words({ asking: { ...asking, paused } as IssueDetails['asking'] });
  assert.match(asks(false), / retry cancel$/);
  assert.match(asks(true), / resume cancel$/);
  assert.match(
    words({ retrying }),
    /^retrying the next attempt is due at 2026-01-01T12:00:20.* it broke in two lines$/,
  );
  const [running = null] = view.running;
  const again = running && { ...running, last_error: 'it broke before' };
  assert.doesNotMatch(words({ running: again, phase: 'running' }), /broke/, 'why the attempt before ended');
  assert.equal(words({ completed: [failed] }), 'failed it is over since 2026-01-01T12:00:00Z: no commit retry');
  assert.match(words({ completed: [{ ...failed, outcome: 'label_removed' }] }), /^label removed .* retry$/);
  assert.match(words({ completed: [{ ...failed, outcome: 'closed' }] }), /: no commit$/);
  assert.equal(words({}), 'over it is over');
});

test('the team of an issue is on its page; without attempts, checks, output and pull request it says so', () => {
  const story = teamOf(['backend-dev'], 2).claim('1', 'backend-dev');
  const team = summaryOf(story.state, story.at);
  const board = textOf(issueParts(shownWith({ details: issueWith({ team }) }))['team-1']);
  assert.match(board, /in progress backend-dev .* backend-dev: \w+, task 1 /);
  const details = issueWith({ title: null, url: null, attempts: 0 });
  const bare = shownWith({ details, history: NO_HISTORY, output: undefined });
  const whole = issuePage(bare, 'n', false);
  assert.match(textOf(whole), /Pull request None yet\. Attempts .* None yet\. Checks Not measured yet\. Output /);
  assert.match(whole, /<h1>#1 <\/h1>/);
  assert.equal(issueParts(bare)['output-at'], '');
});

test('what the journal no longer holds is said so, and a followed pull request is not called unfollowed', () => {
  const lost = 'The journal no longer holds the earlier attempts.';
  const left = (details: Partial<IssueDetails>, history: Partial<IssueHistory> = {}) => {
    const parts = issueParts(shownWith({ details: issueWith(details), history: { ...HISTORY, ...history } }));
    return [parts['attempts-left'], textOf(parts.gate).trim()];
  };
  assert.equal(left({})[0], '');
  assert.deepEqual(left({}, NO_HISTORY), [lost, 'No measurement is in the journal.']);
  assert.equal(left({ attempts: 3 })[0], lost);
  assert.equal(left({ life: 2, attempts: 1 })[0], lost);
  const attempts = HISTORY.attempts.map((one) => ({ ...one, life: 0 }));
  assert.equal(left({}, { attempts })[0], lost);
  const { completed } = viewWith();
  const over = { running: null, phase: null, life: null, attempts: 1, completed: completed.slice(0, 1) };
  assert.deepEqual(left(over, NO_HISTORY), [lost, 'No measurement is in the journal.']);
  const pull = (followed: boolean) => {
    const details = issueWith({ pull_request: PULL && { ...PULL, followed, seen: null } });
    return textOf(issueParts(shownWith({ details })).pull);
  };
  assert.match(pull(true), /have not been read since the daemon started/);
  assert.match(pull(false), /It is not followed/);
  const past = { number: PULL?.number ?? 0, openedAt: AT, commit: 'abcdef0123456789', over: null };
  const shown = (more: Partial<NonNullable<IssueHistory['pullRequest']>>) => {
    const details = issueWith({ pull_request: PULL && { ...PULL, followed: false, seen: null } });
    return textOf(issueParts(shownWith({ details, history: { ...HISTORY, pullRequest: { ...past, ...more } } })).pull);
  };
  const time = `${new Date(AT).toISOString().slice(0, 19)}Z`;
  assert.ok(
    shown({}).includes(`Opened ${time}, last commit of the daemon abcdef012345. It is not followed`),
    shown({}),
  );
  assert.match(shown({ over: { at: AT, state: 'merged' } }), /, merged as seen 20.*Z\./);
  assert.doesNotMatch(shown({ number: 1 }), /Opened/);
});

test('a long story is cut, with the command that tells all of it', () => {
  const story = Array.from({ length: 700 }, (_, index) => ({ at: AT + index, words: `step ${index}` }));
  const parts = issueParts(shownWith({ history: { ...HISTORY, story } }));
  assert.equal(Object.keys(parts).filter((id) => id.startsWith('line-')).length, 500);
  assert.match(parts['line-699'] ?? '', /step 699/);
  assert.equal(parts['story-left'], '200 older lines: tool explain 1');
});

test('for a terminal the page is the story, without control characters', () => {
  const details = issueWith({ title: 'a\u001b[2Jb' });
  assert.equal(
    issueText(shownWith({ details })),
    `#1 a\\x1b[2Jb\n2026-01-01T11:56:55Z  taken up\n2026-01-01T11:58:55Z  the agent asks: ${EVIL}\nnow: attempt 2: agent at work\n`,
  );
});

test('paths of issues and outputs, and the pages that a login leads to', () => {
  assert.deepEqual(
    ['/issues/7', '/api/v1/issues/7', '/api/v1/issues/7/output', '/api/v1/issues/7/pause', '/issue/7'].map(routeOf),
    ['issue_page', 'issue', 'output', 'steer', undefined],
  );
  for (const path of ['/issues/7', '/?q=%23%37+a', '/status', '/']) assert.equal(pageAfterLogin(path), path);
  for (const path of ['//evil.example', '/\\evil', 'https://evil', '/issues/7/../x', '/?a\r\nb', '/login', '', null])
    assert.equal(pageAfterLogin(path), '/');
});

function luminance(colour: string): number {
  const digits = colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit).join('') : colour.slice(1);
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('text has a contrast of 4.5 to its background, light and dark', () => {
  const themes = [...page(viewWith(), 'n', true).matchAll(/:root\{([^}]*)\}/g)].map(([, body = '']) =>
    Object.fromEntries([...body.matchAll(/--(\w+):(#\w+)/g)].map(([, name = '', colour = '']) => [name, colour])),
  );
  assert.equal(themes.length, 2);
  for (const theme of themes)
    for (const ink of ['ink', 'soft', 'go', 'wait', 'bad', 'accent'])
      for (const back of ['back', 'card']) {
        const both = [luminance(theme[ink] ?? ''), luminance(theme[back] ?? '')];
        const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
        assert.ok(contrast >= 4.5, `${ink} ${theme[ink]} on ${back} ${theme[back]}: ${contrast.toFixed(2)}`);
      }
});
