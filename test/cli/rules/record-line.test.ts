// A team's records in words.

import assert from 'node:assert/strict';
import test from 'node:test';
import { namesIn, RECORD_TYPES, recordLine } from '../../../src/cli/rules/record-line.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import type { TeamRecord } from '../../../src/team/rules/log/record.ts';
import { wordsOf } from '../../support/codes.ts';
import { RECORDS, rec, Story, TEAM, TRUST5, teamOf } from '../../support/team.ts';

const PART = { description: 'd', files: [], blockedBy: [] };
const TASKS = [
  { ...PART, key: 'api', subject: 'API', owner: 'backend-dev' },
  { ...PART, key: 'tests', subject: 'Tests', owner: 'tester', blockedBy: ['api'] },
];

const WORDS: readonly (readonly [TeamRecord, string, string])[] = [
  [rec('proposed'), '–', 'a team is proposed for SPEC-AUTH-001 (run, implementation; backend-dev, tester): 3 domains'],
  [
    rec('created', { pattern: null }),
    'team-lead',
    `creates ${TEAM} for SPEC-AUTH-001 (run, no pattern; backend-dev, tester)`,
  ],
  [
    rec('created', { pattern: null, tasks: TASKS }),
    'team-lead',
    `creates ${TEAM} for SPEC-AUTH-001 (run, no pattern; backend-dev, tester) with task 1: API (for backend-dev), task 2: Tests (for tester)`,
  ],
  [rec('task_created'), 'team-lead', 'adds task 2: Sign in'],
  [
    rec('task_created', { owner: 'tester', blocked_by: ['1'] }),
    'team-lead',
    'adds task 2: Sign in (for tester) after 1',
  ],
  [rec('task_updated'), 'backend-dev', 'claims task 1'],
  [rec('task_updated', { status: 'completed', result: 'it\nworks' }), 'backend-dev', 'completes task 1: it; works'],
  [rec('task_updated', { status: 'failed' }), 'backend-dev', 'gives up task 1'],
  [rec('task_updated', { status: 'pending' }), 'backend-dev', 'puts back task 1'],
  [
    rec('task_updated', { status: 'completed', owner: 'tester', by: 'team-lead' }),
    'team-lead',
    'completes task 1 of tester',
  ],
  [rec('task_assigned'), 'team-lead', 'gives task 1 to tester'],
  [rec('member_registered'), 'backend-dev', 'is registered as team-backend-dev, run 1 (model inherit)'],
  [
    rec('member_registered', { read_only: true }),
    'backend-dev',
    'is registered as team-backend-dev, run 1 (model inherit, reads only)',
  ],
  [rec('member_spawned'), 'backend-dev', 'is started, run 1, process 77'],
  [rec('member_spawned', { pid: null }), 'backend-dev', 'is started, run 1'],
  [rec('member_bound'), 'backend-dev', "run 1 is the host's agent agent-1"],
  [rec('member_seen'), 'backend-dev', 'gives a sign of life'],
  [rec('member_idle'), 'backend-dev', 'has nothing to do'],
  [rec('member_idle', { stopped: true }), 'backend-dev', 'has ended its run'],
  [rec('member_ended'), 'backend-dev', 'is over (confirmed): its process ended'],
  [rec('message_sent'), 'backend-dev', '→ tester progress #1: half done'],
  [rec('message_sent', { in_reply_to: 1 }), 'backend-dev', '→ tester progress #1, in reply to #1: half done'],
  [rec('mail_seen', { seqs: [1, 2] }), 'tester', 'reads #1, #2'],
  [rec('mail_seen', { how: 'delivered' }), 'tester', 'is handed #1'],
  [rec('lease_taken'), 'tester', 'leases package.json for 17 min: a dependency'],
  [rec('lease_released'), 'tester', 'gives back package.json'],
  [rec('decision'), 'backend-dev', 'TaskCompleted rejects task 1: two tests fail'],
  [rec('decision', { decision: 'accept', member: null, reason: '' }), '–', 'TaskCompleted accepts task 1'],
  [
    rec('decision', { decision: 'escalated', reason: 'a:\n  - b\nc.\nd' }),
    'backend-dev',
    'TaskCompleted lets pass after repeated rejections task 1: a: - b; c. d',
  ],
  [rec('decision', { decision: 'failed' }), 'backend-dev', 'TaskCompleted could not judge task 1: two tests fail'],
  [rec('gate_measured'), '–', 'the gate passes task 1: tests passed (7); 87.5 % covered'],
  [
    rec('gate_measured', { task: null, checks: [], coverage: null, trust5: TRUST5 }),
    '–',
    'the gate passes: no checks; TRUST 5 fails with 4.0 (tested 5.0, secured 3.0, unified not measured)',
  ],
  [
    rec('gate_measured', {
      ok: false,
      task: null,
      coverage: null,
      checks: [
        { check: 'lint', outcome: 'failed', reason: '3 errors', details: [], command: null, figure: '3' },
        { check: 'security', outcome: 'not_measured', reason: 'no tool', details: [], command: null, figure: null },
      ],
    }),
    '–',
    'the gate fails: lint failed (3 errors), security not measured',
  ],
  [
    rec('base_measured', {
      checks: [{ check: 'lint', outcome: 'failed', reason: '3 errors', details: [], command: null, figure: '3' }],
    }),
    '–',
    'where the team began: lint failed (3 errors)',
  ],
  [
    rec('base_measured', { why: 'no disk' }),
    '–',
    wordsOf(GATE_CODES.part_not_measured, { part: 'where the team began', why: 'no disk' }),
  ],
  [rec('moved'), 'team-lead', 'ownership assigned: decomposed'],
  [
    rec('moved', { event: 'changes_asked', reason: 'other words', by: 'user', tasks: TASKS.slice(1) }),
    'user',
    'changes asked with task 2: Tests (for tester): other words',
  ],
  [rec('member_used'), 'backend-dev', 'has used $0.0125, 150 tokens for task 1'],
  [rec('fell_back'), '–', 'falls back to sub-agents (spawn_failed): no such agent'],
  [rec('lead_moved'), 'team-lead', 'leads on in a new session of the same host'],
  [rec('restarted'), 'team-lead', 'restarts the team; what was done stays, what failed is tried again'],
  [rec('restarted', { keep: false }), 'team-lead', 'restarts the team; every task starts over'],
  [rec('writes_held'), '–', 'shell commands of teammates: the kernel guards their writes'],
  [rec('deleted', { forced: true }), 'team-lead', 'deletes the team by force'],
  [rec('snapshot'), '–', 'the state so far'],
  [rec('continued'), '–', 'the log goes on in log.2.jsonl'],
];

test('every type of record has its words, with what it came to', () => {
  const { state } = teamOf(['backend-dev', 'tester'], 2).tell('message_sent');
  for (const [record, who, what] of WORDS) {
    const line = recordLine({ ...record, v: 1, id: 'x', at: 1_000_000 }, state, true);
    assert.deepEqual({ type: record.type, ...line }, { type: record.type, who, what });
  }
  const told = new Set(WORDS.map(([record]) => record.type));
  assert.deepEqual(
    RECORD_TYPES.filter((type) => ![...told].some((one) => one === type)),
    [],
  );
  assert.deepEqual([...RECORD_TYPES].sort(), Object.keys(RECORDS).sort());
});

test('a record that does not count has no number, and its words cannot draw on the screen', () => {
  const { state } = new Story();
  const line = (record: TeamRecord) => recordLine({ ...record, v: 1, id: 'x', at: 0 }, state, false);
  assert.equal(line(rec('task_created', { subject: 'a\u001b[2Jb' })).what, 'adds task: a\\x1b[2Jb');
  assert.equal(line(rec('moved', { tasks: TASKS })).what, 'ownership assigned: decomposed');
  assert.equal(line(rec('message_sent', { by: 'x\u202e' })).who, 'x\\u{202e}');
  assert.equal(line(rec('message_sent')).what, '→ tester progress: half done');
});

test('whom a record is by, for or about', () => {
  assert.deepEqual(namesIn(rec('message_sent')), ['backend-dev', 'tester']);
  assert.deepEqual(namesIn(rec('task_created', { owner: 'tester' })), ['team-lead', 'tester']);
  assert.deepEqual(namesIn(rec('created', { tasks: TASKS })), ['backend-dev', 'tester']);
  assert.deepEqual(namesIn(rec('moved', { tasks: TASKS })), ['team-lead', 'backend-dev', 'tester']);
  assert.deepEqual(namesIn(rec('decision')), ['backend-dev']);
  assert.deepEqual(namesIn(rec('continued')), []);
});
