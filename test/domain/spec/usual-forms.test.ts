// Each form that models usually write gives the SPEC that the form of the documents gives.

import assert from 'node:assert/strict';
import test from 'node:test';
import { specFromResults } from '../../../src/domain/spec/from-results.ts';

const ANALYST = `> Shared computers are safe.

## Requirements

- R1: When a user logs out, the API shall end the session.
- R2: The page shall show a button.

## Acceptance

- A1 (R1): Given a session, when the user logs out, then it is gone.
- A2 (R2): Given a page, when it opens, then there is a button.
`;
const ARCHITECT = `> Rows.

## T1: End the session

- files: \`src/api/logout.js\`, \`src/api/session.js\`
- domain: backend
- owner: backend-dev
- depends on: none
- requirements: R1

## T2: Show the button

- files: \`src/pages/account.js\`
- domain: frontend
- depends on: T1
- requirements: R2
`;

function made(analyst: string, architect: string) {
  return specFromResults('log out', { researcher: null, analyst, architect }, 'draft');
}

const EXPECTED = made(ANALYST, ARCHITECT);

/** What is written otherwise, in whose result, and how. */
const FORMS: readonly [role: 'analyst' | 'architect', from: string | RegExp, to: string][] = [
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
  [
    'architect',
    '- files: `src/api/logout.js`, `src/api/session.js`',
    '- files:\n  - `src/api/logout.js`\n  - `src/api/session.js`',
  ],
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

test('what stands below a requirement belongs to it', () => {
  const result = made(
    ANALYST.replace('button.', 'button:\n  - with a name\n  - that can be reached by keys'),
    ARCHITECT,
  );
  assert.ok(result.ok);
  assert.equal(
    result.spec.requirements[1]?.text,
    'The page shall show a button: with a name; that can be reached by keys',
  );
});

test('another form goes back with its own line; code stays code', () => {
  const wrong = made(ANALYST.replace('- R2: The page', '- R2 = The page'), ARCHITECT);
  assert.ok(!wrong.ok);
  assert.match(wrong.problems[0]?.words ?? '', /^line 6 of the result: /);
  const fenced = made(ANALYST, ARCHITECT.replace('> Rows.', '> Rows.\n\n```\n## T9 - no task\n**files**: x\n```'));
  assert.ok(fenced.ok);
  assert.equal(fenced.spec.tasks.length, 2);
});
