// A team as people and programs see it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { contentLine } from '../../../../src/team/rules/log/content-line.ts';
import { MEMBER_LEASE_MS } from '../../../../src/team/rules/log/state.ts';
import { type Content, checkMessage, type MessageType } from '../../../../src/team/rules/message.ts';
import { teamView } from '../../../../src/team/rules/views/view.ts';
import { LEAD, Story, TEAM, teamOf } from '../../../support/team.ts';

const iso = (at: number) => new Date(at).toISOString();

test('a team that is only proposed, and one that has just begun', () => {
  const nothing = teamView(new Story().state, 5_000);
  assert.deepEqual(
    { ...nothing, next_step: '' },
    {
      generated_at: iso(5_000),
      team: '',
      state: 'none',
      phase: null,
      pattern: null,
      subject: '',
      created_at: null,
      fallback: null,
      cost_usd: null,
      lead: { unread: 0 },
      writes_held_by: null,
      members: [],
      task_counts: { pending: 0, blocked: 0, in_progress: 0, completed: 0, failed: 0 },
      tasks: [],
      messages: { count: 0, last: [] },
      leases: [],
      gate: null,
      before: null,
      decisions: [],
      rejections: { count: 0, open: [] },
      next_step: '',
    },
  );
  const proposed = teamView(new Story().tell('proposed').state, 0);
  assert.deepEqual(
    [proposed.state, proposed.phase, proposed.pattern, proposed.subject, proposed.created_at],
    ['proposed', 'run', 'implementation', 'SPEC-AUTH-001', null],
  );
  const story = teamOf([], 0);
  const created = teamView(story.state, story.at + 7_000);
  assert.deepEqual(
    [created.team, created.state, created.created_at, created.next_step.slice(0, 17)],
    [TEAM, 'created', iso(story.at), 'Next: start backe'],
  );
});

test('the phase, the task, the mail and the end of each member', () => {
  const story = teamOf(['backend-dev', 'frontend-dev', 'tester'], 3).tell('member_registered', { name: 'quality' });
  story.later(1_000).claim('1', 'backend-dev').claim('2', 'backend-dev');
  story.tell('message_sent', { to: 'all', by: LEAD, epoch: 0, content: 'hello' });
  story.tell('member_idle', { name: 'frontend-dev' });
  story.tell('member_ended', { name: 'tester', reason: 'its process ended' });
  const rows = (now: number) =>
    teamView(story.state, now).members.map(({ name, run, phase, task, unread, ended }) => [
      name,
      run,
      phase,
      task?.id ?? null,
      unread,
      ended?.how ?? null,
    ]);
  assert.deepEqual(rows(story.at), [
    ['backend-dev', 1, 'working', '2', 1, null],
    ['frontend-dev', 1, 'idle', null, 1, null],
    ['tester', 1, 'over', null, 1, 'confirmed'],
    ['quality', 1, 'registered', null, 1, null],
  ]);
  assert.deepEqual(
    rows(story.at + MEMBER_LEASE_MS + 1).map((row) => row[2]),
    ['lost', 'lost', 'over', 'registered'],
  );
  const [first] = teamView(story.state, story.at).members;
  assert.deepEqual(
    [first?.agent, first?.model, first?.read_only, first?.last_seen_at, first?.task, first?.shutdown_asked_at],
    ['team-backend-dev', 'inherit', false, iso(story.at), { id: '2', subject: 'Task 2' }, null],
  );
  story.askToEnd('backend-dev');
  assert.equal(teamView(story.state, story.at).members[0]?.shutdown_asked_at, iso(story.at));
  story.tell('member_ended', { name: 'backend-dev' }).join('backend-dev');
  const again = teamView(story.state, story.at).members[0];
  assert.deepEqual(
    [again?.run, again?.phase, again?.task],
    [2, 'working', null],
    'a successor has no task of the former',
  );
});

test('the status, the owner and the time of each task', () => {
  const story = teamOf(['backend-dev', 'tester'], 2);
  story.tell('task_created', { subject: 'Third', owner: 'tester', blocked_by: ['1', '2'] });
  story.tell('task_created', { subject: 'Fourth' }).tell('task_created', { subject: 'Fifth' });
  story.claim('1', 'backend-dev').claim('2', 'tester').claim('4', 'tester').later(65_000);
  story.tell('task_updated', { task: '1', status: 'completed', result: 'done\nwell', by: 'backend-dev' }).later(5_000);
  story.tell('task_updated', { task: '4', status: 'failed', by: 'tester' });
  const view = teamView(story.state, story.at + 10_000);
  assert.deepEqual(
    view.tasks.map(({ id, status, owner, waits_for: waits, seconds }) => [id, status, owner, waits, seconds]),
    [
      ['1', 'completed', 'backend-dev', [], 65],
      ['2', 'in_progress', 'tester', [], 80],
      ['3', 'blocked', 'tester', ['2'], null],
      ['4', 'failed', 'tester', [], 70],
      ['5', 'pending', null, [], null],
    ],
  );
  assert.deepEqual(view.task_counts, { pending: 1, blocked: 1, in_progress: 1, completed: 1, failed: 1 });
  assert.deepEqual(
    [view.tasks[0]?.result, view.tasks[2]?.blocked_by, view.tasks[0]?.ended_at],
    ['done well', ['1', '2'], iso(story.at - 5_000)],
  );
  story.tell('task_updated', { task: '2', status: 'pending', by: 'tester' });
  assert.deepEqual(
    [teamView(story.state, story.at).tasks[1]?.status, teamView(story.state, story.at).tasks[1]?.seconds],
    ['pending', null],
  );
});

test('the last messages, with what has become of each', () => {
  const story = teamOf(['backend-dev', 'tester']);
  for (let count = 0; count < 60; count++) story.tell('message_sent', { content: `message ${count}` });
  story.tell('message_sent', { to: 'all', content: 'for\nall \u001b[2J' });
  story.tell('mail_seen', { member: 'tester', seqs: [59], how: 'delivered' });
  story.tell('mail_seen', { member: 'tester', seqs: [60], how: 'read' });
  const state = () => {
    const { messages } = teamView(story.state, story.at);
    return {
      count: messages.count,
      first: messages.last[0]?.seq,
      end: messages.last.slice(-4).map((one) => one.status),
    };
  };
  assert.deepEqual(state(), { count: 61, first: 12, end: ['queued', 'delivered', 'read', 'queued'] });
  story.tell('mail_seen', { member: 'tester', seqs: [61], how: 'read' });
  assert.equal(state().end.at(-1), 'queued', 'the lead has not seen it');
  story.tell('mail_seen', { member: LEAD, seqs: [61], how: 'delivered' });
  assert.equal(state().end.at(-1), 'delivered');
  const last = teamView(story.state, story.at).messages.last.at(-1);
  assert.deepEqual(
    [last?.from, last?.to, last?.type, last?.content, last?.receipts.map(({ member }) => member)],
    ['backend-dev', 'all', 'progress', 'for; all \\x1b[2J', ['tester', LEAD]],
  );
});

test('leases that hold, what the gate measured, what was refused', () => {
  const story = teamOf(['backend-dev', 'tester'], 1);
  story.tell('lease_taken', { path: 'a', until: story.at + 10_000 });
  story.tell('lease_taken', { path: 'b', until: story.at + 90_000 });
  story.tell('lease_taken', { path: 'c', until: 1e300 });
  story.tell('gate_measured').tell('decision').tell('decision');
  story.tell('decision', { hook: 'ownership', decision: 'accept', about: 'src/api/a.ts', fingerprint: '' });
  // Its next work, not a refusal.
  story.tell('decision', { hook: 'teammate_idle', decision: 'reject', member: 'tester', about: 'tester' });
  const view = teamView(story.state, story.at + 20_000);
  assert.deepEqual(
    view.leases.map(({ path, until }) => [path, until]),
    [
      ['b', iso(story.at + 90_000)],
      ['c', '+275760-09-13T00:00:00.000Z'],
    ],
  );
  assert.deepEqual(view.gate, {
    ok: true,
    at: iso(story.at),
    task: '1',
    tree: 'tree-1',
    coverage: 87.5,
    checks: [{ check: 'tests', outcome: 'passed', figure: '7', reason: 'all' }],
    trust5: null,
  });
  assert.deepEqual(view.rejections, {
    count: 2,
    open: [
      { hook: 'TaskCompleted', member: 'backend-dev', in_a_row: 2 },
      { hook: 'teammate_idle', member: 'tester', in_a_row: 1 },
    ],
  });
  assert.deepEqual(view.decisions.at(0), {
    at: iso(story.at),
    hook: 'TaskCompleted',
    decision: 'reject',
    member: 'backend-dev',
    about: 'task 1',
    reason: 'two tests fail',
  });
  assert.equal(view.decisions.length, 4);
});

test('TRUST 5 as it was measured of this tree, dimension by dimension, and none of another', () => {
  const story = teamOf(['backend-dev'], 1);
  const dimensions = [
    { dimension: 'tested', state: 'passed', score: 5, figures: ['tests: 7 passed'], source: 'npm test' },
    { dimension: 'unified', state: 'not_measured', score: null, figures: ['no formatter'], source: 'nothing' },
  ] as const;
  story.tell('gate_measured', {
    task: null,
    tree: 'whole',
    trust5: { dimensions, score: 5, ok: false, securityIssues: null },
  });
  const shown = () => teamView(story.state, story.at).gate?.trust5;
  assert.deepEqual(shown(), { ok: false, score: 5, dimensions });
  story.tell('gate_measured', { tree: 'another' });
  assert.equal(shown(), null);
});

const CONTENTS: readonly (readonly [MessageType, Content, string])[] = [
  ['api_ready', { endpoint: 'POST /api/users', schema: { email: 'string' } }, 'POST /api/users'],
  [
    'component_ready',
    { component: 'SignUp', path: 'src/components/SignUp.tsx', testable: true, props: [] },
    'SignUp in src/components/SignUp.tsx',
  ],
  [
    'tests_passed',
    { coverage: 87.5, passedTests: 12, failedTests: 0, duration: '3s' },
    '12 passed, 0 failed, 87.5 % covered, 3s',
  ],
  [
    'quality_gate_passed',
    { trust5Score: 0.9, securityIssues: 0, performanceScore: 'A', recommendation: 'merge' },
    'TRUST 5 0.9, 0 security issues, performance A: merge',
  ],
  [
    'change_request',
    { file: 'src/api/a.ts', requestedChange: 'export it', reason: 'a test needs it', priority: 'high' },
    'src/api/a.ts: export it (high: a test needs it)',
  ],
  [
    'change_request',
    { file: 'src/api/a.ts', requestedChange: 'export it', reason: 'a test needs it' },
    'src/api/a.ts: export it (a test needs it)',
  ],
  [
    'change_completed',
    { file: 'src/api/a.ts', change: 'exported', commitRef: 'abc1234' },
    'src/api/a.ts: exported (abc1234)',
  ],
  ['bug_report', { test: 'a.test.ts:3', expected: '200', actual: '500' }, 'a.test.ts:3: expected 200, got 500'],
  ['coverage_required', { current: 61, required: 80, uncoveredFiles: ['a.ts', 'b.ts'] }, '61 % of 80 %: a.ts, b.ts'],
  ['progress', 'half\ndone.\nReally', 'half; done. Really'],
  ['shutdown_request', 'the work is done', 'the work is done'],
];

test('what a message of each type says, in one line', () => {
  for (const [type, content, line] of CONTENTS) {
    assert.equal(checkMessage(type, content).ok, true, type);
    assert.equal(contentLine(type, content), line);
  }
  assert.equal(contentLine('api_ready', {}), '', 'content is taken as it came');
});
