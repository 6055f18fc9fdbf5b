// Sync of a SPEC: the test of each requirement, the missing parts, and the result section of the document.

import assert from 'node:assert/strict';
import test from 'node:test';
import { withoutResult, withResult } from '../../../../src/team/rules/spec-documents/result-section.ts';
import {
  isMet,
  judgeSync,
  mayHoldTests,
  statusAfter,
  testsOf,
} from '../../../../src/team/rules/spec-documents/sync.ts';
import { NEW_SPEC } from '../../../support/spec.ts';

const SPEC = 'SPEC-AUTH-001';

type Case = readonly [
  what: string,
  lines: readonly string[],
  committed: boolean,
  found: Readonly<Record<string, number>>,
];

const CASES: readonly Case[] = [
  ['a line that names both', [`test('${SPEC} R2: it')`], false, { R2: 1 }],
  ['a file that names the SPEC', [`// ${SPEC}`, "test('R2')", "test('A1')"], false, { R2: 2, A1: 3 }],
  ['a file that names it below', ["test('R2')", `// ${SPEC}`], false, { R2: 1 }],
  ['a file that names none', ["test('R2')"], false, {}],
  ['a commit that names it', ["test('R2')"], true, { R2: 1 }],
  [
    'the SPEC that was named last above',
    ["describe('SPEC-PAY-001')", "test('R1')", `describe('${SPEC}')`, "test('R2')"],
    true,
    { R2: 4 },
  ],
  ['nothing above where the file names several', ["test('R1')", `// ${SPEC}`, '// SPEC-PAY-001'], true, {}],
  ['a file of another SPEC', ['// SPEC-PAY-001', "test('R2')"], true, {}],
  ['the first place', [`test('${SPEC} R2')`, `test('${SPEC} R2 again')`], false, { R2: 1 }],
  ['a longer word', [`// ${SPEC}`, 'const R22 = XR2 + R2x + A-R2;'], false, { R22: 2 }],
  ['a SPEC that ends alike', ["test('SPEC-R2-001 R3')", `test('${SPEC}0 R4')`], false, {}],
  [
    'no group that is skipped',
    [`describe.skip('${SPEC}')`, "test('R1')", `test('${SPEC} R2')`, "test('R3')"],
    true,
    { R2: 3, R3: 4 },
  ],
  ['a test that is skipped', [`test.skip('${SPEC} R2')`, `it.todo('${SPEC} R3')`, `xit('${SPEC} R4')`], false, {}],
];

for (const [what, texts, committed, found] of CASES)
  test(`a test is known by ${what}`, () => {
    const path = 'tests/a.test.js';
    const lines = texts.map((text, index) => ({ path, line: index + 1, text }));
    const tests = testsOf(SPEC, { changed: [], lines, committed: committed ? [path] : [] });
    const expected = Object.entries(found).map(([id, line]) => [id, `${path}:${line}`]);
    assert.deepEqual([...tests], expected);
  });

test('what holds tests, and what only lies beside them', () => {
  assert.ok(mayHoldTests('tests/a.py', true) && mayHoldTests('src/lib.rs', false));
  assert.ok(!mayHoldTests('tests/README.md', true) && !mayHoldTests('tests/data.json', true));
  assert.ok(!mayHoldTests('src/a.ts', false));
});

const DATA = {
  spec: { ...NEW_SPEC, id: SPEC, status: 'approved' as const, created: '', updated: '' },
  plan: { design: '', tasks: NEW_SPEC.tasks },
  acceptance: { scenarios: NEW_SPEC.scenarios },
};

test('tests that came to lie elsewhere than planned are those of their task all the same, where they are new', () => {
  const requirements = NEW_SPEC.requirements.map(({ id }) => id);
  const dataOf = (...files: readonly string[]) => {
    const task = { id: 'T1', subject: 'Tests', description: '', domain: 'tests', owner: 'tester', dependsOn: [] };
    return { ...DATA, plan: { design: '', tasks: [{ ...task, files, requirements }] } };
  };
  const ids = ['R1', 'R2', 'R3', 'A1', 'A2', 'A3'];
  const lines = ids.map((id, line) => ({ path: 'tests/elsewhere.test.js', line, text: `${SPEC} ${id}` }));
  const judge = (changed: readonly string[], ...files: readonly string[]) =>
    judgeSync(dataOf(...files), { lines, changed, committed: [] });
  assert.ok(isMet(judge(['tests/elsewhere.test.js'], 'tests/planned.test.js')));
  assert.ok(!isMet(judge(['tests/another.test.js'], 'tests/planned.test.js')), 'what was there before is nothing new');
  assert.ok(!isMet(judge(['tests/elsewhere.test.js'], 'tests/planned.test.js', 'src/api/x.js')), 'more was planned');
});

test('a requirement needs its test and the files of each of its tasks', () => {
  const ids = ['R1', 'R2', 'R3', 'A1', 'A2', 'A3'];
  const lines = ids.map((id, line) => ({ path: 'tests/a.js', line, text: `${SPEC} ${id}` }));
  const all = judgeSync(DATA, { lines, changed: ['src/api/logout.js', 'src/pages/a/b.js'], committed: [] });
  assert.ok(isMet(all));
  const some = judgeSync(DATA, {
    lines: lines.slice(1),
    changed: ['src/pages/a/b.js', 'src/api/logout.jsx'],
    committed: [],
  });
  assert.deepEqual(
    some.filter(({ missing }) => missing.length > 0).map(({ id, missing }) => [id, missing.length]),
    [
      ['R1', 2],
      ['R3', 1],
      ['A1', 1],
      ['A3', 1],
    ],
  );
  const unplanned = judgeSync({ ...DATA, plan: { design: '', tasks: [] } }, { lines, changed: [], committed: [] });
  assert.deepEqual(unplanned[0]?.missing, ['no task of plan.md is for it']);
  assert.equal(isMet([]), false, 'nothing to judge is nothing shown');
  assert.deepEqual(
    [statusAfter(all, 'approved'), statusAfter(some, 'approved'), statusAfter(some, 'completed')],
    ['completed', 'approved', 'approved'],
  );
});

test('the section of the result is replaced, and nothing else', () => {
  const text = '# A\n\n```\n## Result of the sync\n```\n\n- R1: x\n';
  const first = withResult(text, ['one', '- R1: met']);
  assert.equal(first, `${text}\n## Result of the sync\n\none\n- R1: met\n`);
  assert.equal(withResult(first, ['one', '- R1: met']), first);
  assert.equal(withResult(first, ['two']), `${text}\n## Result of the sync\n\ntwo\n`);
  assert.equal(withoutResult(first), text);
  const middle = `${first}\n## Later\n\nwords\n`;
  assert.equal(withResult(middle, ['two']), `${text}\n## Result of the sync\n\ntwo\n\n## Later\n\nwords\n`);
  assert.equal(withResult(middle, ['one', '- R1: met']), middle);
  assert.equal(withoutResult(middle), `${text}\n## Later\n\nwords\n`);
  assert.equal(withoutResult(text), text);
});
