import assert from 'node:assert/strict';
import test from 'node:test';
import { summaryOf } from '../../../../src/daemon/rules/team-summary.ts';
import type { CheckResult } from '../../../../src/gate/rules/quality.ts';
import { LEAD_CODES } from '../../../../src/team/rules/codes/lead-codes.ts';
import { type ReportInput, teamReport } from '../../../../src/team/rules/views/report.ts';
import { wordsOf } from '../../../support/codes.ts';
import { LEAD, Story } from '../../../support/team.ts';

function told(): Story {
  return new Story()
    .tell('created')
    .tell('task_created', { subject: 'Sign | in', owner: 'backend-dev' })
    .join('backend-dev', 'tester')
    .claim('1', 'backend-dev')
    .later(2500)
    .tell('message_sent', { kind: 'api_ready', content: { endpoint: 'POST /login', schema: {} } })
    .tell('message_sent', { kind: 'progress', content: 'half done' })
    .tell('decision', { hook: 'task_completed', decision: 'reject', reason: 'two tests fail\nin <a>' })
    .tell('decision', { hook: 'teammate_idle', decision: 'reject', reason: 'work is left' })
    .tell('task_updated', { status: 'completed' })
    .tell('member_used')
    .tell('member_used', { name: 'tester', task: null, cost_usd: 0.5, input_tokens: 1, output_tokens: 0, turns: 1 })
    .tell('decision', { hook: 'budget', decision: 'reject', about: 'tester', reason: '$0.50 used' })
    .tell('base_measured', { checks: [RED], coverage: 80 })
    .tell('gate_measured', { task: null, coverage: 91.25 });
}

const RED: CheckResult = {
  ...{ check: 'tests', outcome: 'failed', reason: '1 test fails: adds' },
  ...{ details: ['adds'], command: 'npm test', figure: null },
};

function reportOf(more: Partial<ReportInput> = {}): string {
  return teamReport({
    state: told().state,
    branch: 'tool/x',
    changed: [
      { path: 'src/api/a.ts', added: 10, removed: 1 },
      { path: 'tests/a.test.ts', added: 5, removed: 0 },
    ],
    kept: [],
    ...more,
  });
}

test('who did what, what others acted on, what was measured, what was rejected, what it cost', () => {
  const report = reportOf();
  for (const part of [
    /^# SPEC-AUTH-001\n\n1 of 1 tasks by 2 teammates \(tool-run-spec-auth-001\); 2 files on `tool\/x`, \+15 −1 lines\.\n\n## Tasks/,
    /\| 1 \| Sign \\\| in \| backend-dev \| completed \| 2\.5 \|/,
    /## Messages\n\n- backend-dev → tester, api ready: POST \/login\n\n/,
    /Passed\. Coverage: 80 % before, 91\.2 % after\.\n\nTests before \/ after: failed: 1 test fails: adds \/ passed \(7\)\.\n\n- tests passed \(7\): all\n/,
    /## Rejected on the way\n\n- backend-dev, task 1, reject: two tests fail .*in \\<a\\>\n\n/,
    /\| backend-dev \| 1 Sign \\\| in \| 2 \| 150 \| 0\.0125 \|\n\| tester \| – \| 1 \| 1 \| 0\.5000 \|\n\| all \| {2}\| 3 \| 151 \| 0\.5125 \|\n\n- tester: \$0\.50 used\n$/,
  ])
    assert.match(report, part);
  assert.doesNotMatch(report, /half done|work is left/);
});

test('a task under which nothing was changed is told so, with the words of its owner', () => {
  const result = 'It was | there\nalready';
  const { state } = new Story()
    .tell('created')
    .tell('task_created', { subject: 'Sign in', owner: 'backend-dev' })
    .join('backend-dev')
    .claim('1', 'backend-dev')
    .tell('task_updated', { status: 'completed', result, changed_nothing: true });
  assert.match(
    reportOf({ state }),
    /\| 1 \| Sign in \| backend-dev \| completed, changed nothing: It was \\\| there already \| 0\.0 \|/,
  );
  const [task] = summaryOf(state, 0).tasks;
  assert.equal(task?.note, 'changed nothing: It was | there already');
});

test('files that decide what was measured are named where they were changed, and what nobody checked is counted', () => {
  const changed = [{ path: 'package.json', added: 1, removed: 1 }];
  assert.match(reportOf({ changed }), /\n\nChanged, and decides what is measured: package\.json\.\n/);
  const reason = 'unchecked: require_quality_check is false';
  const { state } = new Story()
    .tell('created')
    .tell('decision', { hook: 'task_completed', decision: 'accept', reason })
    .tell('decision', { hook: 'task_completed', decision: 'accept', reason });
  assert.match(
    reportOf({ state, changed }),
    /Nothing was measured\.\n\nAccepted unchecked: require_quality_check is false: 2 completions\.\n/,
  );
});

test('what a team was made for is named with its reasons, in its report too', () => {
  const why = wordsOf(LEAD_CODES.issue_spec_not_approved, { spec: 'SPEC-PAY-001', why: 'status: draft' });
  const left = `not built: ${why}`;
  const { state } = new Story().tell('proposed', { reasons: ['the issue names SPEC-A-001', left] }).tell('created');
  assert.match(
    reportOf({ state }),
    /\n\n## Decided on\n\n- the issue names SPEC-A-001\n- not built: SPEC-PAY-001, .*\n\n## Tasks/,
  );
});

test('what is not known is said to be so', () => {
  const state = new Story().tell('created').tell('fell_back').state;
  const report = reportOf({ state, changed: [] });
  assert.match(report, /One at a time: spawn\\_failed \(no such agent\)\./);
  assert.match(report, /## Gate\n\nNothing was measured\.\n$/);
  assert.doesNotMatch(report, /## Cost|## Messages|## Rejected/);
});

test('work that is kept and not on the branch is named', () => {
  const ref = 'refs/toolcrew/saved/tool-run-x/tester/abc';
  assert.match(reportOf({ kept: [ref] }), new RegExp(`## Not on the branch, and kept\\n\\n- \`${ref}\`\\n`));
});

test('a message to all is shown as what it is', () => {
  const state = told().tell('message_sent', {
    by: 'backend-dev',
    to: LEAD,
    kind: 'bug_report',
    content: { test: 't', expected: 'a', actual: 'b' },
  }).state;
  assert.match(reportOf({ state }), /- backend-dev → team-lead, bug report: t: expected a, got b/);
});

test('what was done in the checkout itself has no branch, and being kept from stopping is no rejection', () => {
  const story = told().tell('decision', { hook: 'lead_stop', decision: 'reject', member: LEAD, reason: 'mail waits' });
  const text = reportOf({
    state: story.state,
    branch: null,
    changed: [{ path: 'src/api/a.ts', added: null, removed: null }],
  });
  assert.match(text, /; 1 files in the checkout\.$/m);
  assert.doesNotMatch(text, /mail waits|lines\./);
});
