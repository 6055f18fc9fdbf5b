import assert from 'node:assert/strict';
import test from 'node:test';
import { type Refusal, textOf } from '../../../src/base/rules/codes.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { MESSAGES } from '../../../src/team/rules/message.ts';
import {
  inputSchema,
  isOperation,
  listedOperations,
  OPERATIONS,
  type OperationName,
  readInput,
} from '../../../src/team/rules/operation.ts';
import { type Why, why } from '../../support/team.ts';

const NAMES = Object.keys(OPERATIONS).filter(isOperation);

function problemsOf(name: OperationName, given: unknown): readonly Refusal[] {
  const read = readInput(name, given);
  return read.ok ? [] : read.problems;
}

test('ten operations, and a listing that fits', () => {
  assert.equal(NAMES.length, 10);
  const listing = JSON.stringify(
    NAMES.map((name) => ({ name, description: OPERATIONS[name].says, inputSchema: inputSchema(name) })),
  );
  assert.ok(Buffer.byteLength(listing) <= 3.5 * 1024, `${Buffer.byteLength(listing)} bytes`);
  for (const inherited of ['toString', 'constructor', '__proto__', 'Hook', ''])
    assert.equal(isOperation(inherited), false);
});

test('a teammate is offered none of the operations that only the lead may call', () => {
  assert.deepEqual(listedOperations(false), NAMES);
  assert.deepEqual(
    NAMES.filter((name) => !listedOperations(true).includes(name)),
    ['TeamCreate', 'Task', 'TeamDelete'],
  );
});

test('the key, and which of several teams, are accepted without being listed', () => {
  for (const name of NAMES) assert.ok(!Object.hasOwn(Object(inputSchema(name).properties), 'key'), name);
  assert.ok(!Object.hasOwn(Object(inputSchema('TaskList').properties), 'team_name'));
  assert.deepEqual(problemsOf('TaskList', { team_name: 'tool-run-spec-x-001', key: 'k' }), []);
});

for (const name of NAMES) {
  test(`${name}: its schema and its checks are of one mind`, () => {
    const schema = inputSchema(name);
    const { required = [] } = schema;
    assert.ok(Array.isArray(required));
    const problems = problemsOf(name, {});
    assert.deepEqual(
      problems.map(({ of, values }) => (of === MESSAGES_CODES.parameter_missing ? values.field : of.code)),
      required,
    );
  });
}

const invalid = (field: string, expected?: string, got?: string) =>
  why(MESSAGES_CODES.parameter_invalid, {
    field,
    ...(expected === undefined ? {} : { expected }),
    ...(got === undefined ? {} : { got }),
  });

const SEND = { recipient: 'tester', type: 'progress', content: 'half' };
const CASES: readonly [OperationName, unknown, readonly Why[]][] = [
  ['TaskList', undefined, []],
  ['TaskList', null, []],
  ['TaskList', {}, []],
  ['TaskList', { team_name: null, key: null }, []],
  ['TaskList', [], [invalid('parameters', 'an object', '[]')]],
  ['TaskList', 'x', [invalid('parameters', 'an object', '"x"')]],
  [
    'TaskList',
    { team: 'x' },
    [why(MESSAGES_CODES.parameter_unknown, { field: 'team', operation: 'TaskList', known: ['status', 'team_name'] })],
  ],
  [
    'Inbox',
    { zzzzzzzzzz: 1 },
    [
      why(MESSAGES_CODES.parameter_unknown, {
        ...{ field: 'zzzzzzzzzz', operation: 'Inbox', known: ['team_name'], near: undefined },
      }),
    ],
  ],
  [
    'TaskGet',
    { taskid: '1' },
    [
      why(MESSAGES_CODES.parameter_unknown, { field: 'taskid', near: 'taskId' }),
      why(MESSAGES_CODES.parameter_missing, { field: 'taskId', operation: 'TaskGet' }),
    ],
  ],
  [
    'SendMessage',
    { recipient: 'tester', content: 'half' },
    [
      why(MESSAGES_CODES.parameter_missing, {
        ...{ field: 'type', operation: 'SendMessage', describes: 'The kind.' },
        known: Object.keys(MESSAGES),
      }),
    ],
  ],
  ['TaskGet', { taskId: 1 }, [invalid('taskId', 'text', '1')]],
  ['TaskGet', { taskId: '  ' }, [invalid('taskId', 'text', '"  "')]],
  [
    'SendMessage',
    { recipient: 'all', type: 'progress', content: 'x'.repeat(100_001) },
    [invalid('content', 'at most 100000 characters', '100001')],
  ],
  ['TaskGet', { taskId: 'x'.repeat(2_001) }, [invalid('taskId', 'at most 2000 characters', '2001')]],
  [
    'TaskUpdate',
    { taskId: '1', status: 'complete' },
    [why(MESSAGES_CODES.parameter_invalid, { field: 'status', got: '"complete"', near: 'completed' })],
  ],
  ['SendMessage', SEND, []],
  ['SendMessage', { ...SEND, content: { a: 1 } }, []],
  ['SendMessage', { ...SEND, content: [] }, [invalid('content', 'an object or text', '[]')]],
  ['SendMessage', { ...SEND, in_reply_to: 0 }, [invalid('in_reply_to', 'a whole number of at least 1', '0')]],
  ['SendMessage', { ...SEND, in_reply_to: 1.5 }, [invalid('in_reply_to', undefined, '1.5')]],
  ['SendMessage', { ...SEND, in_reply_to: '1' }, [invalid('in_reply_to', undefined, '"1"')]],
  ['TeamDelete', { team_name: 't', force: 'yes' }, [invalid('force', 'true or false', '"yes"')]],
  ['TaskCreate', { subject: 's', description: 'x'.repeat(100_000) }, []],
  [
    'TaskCreate',
    { subject: 's', description: 'x'.repeat(100_001) },
    [invalid('description', 'at most 100000 characters')],
  ],
  ['TaskCreate', { subject: 's', description: 'd', files: 'a.ts' }, [invalid('files', 'a list of texts', '"a.ts"')]],
  ['TaskCreate', { subject: 's', description: 'd', files: ['a', ''] }, [invalid('files')]],
  ['FileLease', { path: '', minutes: -1, release: 1 }, [invalid('path'), invalid('minutes'), invalid('release')]],
];

for (const [name, given, problems] of CASES) {
  test(`${name} ${JSON.stringify(given)?.slice(0, 60)}: ${problems.length} problems`, () => {
    const found = problemsOf(name, given);
    assert.equal(found.length, problems.length, found.map(textOf).join('\n'));
    for (const [index, problem] of problems.entries()) problem.holds(found[index] ?? null);
  });
}

test('what was given is read by its kind, and null is nothing', () => {
  const read = readInput('FileLease', { path: 'a', minutes: 5, release: true, reason: null });
  assert.ok(read.ok);
  const { input } = read;
  assert.equal(input.text('path'), 'a');
  assert.equal(input.count('minutes'), 5);
  assert.equal(input.flag('release'), true);
  assert.equal(input.maybe('reason'), undefined);
  assert.deepEqual(input.texts('path'), []);
});
