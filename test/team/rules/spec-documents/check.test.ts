// The three documents of a SPEC: what is written is read again, and all that is wrong is said with its line.
// Over 400 lines: three tables of faulty documents.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Code } from '../../../../src/base/rules/codes.ts';
import { DOMAINS } from '../../../../src/guard/rules/areas.ts';
import { insideProject } from '../../../../src/guard/rules/ownership.ts';
import { SPEC_CODES } from '../../../../src/team/rules/codes/spec-codes.ts';
import { renderAcceptance } from '../../../../src/team/rules/spec-documents/acceptance-document.ts';
import {
  checkSpec,
  readSpecTexts,
  type SpecData,
  warningsOf,
} from '../../../../src/team/rules/spec-documents/check.ts';
import { asParagraph, asWords } from '../../../../src/team/rules/spec-documents/markdown.ts';
import { renderPlan } from '../../../../src/team/rules/spec-documents/plan-document.ts';
import { SPEC_STATUSES } from '../../../../src/team/rules/spec-documents/spec.ts';
import { renderSpec } from '../../../../src/team/rules/spec-documents/spec-document.ts';
import { END, joined, START, type Told, wordsLike, wordsOf } from '../../../support/codes.ts';
import { ACCEPTANCE_TEXT, PLAN_TEXT, SPEC_ID, SPEC_TEXT } from '../../../support/spec.ts';

const GOOD = { id: SPEC_ID, spec: SPEC_TEXT, plan: PLAN_TEXT, acceptance: ACCEPTANCE_TEXT };

function problems(texts: Partial<typeof GOOD> | { readonly plan: null; readonly acceptance: null }): readonly string[] {
  return checkSpec({ ...GOOD, ...texts }).map(({ file, line, words }) => `${file}:${line}: ${words}`);
}

/** The problem of that code at that line of a document. */
function at<C extends Code>(place: string, of: C, values: Told<C>): RegExp {
  return joined(START, `${place}: `, wordsLike(of, values), END);
}

/** One change of a good document, which has to be found in it. */
function changed(text: string, from: string, to: string): string {
  assert.ok(text.includes(from), from);
  return text.replace(from, () => to);
}

test('good documents have no problems, and hold what they say', () => {
  assert.deepEqual(problems({}), []);
  const { spec, plan, acceptance } = readSpecTexts(GOOD);
  assert.deepEqual(
    spec.requirements.map(({ id }) => id),
    ['R1', 'R2', 'R3', 'R4', 'R5'],
  );
  assert.equal(spec.title, 'Users log in with their address');
  assert.deepEqual(plan.tasks[1], {
    id: 'T2',
    subject: 'Show the form',
    description: 'Two fields and a button.',
    files: ['src/pages/{login,out}.tsx', 'src/components/form.tsx'],
    domain: 'frontend',
    owner: 'frontend-dev',
    dependsOn: ['T1'],
    requirements: ['R2', 'R4'],
  });
  assert.deepEqual(acceptance.scenarios[0], {
    id: 'A1',
    requirements: ['R2'],
    given: ['a user with a password'],
    when: ['they log in with it', 'the account is open'],
    outcomes: ['a session of 12 hours is open'],
  });
  assert.deepEqual(acceptance.scenarios[1]?.outcomes, ['the account is locked for an hour.']);
});

const SPEC_CASES: readonly (readonly [what: string, from: string, to: string, said: RegExp])[] = [
  [
    'another id',
    'id: SPEC-LOGIN-001',
    'id: SPEC-LOGIN-002',
    /^spec\.md:2: id: expected SPEC-LOGIN-001, the name of its directory, got "SPEC-LOGIN-002"$/,
  ],
  ['no id', 'id: SPEC-LOGIN-001\n', '', /^spec\.md:1: id: expected the name of the directory/],
  ['an id of another form', 'id: SPEC-LOGIN-001', 'id: login', /^spec\.md:2: id: expected SPEC-<NAME>-<NNN>/],
  ['no title', 'title: Users log in with their address', 'title:', /^spec\.md:3: title: expected what it is about/],
  [
    'an unknown status',
    'status: draft',
    'status: aproved',
    /^spec\.md:4: status: expected one of .*did you mean approved\?$/,
  ],
  ['a status twice', 'status: draft', 'status: draft\nstatus: approved', /^spec\.md:5: status: expected once/],
  ['no date', 'created: 2026-01-30\n', '', /^spec\.md:1: created: expected a date like 2026-01-31, got nothing$/],
  [
    'a day that there is not',
    '2026-01-31',
    '2026-02-31',
    /^spec\.md:6: updated: expected a date like .* got "2026-02-31"$/,
  ],
  ['an end before the begin', '2026-01-31', '2026-01-29', /^spec\.md:6: updated: expected 2026-01-30 or later/],
  ['no number', '- R1: The', '- The', /^spec\.md:15: expected a number before the requirement/],
  ['a number twice', '- R3:', '- R2:', at('spec.md:17', SPEC_CODES.spec_item_repeated, { id: 'R2', first: 16 })],
  ['no form', 'R1: The system shall keep', 'R1: Keep', /^spec\.md:15: R1: expected "The <system> shall <response>, or/],
  [
    'an unwanted case without then',
    'then the system shall lock',
    'the system shall lock',
    /^spec\.md:19: R5: expected "If <condition>, then the <system> shall <response>", got/,
  ],
  [
    'a state without its comma',
    'While an account is locked, the',
    'While an account is locked the',
    /^spec\.md:17: R3: expected "While <state>,/,
  ],
  ['no front matter', '---\nid', 'id', /^spec\.md:1: expected front matter between two lines of ---, got none$/],
];

for (const [what, from, to, said] of SPEC_CASES)
  test(`spec.md with ${what}`, () => {
    const found = problems({ spec: changed(SPEC_TEXT, from, to) });
    assert.ok(
      found.some((one) => said.test(one)),
      found.join('\n'),
    );
  });

const PLAN_CASES: readonly (readonly [what: string, from: string, to: string, said: RegExp])[] = [
  ['a task twice', '## T2:', '## T1:', at('plan.md:15', SPEC_CODES.spec_item_repeated, { id: 'T1', first: 7 })],
  [
    'an unknown requirement',
    'requirements: R2, R4',
    'requirements: R2, R9',
    at('plan.md:23', SPEC_CODES.spec_reference_unknown, { who: 'T2: requirements', id: 'R9', known: /R1, R2.*/ }),
  ],
  [
    'a task for nothing',
    'requirements: R2, R4',
    'requirements: none',
    /^plan\.md:23: T2: requirements: expected those that it is for/,
  ],
  [
    'an unknown task',
    'depends on: T1',
    'depends on: T7',
    at('plan.md:22', SPEC_CODES.spec_reference_unknown, { who: 'T2: depends on', id: 'T7', known: 'T1, T2' }),
  ],
  [
    'a file twice',
    '`src/models/user.ts`',
    '`./src/api/login.ts`',
    /^plan\.md:11: T1: files: expected "\.\/src\/api\/login\.ts" once, got it again$/,
  ],
  [
    'a task that waits for itself',
    'depends on: T1',
    'depends on: T2',
    at('plan.md:22', SPEC_CODES.spec_dependency_cycle, { task: 'T2', cycle: 'T2 → T2' }),
  ],
  [
    'tasks that wait for each other',
    'depends on: none',
    'depends on: T2',
    at('plan.md:12', SPEC_CODES.spec_dependency_cycle, { task: 'T1', cycle: 'T1 → T2 → T1' }),
  ],
  [
    'a path outside',
    'src/components/form.tsx',
    '../form.tsx',
    /^plan\.md:19: T2: files: expected a path inside the project, from its root, got "\.\.\/form\.tsx"$/,
  ],
  ['an absolute path', 'src/components/form.tsx', '/etc/passwd', /got "\/etc\/passwd"$/],
  [
    'no files',
    '- files: `src/api/login.ts`, `src/models/user.ts`\n',
    '',
    /^plan\.md:7: T1: files: expected the paths that it touches/,
  ],
  [
    'an unknown domain',
    'domain: frontend',
    'domain: fronted',
    /^plan\.md:20: T2: domain: expected one of .*did you mean frontend\?$/,
  ],
  [
    'an agent as owner',
    'owner: frontend-dev',
    'owner: team-frontend-dev',
    /^plan\.md:21: T2: owner: expected a role like backend-dev/,
  ],
  [
    'a field that there is not',
    'owner: frontend-dev',
    'ownr: frontend-dev',
    /^plan\.md:21: T2: expected one of files, .*did you mean owner\?$/,
  ],
  [
    'a requirement without a task',
    'requirements: R1, R3, R5',
    'requirements: R1, R5',
    /^spec\.md:17: R3: expected a task in plan\.md that is for it, got none$/,
  ],
];

for (const [what, from, to, said] of PLAN_CASES)
  test(`plan.md with ${what}`, () => {
    const found = problems({ plan: changed(PLAN_TEXT, from, to) });
    assert.ok(
      found.some((one) => said.test(one)),
      found.join('\n'),
    );
  });

const ACCEPTANCE_CASES: readonly (readonly [what: string, from: string, to: string, said: RegExp])[] = [
  ['a scenario twice', '- A2 (', '- A1 (', /^acceptance\.md:9: A1: expected once/],
  [
    'an unknown requirement',
    '(R5)',
    '(R6)',
    at('acceptance.md:9', SPEC_CODES.spec_reference_unknown, { who: 'A2', id: 'R6' }),
  ],
  ['no requirement', '- A2 (R5):', '- A2:', /^acceptance\.md:9: A2: expected the requirements that it proves/],
  [
    'no then',
    '  Then a session of 12 hours is open\n',
    '',
    /^acceptance\.md:3: A1: expected Given, When and Then, got no Then$/,
  ],
  ['no given', '  Given a user with a password\n', '', /^acceptance\.md:3: A1: .*, got no Given$/],
  ['no when', '  When they log in with it\n  And the account is open\n', '', /^acceptance\.md:3: A1: .*, got no When$/],
  [
    'its steps in another order',
    '  Given a user with a password\n  When they log in with it\n',
    '  When they log in with it\n  Given a user with a password\n',
    /^acceptance\.md:5: A1: expected Given, When and Then in this order, got Given after When$/,
  ],
  [
    'what comes of it before what is done',
    '  When they log in with it\n  And the account is open\n  Then a session of 12 hours is open\n',
    '  Then a session of 12 hours is open\n  When they log in with it\n',
    /^acceptance\.md:6: A1: expected Given, When and Then in this order, got When after Then$/,
  ],
  [
    'no steps',
    'Given four wrong tries',
    'Four wrong tries',
    /^acceptance\.md:9: A2: expected Given, When and Then, got no Given and no When$/,
  ],
  ['an item of another form', '- A3 (R1, R3, R4):', '- Scenario:', /^acceptance\.md:11: expected a scenario like/],
  [
    'a requirement without a scenario',
    '(R1, R3, R4)',
    '(R1, R3)',
    /^spec\.md:18: R4: expected a scenario in acceptance\.md that proves it, got none$/,
  ],
];

for (const [what, from, to, said] of ACCEPTANCE_CASES)
  test(`acceptance.md with ${what}`, () => {
    const found = problems({ acceptance: changed(ACCEPTANCE_TEXT, from, to) });
    assert.ok(
      found.some((one) => said.test(one)),
      found.join('\n'),
    );
  });

const LOST = 'expected a requirement like "- R1: The system shall <response>", got';

test('a line that looks like a requirement and is none is named, whatever stands in its way', () => {
  const last = '  for an hour.\n';
  for (const line of [
    '2. R6: When a user goes, the system shall wave.',
    'R6: The system shall wave.',
    '**R6** – The system shall wave.',
    '| R6 | The system shall wave. |',
    'R6 The system shall wave.',
    '  R6: The system shall wave.',
    'R1: The system shall wave.',
    'R1.1: waving',
    '### R6: Waving',
    '### Requirement 6',
    '## R6: The system shall wave.',
  ]) {
    const found = problems({ spec: changed(SPEC_TEXT, last, `${last}${line}\n`) });
    assert.deepEqual(found, [`spec.md:21: ${LOST} ${JSON.stringify(line.trim())}`], line);
  }
  // Under other headings too, where requirements stand.
  const others = changed(
    SPEC_TEXT,
    last,
    `${last}\n## Of mail\n\n- R6: The API shall mail.\n- **R7**: The API shall read.\n`,
  );
  assert.ok(problems({ spec: others }).includes(`spec.md:25: ${LOST} "**R7**: The API shall read."`));
});

test('requirements under other ids, and in other forms, are named with their own line', () => {
  const last = '  for an hour.\n';
  for (const line of [
    '- REQ-004: The system shall wave.',
    '- FR-004: The system shall wave.',
    '- **R6**: The system shall wave.',
    '- **R6:** The system shall wave.',
    '- [ ] R6: The system shall wave.',
    '- [x] **R6**: The system shall wave.',
    '1. FR-004: The system shall wave.',
    '| FR-4 | The system shall wave. |',
    '**NFR-2**: The system shall wave.',
    'REQ-004: When a user goes, the system shall wave.',
    '### REQ-004: Waving',
    'FR-001: see above',
  ]) {
    const words = JSON.stringify(line.replace(/^- /, ''));
    const [found = '', ...more] = problems({ spec: changed(SPEC_TEXT, last, `${last}${line}\n`) });
    assert.ok(found.startsWith('spec.md:21: expected ') && found.endsWith(`got ${words}`), `${line}\n${found}`);
    assert.deepEqual(more, [], line);
  }
  // Below a heading of another name, where nothing else is a requirement.
  for (const line of ['- FR-004: The system shall wave.', '- [ ] R6: The system shall wave.'])
    assert.deepEqual(problems({ spec: changed(SPEC_TEXT, last, `${last}\n## Functional\n\n${line}\n`) }), [
      `spec.md:24: ${LOST} ${JSON.stringify(line.slice(2))}`,
    ]);
  for (const line of ['FR-12 is of the former system.', '- RFC-2119: words of that kind', '- UTF-8: the only encoding'])
    assert.deepEqual(problems({ spec: changed(SPEC_TEXT, last, `${last}\n## Notes\n\n${line}\n`) }), [], line);
});

for (const words of [
  'WHEN a user goes THEN the system SHALL wave.',
  'When a user goes, then the system shall wave.',
  'While a user is there then the system shall wave.',
  'IF a user goes THEN the system SHALL wave.',
])
  test(`a requirement may say: ${words}`, () => {
    const spec = changed(SPEC_TEXT, 'Where single sign-on is configured, the system shall offer it first.', words);
    assert.deepEqual(problems({ spec }), []);
    assert.deepEqual(warningsOf({ ...GOOD, spec }, []), []);
  });

test('a requirement in another language counts, with a warning', () => {
  const english = 'Where single sign-on is configured, the system shall offer it first.';
  for (const words of [
    'Wenn ein Nutzer geht, muss das System winken.',
    'El sistema debe saludar a cada usuario.',
    'Systém musí pozdravit.',
    '用户登录时，系统应打开会话。',
    'Когда пользователь уходит, система должна попрощаться.',
    'Kun `the user` poistuu, jarjestelma vilkuttaa.',
    'Systém by měl pozdravit.',
    'Als de gebruiker klikt of Enter drukt, groet het systeem.',
    'Sistemul are nevoie de un salut.',
  ]) {
    const spec = changed(SPEC_TEXT, english, words);
    assert.deepEqual(problems({ spec }), [], words);
    assert.deepEqual(
      warningsOf({ ...GOOD, spec }, []).map(({ file, line, refusal }) => [
        file,
        line,
        refusal?.of.code,
        refusal?.values.id,
      ]),
      [['spec.md', 18, 'spec_not_english', 'R4']],
    );
  }
  for (const words of ['Offer it first', 'Offers single sign-on where configured', '', 'The café offers it first.'])
    assert.equal(problems({ spec: changed(SPEC_TEXT, english, words) }).length, 1, words);
  assert.deepEqual(warningsOf(GOOD, ['src/other', 'src/comp']), []);
});

test('a file of a task that lies in a submodule is named', () => {
  assert.deepEqual(
    warningsOf(GOOD, ['src/other', 'src/components']).map(({ file, line, refusal }) => [
      file,
      line,
      refusal?.of.code,
      refusal?.values.id,
      refusal?.values.file,
      refusal?.values.submodule,
    ]),
    [['plan.md', 19, 'spec_file_in_submodule', 'T2', '"src/components/form.tsx"', '"src/components"']],
  );
});

test('a conflict of a merge is named with its lines, in whatever document', () => {
  for (const name of ['spec', 'plan', 'acceptance'] as const) {
    const lines = GOOD[name].split('\n');
    for (const index of [2, 8, lines.length - 1]) {
      const both = ['<<<<<<< HEAD', lines[index], '=======', lines[index], '>>>>>>> side'];
      const found = problems({ [name]: [...lines.slice(0, index), ...both, ...lines.slice(index + 1)].join('\n') });
      const words = (marker: string) => wordsOf(SPEC_CODES.spec_conflict_marker, { marker });
      assert.deepEqual(found, [
        `${name}.md:${index + 1}: ${words('"<<<<<<< HEAD"')}`,
        `${name}.md:${index + 5}: ${words('">>>>>>> side"')}`,
      ]);
    }
  }
});

test('files of tasks that differ by case alone are named', () => {
  const taken = (id: string, file: string) =>
    wordsOf(SPEC_CODES.plan_file_name_taken, { id, file, other: '"src/api/login.ts"', task: 'T1 (line 11)' });
  assert.deepEqual(problems({ plan: changed(PLAN_TEXT, 'src/components/form.tsx', './src/api/Login.ts') }), [
    `plan.md:19: ${taken('T2', '"./src/api/Login.ts"')}`,
  ]);
  assert.deepEqual(problems({ plan: changed(PLAN_TEXT, 'src/models/user.ts', 'src/API/login.ts') }), [
    `plan.md:11: ${taken('T1', '"src/API/login.ts"')}`,
  ]);
  assert.deepEqual(problems({ plan: changed(PLAN_TEXT, 'src/components/form.tsx', 'src/api/login.ts') }), []);
});

test('migrations of the same number are named', () => {
  const plan = (first: string, second: string) =>
    problems({
      plan: changed(changed(PLAN_TEXT, 'src/models/user.ts', first), 'src/components/form.tsx', second),
    });
  for (const [first, second, number] of [
    ['db/migrations/0007_users.sql', 'db/migrations/0007_forms.sql', '7'],
    ['prisma/migrations/20260130_a/migration.sql', 'prisma/migrations/20260130_b/migration.sql', '20260130'],
    ['db/migrate/12-a.rb', 'db/migrate/012-b.rb', '12'],
    ['sql/migration/V7__a.sql', 'sql/migration/V7__b.sql', '7'],
  ] as const)
    assert.deepEqual(plan(first, second), [
      `plan.md:19: ${wordsOf(SPEC_CODES.plan_migration_number_taken, { id: 'T2', file: `"${second}"`, number, other: `"${first}"`, task: 'T1 (line 11)' })}`,
    ]);
  for (const [first, second] of [
    ['db/migrations/0007_users.up.sql', 'db/migrations/0007_users.down.sql'],
    ['db/migrations/0007_users.sql', 'db/migrations/0008_forms.sql'],
    ['a/migrations/0007_users.py', 'b/migrations/0007_forms.py'],
    ['docs/2026-a.md', 'docs/2026-b.md'],
    ['db/migrations/*.sql', 'db/migrations/0007_forms.sql'],
  ] as const)
    assert.deepEqual(plan(first, second), []);
});

test('prose that speaks of a requirement, and code, are left alone', () => {
  const last = '  for an hour.\n';
  for (const lines of [
    'All of it goes back to what was said of the former system, of which\nR1: see above, and R9 are left.',
    'R1 and R2 are the first to be built.',
    'It is as in R9.\nA 2-hour session is too short.',
    '### R1 in detail',
    '````\n```\nR9: The system shall wave.\n````',
    '```` inline ````: no block of code',
    '## Notes\n\nR9: what was left out.',
  ])
    assert.deepEqual(problems({ spec: changed(SPEC_TEXT, last, `${last}\n${lines}\n`) }), [], lines);
  const title = (words: string) => changed(SPEC_TEXT, '# Users log in with their address', `# ${words}`);
  for (const words of ['R12: the second release', 'Requirement 7', 'R1: Log in'])
    assert.deepEqual(problems({ spec: title(words) }), [], words);
  const about = changed(SPEC_TEXT, '> So that', '> R9: the system shall wave.\n> So that');
  assert.deepEqual(problems({ spec: about }), []);
});

test('a task that is not in its form is named', () => {
  const lost = (line: number, text: string) =>
    `plan.md:${line}: expected a task like "## T1: Store the owner", got ${JSON.stringify(text)}`;
  for (const heading of ['## T2 Show the form', '## T2 - Show the form', '## Task 2: Show the form', '### t2: Show it'])
    assert.deepEqual(
      problems({ plan: changed(PLAN_TEXT, '## T2: Show the form', heading) }).filter((one) => one.startsWith('plan')),
      [lost(15, heading)],
    );
  // One that stands there twice is lost as well; one that is spoken of is not.
  const twice = changed(PLAN_TEXT, '## T2:', '## T1 again\n\n- files: `a`\n\n## T2:');
  assert.deepEqual(problems({ plan: twice }), [lost(15, '## T1 again')]);
  assert.deepEqual(problems({ plan: `${PLAN_TEXT}\n## T1 in words\n\n- It is the first.\n\nT1: as above.\n` }), []);
  assert.deepEqual(problems({ plan: `${PLAN_TEXT}\n## Later\n\n- T3: Wave\n\n4. T4: Wave\n` }), [
    lost(27, 'T3: Wave'),
    lost(29, '4. T4: Wave'),
  ]);
});

test('a scenario that is not in its form is named', () => {
  for (const line of [
    '4. A4 (R1): Given a, when b, then c.',
    '**A4 (R1)**: given a',
    '### A4 (R1)',
    '  A4 (R1): Given a',
  ])
    assert.deepEqual(problems({ acceptance: `${ACCEPTANCE_TEXT}${line}\n` }), [
      `acceptance.md:12: expected a scenario like "- A1 (R1): Given …, when …, then …", got ${JSON.stringify(line.trim())}`,
    ]);
});

test('code that nothing closes is named where it begins', () => {
  const words = 'expected the block of code that begins here to be closed, got the end of the document';
  for (const [name, texts] of Object.entries({
    'spec.md:26': { spec: `${SPEC_TEXT}\n\`\`\`\nx\n` },
    'plan.md:25': { plan: `${PLAN_TEXT}\n~~~\n\`\`\`\n` },
    'acceptance.md:13': { acceptance: `${ACCEPTANCE_TEXT}\n\`\`\`\`\n\`\`\`\n` },
  })) {
    const found = problems(texts);
    assert.equal(found.length, 1, found.join('\n'));
    assert.ok(found[0]?.startsWith(`${name}: ${words}`), found.join('\n'));
  }
});

test('all problems are said at once, documents that are missing among them', () => {
  const found = problems({ plan: null, acceptance: null });
  assert.deepEqual(
    found,
    ['plan.md', 'acceptance.md'].map((file) => `${file}:1: ${wordsOf(SPEC_CODES.spec_file_missing, { file })}`),
  );
  const many = problems({
    spec: changed(changed(SPEC_TEXT, 'status: draft', 'status: x'), '- R3:', '- R1:'),
    plan: changed(PLAN_TEXT, 'domain: backend', 'domain: x'),
  });
  assert.ok(many.length >= 3, many.join('\n'));
  assert.deepEqual(problems({ spec: '', plan: '', acceptance: '' }).length, 4);
});

/** Text of any kind that has words, some of which look like the form of the documents. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.string({ unit: 'binary', minLength: 1 }),
    fc
      .array(
        fc.constantFrom(
          '\n',
          '\r\n',
          '---',
          '```',
          '- R1: ',
          '## T1: ',
          '# ',
          '> ',
          'A1 (R1):',
          'Given ',
          'When ',
          ', then ',
          'status: approved',
          '`',
          '"',
          "'",
          ': ',
          '\u2028',
          'shall',
          ' the ',
          'Order history',
          'Acceptance',
          'Out of scope',
          '## Result of the sync',
          '#',
          'x',
        ),
        { minLength: 1, maxLength: 6 },
      )
      .map((all) => all.join('')),
  )
  .filter((one) => asWords(one) !== '' && asWords(one.replaceAll('`', '')) !== '');

const file = text.filter((one) => {
  const clean = asWords(one);
  return !clean.startsWith('/') && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(clean) && /[^/]/.test(clean);
});

function some<T>(values: readonly T[]) {
  return fc.subarray([...values], { minLength: 1 });
}

const data: fc.Arbitrary<SpecData> = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }))
  .chain(([requirements, tasks, scenarios]) => {
    const ids = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
    const asked = ids('R', requirements);
    const ears = fc.tuple(text, text, text, fc.integer({ min: 0, max: 4 })).map(([when, who, what, form]) => {
      const condition = ['', `When ${when}, `, `While ${when}, `, `If ${when}, then `, `Where ${when}, `][form] ?? '';
      return `${condition}The ${who} shall ${what}`;
    });
    return fc.record({
      spec: fc.record({
        id: fc.constant(SPEC_ID),
        title: text,
        status: fc.constantFrom(...SPEC_STATUSES),
        created: fc.constant('2026-01-30'),
        updated: fc.constant('2026-01-31'),
        about: fc.oneof(fc.constant(''), text),
        requirements: fc.tuple(...asked.map((id) => ears.map((one) => ({ id, text: one })))),
        outOfScope: fc.array(text, { maxLength: 2 }),
      }),
      plan: fc.record({
        design: fc.oneof(fc.constant(''), text),
        tasks: fc.tuple(
          ...ids('T', tasks).map((id, index) =>
            fc.record({
              id: fc.constant(id),
              subject: text,
              description: fc.oneof(fc.constant(''), text),
              files: fc.uniqueArray(file, {
                selector: (one) => insideProject(asWords(one)),
                minLength: 1,
                maxLength: 3,
              }),
              domain: fc.constantFrom(...DOMAINS),
              owner: fc.constantFrom(null, 'backend-dev', 'tester'),
              dependsOn: fc.subarray(ids('T', index)),
              requirements: index === 0 ? fc.constant(asked) : some(asked),
            }),
          ),
        ),
      }),
      acceptance: fc.record({
        scenarios: fc.tuple(
          ...ids('A', scenarios).map((id, index) =>
            fc.record({
              id: fc.constant(id),
              requirements: index === 0 ? fc.constant(asked) : some(asked),
              given: fc.array(text, { minLength: 1, maxLength: 2 }),
              when: fc.array(text, { minLength: 1, maxLength: 2 }),
              outcomes: fc.array(text, { minLength: 1, maxLength: 2 }),
            }),
          ),
        ),
      }),
    });
  });

/** Every text as a document can hold it: in one line, or in lines where it is a paragraph. */
function held(value: unknown, key = ''): unknown {
  if (typeof value === 'string')
    return ['about', 'design', 'description'].includes(key) ? asParagraph(value) : asWords(value);
  if (Array.isArray(value)) return value.map((one) => held(one));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, held(one, name)]));
  return value;
}

test('what is rendered passes its own check and is read as the same data, whatever its words are', () => {
  fc.assert(
    fc.property(data, (given) => {
      const texts = {
        id: SPEC_ID,
        spec: renderSpec(given.spec),
        plan: renderPlan(given.plan),
        acceptance: renderAcceptance(given.acceptance),
      };
      assert.deepEqual(checkSpec(texts), []);
      const expected = held(given);
      assert.deepEqual(readSpecTexts(texts), expected);
    }),
    { numRuns: 300 },
  );
});

test('no text makes the check throw', () => {
  fc.assert(
    fc.property(text, text, text, (spec, plan, acceptance) => {
      assert.ok(checkSpec({ id: SPEC_ID, spec, plan, acceptance }).length > 0);
    }),
  );
});
