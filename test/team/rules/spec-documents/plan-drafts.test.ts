// A plan's tasks as a team gets them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DEFAULT_OWNERSHIP } from '../../../../src/team/rules/default-ownership.ts';
import type { PlanTask } from '../../../../src/team/rules/spec-documents/plan-document.ts';
import { planDrafts } from '../../../../src/team/rules/spec-documents/plan-drafts.ts';
import { NEW_SPEC } from '../../../support/spec.ts';

const ROLES = ['backend-dev', 'frontend-dev'];

function drafts(tasks: readonly PlanTask[], roles: readonly string[] = ROLES) {
  const spec = { ...NEW_SPEC, id: 'SPEC-OUT-001', created: '', updated: '' };
  const data = { spec, plan: { design: '', tasks }, acceptance: { scenarios: NEW_SPEC.scenarios } };
  return planDrafts({ data, roles, ownership: DEFAULT_OWNERSHIP });
}

function planned(more: Partial<PlanTask> & { readonly id: string }): PlanTask {
  const files = ['src/api/a.ts'];
  return {
    subject: 's',
    description: '',
    files,
    domain: 'backend',
    owner: null,
    dependsOn: [],
    requirements: ['R1'],
    ...more,
  };
}

test('a task keeps its id, its files and what it waits for, and says its lines word for word', () => {
  const { tasks, notes } = drafts(NEW_SPEC.tasks);
  assert.deepEqual(
    tasks.map(({ key, owner, files, blockedBy }) => ({ key, owner, files, blockedBy })),
    [
      { key: 'T1', owner: 'backend-dev', files: ['src/api/logout.js'], blockedBy: [] },
      { key: 'T2', owner: 'frontend-dev', files: ['src/pages/**'], blockedBy: ['T1'] },
    ],
  );
  assert.deepEqual(notes, []);
  const [first] = tasks;
  assert.match(first?.description ?? '', /^R1: When a user logs out, the API shall end the session\.$/m);
  assert.match(first?.description ?? '', /^A3 \(R3\): Given no session, when it is ended, then 204 is answered$/m);
  assert.doesNotMatch(first?.description ?? '', /A2|R2/);
  assert.match(first?.description ?? '', /names it with its SPEC, like "SPEC-OUT-001 R1"/);
});

test('every task stands after all that it waits for', () => {
  const { tasks } = drafts([
    planned({ id: 'T1', dependsOn: ['T3'] }),
    planned({ id: 'T2' }),
    planned({ id: 'T3', dependsOn: ['T2'] }),
  ]);
  assert.deepEqual(
    tasks.map(({ key }) => key),
    ['T2', 'T3', 'T1'],
  );
});

test('who does it: the owner that is named, who owns the files, who knows the domain, somebody', () => {
  const { tasks, notes } = drafts(
    [
      planned({ id: 'T1', owner: 'tester' }),
      planned({ id: 'T2', owner: 'designer', domain: 'frontend', files: ['lib/x.ts', 'package.json'] }),
      planned({ id: 'T3', files: ['src/pages/a.ts', 'src/pages/b.ts', 'src/api/a.ts'] }),
      planned({ id: 'T4', domain: 'infrastructure', files: ['Dockerfile'] }),
    ],
    ['tester', ...ROLES],
  );
  assert.deepEqual(
    tasks.map(({ owner }) => owner),
    ['tester', 'frontend-dev', 'frontend-dev', 'backend-dev'],
  );
  assert.deepEqual(notes, ['T2: designer is not in this team; frontend-dev does it']);
  assert.match(
    tasks[1]?.description ?? '',
    /^Files without an owner; the first write to one lends it to you: lib\/x\.ts, package\.json\.$/m,
  );
  assert.match(tasks[2]?.description ?? '', /^src\/api\/a\.ts is backend-dev's: ask by change_request\.$/m);
});

test('for a file of somebody who is not in the team the lead is asked', () => {
  const files = ['src/pages/a.ts', 'design/a.svg', 'src/api/a.ts'];
  const [task] = drafts([planned({ id: 'T1', files })], ['frontend-dev', 'backend-dev']).tasks;
  assert.equal(task?.owner, 'frontend-dev');
  const said = (task?.description ?? '').split('\n').filter((line) => line.includes('change_request'));
  assert.deepEqual(said, [
    "design/a.svg is designer's, who is not in this team: ask team-lead by change_request.",
    "src/api/a.ts is backend-dev's: ask by change_request.",
  ]);
});

test('tests and gate come last, for those to whom the plan gives nothing; who is left over is named', () => {
  const { tasks, notes } = drafts(NEW_SPEC.tasks, [...ROLES, 'tester', 'quality', 'designer']);
  assert.deepEqual(
    tasks.slice(2).map(({ key, owner, blockedBy }) => [key, owner, blockedBy]),
    [
      ['tester-1', 'tester', ['T1', 'T2']],
      ['quality-1', 'quality', ['T1', 'T2', 'tester-1']],
    ],
  );
  assert.match(tasks[2]?.description ?? '', /^A2 \(R2\): Given the page, when it is shown, then a button is there$/m);
  assert.deepEqual(notes, ['designer: nothing to do, no task of the plan is its']);
  const own = drafts([planned({ id: 'T1' }), planned({ id: 'T2', owner: 'tester' })], ['backend-dev', 'tester']);
  assert.deepEqual(
    own.tasks.map(({ key }) => key),
    ['T1', 'T2'],
  );
});
