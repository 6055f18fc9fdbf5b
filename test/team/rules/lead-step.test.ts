// Over 400 lines: one table of next steps.

import assert from 'node:assert/strict';
import test from 'node:test';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { DEFAULT_OWNERSHIP } from '../../../src/team/rules/default-ownership.ts';
import { isMeasured, type LeadFacts, leadStep } from '../../../src/team/rules/lead-step.ts';
import { JUDGE_ROUNDS, JUDGE_TASK } from '../../../src/team/rules/quality-verdict.ts';
import { wordsOf } from '../../support/codes.ts';
import { LEAD, rec, Story } from '../../support/team.ts';

/** The step that fails task 1, which nobody can take. */
const unclaimable = (why: string) => `fail 1: ${wordsOf(LEAD_CODES.task_unclaimable, { task: '1', why, owners: [] })}`;

const NOBODY: LeadFacts = {
  running: new Set(),
  isChecked: true,
  isClosed: false,
  spent: new Map(),
  overBudget: new Map(),
  ownership: DEFAULT_OWNERSHIP,
  maxTeammates: 10,
  head: null,
};
const both: LeadFacts = { ...NOBODY, running: new Set(['backend-dev', 'tester']) };

const API = { subject: 'Sign in', owner: 'backend-dev' };
const TESTS = { subject: 'Test it', owner: 'tester', files: ['tests/a.test.ts'], blocked_by: ['1'] };
const JUDGE = { subject: 'Verify', owner: 'quality', files: [], blocked_by: ['1'] };
const UNOWNED = { subject: 'Whose?', owner: null, files: [] };
const BUG = { test: 'sign in', expected: '200', actual: '500' };
const GOOD = { task: null, ok: true } as const;
const VERDICT = { trust5Score: 4.8, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };

function begun(): Story {
  return new Story().tell('created', { session: null, key_hash: null });
}

function done(story: Story, task: string, by: string): Story {
  return story.claim(task, by).tell('task_updated', { task, status: 'completed', by });
}

/** Their turns are over. */
function idle(story: Story): Story {
  return story.tell('member_idle', { name: 'backend-dev' }).tell('member_idle', { name: 'tester' });
}

/** Both have done what there is, and are in the turn still. */
function doing(): Story {
  const story = begun().tell('task_created', API).tell('task_created', TESTS).join('backend-dev', 'tester');
  return done(done(story, '1', 'backend-dev'), '2', 'tester');
}

/** Both have done what there is. */
function built(): Story {
  return idle(doing());
}

function calledBack(): Story {
  return built()
    .tell('member_idle', { name: 'backend-dev', stopped: true })
    .tell('message_sent', { to: 'backend-dev', by: 'tester', kind: 'bug_report', content: BUG });
}

function judged(): Story {
  const story = begun().tell('task_created', API).tell('task_created', JUDGE).join('backend-dev', 'quality');
  return done(story, '1', 'backend-dev');
}

function planned(): Story {
  const story = new Story().tell('created', { phase: 'plan', session: null, key_hash: null });
  return done(story.tell('task_created', API).join('backend-dev'), '1', 'backend-dev');
}

function searching(): Story {
  const story = new Story().tell('created', { phase: 'debug', session: null, key_hash: null });
  return story
    .tell('task_created', API)
    .tell('task_created', { ...TESTS, blocked_by: [] })
    .join('backend-dev', 'tester');
}

function found(result: string): Story {
  return searching()
    .claim('1', 'backend-dev')
    .tell('task_updated', { task: '1', status: 'completed', by: 'backend-dev', result });
}

const CASES: readonly {
  readonly name: string;
  readonly story: Story;
  readonly view?: LeadFacts;
  readonly step: string;
}[] = [
  { name: 'no team', story: new Story(), step: 'over' },
  {
    name: 'what has failed keeps everything from being measured, and who judges from beginning',
    story: begun()
      .tell('task_created', API)
      .tell('task_created', { ...JUDGE, blocked_by: [] })
      .join('backend-dev', 'quality')
      .claim('1', 'backend-dev')
      .tell('task_updated', { task: '1', status: 'failed', by: 'backend-dev', result: 'no way' })
      .tell('message_sent', { to: 'quality', by: 'backend-dev', kind: 'progress', content: 'x' })
      .tell('member_idle', {}),
    view: { ...NOBODY, running: new Set(['backend-dev', 'quality']) },
    step: 'stuck',
  },
  {
    name: 'what was begun waits for what has failed',
    story: begun()
      .tell('task_created', API)
      .join('backend-dev')
      .claim('1', 'backend-dev')
      .tell('task_created', { ...API, subject: 'Settle it', holds_up: '1' })
      .claim('2', 'backend-dev')
      .tell('task_updated', { task: '2', status: 'failed', by: 'backend-dev', result: 'no way' })
      .tell('member_idle', {}),
    view: both,
    step: 'stuck',
  },
  {
    name: 'who has tasks is started, waiting ones too',
    story: begun().tell('task_created', API).tell('task_created', TESTS),
    step: 'start backend-dev, tester',
  },
  {
    name: 'who runs is not started again',
    story: begun().tell('task_created', API).tell('task_created', TESTS),
    view: { ...NOBODY, running: new Set(['tester']) },
    step: 'start backend-dev',
  },
  {
    name: 'who has used its budget is not started, the others are',
    story: begun()
      .tell('task_created', API)
      .tell('task_created', { ...TESTS, blocked_by: [] }),
    view: { ...NOBODY, spent: new Map([['backend-dev', 'too dear']]) },
    step: 'start tester',
  },
  {
    name: 'what is left to it is nobody’s',
    story: begun().tell('task_created', API).tell('task_created', TESTS),
    view: { ...NOBODY, running: new Set(['tester']), spent: new Map([['backend-dev', 'too dear']]) },
    step: 'stuck',
  },
  { name: 'all run', story: begun().tell('task_created', API), view: both, step: 'wait' },
  { name: 'what was built is measured', story: built(), view: both, step: 'measure' },
  {
    name: 'whoever has stopped with a request unread is started before anything is measured',
    story: calledBack(),
    view: { ...NOBODY, running: new Set(['tester']) },
    step: 'start backend-dev',
  },
  { name: 'not beside its own process, which is about to be gone', story: calledBack(), view: both, step: 'wait' },
  {
    name: 'nor where it has used its budget',
    story: calledBack(),
    view: { ...NOBODY, spent: new Map([['backend-dev', 'its budget is used']]) },
    step: 'measure',
  },
  { name: 'it is not where nothing is checked', story: built(), view: { ...both, isChecked: false }, step: 'pass' },
  {
    name: 'a measurement of one task is none of all',
    story: built().tell('gate_measured'),
    view: both,
    step: 'measure',
  },
  { name: 'what was built is not measured while somebody is in a turn', story: doing(), view: both, step: 'wait' },
  {
    name: 'what was built is not measured while somebody there has mail',
    story: built()
      .tell('message_sent', { to: 'backend-dev', by: 'tester', kind: 'bug_report', content: BUG })
      .tell('member_idle', { name: 'tester' }),
    view: both,
    step: 'wait',
  },
  { name: 'measured and found good', story: built().tell('gate_measured', GOOD), view: both, step: 'pass' },
  {
    name: 'measured and found good, and its branch was moved before its lead began',
    story: built().tell('gate_measured', { ...GOOD, head: 'a' }),
    view: { ...both, head: 'b' },
    step: 'measure',
  },
  {
    name: 'measured and found good, and its branch stands where it stood',
    story: built().tell('gate_measured', { ...GOOD, head: 'a' }),
    view: { ...both, head: 'a' },
    step: 'pass',
  },
  {
    name: 'measured and found good, and somebody is in a turn',
    story: doing().tell('gate_measured', GOOD),
    view: both,
    step: 'wait',
  },
  {
    name: 'measured and found bad, with nothing asked for yet',
    story: built().tell('gate_measured', { ...GOOD, ok: false }),
    view: both,
    step: 'measure',
  },
  {
    name: 'asked to be mended',
    story: built()
      .tell('gate_measured', { ...GOOD, ok: false })
      .tell('task_created', { subject: 'Mend it', owner: 'tester' }),
    view: both,
    step: 'wait',
  },
  {
    name: 'mended after it was found good',
    story: idle(
      done(
        built()
          .tell('gate_measured', GOOD)
          .later(5)
          .tell('task_created', { subject: 'More', owner: 'tester' })
          .later(5),
        '3',
        'tester',
      ),
    ),
    view: both,
    step: 'measure',
  },
  {
    name: 'before the judge has its turn',
    story: judged(),
    view: { ...both, running: new Set(['quality']) },
    step: 'measure',
  },
  {
    name: 'the judge has ended its work without a word',
    story: done(judged().tell('gate_measured', GOOD), '2', 'quality'),
    step: 'ask_judge',
  },
  {
    name: 'the judge is in the turn in which it may say it',
    story: done(judged().tell('gate_measured', GOOD), '2', 'quality'),
    view: { ...NOBODY, running: new Set(['quality']) },
    step: 'hear_judge',
  },
  {
    name: 'the judge was asked for its word again and again',
    story: Array.from({ length: JUDGE_ROUNDS }, (_, index) => String(index + 3)).reduce(
      (story, id) =>
        done(story.tell('task_created', { subject: JUDGE_TASK.subject, owner: 'quality', files: [] }), id, 'quality'),
      done(judged().tell('gate_measured', GOOD), '2', 'quality'),
    ),
    step: 'stuck',
  },
  {
    name: 'what is nobody’s, and nobody is there',
    story: begun().tell('task_created', UNOWNED),
    step: 'give 1 to backend-dev',
  },
  {
    name: 'what is nobody’s is given to whose files it names, though it is there no more',
    story: begun().tell('task_created', { ...UNOWNED, files: ['tests/a.test.ts'] }),
    step: 'give 1 to tester',
  },
  {
    name: 'what is nobody’s, with files of a role that the team has not',
    story: begun().tell('task_created', { ...UNOWNED, files: ['design/tokens.json'] }),
    step: 'give 1 to designer',
  },
  {
    name: 'what is nobody’s is taken by who is there and may',
    story: begun().tell('task_created', UNOWNED),
    view: both,
    step: 'wait',
  },
  {
    name: 'what is nobody’s is not for who is there',
    story: begun()
      .tell('task_created', { ...UNOWNED, files: ['src/api/a.ts'] })
      .join('tester'),
    view: { ...NOBODY, running: new Set(['tester']) },
    step: 'give 1 to backend-dev',
  },
  {
    name: 'what is nobody’s, and who judges alone is there',
    story: begun().tell('task_created', UNOWNED).tell('member_registered', { name: 'quality', read_only: true }),
    view: { ...NOBODY, running: new Set(['quality']) },
    step: 'give 1 to backend-dev',
  },
  {
    name: 'what is nobody’s is not for who has used its budget',
    story: begun().tell('task_created', UNOWNED),
    view: { ...NOBODY, spent: new Map([['backend-dev', 'too dear']]) },
    step: 'give 1 to tester',
  },
  {
    name: 'what is nobody’s, and nobody whose role fits has anything left',
    story: begun().tell('task_created', { ...UNOWNED, files: ['src/api/a.ts'] }),
    view: { ...NOBODY, spent: new Map([['backend-dev', 'too dear']]) },
    step: unclaimable('no teammate with a fitting role can take it: backend-dev: too dear'),
  },
  {
    name: 'what is nobody’s, with files of two',
    story: begun().tell('task_created', { ...UNOWNED, files: ['src/api/a.ts', 'tests/a.test.ts'] }),
    view: both,
    step: unclaimable('its files belong to backend-dev and tester: each of them needs a separate task'),
  },
  {
    name: 'what is nobody’s, and the team is full',
    story: begun()
      .tell('task_created', { ...UNOWNED, files: ['design/tokens.json'] })
      .join('backend-dev', 'tester'),
    view: { ...both, maxTeammates: 2 },
    step: unclaimable('no teammate with a fitting role can take it: designer: max_teammates is 2'),
  },
  {
    name: 'what is nobody’s and waits for what has failed',
    story: begun()
      .tell('task_created', API)
      .tell('task_created', { ...UNOWNED, blocked_by: ['1'] })
      .tell('task_updated', { status: 'failed', by: LEAD, epoch: 0 }),
    step: 'stuck',
  },
  {
    name: 'what is nobody’s in a plan is given to who reads',
    story: new Story()
      .tell('created', { phase: 'plan', roles: ['analyst'], session: null, key_hash: null })
      .tell('task_created', UNOWNED)
      .tell('member_registered', { name: 'analyst', read_only: true }),
    view: { ...NOBODY, running: new Set(['analyst']) },
    step: 'give 1 to analyst',
  },
  {
    name: 'what has used its budget is begun no more',
    story: begun().tell('task_created', API),
    view: { ...NOBODY, overBudget: new Map([['1', 'too dear']]) },
    step: 'fail 1: too dear',
  },
  {
    name: "who began what is nobody's and is gone is started again",
    story: begun().tell('task_created', UNOWNED).join('backend-dev').claim('1', 'backend-dev'),
    step: 'start backend-dev',
  },
  {
    name: 'what was begun by who is gone and begins nothing any more holds nobody up for ever',
    story: begun().tell('task_created', UNOWNED).join('backend-dev').claim('1', 'backend-dev'),
    view: { ...NOBODY, spent: new Map([['backend-dev', 'it has used all']]) },
    step: 'stuck',
  },
  {
    name: 'the judge has agreed',
    story: done(
      judged()
        .tell('gate_measured', GOOD)
        .tell('message_sent', { by: 'quality', to: LEAD, kind: 'quality_gate_passed', content: VERDICT }),
      '2',
      'quality',
    ),
    step: 'pass',
  },
  {
    name: 'a task failed, and nobody is there',
    story: begun()
      .tell('task_created', API)
      .join('backend-dev')
      .claim('1', 'backend-dev')
      .tell('task_updated', { status: 'failed', result: 'no way' }),
    step: 'stuck',
  },
  {
    name: 'all plan',
    story: done(begun().tell('task_created', API).join('backend-dev'), '1', 'backend-dev')
      .tell('gate_measured', GOOD)
      .tell('moved', { event: 'gate_started' })
      .tell('moved', { event: 'gate_passed' }),
    step: 'ask_to_end',
  },
  { name: 'all of a plan is done', story: planned(), view: both, step: 'write_spec' },
  { name: 'the same after a restart', story: planned().tell('restarted'), step: 'write_spec' },
  {
    name: 'the SPEC is written, and somebody is there',
    story: planned().tell('moved', { event: 'spec_generated' }).tell('moved', { event: 'approval_asked' }),
    view: { ...both, isClosed: true },
    step: 'ask_to_end',
  },
  {
    name: 'the SPEC is written, and nobody is there',
    story: planned().tell('restarted').tell('moved', { event: 'spec_generated' }),
    view: { ...NOBODY, isClosed: true },
    step: 'delete',
  },
  {
    name: 'one at a time, the SPEC is written',
    story: planned().tell('fell_back'),
    view: { ...both, isClosed: true },
    step: 'ask_to_end',
  },
  {
    name: 'somebody who plans has failed',
    story: planned()
      .tell('task_created', API)
      .claim('2', 'backend-dev')
      .tell('task_updated', { task: '2', status: 'failed' }),
    step: 'stuck',
  },
  { name: 'all search for a cause', story: searching(), view: both, step: 'wait' },
  { name: 'one has refuted it', story: found('refuted: no\n$ x'), view: both, step: 'wait' },
  { name: 'one has proven it', story: found('proven: yes\n$ x'), view: both, step: 'prove' },
  {
    name: 'all have refuted it',
    story: found('refuted: no\n$ x')
      .claim('2', 'tester')
      .tell('task_updated', { task: '2', status: 'completed', by: 'tester', result: 'refuted: no\n$ x' }),
    view: both,
    step: 'prove',
  },
  {
    name: 'the cause is known',
    story: found('proven: yes\n$ x').tell('moved', { event: 'cause_proven' }),
    view: { ...both, isClosed: true },
    step: 'ask_to_end',
  },
  {
    name: 'no cause was found',
    story: found('refuted: no\n$ x'),
    view: { ...both, isClosed: true },
    step: 'ask_to_end',
  },
  {
    name: 'one at a time, all done',
    story: done(begun().tell('task_created', API).join('backend-dev').tell('fell_back'), '1', 'backend-dev').tell(
      'gate_measured',
      GOOD,
    ),
    step: 'ask_to_end',
  },
  {
    name: 'one at a time, all done and gone',
    story: done(begun().tell('task_created', API).join('backend-dev').tell('fell_back'), '1', 'backend-dev')
      .tell('gate_measured', GOOD)
      .tell('member_ended'),
    step: 'delete',
  },
];

function lineOfStep(step: ReturnType<typeof leadStep>): string {
  switch (step.kind) {
    case 'start':
      return `start ${step.roles.join(', ')}`;
    case 'give':
      return `give ${step.task} to ${step.role}`;
    case 'fail':
      return `fail ${step.task}: ${step.why}`;
    default:
      return step.kind;
  }
}

for (const { name, story, view = NOBODY, step } of CASES) {
  test(`the lead's next step: ${name}`, () => {
    const next = leadStep(story.state, view);
    assert.equal(lineOfStep(next), step);
  });
}

test('what is stuck is named with its reason', () => {
  const story = begun()
    .tell('task_created', API)
    .join('backend-dev')
    .claim('1', 'backend-dev')
    .tell('task_updated', { status: 'failed', result: 'no way' });
  const step = leadStep(story.state, NOBODY);
  assert.ok(step.kind === 'stuck');
  assert.equal(step.why, 'failed: task 1 "Sign in" (no way)');
});

test('what is left to who has used its budget is named with that', () => {
  const story = begun().tell('task_created', API);
  const step = leadStep(story.state, { ...NOBODY, spent: new Map([['backend-dev', 'too dear']]) });
  assert.ok(step.kind === 'stuck');
  assert.equal(step.why, 'task 1 "Sign in" is open, and backend-dev begins no more tasks: too dear');
});

test('work is measured as long as nothing was completed since', () => {
  const story = built().tell('gate_measured', GOOD);
  assert.equal(isMeasured(story.state), true);
  story.later(1).take(rec('task_updated', { task: '2', status: 'in_progress', by: 'tester' }));
  story.later(1).take(rec('task_updated', { task: '2', status: 'completed', by: 'tester' }));
  assert.equal(isMeasured(story.state), false);
});

test('a circle, however it came about, is no reason to wait for ever', () => {
  const { state } = begun()
    .tell('task_created', UNOWNED)
    .tell('task_created', { ...UNOWNED, blocked_by: ['1'] });
  const tasks = new Map([...state.tasks].map(([id, task]) => [id, { ...task, blockedBy: [id === '1' ? '2' : '1'] }]));
  const step = leadStep({ ...state, tasks }, both);
  assert.ok(step.kind === 'stuck');
  assert.equal(step.why, 'nobody can continue task 1 "Whose?", task 2 "Whose?"');
});
