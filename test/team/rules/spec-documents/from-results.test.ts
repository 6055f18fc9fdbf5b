// A SPEC made of what a planning team gives back, and whose fault it is when there is none.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { SPEC_CODES } from '../../../../src/team/rules/codes/spec-codes.ts';
import { checkSpec, readSpecTexts } from '../../../../src/team/rules/spec-documents/check.ts';
import {
  type PlanResults,
  type ResultProblem,
  specFromResults,
} from '../../../../src/team/rules/spec-documents/from-results.ts';
import { specTextsOf } from '../../../../src/team/rules/spec-documents/new-spec.ts';
import { RESULT_FORMS } from '../../../../src/team/rules/spec-documents/result-form.ts';
import { END, joined, START, wordsLike } from '../../../support/codes.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../../../support/plan-results.ts';

const FEATURE = 'Users can log out of their account';
const GOOD: PlanResults = { researcher: RESEARCHER, analyst: ANALYST, architect: ARCHITECT };

function made(results: Partial<PlanResults>, feature = FEATURE) {
  const found = specFromResults(feature, { ...GOOD, ...results }, 'awaiting_approval');
  assert.ok(found.ok, JSON.stringify(found));
  return found.spec;
}

function problems(results: Partial<PlanResults>): readonly ResultProblem[] {
  const found = specFromResults(FEATURE, { ...GOOD, ...results }, 'draft');
  assert.ok(!found.ok);
  return found.problems;
}

test('three results make documents that pass the check, with all that was said in them', () => {
  const spec = made({});
  const texts = specTextsOf('SPEC-LOG-ACCOUNT-001', spec, '2026-01-31');
  assert.deepEqual(checkSpec(texts), []);
  const { spec: asked, plan, acceptance } = readSpecTexts(texts);
  assert.equal(asked.title, FEATURE);
  assert.equal(asked.status, 'awaiting_approval');
  assert.equal(asked.about, 'So that a shared computer is safe.\n\nOpen questions:\n- Does it end all sessions?');
  assert.deepEqual(
    asked.requirements.map(({ id }) => id),
    ['R1', 'R2'],
  );
  assert.deepEqual(asked.outOfScope, ['Logging out everywhere']);
  assert.equal(
    plan.design,
    'One endpoint. A cookie that expires was not taken: it can be copied.\n\nRisks:\n\n- A session that is already gone.\n\nWhat is there:\n- files: `src/api/session.js`: sessions are rows\n- convention: one file for each endpoint',
  );
  assert.deepEqual(
    plan.tasks.map(({ id, owner, dependsOn, description }) => ({ id, owner, dependsOn, description })),
    [
      { id: 'T1', owner: 'backend-dev', dependsOn: [], description: 'Answers 204.' },
      { id: 'T2', owner: null, dependsOn: ['T1'], description: '' },
    ],
  );
  assert.deepEqual(
    acceptance.scenarios.map(({ id, requirements }) => [id, requirements]),
    [
      ['A1', ['R1']],
      ['A2', ['R2']],
    ],
  );
});

test('a fence around a result, other line ends and a lacking researcher change nothing that matters', () => {
  const wrapped = `\n\`\`\`markdown\n${ANALYST}\n\`\`\`\n`.replaceAll('\n', '\r\n');
  assert.deepEqual(made({ analyst: wrapped }).requirements, made({}).requirements);
  assert.doesNotMatch(made({ researcher: null }).design, /What is there/);
});

test('words that are too many for a title stand below it', () => {
  const long = `${FEATURE}: ${'and then '.repeat(30)}`;
  const { title, about } = made({}, long);
  assert.ok(title.length <= 100);
  assert.ok(about.startsWith(long));
});

const FAULTS: readonly {
  readonly name: string;
  readonly results: Partial<PlanResults>;
  readonly said: readonly (readonly [string, RegExp])[];
}[] = [
  {
    name: 'no result',
    results: { analyst: null },
    said: [['analyst', /^expected a result in the form that the task shows, got none$/]],
  },
  {
    name: 'a requirement of no form',
    results: { analyst: ANALYST.replace('the API shall end', 'we should end') },
    said: [['analyst', /^line 5 of the result: R1: expected "When <trigger>, the <system> shall <response>", got /]],
  },
  {
    name: 'no acceptance',
    results: { analyst: ANALYST.slice(0, ANALYST.indexOf('## Acceptance')) },
    said: [['analyst', /^line 1 of the result: expected scenarios/]],
  },
  {
    name: 'a requirement that nothing proves',
    results: { analyst: ANALYST.replace('A2 (R2)', 'A2 (R1)') },
    said: [['analyst', /^R2: expected a scenario in acceptance\.md that proves it, got none$/]],
  },
  {
    name: 'tasks of no domain',
    results: { architect: ARCHITECT.replace('domain: backend', 'domain: server') },
    said: [['architect', /^line 9 of the result: T1: domain: expected one of backend, /]],
  },
  {
    name: 'a requirement that nobody builds, and one that is none',
    results: { architect: ARCHITECT.replace('requirements: R2', 'requirements: R7') },
    said: [
      ['architect', /^R2: expected a task in plan\.md that is for it, got none$/],
      [
        'architect',
        joined(
          START,
          wordsLike(SPEC_CODES.spec_reference_unknown, { who: 'T2: requirements', id: 'R7', known: 'R1, R2' }),
          END,
        ),
      ],
    ],
  },
  {
    name: 'a requirement, a scenario and tasks that are not in their form',
    results: {
      analyst: ANALYST.replace('- R2:', '2. R2').replace('- A2 (R2):', '### A2 (R2):'),
      architect: `${ARCHITECT}\n## T3 Wave\n\nT4: Wave\n`,
    },
    said: [
      ['analyst', /^line 6 of the result: expected a requirement like .*, got "2\. R2 The page shall/],
      ['analyst', /^line 15 of the result: expected a scenario like .*, got "### A2 \(R2\): Given/],
      ['architect', /^line 24 of the result: expected a task like .*, got "## T3 Wave"$/],
      ['architect', /^line 26 of the result: expected a task like .*, got "T4: Wave"$/],
    ],
  },
  {
    name: 'code that nothing closes',
    results: { analyst: `${ANALYST}\n## Acceptance of more\n\n\`\`\`\n` },
    said: [['analyst', /^line 23 of the result: expected the block of code that begins here to be closed/]],
  },
  {
    name: 'both at once',
    results: { analyst: 'I have looked.', architect: 'So have I.' },
    said: [
      ['analyst', /expected requirements/],
      ['analyst', /expected scenarios/],
      ['architect', /expected tasks/],
    ],
  },
];

for (const { name, results, said } of FAULTS)
  test(`whom it concerns: ${name}`, () => {
    const found = problems(results);
    assert.equal(found.length, said.length, JSON.stringify(found));
    for (const [at, [role, words]] of said.entries()) {
      assert.equal(found[at]?.role, role);
      assert.match(found[at]?.words ?? '', words);
    }
  });

test('the forms that tasks show are ones that can be read', () => {
  const form = (role: string) => (RESULT_FORMS[role] ?? []).join('\n');
  const filled = form('architect')
    .replace(/<backend[^>]*>/, 'backend')
    .replace(/<a role[^>]*>/, 'backend-dev')
    .replace(/<T2[^>]*>/, 'none')
    .replace(/<R1[^>]*>/, 'R1, R2');
  made({ researcher: form('researcher'), analyst: form('analyst'), architect: filled });
});

test('whatever comes back, there is a SPEC that passes the check, or words about it', () => {
  const piece = fc.oneof(
    fc.constantFrom(...ANALYST.split('\n'), ...ARCHITECT.split('\n'), '```', '---', '> x', '# y'),
    fc.string({ unit: 'grapheme' }),
  );
  const result = fc.array(piece, { maxLength: 20 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(fc.string(), result, result, result, (feature, researcher, more, rest) => {
      const analyst = `${ANALYST}\n${more}`;
      const architect = `${rest}\n${ARCHITECT}`;
      const found = specFromResults(feature, { researcher, analyst, architect }, 'draft');
      if (!found.ok) assert.ok(found.problems.length > 0);
      else assert.deepEqual(checkSpec(specTextsOf('SPEC-X-001', found.spec, '2026-01-01')), []);
    }),
  );
});
