import assert from 'node:assert/strict';
import test from 'node:test';
import { ClaudeStream, type StreamItem } from '../../../src/adapters/runner/claude-stream.ts';

function usages(items: readonly StreamItem[]) {
  return items.flatMap((item) => (item.type === 'event' && item.event.type === 'usage' ? [item.event.usage] : []));
}

test('odd numbers in a usage count as nothing, and the rest of the line still counts', () => {
  const stream = new ClaudeStream();
  const said = stream.push(
    '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":-5,"output_tokens":1e999,"cache_read_input_tokens":"7","cache_creation_input_tokens":3}}}',
  );
  assert.deepEqual(usages(said), [{ input_tokens: 3, output_tokens: 0, cost_usd: 0, turns: 0 }]);
  assert.ok(said.some((item) => item.type === 'text' && item.text === 'hello\n'));
  const ended = stream.push(
    '{"type":"result","subtype":"success","result":"done","total_cost_usd":-1,"usage":{"input_tokens":1e300,"output_tokens":null},"api_error_status":"x"}',
  );
  const [usage] = usages(ended);
  assert.ok(usage !== undefined && Number.isFinite(usage.input_tokens));
  assert.deepEqual({ ...usage, input_tokens: 0 }, { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 1 });
  assert.deepEqual(ended.at(-1), { type: 'result', result: { ok: true, words: 'done' } });
});

test('a usage of another shape is left out', () => {
  const stream = new ClaudeStream();
  assert.deepEqual(usages(stream.push('{"type":"assistant","message":{"id":"m","usage":[1]}}')), []);
  assert.deepEqual(usages(stream.push('{"type":"result","result":"x","usage":"much"}')), [
    { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 1 },
  ]);
});
