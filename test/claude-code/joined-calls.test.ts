import assert from 'node:assert/strict';
import test from 'node:test';
import { joinCalls } from '../../src/claude-code/joined-calls.ts';
import type { HookCaller } from '../../src/team/rules/caller.ts';

const HOUR_MS = 3_600_000;

function caller(toolUseId: string | null, more: Partial<HookCaller> = {}): HookCaller {
  return { session: 's', agentId: null, agentType: null, toolUseId, ...more };
}

const AGENT = { agentId: 'a1', agentType: 'team-tester' };

test('a call is joined with the hook that carries the same id, whatever comes in between', () => {
  const calls = joinCalls(() => 0);
  calls.expect(caller('toolu_1'));
  calls.expect(caller('toolu_2', AGENT));
  assert.deepEqual(calls.take('toolu_2'), caller('toolu_2', AGENT));
  assert.deepEqual(calls.take('toolu_1'), caller('toolu_1'));
});

test('an id that no hook has named has no caller, and neither has an event without an id', () => {
  const calls = joinCalls(() => 0);
  calls.expect(caller(null));
  assert.equal(calls.take('toolu_1'), undefined);
  assert.equal(calls.take('null'), undefined);
});

test('an id is used once', () => {
  const calls = joinCalls(() => 0);
  calls.expect(caller('toolu_1'));
  calls.expect(caller('toolu_1'));
  assert.deepEqual(calls.take('toolu_1'), caller('toolu_1'));
  assert.equal(calls.take('toolu_1'), undefined);
});

for (const [what, other] of [
  ['another session', { session: 'other' }],
  ['another agent', AGENT],
] as const)
  test(`a second hook of ${what} does not take an id over: the id names nobody`, () => {
    const calls = joinCalls(() => 0);
    calls.expect(caller('toolu_1'));
    calls.expect(caller('toolu_1', other));
    calls.expect(caller('toolu_1', other));
    assert.equal(calls.take('toolu_1'), undefined);
    calls.expect(caller('toolu_1', other));
    assert.deepEqual(calls.take('toolu_1'), caller('toolu_1', other), 'the call has come, and the id is free again');
  });

test('a caller is kept for an hour', () => {
  let now = 0;
  const calls = joinCalls(() => now);
  calls.expect(caller('toolu_1'));
  calls.expect(caller('toolu_2'));
  now = HOUR_MS - 1;
  assert.deepEqual(calls.take('toolu_1'), caller('toolu_1'));
  now = HOUR_MS;
  assert.equal(calls.take('toolu_2'), undefined);
});

test('of more than a thousand calls that never came the oldest are forgotten', () => {
  const calls = joinCalls(() => 0);
  for (let count = 0; count <= 1_000; count++) calls.expect(caller(`toolu_${count}`));
  assert.equal(calls.take('toolu_0'), undefined);
  assert.deepEqual(calls.take('toolu_1'), caller('toolu_1'));
  assert.deepEqual(calls.take('toolu_1000'), caller('toolu_1000'));
});
