// Calls in the texts of the table: a model sends them as they stand.

import assert from 'node:assert/strict';
import test from 'node:test';
import { codes, type Refusal, refusal, textOf } from '../../../src/base/rules/codes.ts';
import { changeRequest, leaseCall } from '../../../src/team/rules/calls.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { ownedByOther } from '../../../src/team/rules/guard.ts';
import { checkMessage } from '../../../src/team/rules/message.ts';
import { isOperation, readInput } from '../../../src/team/rules/operation.ts';

const PATH = 'src/api/a "quoted" name.ts';
const MEMBER = 'backend-dev';

const WITH_CALLS: readonly (readonly [Refusal, string])[] = [
  [refusal(TASK_CODES.task_not_claimed, { task: '1', member: MEMBER }), 'TaskUpdate'],
  [refusal(TASK_CODES.task_meant_for_other, { task: '1', owner: MEMBER }), 'TaskUpdate'],
  [refusal(TASK_CODES.task_not_begun, { task: '1', owner: MEMBER, next: 'It.', another: 'tester' }), 'TaskUpdate'],
  [refusal(TASK_CODES.task_not_found, { field: 'taskId', task: '9', count: 3 }), 'TaskList'],
  [refusal(LOG_CODES.member_already_working, { member: MEMBER }), 'SendMessage'],
  [refusal(WRITES_CODES.path_needs_lease, { path: PATH, owner: 'unowned', call: leaseCall(PATH) }), 'FileLease'],
  [refusal(WRITES_CODES.lease_held, { path: PATH, holder: MEMBER, call: changeRequest(MEMBER, PATH) }), 'SendMessage'],
  [ownedByOther(PATH, MEMBER, 'src/api/**', false), 'SendMessage'],
  [
    refusal(WORK_CODES.work_conflicts_with_task, { files: PATH, others: 'tester', settling: '4', how: 'Merge' }),
    'TaskUpdate',
  ],
];

for (const [one, name] of WITH_CALLS)
  test(`${one.of.code}: its call is accepted as it stands`, () => {
    const calls = [...textOf(one).matchAll(/\b([A-Z]\w+) (\{(?:[^{}]|\{[^{}]*\})*\})/g)];
    assert.equal(calls[0]?.[1], name);
    for (const [, operation = '', given = ''] of calls) {
      assert.ok(isOperation(operation), operation);
      const input: unknown = JSON.parse(given);
      const read = readInput(operation, input);
      assert.ok(read.ok, read.ok ? '' : read.problems.map(textOf).join('\n'));
      if (operation === 'SendMessage') assert.ok(checkMessage(read.input.text('type'), read.input.raw('content')).ok);
    }
  });

test('an optional part of a text is left out while its value is missing', () => {
  const { held } = codes({
    held: {
      kind: 'refused',
      message: '{path}: {holder}[ to {until}][ ({reason})].',
      help: 'Ask {holder}.',
      values: { path: 'text', holder: 'text' },
      may: { until: 'time', reason: 'text' },
    },
  });
  const values = { path: 'a.ts', holder: MEMBER };
  assert.equal(textOf(refusal(held, values)), 'a.ts: backend-dev. Ask backend-dev.');
  assert.equal(
    textOf(refusal(held, { ...values, until: 2_000_000, reason: 'x' })),
    'a.ts: backend-dev to 1970-01-01T00:33:20.000Z (x). Ask backend-dev.',
  );
});
