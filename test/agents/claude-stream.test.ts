import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ClaudeStream, type StreamItem, type TurnResult } from '../../src/agents/claude-stream.ts';
import { AGENT_CODES } from '../../src/agents/rules/agent-codes.ts';
import { wordsOf } from '../support/codes.ts';

type Usage = { readonly input_tokens: number; readonly output_tokens: number; readonly cost_usd: number };

/** Items as one line of text each. */
function told(items: readonly StreamItem[]): string[] {
  return items.map((item) => {
    if (item.type === 'text') return `text: ${item.text}`;
    if (item.type === 'unauthorized') return `unauthorized: ${item.words}`;
    if (item.type === 'result') return `result: ${item.result.ok ? 'ok' : 'failed'}: ${item.result.words}`;
    const { type, ...fields } = item.event;
    return `${type}: ${Object.values(type === 'usage' && 'usage' in fields ? fields.usage : fields).join(' ')}`;
  });
}

function push(stream: ClaudeStream, ...lines: readonly unknown[]): StreamItem[] {
  return lines.flatMap((line) => stream.push(typeof line === 'string' ? line : JSON.stringify(line)));
}

function usageAfter(items: readonly StreamItem[]): Usage | undefined {
  return items
    .flatMap((item) => (item.type === 'event' && item.event.type === 'usage' ? [item.event.usage] : []))
    .at(-1);
}

function assistant(id: string, content: readonly unknown[], usage?: unknown) {
  return { type: 'assistant', message: { id, role: 'assistant', content, usage }, session_id: 's' };
}

test('what each kind of line means', () => {
  const init = { subtype: 'init', session_id: 'abc-1', tools: ['Bash'], claude_code_version: '2.1.331' };
  const bash = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test\n  --all', timeout: 90_000 } };
  const cases: readonly [string, unknown, string[]][] = [
    ['the start of a turn', { type: 'system', ...init }, ['activity: system/init', 'session: abc-1']],
    ['keys in another order', { ...init, type: 'system' }, ['activity: system/init', 'session: abc-1']],
    ['a status', { type: 'system', subtype: 'status', status: null }, ['activity: system/status']],
    ['nothing more than its type', { type: 'system' }, ['activity: system/']],
    ['words', assistant('m', [{ type: 'text', text: 'Hello\n\n' }]), ['message: Hello\n\n', 'text: Hello\n']],
    ['words as a plain text', assistant('m', []), ['activity: assistant']],
    ['words that are no list', { type: 'assistant', message: { content: 'Hi' } }, ['message: Hi', 'text: Hi\n']],
    ['empty words', assistant('m', [{ type: 'text', text: ' \n' }]), ['activity: assistant']],
    ['thoughts', assistant('m', [{ type: 'thinking', thinking: '…' }]), ['activity: assistant']],
    [
      'a command with its limit',
      assistant('m', [bash]),
      ['tool_started: t1 Bash 90000', 'text: > Bash npm test --all\n'],
    ],
    [
      'a tool without a limit of its own',
      assistant('m', [{ type: 'tool_use', id: 't2', name: 'Read', input: { file_path: '/x', timeout: 5 } }]),
      ['tool_started: t2 Read ', 'text: > Read /x\n'],
    ],
    [
      'a tool with an input of its own kind',
      assistant('m', [{ type: 'tool_use', id: 't3', name: 'mcp__a__b', input: { q: 1 } }]),
      ['tool_started: t3 mcp__a__b ', 'text: > mcp__a__b {"q":1}\n'],
    ],
    [
      'a tool without a name or an input',
      assistant('m', [{ type: 'tool_use', id: 't4' }]),
      ['tool_started: t4 tool ', 'text: > tool \n'],
    ],
    ['a tool without an id', assistant('m', [{ type: 'tool_use', name: 'Bash' }]), ['activity: assistant']],
    [
      'results of tools',
      {
        type: 'user',
        message: {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
            { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'ok' }], is_error: true },
          ],
        },
      },
      ['tool_ended: t1', 'tool_ended: t2'],
    ],
    ['a prompt given back', { type: 'user', message: { role: 'user', content: 'x' } }, ['activity: user']],
    ['a kind of a later version', { type: 'rate_limit_event', info: {} }, ['activity: rate_limit_event']],
    ['a kind that would break a line', { type: 'a\nb\u001b' }, ['activity: a b\\x1b']],
    ['an empty line', '', []],
    ['no JSON', 'Warning: something', ['text: Warning: something\n']],
    ['half of a line', '{"type":"assist', ['text: {"type":"assist\n']],
    ['JSON of another shape', '[1,2]', ['activity: unknown']],
    ['null', 'null', ['activity: unknown']],
    ['a type that is no text', { type: 7 }, ['activity: unknown']],
  ];
  for (const [name, line, expected] of cases) assert.deepEqual(told(push(new ClaudeStream(), line)), expected, name);
});

test('a service that turns the credential away is told from one that is busy', () => {
  const retry = (status: number | null) => ({
    type: 'system',
    subtype: 'api_retry',
    attempt: 2,
    max_retries: 10,
    retry_delay_ms: 600,
    error_status: status,
    error: 'authentication_failed',
  });
  const words = (status: string) => `the model's service answered ${status} (authentication_failed)`;
  const cases: readonly [number | null, string[]][] = [
    [401, [`unauthorized: ${words('401')}`]],
    [403, [`unauthorized: ${words('403')}`]],
    [429, []],
    [529, []],
    [null, []],
  ];
  for (const [status, unauthorized] of cases)
    assert.deepEqual(told(push(new ClaudeStream(), retry(status))), [
      'activity: system/api_retry',
      `text: ! ${words(String(status ?? 'nothing'))}, attempt 2\n`,
      ...unauthorized,
    ]);
});

const LIMIT = wordsOf(AGENT_CODES.issue_budget_spent, {});

test('how a turn ended: whose fault it was, and whether the session can be gone on with', () => {
  const agent = (words: string): TurnResult => ({ ok: false, words, fault: 'agent', resumable: true });
  const runtime = (words: string): TurnResult => ({ ok: false, words, fault: 'runtime', resumable: true });
  const lost = (words: string): TurnResult => ({ ok: false, words, fault: 'agent', resumable: false });
  const failed = (result: string, more: object = {}) => ({ subtype: 'success', is_error: true, result, ...more });
  const cases: readonly [string, object, TurnResult][] = [
    ['success', { subtype: 'success', is_error: false, result: 'Done.' }, { ok: true, words: 'Done.' }],
    ['success without words', { subtype: 'success', is_error: false }, { ok: true, words: '' }],
    ['success in the fewest keys', { result: 'Done.' }, { ok: true, words: 'Done.' }],
    [
      'the agent names a status',
      { subtype: 'success', result: 'API Error: 401 is handled now' },
      { ok: true, words: 'API Error: 401 is handled now' },
    ],
    ['success with an error', failed('it broke'), agent('it broke')],
    ['the budget, early versions', { subtype: 'error_max_budget_usd', is_error: false, errors: [] }, agent(LIMIT)],
    ['the budget', { subtype: 'error_max_budget_usd', is_error: true, errors: ['Reached it'] }, agent(LIMIT)],
    ['too many steps', { subtype: 'error_max_turns', is_error: false }, agent('error_max_turns')],
    ['an error without words', failed(''), agent('it ended with an error and no words')],
    ['an error with nothing at all', { is_error: true }, agent('it ended with an error and no words')],
    [
      'broken off',
      { subtype: 'error_during_execution', is_error: true, errors: ['No conversation found', { code: 7 }] },
      lost('No conversation found; {"code":7}'),
    ],
    ['too long', failed('Prompt is too long'), lost('Prompt is too long')],
    [
      'too long, with its reason',
      failed('API Error: 400 no room', { api_error_status: 400, terminal_reason: 'prompt_too_long' }),
      lost('API Error: 400 no room'),
    ],
    [
      'a conversation that the service does not take',
      failed('API Error: 400 tool_use ids were found without tool_result blocks', { api_error_status: 400 }),
      lost('API Error: 400 tool_use ids were found without tool_result blocks'),
    ],
    [
      'the same of an early version',
      failed('API Error: 400 {"type":"error"}'),
      lost('API Error: 400 {"type":"error"}'),
    ],
    ['a request that is too large', failed('Request too large', { api_error_status: 413 }), lost('Request too large')],
    ...[401, 403, 404, 429, 500, 503, 529].map((status): [string, object, TurnResult] => [
      `status ${status}`,
      failed('no', { api_error_status: status }),
      runtime('no'),
    ]),
    ['no status', failed('no', { api_error_status: null }), agent('no')],
    ...[
      'Invalid API key · Fix external API key',
      'Not logged in · Please run /login',
      'OAuth token has expired',
      'API Error: 400 Your credit balance is too low',
      'API Error: 529 Overloaded',
      'API Error: Connection error.',
      'Request timed out',
      'Unable to connect to API',
      "You've hit your limit · resets 3pm",
      '5-hour limit reached ∙ resets 3pm',
      'Claude AI usage limit reached|1767225600',
    ].map((words): [string, object, TurnResult] => [words, failed(words), runtime(words)]),
  ];
  for (const [name, fields, expected] of cases) {
    const items = push(new ClaudeStream(), { type: 'result', ...fields });
    assert.deepEqual(items.at(-1), { type: 'result', result: expected }, name);
  }
});

test('a quota that is used up is told with the time at which it is there again', () => {
  const reset = 1_795_911_277;
  const info = (status: string) => ({ type: 'rate_limit_event', rate_limit_info: { status, resetsAt: reset } });
  const limited = { type: 'result', subtype: 'success', is_error: true, result: 'You’ve hit your 5-hour limit' };
  const ended = (...lines: object[]) => {
    const stream = new ClaudeStream();
    return lines.flatMap((line) => push(stream, line)).at(-1);
  };
  const result = { ok: false, words: 'You’ve hit your 5-hour limit', fault: 'runtime', resumable: true };
  assert.deepEqual(ended(info('rejected'), { ...limited, api_error_status: 429 }), {
    type: 'result',
    result: { ...result, quotaAt: reset * 1000 },
  });
  assert.deepEqual(ended(info('rejected'), info('allowed_warning'), { ...limited, api_error_status: 429 }), {
    type: 'result',
    result,
  });
  assert.deepEqual(ended(info('rejected'), { type: 'result', subtype: 'success', result: 'Done.' }), {
    type: 'result',
    result: { ok: true, words: 'Done.' },
  });
});

test('a result is heard whatever else its line holds', () => {
  const odd = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'Done.',
    session_id: null,
    errors: 'none',
    total_cost_usd: 'free',
    usage: { input_tokens: null, output_tokens: 7 },
    api_error_status: 'x',
    terminal_reason: 5,
    message: [],
  };
  assert.deepEqual(told(push(new ClaudeStream(), odd)), ['usage: 0 7 0 1', 'result: ok: Done.']);
  const call = { type: 'tool_use', id: 't', name: 'Read', input: {} };
  assert.deepEqual(
    told(push(new ClaudeStream(), assistant('m', [5, { type: 'text', text: 6 }, call]))),
    ['tool_started: t Read ', 'text: > Read {}\n'],
    'a block of another shape takes nothing from the others',
  );
});

test('a message that is printed once for each of its blocks is counted once', () => {
  const stream = new ClaudeStream();
  const usage = { input_tokens: 100, output_tokens: 5, cache_read_input_tokens: 40, cache_creation_input_tokens: null };
  const items = push(
    stream,
    assistant('m1', [{ type: 'text', text: 'a' }], usage),
    assistant('m1', [{ type: 'tool_use', id: 't', name: 'Read', input: {} }], { ...usage, output_tokens: 20 }),
    assistant('m1', [{ type: 'text', text: 'b' }], { ...usage, output_tokens: 8 }),
    assistant('m2', [{ type: 'text', text: 'c' }], usage),
  );
  assert.deepEqual(usageAfter(items), { input_tokens: 280, output_tokens: 25, cost_usd: 0, turns: 0 });
});

test('tokens and cost over several turns: those of a turn add up, the cost is of the whole process', () => {
  const stream = new ClaudeStream();
  const result = (tokens: number, cost: number) => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: '',
    total_cost_usd: cost,
    usage: { input_tokens: tokens, output_tokens: 1, cache_read_input_tokens: 10 },
  });
  const words = [{ type: 'text', text: 'a' }];
  push(stream, assistant('m1', words, { input_tokens: 50, output_tokens: 9 }));
  const first = usageAfter(push(stream, result(90, 0.1)));
  assert.deepEqual(
    first,
    { input_tokens: 100, output_tokens: 9, cost_usd: 0.1, turns: 1 },
    'the greater of both counts',
  );
  const between = usageAfter(push(stream, assistant('m2', words, { input_tokens: 30, output_tokens: 2 })));
  assert.deepEqual(between, { input_tokens: 130, output_tokens: 11, cost_usd: 0.1, turns: 1 });
  assert.deepEqual(usageAfter(push(stream, result(20, 0.25))), {
    input_tokens: 130,
    output_tokens: 11,
    cost_usd: 0.25,
    turns: 2,
  });
  assert.equal(usageAfter(push(stream, result(20, 0.2)))?.cost_usd, 0.25);
});

test('a tool’s input of any depth is shown or left out', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const call = (input: string) =>
    `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"X","input":${input}}]}}`;
  assert.deepEqual(told(push(new ClaudeStream(), call(`{"a":${deep}}`))), ['tool_started: t X ', 'text: > X \n']);
  const items = push(new ClaudeStream(), `{"type":"result","subtype":"error_x","errors":[${deep}]}`);
  assert.equal(told(items).at(-1), 'result: failed: error_x');
});

const number = fc.oneof(fc.nat(), fc.integer(), fc.double(), fc.constantFrom(1e308, -1, 2 ** 60));
const usage = fc.record(
  { input_tokens: number, output_tokens: number, cache_read_input_tokens: fc.option(number) },
  { requiredKeys: [] },
);
const oddly = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary }, fc.jsonValue({ maxDepth: 2 }));
const block = fc.record(
  {
    type: oddly(fc.constantFrom('text', 'tool_use', 'tool_result')),
    text: oddly(fc.string()),
    id: oddly(fc.string()),
    name: oddly(fc.constantFrom('Bash', 'Read')),
    input: fc.jsonValue(),
    tool_use_id: oddly(fc.string()),
  },
  { requiredKeys: ['type'] },
);
const row = fc.record(
  {
    type: oddly(fc.constantFrom('system', 'assistant', 'user', 'result', 'other')),
    subtype: oddly(fc.constantFrom('init', 'api_retry', 'success', 'error_during_execution')),
    session_id: oddly(fc.uuid()),
    message: oddly(
      fc.record(
        { id: oddly(fc.constantFrom('m1', 'm2')), content: oddly(fc.array(oddly(block))), usage: oddly(usage) },
        { requiredKeys: [] },
      ),
    ),
    usage: oddly(usage),
    total_cost_usd: oddly(number),
    is_error: oddly(fc.boolean()),
    result: fc.jsonValue(),
    errors: oddly(fc.array(fc.jsonValue())),
    error_status: oddly(number),
    error: fc.jsonValue(),
  },
  { requiredKeys: ['type'] },
);
const line = fc.oneof(
  { weight: 6, arbitrary: row.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.tuple(row, fc.nat(200)).map(([value, end]) => JSON.stringify(value).slice(0, end)) },
  fc.json(),
  fc.string({ unit: 'binary' }),
);

test('no line, however broken, throws; what was used never goes down and is always a number', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const stream = new ClaudeStream();
      let before: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };
      for (const item of lines.flatMap((text) => stream.push(text))) {
        if (item.type !== 'event' || item.event.type !== 'usage') continue;
        const now = item.event.usage;
        for (const key of ['input_tokens', 'output_tokens', 'cost_usd'] as const)
          assert.ok(Number.isFinite(now[key]) && now[key] >= before[key], `${key}: ${before[key]} → ${now[key]}`);
        before = now;
      }
    }),
    { numRuns: 500 },
  );
});
