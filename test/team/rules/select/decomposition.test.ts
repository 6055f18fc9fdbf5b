import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { visibleLines } from '../../../../src/base/rules/text.ts';
import { ownerOf } from '../../../../src/guard/rules/ownership.ts';
import { DEFAULT_OWNERSHIP } from '../../../../src/team/rules/default-ownership.ts';
import { PATTERNS, type Phase } from '../../../../src/team/rules/role.ts';
import { decompose } from '../../../../src/team/rules/select/decomposition.ts';
import { select } from '../../../../src/team/rules/select/selection.ts';
import type { Decomposition } from '../../../../src/team/rules/task-draft.ts';
import { teamSettings } from '../../../support/team-settings.ts';

const FILES = [
  'package.json',
  'src/api/orders.ts',
  'src/api/orders.test.ts',
  'src/api/users.ts',
  'src/models/order.ts',
  'src/components/OrderList.tsx',
  'src/components/OrderList.test.tsx',
  'src/components/UserCard.tsx',
  'src/styles/tokens/colour.json',
  'src/lib/orders.ts',
];

const SPEC = `---
id: SPEC-ORDERS-001
---
# Orders can be cancelled

## Requirements
- When a user cancels an order, the API shall store the time in the order model.
- The order list component shall have a button that cancels an order.
- The user card shall show how often
  somebody has cancelled.

## Acceptance
- Given an order, when it is cancelled twice, then the API answers 409.

## Out of scope
- Refunds.`;

function tasksFor(
  text: string,
  roles: readonly string[],
  phase: Phase = 'run',
  files: readonly string[] = FILES,
): Decomposition {
  const selection = select({ text, files, settings: teamSettings() });
  return decompose({ phase, roles, text, selection, ownership: DEFAULT_OWNERSHIP, files });
}

function order({ tasks }: Decomposition) {
  return tasks.map(({ key, blockedBy }) => [key, blockedBy]);
}

test('a text is built by all builders at once, then tested, then verified', () => {
  const found = tasksFor(SPEC, PATTERNS.quality_gate.roles);
  const builders = ['backend-dev-1', 'frontend-dev-1'];
  assert.deepEqual(order(found), [
    ['backend-dev-1', []],
    ['frontend-dev-1', []],
    ['tester-1', builders],
    ['quality-1', [...builders, 'tester-1']],
  ]);
  assert.deepEqual(found.notes, []);
  const [server, screens, tester] = found.tasks;
  assert.equal(server?.subject, 'Build the server side: Orders can be cancelled');
  assert.match(
    server?.description ?? '',
    /^Your part: everything in the files that you own, and in the files that no other/m,
  );
  assert.match(screens?.description ?? '', /^Your part: everything in the files that you own\.$/m);
  assert.match(tester?.description ?? '', /Given an order, when it is cancelled twice/);
});

test('each role is given the files of its own that the text names, those to be made among them', () => {
  const text = 'Round in src/api/orders.ts, OrderList and src/pages/Sums.tsx; elsewhere/new.ts is not ours';
  const { tasks } = tasksFor(text, PATTERNS.implementation.roles);
  assert.deepEqual(
    tasks.map(({ owner, files }) => [owner, files]),
    [
      ['backend-dev', ['src/api/orders.ts']],
      ['frontend-dev', ['src/components/OrderList.tsx', 'src/pages/Sums.tsx']],
      ['tester', []],
    ],
  );
});

test('a shared file is nobody’s, but named with its rule', () => {
  const { tasks } = tasksFor('src/api/orders.ts and src/lib/orders.ts shall round', PATTERNS.implementation.roles);
  const [server, screens] = tasks;
  assert.deepEqual(server?.files, ['src/api/orders.ts']);
  assert.match(server?.description ?? '', /needs a FileLease before you change it: src\/lib\/orders\.ts\./);
  assert.doesNotMatch(screens?.description ?? '', /FileLease/);
});

test('a file of somebody who is not in the team is asked for', () => {
  const { tasks } = tasksFor('Use src/styles/tokens/colour.json', PATTERNS.implementation.roles);
  const text = tasks.map((task) => task.description).join('\n');
  assert.match(text, /src\/styles\/tokens\/colour\.json is designer's, who is not in this team: ask team-lead/);
});

test('a builder that owns no file of the project has no task and is named, unless there is nothing yet', () => {
  const owners = (files: readonly string[]) => {
    const { tasks, notes } = tasksFor('Page', PATTERNS.design_implementation.roles, 'run', files);
    return [tasks.map(({ owner }) => owner), notes];
  };
  const idle = 'nothing to do, it owns no file of the project';
  const none = [`designer: ${idle}`, `frontend-dev: ${idle}`];
  assert.deepEqual(owners(['src/api/users.ts']), [['backend-dev', 'tester'], none]);
  assert.deepEqual(owners(['shop/users.py', 'shop/page.html']), [['backend-dev', 'tester'], none]);
  assert.deepEqual(owners(['README.md']), [['designer', 'backend-dev', 'frontend-dev', 'tester'], []]);
});

test('screens wait for their design', () => {
  const found = tasksFor('A button', PATTERNS.design_implementation.roles);
  assert.deepEqual(order(found), [
    ['designer-1', []],
    ['backend-dev-1', []],
    ['frontend-dev-1', ['designer-1']],
    ['tester-1', ['backend-dev-1', 'frontend-dev-1']],
  ]);
});

test('planning is three tasks that write nothing, begun at once; the architect’s ends after the analyst’s', () => {
  const { tasks } = tasksFor(SPEC, PATTERNS.plan_research.roles, 'plan');
  assert.deepEqual(
    tasks.map((task) => task.owner),
    PATTERNS.plan_research.roles,
  );
  assert.ok(tasks.every((task) => task.files.length === 0));
  assert.deepEqual(
    tasks.map(({ blockedBy, early }) => [blockedBy, early]),
    [
      [[], undefined],
      [[], undefined],
      [['analyst-1'], true],
    ],
  );
  const reversed = tasksFor(SPEC, ['architect', 'analyst'], 'plan').tasks.map(({ owner }) => owner);
  assert.deepEqual(reversed, ['analyst', 'architect'], 'a task stands after what it waits for');
  assert.equal(new Set(tasks.map((task) => task.subject)).size, 3);
});

test('hypotheses differ, and say the failure’s words and files', () => {
  const { tasks } = tasksFor('TypeError in OrderList: x is undefined', PATTERNS.investigation.roles, 'debug');
  assert.deepEqual(
    tasks.map((task) => task.owner),
    PATTERNS.investigation.roles,
  );
  assert.equal(new Set(tasks.map((task) => task.description.split('\n')[0])).size, 3);
  for (const { description } of tasks) {
    assert.match(description, /TypeError in OrderList: x is undefined/);
    assert.match(description, /src\/components\/OrderList\.tsx/);
  }
  const more = tasksFor('', [...PATTERNS.investigation.roles, 'another'], 'debug');
  assert.equal(more.tasks.length, 3);
  assert.deepEqual(more.notes, ['another: nothing to do, there are 3 hypotheses']);
});

test('what is asked for cannot leave its fence', () => {
  const ticks = '`'.repeat(4);
  const { tasks } = tasksFor(`- The API shall answer ${ticks} and stop`, PATTERNS.implementation.roles);
  assert.match(tasks[0]?.description ?? '', /^`{5}text$/m);
});

const words = fc.constantFrom(
  'order',
  'user',
  'API',
  'shall',
  'list',
  'page',
  'tests',
  'colour',
  'src/lib/orders.ts',
  'store',
  'é',
  '`',
  'design',
);
const line = fc.array(words, { minLength: 1, maxLength: 8 }).map((all) => all.join(' '));
const specs = fc
  .tuple(line, fc.array(line, { maxLength: 12 }), fc.array(line, { maxLength: 4 }))
  .map(([title, requirements, acceptance]) => {
    const items = (all: readonly string[]) => all.map((one) => `- ${one}`);
    return [`# ${title}`, ...items(requirements), '## Acceptance', ...items(acceptance)].join('\n');
  });
const roles = fc.uniqueArray(
  fc.constantFrom<string>('backend-dev', 'frontend-dev', 'designer', 'tester', 'quality', 'writer'),
  { minLength: 1 },
);

test('every task has the text, nothing waits for itself, and nobody has a file of another', () => {
  fc.assert(
    fc.property(specs, roles, fc.subarray(FILES), (text, given, files) => {
      const { tasks, notes } = tasksFor(text, given, 'run', files);
      const before = new Set<string>();
      for (const task of tasks) {
        for (const key of task.blockedBy)
          assert.ok(before.has(key), `${task.key} waits for ${key}, which does not stand before it`);
        assert.ok(!before.has(task.key), `${task.key} is there once`);
        before.add(task.key);
        assert.ok(given.includes(task.owner));
        assert.ok(task.subject.length > 0 && task.subject.length <= 72);
        for (const file of task.files) assert.equal(ownerOf(file, DEFAULT_OWNERSHIP).owner, task.owner);
      }
      for (const task of tasks) assert.ok(task.description.includes(visibleLines(text)), `${task.key} has the text`);
      assert.ok(tasks.length > 0);
      for (const role of given) {
        const isIdle = notes.some((note) => note.startsWith(`${role}: nothing`));
        assert.equal(
          tasks.some((task) => task.owner === role),
          !isIdle,
          role,
        );
      }
      assert.deepEqual(tasksFor(text, given, 'run', [...files].reverse()), { tasks, notes });
    }),
  );
});
