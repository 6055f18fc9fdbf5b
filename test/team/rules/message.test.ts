import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { visible } from '../../../src/base/rules/text.ts';
import { CONTENTS, checkMessage, findRecipient, judgeRoute } from '../../../src/team/rules/message.ts';

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

test('each of the ten types takes what it is for', () => {
  assert.deepEqual(Object.keys(GOOD), Object.keys(CONTENTS));
  for (const [type, content] of Object.entries(GOOD))
    assert.deepEqual(checkMessage(type, content), { ok: true, type, content });
});

test('every field that a type needs is missed by its name; every optional one is not', () => {
  for (const [type, fields] of Object.entries(CONTENTS)) {
    if (fields === 'text') continue;
    for (const [name, { optional }] of Object.entries(fields)) {
      const { [name]: _, ...rest } = Object.fromEntries(Object.entries(GOOD[type] ?? {}));
      const checked = checkMessage(type, rest);
      assert.equal(checked.ok, optional === true, `${type}.${name}`);
      if (!checked.ok)
        assert.match(checked.problems.join(), new RegExp(`^content\\.${name}: expected .*, got nothing$`));
    }
  }
});

const BAD: readonly [string, string, unknown, readonly RegExp[]][] = [
  ['no such type', 'api-redy', {}, [/^type: expected one of api_ready, .*, got "api-redy"; did you mean api_ready\?$/]],
  ['a name of every object', 'constructor', {}, [/^type: expected one of/]],
  [
    'text for fields',
    'api_ready',
    'it is ready',
    [/^content: expected an object of endpoint, schema, response\?, got "it/],
  ],
  ['a list for fields', 'bug_report', [1], [/^content: expected an object of test, expected, actual, got \[1\]$/]],
  [
    'fields for text',
    'progress',
    { text: 'x' },
    [/^content: expected text \(progress has no fields\), got \{"text":"x"\}$/],
  ],
  ['empty words', 'shutdown_request', '  ', [/^content: expected text/]],
  [
    'an unknown field and several wrong ones, all at once',
    'tests_passed',
    { coverage: 120, passedTest: 3, passedTests: 1.5, failedTests: -1, duration: 3 },
    [
      /^content\.passedTest: tests_passed has no such field; did you mean passedTests\?$/,
      /^content\.coverage: expected a number from 0 to 100, got 120$/,
      /^content\.passedTests: expected a whole number of at least 0, got 1\.5$/,
      /^content\.failedTests: expected a whole number of at least 0, got -1$/,
      /^content\.duration: expected text, got 3$/,
    ],
  ],
  [
    'a route without its method',
    'api_ready',
    { endpoint: '/api/users', schema: { name: 1 } },
    [
      /^content\.endpoint: expected a method and a path, like "POST \/api\/users", got "\/api\/users"$/,
      /^content\.schema: /,
    ],
  ],
  [
    'numbers that are none',
    'coverage_required',
    { current: Number.NaN, required: 80, uncoveredFiles: 'a' },
    [/current/, /uncoveredFiles: expected a list of texts, got "a"$/],
  ],
];

for (const [what, type, content, expected] of BAD) {
  test(`refused: ${what}`, () => {
    const checked = checkMessage(type, content);
    assert.ok(!checked.ok);
    assert.equal(checked.problems.length, expected.length, checked.problems.join('\n'));
    expected.forEach((pattern, index) => {
      assert.match(checked.problems[index] ?? '', pattern);
    });
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
  assert.deepEqual(twice, { ok: false, problems: ['content.requestedChange: given twice, in two spellings'] });
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
  assert.deepEqual(wrong.ok ? [] : wrong.problems.map((problem) => problem.split(':')[0]), [
    'content.nope',
    'content.reason',
  ]);
});

test('an object that comes as its JSON text is that object, and held against its fields as well', () => {
  const content = { test: 'a.ts:1', expected: '2', actual: '3' };
  assert.deepEqual(checkMessage('bug_report', JSON.stringify(content)), { ok: true, type: 'bug_report', content });
  const wrong = checkMessage('bug_report', '{"test":1,"expected":"2","actual":"3"}');
  assert.deepEqual(wrong, { ok: false, problems: ['content.test: expected text, got 1'] });
  for (const text of ['{"test":', '[1]', 'null', 'a failure']) assert.ok(!checkMessage('bug_report', text).ok, text);
  const said = '{"half":"done"}';
  assert.deepEqual(checkMessage('progress', said), { ok: true, type: 'progress', content: said });
});

test('whatever comes is taken or refused with words, and what is taken is taken again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...Object.keys(CONTENTS)), fc.string()), fc.jsonValue(), (type, content) => {
      const checked = checkMessage(type, content);
      if (checked.ok) assert.deepEqual(checkMessage(checked.type, checked.content), checked);
      else assert.ok(checked.problems.length > 0 && checked.problems.every((problem) => visible(problem) === problem));
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
  const refused: readonly [string, RegExp][] = [
    [
      'team-backend-dev',
      /^recipient: expected one of backend-dev, tester, team-lead, all, got "team-backend-dev"; did you mean backend-dev\?$/,
    ],
    ['backendDev', /did you mean backend-dev\?$/],
    ['Tester', /did you mean tester\?$/],
    ['lead', /got "lead"/],
    ['designer', /got "designer", who has ended$/],
    ['nobody-of-ours', /got "nobody-of-ours"$/],
    ['', /got ""/],
    ['tester\n', /got "tester\\n"/],
  ];
  for (const [name, problem] of refused) {
    const found = findRecipient(name, MEMBERS);
    assert.ok(!found.ok, name);
    assert.match(found.problem, problem);
  }
});

test('who may say what to whom', () => {
  const rows: readonly [Parameters<typeof judgeRoute>, 'fine' | 'unusual' | 'refused', RegExp?][] = [
    [['api_ready', 'backend-dev', 'frontend-dev'], 'fine'],
    [['api_ready', 'backend-dev', 'all'], 'fine'],
    [
      ['api_ready', 'tester', 'frontend-dev'],
      'unusual',
      /usually goes from backend-dev to frontend-dev, not from tester to/,
    ],
    [['component_ready', 'frontend-dev', 'tester'], 'fine'],
    [['tests_passed', 'tester', 'team-lead'], 'unusual'],
    [['bug_report', 'tester', 'backend-dev'], 'fine'],
    [['coverage_required', 'quality', 'tester'], 'fine'],
    [['coverage_required', 'tester', 'tester'], 'fine'],
    [['quality_gate_passed', 'quality', 'team-lead'], 'fine'],
    [['quality_gate_passed', 'quality', 'tester'], 'unusual'],
    [['quality_gate_passed', 'tester', 'team-lead'], 'refused', /is for quality to send, not for tester/],
    [['shutdown_request', 'team-lead', 'all'], 'fine'],
    [['shutdown_request', 'team-lead', 'tester'], 'fine'],
    [['shutdown_request', 'tester', 'all'], 'refused', /is for team-lead to send, not for tester/],
    [['progress', 'tester', 'team-lead'], 'fine'],
    [['change_completed', 'backend-dev', 'tester'], 'fine'],
    [['change_completed', 'backend-dev', 'tester', 'backend-dev'], 'fine'],
    [
      ['change_completed', 'tester', 'frontend-dev', 'backend-dev'],
      'unusual',
      /goes from the file's owner, backend-dev, not from tester/,
    ],
    [['change_request', 'tester', 'backend-dev', 'backend-dev'], 'fine'],
    [['change_request', 'tester', 'team-lead', null], 'fine'],
    [
      ['change_request', 'tester', 'team-lead', 'backend-dev'],
      'refused',
      /send the change_request to backend-dev, not to team-lead/,
    ],
    [['change_request', 'tester', 'backend-dev', 'tester'], 'refused', /the file is your own: change it/],
  ];
  for (const [route, kind, words] of rows) {
    const verdict = judgeRoute(...route);
    assert.equal(verdict.kind, kind, route.join(' '));
    if (words !== undefined) assert.match(verdict.kind === 'fine' ? '' : verdict.words, words);
  }
});
