// Each form that models usually write gives the SPEC that the form of the documents gives.

import assert from 'node:assert/strict';
import test from 'node:test';
import { specFromResults } from '../../../../src/team/rules/spec-documents/from-results.ts';
import { ANALYST, ARCHITECT } from '../../../support/plan-results.ts';

function made(analyst: string, architect: string) {
  return specFromResults('log out', { researcher: null, analyst, architect }, 'draft');
}

const EXPECTED = made(ANALYST, ARCHITECT);

/** What is written otherwise, in whose result, and how. */
const FORMS: readonly [role: 'analyst' | 'architect', from: string | RegExp, to: string][] = [
  ['analyst', /^- (R\d):/gm, '  - $1:'],
  ['architect', /^- (files|domain|owner|depends on|requirements):/gm, '    - $1:'],
  ['analyst', /^- (R\d):/gm, '**$1**:'],
  ['analyst', /^- (R\d):/gm, '- **$1:**'],
  ['analyst', /^- (R\d):/gm, '1. $1:'],
  ['analyst', /^- (A\d) (\(R\d\)):/gm, '- **$1 $2**:'],
  ['analyst', /\bshall\b/g, 'must'],
  ['analyst', /^- (R\d): (.*)$/gm, '| $1 | $2 |'],
  ['analyst', '- R1: When', '| Id | Requirement |\n|----|:--:|\n| **R1** | When'],
  ['analyst', /^- (A\d) \((R\d)\): (.*)$/gm, '| $1 | $2 | $3 |'],
  ['architect', /^- (files|domain|owner|depends on|requirements):/gm, '**$1**:'],
  ['architect', /^- (files|domain|owner|depends on|requirements):/gm, '- **$1:**'],
  ['architect', '- files:', '- Files:'],
  ['architect', '- files: `src/api/logout.js`', '- files:\n  - `src/api/logout.js`'],
  ['architect', 'owner: backend-dev', 'owner: team-backend-dev'],
  ['architect', /^## (T\d): /gm, '## $1 - '],
  ['architect', /^## T(\d): /gm, '## Task $1: '],
  ['architect', 'depends on: T1', 'depends on: T1 (needs the session)'],
  ['architect', 'domain: backend', 'domain: api'],
];

for (const [role, from, to] of FORMS)
  test(`${role}: ${String(from)} as ${JSON.stringify(to)}`, () => {
    assert.ok(EXPECTED.ok);
    const text = { analyst: ANALYST, architect: ARCHITECT };
    const other = text[role].replace(from, to).replace(/^(\| \*\*R1\*\* .*)$/m, '$1 |');
    assert.notEqual(other, text[role]);
    text[role] = other;
    assert.deepEqual(made(text.analyst, text.architect), EXPECTED);
  });

test('files may stand one bullet each', () => {
  const of = (files: string) => made(ANALYST, ARCHITECT.replace('- files: `src/api/logout.js`', files));
  const two = of('- files: `src/api/logout.js`, `src/api/session.js`');
  assert.ok(two.ok);
  assert.deepEqual(of('- files:\n  - `src/api/logout.js`\n  - `src/api/session.js`'), two);
});

test('what stands below a requirement belongs to it', () => {
  const result = made(
    ANALYST.replace('to log out.', 'to log out:\n  - with a name\n  - that can be reached by keys'),
    ARCHITECT,
  );
  assert.ok(result.ok);
  assert.equal(
    result.spec.requirements[1]?.text,
    'The page shall show a button to log out: with a name; that can be reached by keys',
  );
});

test('words outside of requirements, scenarios and fields stay what they are', () => {
  for (const [role, from, to] of [
    ['analyst', '- Does it end', '- **R1**: does it end'],
    ['architect', '- A session that', '- **R1**: a session that'],
    ['architect', '- A session that', '| R1 | clocks differ |\n\n- A session that'],
    ['architect', 'Answers 204.', 'Files: only one changes.'],
  ] as const) {
    const text = { analyst: ANALYST, architect: ARCHITECT };
    text[role] = text[role].replace(from, to);
    const result = made(text.analyst, text.architect);
    assert.ok(result.ok, JSON.stringify(result));
    assert.equal(result.spec.requirements.length, 2);
  }
});

test('what cannot be read is quoted as it was written', () => {
  const words = (architect: string) => {
    const result = made(ANALYST, architect);
    assert.ok(!result.ok);
    return result.problems.map((problem) => problem.words);
  };
  const [numbered] = words(`${ARCHITECT}\n### T1.1: Migrate\n\n- files: \`a.js\`\n`);
  assert.match(numbered ?? '', /got "### T1\.1: Migrate"/);
  const note = words(ARCHITECT.replace('- requirements: R1', '- requirements: R1\n  - keep the column nullable'));
  assert.equal(note.length, 1);
  assert.match(note[0] ?? '', /got "keep the column nullable"/);
  const scenario = made(ANALYST.replace('log out.\n', 'log out.\n  - A1: given x\n'), ARCHITECT);
  assert.ok(!scenario.ok);
});

test('another form goes back with its own line; code stays code', () => {
  const wrong = made(ANALYST.replace('- R2: The page', '- R2 = The page'), ARCHITECT);
  assert.ok(!wrong.ok);
  assert.match(wrong.problems[0]?.words ?? '', /^line 6 of the result: /);
  const fenced = made(
    ANALYST,
    ARCHITECT.replace('can be copied.', 'can be copied.\n\n```\n## T9 - no task\n**files**: x\n```'),
  );
  assert.ok(fenced.ok);
  assert.equal(fenced.spec.tasks.length, 2);
});
