import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Cost } from '../../../src/team/rules/cost.ts';
import { type TaskUsage, UsageMeter } from '../../../src/team/rules/usage-meter.ts';

const NOTHING: Cost = { cost_usd: 0, input_tokens: 0, output_tokens: 0, turns: 0 };

function used(more: Partial<Cost>): Cost {
  return { ...NOTHING, ...more };
}

test('tokens are the task’s that was worked on by then; the turn’s cost is shared out by them', () => {
  const meter = new UsageMeter();
  assert.deepEqual(meter.hear(used({ input_tokens: 60, output_tokens: 15 }), '1'), []);
  assert.deepEqual(meter.hear(used({ input_tokens: 80, output_tokens: 20 }), '2'), []);
  assert.deepEqual(meter.hear(used({ input_tokens: 80, output_tokens: 20, cost_usd: 1, turns: 1 }), '2'), [
    { task: '1', cost_usd: 0.75, input_tokens: 60, output_tokens: 15, turns: 0 },
    { task: '2', cost_usd: 0.25, input_tokens: 20, output_tokens: 5, turns: 1 },
  ]);
  assert.deepEqual(meter.hear(used({ input_tokens: 80, output_tokens: 20, cost_usd: 1.5, turns: 2 }), null), [
    { task: null, cost_usd: 0.5, input_tokens: 0, output_tokens: 0, turns: 1 },
  ]);
  assert.deepEqual(meter.rest(), []);
});

test('tokens of a turn that nobody ended are the rest', () => {
  const meter = new UsageMeter();
  meter.hear(used({ input_tokens: 7 }), '1');
  assert.deepEqual(meter.rest(), [{ ...NOTHING, task: '1', input_tokens: 7 }]);
});

test('nothing is lost, and nothing counted twice', () => {
  const step = fc.record({
    input: fc.nat(1000),
    output: fc.nat(1000),
    cents: fc.nat(100),
    isEnd: fc.boolean(),
    task: fc.constantFrom('1', '2', null),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const meter = new UsageMeter();
      let all = NOTHING;
      const uses: TaskUsage[] = [];
      for (const { input, output, cents, isEnd, task } of steps) {
        all = {
          input_tokens: all.input_tokens + input,
          output_tokens: all.output_tokens + output,
          cost_usd: all.cost_usd + (isEnd ? cents / 100 : 0),
          turns: all.turns + (isEnd ? 1 : 0),
        };
        uses.push(...meter.hear(all, task));
      }
      uses.push(...meter.rest());
      const sum = (key: keyof Cost) => uses.reduce((total, use) => total + use[key], 0);
      for (const key of ['input_tokens', 'output_tokens', 'turns'] as const) assert.equal(sum(key), all[key]);
      assert.ok(Math.abs(sum('cost_usd') - all.cost_usd) < 1e-6);
    }),
  );
});
