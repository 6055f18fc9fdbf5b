import assert from 'node:assert/strict';
import test from 'node:test';
import {
  EDGES,
  type EdgeCondition,
  type SessionEvent,
  type SessionState,
  sessionStep,
} from '../../../../src/team/rules/log/session.ts';

// Written down from what a session is to do, not from the code: state, event → state, with what it needs besides.
const TABLE = `
none              | team_created       | created           |
created           | ownership_assigned | assigned          |
created           | member_spawned     | spawned           |
assigned          | member_spawned     | spawned           |
spawned           | work_began         | working           |
assigned          | spec_generated     | spec_generated    | plan phase, every task completed
spawned           | spec_generated     | spec_generated    | plan phase, every task completed
working           | spec_generated     | spec_generated    | plan phase, every task completed
spec_generated    | approval_asked     | awaiting_approval | approval required
spec_generated    | approved           | approved          | approval not required
awaiting_approval | approved           | approved          |
awaiting_approval | changes_asked      | working           |
assigned          | gate_started       | gate              | run phase, every task completed
working           | gate_started       | gate              | run phase, every task completed
gate              | gate_passed        | complete          |
gate              | gate_failed        | working           |
assigned          | cause_proven       | complete          | debug phase
spawned           | cause_proven       | complete          | debug phase
working           | cause_proven       | complete          | debug phase
shutting_down     | all_ended          | shut_down         | every teammate ended
shut_down         | team_deleted       | deleted           | every teammate ended
fallback          | team_deleted       | deleted           | every teammate ended
`;

const STATES: readonly SessionState[] = [
  'none',
  'created',
  'assigned',
  'spawned',
  'working',
  'spec_generated',
  'awaiting_approval',
  'approved',
  'gate',
  'complete',
  'shutting_down',
  'shut_down',
  'fallback',
  'deleted',
];
const EVENTS: readonly SessionEvent[] = [
  'team_created',
  'ownership_assigned',
  'member_spawned',
  'work_began',
  'spec_generated',
  'approval_asked',
  'approved',
  'changes_asked',
  'gate_started',
  'gate_passed',
  'gate_failed',
  'cause_proven',
  'shutdown_requested',
  'all_ended',
  'restarted',
  'fell_back',
  'team_deleted',
];
const CONDITIONS: readonly EdgeCondition[] = [
  'plan phase',
  'run phase',
  'debug phase',
  'every task completed',
  'every teammate ended',
  'approval required',
  'approval not required',
];

type Row = { readonly to: string; readonly conditions: readonly string[] };

/** From any state of a team: a shutdown while somebody may be at work, the fallback while there is a team, a restart. */
function rowOf(state: SessionState, event: SessionEvent): Row | undefined {
  const isThere = state !== 'none' && state !== 'deleted';
  const isEnding = state === 'shutting_down' || state === 'shut_down';
  if (event === 'shutdown_requested')
    return isThere && !isEnding && state !== 'fallback' ? { to: 'shutting_down', conditions: [] } : undefined;
  if (event === 'fell_back') return isThere && state !== 'fallback' ? { to: 'fallback', conditions: [] } : undefined;
  if (event === 'restarted') return isThere ? { to: 'assigned', conditions: [] } : undefined;
  for (const line of TABLE.trim().split('\n')) {
    const [from, by, to = '', conditions = ''] = line.split('|').map((cell) => cell.trim());
    if (from === state && by === event) return { to, conditions: conditions === '' ? [] : conditions.split(', ') };
  }
  return undefined;
}

test('each state with each event leads where the table says, and nowhere else', () => {
  let steps = 0;
  for (const state of STATES)
    for (const event of EVENTS) {
      const row = rowOf(state, event);
      const step = sessionStep(state, event, () => true);
      const words = `${state} + ${event}`;
      assert.deepEqual(step, row === undefined ? { ok: false, missing: [] } : { ok: true, to: row.to }, words);
      if (row !== undefined) steps += 1;
    }
  assert.equal(steps, EDGES.length, 'every edge was walked');
  assert.equal(steps, 54);
});

test('each condition that is missing stands in the way, is named, and no other condition matters', () => {
  let missed = 0;
  for (const state of STATES)
    for (const event of EVENTS)
      for (const condition of CONDITIONS) {
        const row = rowOf(state, event);
        if (row === undefined) continue;
        const words = `${state} + ${event} without ${condition}`;
        const step = sessionStep(state, event, (one) => one !== condition);
        if (row.conditions.includes(condition)) {
          assert.deepEqual(step, { ok: false, missing: [condition] }, words);
          missed += 1;
        } else assert.deepEqual(step, { ok: true, to: row.to }, words);
      }
  assert.equal(missed, 18);
});

test('all conditions that are missing are named at once', () => {
  assert.deepEqual(
    sessionStep('working', 'gate_started', () => false),
    { ok: false, missing: ['run phase', 'every task completed'] },
  );
});

test('every state is reached, every state but the last can be left, and every condition is used', () => {
  const reached = new Set<SessionState>(['none']);
  for (const state of reached) for (const edge of EDGES) if (edge.from === state) reached.add(edge.to);
  assert.deepEqual([...reached].sort(), [...STATES].sort());
  const left = new Set(EDGES.map(({ from }) => from));
  assert.deepEqual(
    STATES.filter((state) => !left.has(state)),
    ['deleted'],
  );
  assert.deepEqual([...new Set(EDGES.flatMap(({ conditions }) => conditions))].sort(), [...CONDITIONS].sort());
  assert.deepEqual([...new Set(EDGES.map(({ event }) => event))].sort(), [...EVENTS].sort());
});
