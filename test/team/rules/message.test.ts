import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { textOf } from '../../../src/base/rules/codes.ts';
import { visible } from '../../../src/base/rules/text.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { checkMessage, findRecipient, judgeRoute, MESSAGES } from '../../../src/team/rules/message.ts';
import { isRefusal } from '../../support/codes.ts';
import { type Why, why } from '../../support/team.ts';

/** One message of each type, as a teammate would write it. */
const GOOD: Readonly<Record<string, unknown>> = {
  api_ready: { endpoint: 'POST /api/users', schema: { name: 'string', age: 'number' }, response: { id: 1 } },
  component_ready: { component: 'UserForm', path: 'src/components/UserForm.tsx', testable: true, props: ['user'] },
  tests_passed: { coverage: 92.5, passedTests: 40, failedTests: 0, duration: '3.2 s' },
  quality_gate_passed: { trust5Score: 4.8, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' },
  change_request: { file: 'src/api/users.ts', requestedChange: 'Return 404', reason: 'The form shows it' },
  change_completed: { file: 'src/api/users.ts', change: 'It returns 404', commitRef: 'abc1234' },
  bug_report: { test: 'tests/users.test.ts:12', expected: '404', actual: '500' },
  coverage_required: { current: 71, required: 80, uncoveredFiles: ['src/api/users.ts'] },
  shutdown_request: 'The work is done.',
  progress: 'Half of the endpoints stand.',
};

test('each type takes what it is for', () => {
  assert.deepEqual(Object.keys(GOOD), Object.keys(MESSAGES));
  for (const [type, content] of Object.entries(GOOD))
    assert.deepEqual(checkMessage(type, content), { ok: true, type, content });
});

test('every field that a type needs is missed by its name; every optional one is not', () => {
  for (const [type, { content: fields }] of Object.entries(MESSAGES)) {
    if (fields === 'text') continue;
    for (const [name, { optional }] of Object.entries(fields)) {
      const { [name]: _, ...rest } = Object.fromEntries(Object.entries(GOOD[type] ?? {}));
      const checked = checkMessage(type, rest);
      assert.equal(checked.ok, optional === true, `${type}.${name}`);
      if (checked.ok) continue;
      const [problem, ...more] = checked.problems;
      isRefusal(problem, MESSAGES_CODES.parameter_invalid, { field: `content.${name}`, got: 'nothing' });
      assert.deepEqual(more, []);
    }
  }
});

const invalid = (field: string, expected?: string, got?: string) =>
  why(MESSAGES_CODES.parameter_invalid, {
    field,
    ...(expected === undefined ? {} : { expected }),
    ...(got === undefined ? {} : { got }),
  });

const TYPES = `one of ${Object.keys(MESSAGES).join(', ')}`;

const BAD: readonly [string, string, unknown, readonly Why[]][] = [
  [
    'no such type',
    'api-redy',
    {},
    [why(MESSAGES_CODES.parameter_invalid, { field: 'type', expected: TYPES, got: '"api-redy"', near: 'api_ready' })],
  ],
  ['a name of every object', 'constructor', {}, [invalid('type', TYPES)]],
  [
    'text for fields',
    'api_ready',
    'it is ready',
    [invalid('content', 'an object of endpoint, schema, response?', '"it is ready"')],
  ],
  ['a list for fields', 'bug_report', [1], [invalid('content', 'an object of test, expected, actual', '[1]')]],
  ['fields for text', 'progress', { text: 'x' }, [invalid('content', 'text (progress has no fields)', '{"text":"x"}')]],
  ['empty words', 'shutdown_request', '  ', [invalid('content', 'text (shutdown_request has no fields)')]],
  [
    'an unknown field and several wrong ones, all at once',
    'tests_passed',
    { coverage: 120, passedTest: 3, passedTests: 1.5, failedTests: -1, duration: 3 },
    [
      why(MESSAGES_CODES.parameter_unknown, {
        ...{ field: 'content.passedTest', operation: 'tests_passed', near: 'passedTests' },
        known: ['coverage', 'passedTests', 'failedTests', 'duration'],
      }),
      invalid('content.coverage', 'a number from 0 to 100', '120'),
      invalid('content.passedTests', 'a whole number of at least 0', '1.5'),
      invalid('content.failedTests', 'a whole number of at least 0', '-1'),
      invalid('content.duration', 'text', '3'),
    ],
  ],
  [
    'a route without its method',
    'api_ready',
    { endpoint: '/api/users', schema: { name: 1 } },
    [
      invalid('content.endpoint', 'a method and a path, like "POST /api/users"', '"/api/users"'),
      invalid('content.schema'),
    ],
  ],
  [
    'numbers that are none',
    'coverage_required',
    { current: Number.NaN, required: 80, uncoveredFiles: 'a' },
    [invalid('content.current'), invalid('content.uncoveredFiles', 'a list of texts', '"a"')],
  ],
];

for (const [what, type, content, expected] of BAD) {
  test(`refused: ${what}`, () => {
    const checked = checkMessage(type, content);
    assert.ok(!checked.ok);
    assert.equal(checked.problems.length, expected.length, checked.problems.map(textOf).join('\n'));
    for (const [index, reason] of expected.entries()) reason.holds(checked.problems[index] ?? null);
  });
}

test('requested_change is taken for requestedChange; both at once are not', () => {
  const asked = { file: 'a.ts', requested_change: 'x', reason: 'y', priority: 'high' };
  assert.deepEqual(checkMessage('change_request', asked), {
    ok: true,
    type: 'change_request',
    content: { file: 'a.ts', requestedChange: 'x', reason: 'y', priority: 'high' },
  });
  const twice = checkMessage('change_request', { ...asked, requestedChange: 'z' });
  assert.ok(!twice.ok && twice.problems.length === 1);
  isRefusal(twice.problems[0], MESSAGES_CODES.parameter_repeated, { field: 'content.requestedChange' });
});

test('null is nothing where a field may be missing, and a fault where it is needed', () => {
  const request = Object.fromEntries(Object.entries(GOOD.change_request ?? {}));
  const checked = checkMessage('change_request', { ...request, priority: null });
  assert.deepEqual(checked, { ok: true, type: 'change_request', content: request });
  const { response: __, ...ready } = Object.fromEntries(Object.entries(GOOD.api_ready ?? {}));
  assert.deepEqual(checkMessage('api_ready', { ...ready, response: null }), {
    ok: true,
    type: 'api_ready',
    content: ready,
  });
  const wrong = checkMessage('change_request', { ...request, reason: null, nope: null });
  assert.deepEqual(wrong.ok ? [] : wrong.problems.map(({ values }) => values.field), [
    'content.nope',
    'content.reason',
  ]);
});

test('an object that comes as its JSON text is that object, and held against its fields as well', () => {
  const content = { test: 'a.ts:1', expected: '2', actual: '3' };
  assert.deepEqual(checkMessage('bug_report', JSON.stringify(content)), { ok: true, type: 'bug_report', content });
  const wrong = checkMessage('bug_report', '{"test":1,"expected":"2","actual":"3"}');
  assert.ok(!wrong.ok && wrong.problems.length === 1);
  isRefusal(wrong.problems[0], MESSAGES_CODES.parameter_invalid, { field: 'content.test', expected: 'text', got: '1' });
  for (const text of ['{"test":', '[1]', 'null', 'a failure']) assert.ok(!checkMessage('bug_report', text).ok, text);
  const said = '{"half":"done"}';
  assert.deepEqual(checkMessage('progress', said), { ok: true, type: 'progress', content: said });
});

test('whatever comes is taken or refused with words, and what is taken is taken again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...Object.keys(MESSAGES)), fc.string()), fc.jsonValue(), (type, content) => {
      const checked = checkMessage(type, content);
      if (checked.ok) assert.deepEqual(checkMessage(checked.type, checked.content), checked);
      else {
        const texts = checked.problems.map(textOf);
        assert.ok(texts.length > 0 && texts.every((text) => visible(text) === text));
      }
    }),
  );
});

const MEMBERS = [
  { name: 'backend-dev', isOver: false },
  { name: 'tester', isOver: false },
  { name: 'designer', isOver: true },
];

test('recipients are exact names: members that are there, the lead, everybody', () => {
  for (const name of ['backend-dev', 'tester', 'team-lead', 'all'])
    assert.deepEqual(findRecipient(name, MEMBERS), { ok: true, name });
  const known = ['backend-dev', 'tester', 'team-lead', 'all'];
  const unknown = (got: string, more: { readonly near?: string; readonly ended?: 'ended' } = {}) =>
    why(MESSAGES_CODES.recipient_unknown, { known, got, ...more });
  const refused: readonly [string, Why][] = [
    ['team-backend-dev', unknown('"team-backend-dev"', { near: 'backend-dev' })],
    ['backendDev', unknown('"backendDev"', { near: 'backend-dev' })],
    ['Tester', unknown('"Tester"', { near: 'tester' })],
    ['lead', unknown('"lead"')],
    ['designer', why(MESSAGES_CODES.recipient_unknown, { known, got: '"designer"', ended: 'ended', near: undefined })],
    [
      'nobody-of-ours',
      why(MESSAGES_CODES.recipient_unknown, { known, got: '"nobody-of-ours"', near: undefined, ended: undefined }),
    ],
    ['', unknown('""')],
    ['tester\n', unknown('"tester\\n"')],
  ];
  for (const [name, problem] of refused) {
    const found = findRecipient(name, MEMBERS);
    assert.ok(!found.ok, name);
    problem.holds(found.problem);
  }
});

test('who may say what to whom', () => {
  const rows: readonly [Parameters<typeof judgeRoute>, 'fine' | 'unusual' | 'refused', Why?][] = [
    [['api_ready', 'backend-dev', 'frontend-dev'], 'fine'],
    [['api_ready', 'backend-dev', 'all'], 'fine'],
    [
      ['api_ready', 'tester', 'frontend-dev'],
      'unusual',
      why(MESSAGES_CODES.message_route_unusual, {
        ...{ type: 'api_ready', usual: 'backend-dev to frontend-dev', from: 'tester', to: 'frontend-dev' },
      }),
    ],
    [['component_ready', 'frontend-dev', 'tester'], 'fine'],
    [['tests_passed', 'tester', 'team-lead'], 'unusual'],
    [['bug_report', 'tester', 'backend-dev'], 'fine'],
    [['coverage_required', 'quality', 'tester'], 'fine'],
    [['coverage_required', 'tester', 'tester'], 'fine'],
    [['quality_gate_passed', 'quality', 'team-lead'], 'fine'],
    [['quality_gate_passed', 'quality', 'tester'], 'unusual'],
    [
      ['quality_gate_passed', 'tester', 'team-lead'],
      'refused',
      why(MESSAGES_CODES.message_type_reserved, { senders: ['quality'], from: 'tester' }),
    ],
    [['shutdown_request', 'team-lead', 'all'], 'fine'],
    [['shutdown_request', 'team-lead', 'tester'], 'fine'],
    [
      ['shutdown_request', 'tester', 'all'],
      'refused',
      why(MESSAGES_CODES.message_type_reserved, { senders: ['team-lead'], from: 'tester' }),
    ],
    [['progress', 'tester', 'team-lead'], 'fine'],
    [['change_completed', 'backend-dev', 'tester'], 'fine'],
    [['change_completed', 'backend-dev', 'tester', 'backend-dev'], 'fine'],
    [
      ['change_completed', 'tester', 'frontend-dev', 'backend-dev'],
      'unusual',
      why(MESSAGES_CODES.message_route_unusual, { usual: "the file's owner, backend-dev,", from: 'tester' }),
    ],
    [['change_request', 'tester', 'backend-dev', 'backend-dev'], 'fine'],
    [['change_request', 'tester', 'team-lead', null], 'fine'],
    [
      ['change_request', 'tester', 'team-lead', 'backend-dev'],
      'refused',
      why(MESSAGES_CODES.request_to_wrong_owner, { owner: 'backend-dev', to: 'team-lead' }),
    ],
    [['change_request', 'tester', 'backend-dev', 'tester'], 'refused', why(MESSAGES_CODES.request_for_own_file)],
  ];
  for (const [route, kind, reason] of rows) {
    const verdict = judgeRoute(...route);
    assert.equal(verdict.kind, kind, route.join(' '));
    reason?.holds(verdict.kind === 'fine' ? null : verdict.refusal);
  }
});
