// The question whether a SPEC is approved, while the same is said elsewhere: the first word counts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type ApprovalAnswer, closePlan, type PlanCallbacks } from '../../../src/team/phases/plan.ts';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import { putSpec } from '../../../src/team/spec-documents/specs.ts';
import { wordsLike } from '../../support/codes.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../../support/plan-results.ts';
import { TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const PLAN = 'tool-plan-log-out';
const RESULTS = { researcher: RESEARCHER, analyst: ANALYST, architect: ARCHITECT };
const SPEC = 'SPEC-LOG-OUT-001';

/**
 * A team whose results are in, and a person who is asked at the lead's terminal.
 * @param meanwhile what comes to pass before that one answers
 */
async function asked(t: Cleanup, answer: ApprovalAnswer, isApprovedMeanwhile: boolean) {
  const world = new TeamWorld(t);
  let approvals = 0;
  const approve = () => {
    approvals += 1;
    return null;
  };
  world.pretend({
    approve,
    approval: () => Promise.resolve({ status: 'awaiting_approval', counts: approvals > 0, why: '' }),
  });
  await world.call('team-lead', 'TeamCreate', { team_name: PLAN, subject: 'log out' });
  for (const [at, [name, result]] of Object.entries(RESULTS).entries()) {
    await world.start(name, PLAN);
    await world.call('team-lead', 'TaskCreate', { subject: `Part of ${name}`, description: 'd', owner: name });
    const taskId = String(at + 1);
    await world.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
    await world.call(name, 'TaskUpdate', { taskId, status: 'completed', result });
  }
  const log = world.teams.open(PLAN);
  assert.ok(log !== undefined);
  const planCallbacks: PlanCallbacks = {
    writeSpec: (spec, replaces) => putSpec(world.root, spec, replaces, '2026-01-05'),
    askApproval: async () => {
      if (isApprovedMeanwhile) {
        approve();
        await world.append({ type: 'moved', event: 'approved', reason: 'elsewhere', by: 'user' }, PLAN);
      }
      return answer;
    },
  };
  const as = world.evidence('team-lead');
  const { signal } = new AbortController();
  const end = await closePlan({ context: world.context, log, as, planCallbacks, mayMend: () => true, signal });
  log.refresh();
  const { session, tasks } = log.state;
  await log.close();
  return { end, session, tasks: tasks.size, approvals: () => approvals, logged: world.logged };
}

const ANSWERS: readonly ApprovalAnswer[] = [
  { kind: 'yes' },
  { kind: 'no' },
  { kind: 'changes', words: 'the button shall be red' },
];

for (const answer of ANSWERS)
  test(`approved elsewhere before "${answer.kind}" is said at the terminal: it stays approved, and that is said`, async (t) => {
    const { end, session, tasks, approvals, logged } = await asked(t, answer, true);
    assert.deepEqual(end, { kind: 'written', spec: SPEC, status: 'approved' });
    assert.deepEqual([session, tasks, approvals()], ['approved', 3, 1]);
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? '', wordsLike(SPEC_CODES.approved_elsewhere, { spec: SPEC }));
    assert.match(logged[0] ?? '', /^warn: /);
    assert.equal(/changes nothing any more/.test(logged[0] ?? ''), answer.kind !== 'yes');
  });

test('where nobody else has said a word the answer counts', async (t) => {
  const yes = await asked(t, { kind: 'yes' }, false);
  assert.deepEqual(
    [yes.end, yes.session, yes.approvals()],
    [{ kind: 'written', spec: SPEC, status: 'approved' }, 'approved', 1],
  );
  const no = await asked(t, { kind: 'no' }, false);
  assert.deepEqual(
    [no.end, no.session],
    [{ kind: 'written', spec: SPEC, status: 'awaiting_approval' }, 'awaiting_approval'],
  );
  const changes = await asked(t, { kind: 'changes', words: 'red' }, false);
  assert.deepEqual([changes.end, changes.session, changes.tasks], [{ kind: 'asked', problems: [] }, 'working', 5]);
  for (const { logged } of [yes, no, changes]) assert.deepEqual(logged, []);
});
