import assert from 'node:assert/strict';
import test from 'node:test';
import {
  inputSchema,
  isOperation,
  listedOperations,
  OPERATIONS,
  type OperationName,
  readInput,
} from '../../../src/team/rules/operation.ts';

const NAMES = Object.keys(OPERATIONS).filter(isOperation);

function problemsOf(name: OperationName, given: unknown): readonly string[] {
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
      problems.map((problem) => problem.split(':')[0]),
      required,
    );
  });
}

const SEND = { recipient: 'tester', type: 'progress', content: 'half' };
const CASES: readonly [OperationName, unknown, readonly RegExp[]][] = [
  ['TaskList', undefined, []],
  ['TaskList', null, []],
  ['TaskList', {}, []],
  ['TaskList', { team_name: null, key: null }, []],
  ['TaskList', [], [/^expected an object, got \[\]$/]],
  ['TaskList', 'x', [/^expected an object, got "x"$/]],
  [
    'TaskList',
    { team: 'x' },
    [/^team: TaskList takes no such parameter; (did you mean team_name\?|it takes team_name)$/],
  ],
  ['Inbox', { zzzzzzzzzz: 1 }, [/^zzzzzzzzzz: Inbox takes no such parameter; it takes team_name$/]],
  ['TaskGet', { taskid: '1' }, [/^taskid: .*did you mean taskId\?$/, /^taskId: TaskGet needs it/]],
  [
    'SendMessage',
    { recipient: 'tester', content: 'half' },
    [/^type: SendMessage needs it; The kind\. One of api_ready, component_ready, .*, progress\.$/],
  ],
  ['TaskGet', { taskId: 1 }, [/^taskId: expected text, got 1$/]],
  ['TaskGet', { taskId: '  ' }, [/^taskId: expected text, got " {2}"$/]],
  [
    'SendMessage',
    { recipient: 'all', type: 'progress', content: 'x'.repeat(100_001) },
    [/^content: expected at most 100000 characters, got 100001$/],
  ],
  ['TaskGet', { taskId: 'x'.repeat(2_001) }, [/^taskId: expected at most 2000 characters, got 2001$/]],
  ['TaskUpdate', { taskId: '1', status: 'complete' }, [/^status: expected one of .*; did you mean completed\?$/]],
  ['SendMessage', SEND, []],
  ['SendMessage', { ...SEND, content: { a: 1 } }, []],
  ['SendMessage', { ...SEND, content: [] }, [/^content: expected an object or text, got \[\]$/]],
  ['SendMessage', { ...SEND, in_reply_to: 0 }, [/^in_reply_to: expected a whole number of at least 1, got 0$/]],
  ['SendMessage', { ...SEND, in_reply_to: 1.5 }, [/^in_reply_to: .* got 1\.5$/]],
  ['SendMessage', { ...SEND, in_reply_to: '1' }, [/^in_reply_to: .* got "1"$/]],
  ['TeamDelete', { team_name: 't', force: 'yes' }, [/^force: expected true or false, got "yes"$/]],
  ['TaskCreate', { subject: 's', description: 'x'.repeat(100_000) }, []],
  [
    'TaskCreate',
    { subject: 's', description: 'x'.repeat(100_001) },
    [/^description: expected at most 100000 characters/],
  ],
  ['TaskCreate', { subject: 's', description: 'd', files: 'a.ts' }, [/^files: expected a list of texts, got "a\.ts"$/]],
  ['TaskCreate', { subject: 's', description: 'd', files: ['a', ''] }, [/^files: /]],
  ['FileLease', { path: '', minutes: -1, release: 1 }, [/^path: /, /^minutes: /, /^release: /]],
];

for (const [name, given, problems] of CASES) {
  test(`${name} ${JSON.stringify(given)?.slice(0, 60)}: ${problems.length} problems`, () => {
    const found = problemsOf(name, given);
    assert.equal(found.length, problems.length, found.join('\n'));
    for (const [index, problem] of problems.entries()) assert.match(found[index] ?? '', problem);
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
