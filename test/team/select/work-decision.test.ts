import assert from 'node:assert/strict';
import test from 'node:test';
import { lineWithCode, refusal, textOf } from '../../../src/base/rules/codes.ts';
import { NO_FLAGS } from '../../../src/claude-code/rules/arguments.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import type { Approval } from '../../../src/team/rules/spec-documents/spec.ts';
import { allProblems, decideIssue, decideWork, onlyRefusal } from '../../../src/team/select/work-decision.ts';
import { isRefusal } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const SPEC = 'SPEC-AUTH-001';
const FLAGS = { ...NO_FLAGS, wish: 'team' } as const;
const COMPLETED: Approval = { status: 'completed', counts: true, why: 'committed as it stands' };

function worldWith(t: Cleanup, approval: Approval): TeamWorld {
  const world = new TeamWorld(t);
  world.pretend({
    spec: (id) => (id === SPEC ? 'Visitors are greeted by the API in src/api/greeting.ts.' : null),
    approval: () => Promise.resolve(approval),
    files: () => Promise.resolve(['src/api/greeting.ts']),
  });
  return world;
}

function run({ context, settings }: TeamWorld, force = false) {
  return decideWork(context, { command: 'run', words: SPEC, flags: { ...FLAGS, force } }, settings);
}

test('what a sync has completed is not built again, and what to do is said', async (t) => {
  const world = worldWith(t, COMPLETED);
  for (const force of [false, true])
    assert.deepEqual(await run(world, force), {
      kind: 'refused',
      of: 'work',
      problems: [refusal(LEAD_CODES.spec_already_built, { spec: SPEC })],
    });
});

test('a team that still stands for what is completed is brought to its end; what is no more as it was is not called completed', async (t) => {
  const world = worldWith(t, COMPLETED);
  await world.team(['backend-dev'], TEAM);
  assert.equal((await run(world)).kind, 'decided');
  const changed = await run(worldWith(t, { ...COMPLETED, counts: false, why: 'spec.md changed' }));
  assert.deepEqual(changed.kind === 'refused' ? changed.problems : null, [
    refusal(SPEC_CODES.spec_not_approved, { spec: SPEC, why: 'spec.md changed' }),
  ]);
});

test('an issue that names what is completed is worked on by its own words', async (t) => {
  const { context, settings } = worldWith(t, COMPLETED);
  const text = `The greeting is late\n\nSince ${SPEC} was built.`;
  const decided = await decideIssue(context, { issue: 7, life: 1, text }, FLAGS, settings);
  assert.ok(decided.kind === 'decided');
  assert.equal(decided.work.subject, 'issue #7: The greeting is late');
  assert.equal(decided.reasons[0], lineWithCode(refusal(LEAD_CODES.issue_spec_completed, { spec: SPEC })));
});

const MISSING = refusal(GATE_CODES.check_not_configured, {
  ...{ check: 'coverage', why: 'pytest-cov cannot be imported by python3', remedy: 'install it' },
});

test('a required part of the gate that nothing can measure is named before anybody is started', async (t) => {
  const world = worldWith(t, { status: 'approved', counts: true, why: 'it is' });
  world.missing = [MISSING];
  const one = await run(world);
  assert.deepEqual(one, { kind: 'refused', of: 'place', problems: [MISSING] });
  assert.ok(one.kind === 'refused');
  isRefusal(onlyRefusal(one)?.refusal, GATE_CODES.check_not_configured, { check: 'coverage' });
  const several = { ...one, problems: [MISSING, MISSING] };
  assert.equal(onlyRefusal(several), null);
  assert.deepEqual(allProblems(several).problems, [MISSING, MISSING]);
  const refused = await world.refusal('team-lead', 'TeamCreate', { team_name: TEAM });
  isRefusal(refused, OPERATIONS_CODES.gate_not_ready, { missing: textOf(MISSING) });
  assert.deepEqual(world.teams.list(), []);
  // What measures nothing misses nothing, and other phases build nothing.
  world.settings = {
    ...world.settings,
    hooks: { ...world.settings.hooks, taskCompleted: { enabled: true, requireQualityCheck: false } },
  };
  assert.equal((await run(world)).kind, 'decided');
});

test('a team that stands goes on, whatever cannot be measured meanwhile', async (t) => {
  const world = worldWith(t, { status: 'approved', counts: true, why: 'it is' });
  await world.team(['backend-dev'], TEAM);
  world.missing = [MISSING];
  assert.equal((await run(world)).kind, 'decided');
});
