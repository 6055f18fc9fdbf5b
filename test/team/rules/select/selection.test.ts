import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { SCORE_MAX, SCORE_MIN } from '../../../../src/team/rules/select/complexity.ts';
import { rolesOf, type SelectionInput, select } from '../../../../src/team/rules/select/selection.ts';
import { teamSettings } from '../../../support/team-settings.ts';

const SHOP = [
  'README.md',
  'package.json',
  'src/api/orders.ts',
  'src/api/users.ts',
  'src/services/billing.ts',
  'src/models/order.ts',
  'src/components/OrderList.tsx',
  'src/components/OrderList.test.tsx',
  'src/components/UserCard.tsx',
  'src/pages/index.tsx',
  'src/lib/money.ts',
  'prisma/migrations/001_init/migration.sql',
  'design/page.fig',
  'tests/orders.ts',
];

function selectIn(text: string, changed: Partial<SelectionInput> = {}) {
  return select({ text, files: SHOP, settings: teamSettings(), ...changed });
}

function figures(text: string, changed: Partial<SelectionInput> = {}) {
  const { domains, files, complexity } = selectIn(text, changed).figures;
  return [domains.value, files.value, complexity.value];
}

const task = (domain: string, files: readonly string[], dependsOn: readonly string[] = []) => ({
  domain,
  files,
  dependsOn,
});

test('a text that names nothing has no figure, and each says why', () => {
  const selection = selectIn(
    'The API stores orders; a form with a button shows them, and the tests cover the database.',
  );
  assert.deepEqual(selection.figures, {
    domains: { value: null, source: 'the text names no file and no directory that exists' },
    files: { value: null, source: 'the text names no file that exists' },
    complexity: { value: null, source: 'neither files nor domains are known' },
  });
  assert.deepEqual([selection.size, selection.pattern, selection.scoreLines], [null, 'implementation', []]);
  assert.equal(selection.patternWhy, 'the number of files is unknown');
});

test('files and domains are counted from the paths of a text', () => {
  const selection = selectIn('Tidy `src/lib/money.ts` and src/api/orders.ts, as OrderList does.');
  assert.deepEqual(selection.files, ['src/api/orders.ts', 'src/components/OrderList.tsx', 'src/lib/money.ts']);
  assert.deepEqual(selection.figures.files, {
    value: 3,
    source: 'the paths in the text: src/api/orders.ts, src/components/OrderList.tsx, src/lib/money.ts',
  });
  assert.deepEqual(selection.figures.domains, { value: 2, source: 'the paths in the text: backend, frontend' });
  assert.deepEqual(figures('Tidy src/api/ and prisma/migrations/'), [2, null, 2]);
});

test('a plan comes before the text: its paths, the files its patterns match, and its domains', () => {
  const plan = [
    task('database', ['src/models/order.ts', 'src/models/refund.ts']),
    task('backend', ['src/api/*.ts', './src/models/order.ts'], ['T1']),
    task('tests', ['tests/refunds/**', 'app/[id]/page.tsx'], ['T1', 'T2']),
  ];
  const selection = selectIn('Returns. See README.md and design/page.fig.', { plan });
  assert.deepEqual(selection.files, [
    'app/[id]/page.tsx',
    'src/api/orders.ts',
    'src/api/users.ts',
    'src/models/order.ts',
    'src/models/refund.ts',
    'tests/refunds/**',
  ]);
  assert.deepEqual(selection.domains, ['backend', 'database', 'tests']);
  assert.deepEqual(selection.figures, {
    domains: { value: 3, source: 'plan.md: backend, database, tests' },
    files: { value: 6, source: 'plan.md: app/[id]/page.tsx, src/api/orders.ts, src/api/users.ts and 3 more' },
    complexity: {
      value: 5,
      source:
        "1 every piece of work + 2 domains: 3 + 1 files to change: 6 + 1 dependencies between the plan's tasks: 3",
    },
  });
});

test('a figure that is set comes before the plan and the text, and is counted in the sum', () => {
  const set = { files: 12, domains: 4 };
  assert.deepEqual(figures('', { set }), [4, 12, 6]);
  assert.deepEqual(selectIn('', { set }).figures.files, { value: 12, source: 'set by --files' });
  const scored = selectIn('Tidy src/api/orders.ts', { set: { complexity: 9 } });
  assert.deepEqual(scored.figures.complexity, { value: 9, source: 'set by --complexity' });
  assert.deepEqual(scored.scoreLines, []);
  assert.deepEqual(figures('', { set: { files: 30 }, plan: [task('core', ['a.ts'])] }), [1, 30, 4]);
});

test('a critical feature needs its word and a file of that name, or two of its words', () => {
  assert.equal(selectIn('Refund an order: src/services/billing.ts').critical?.feature, 'payment');
  assert.equal(selectIn('Refund: src/components/UserCard.tsx').critical, null);
  assert.equal(selectIn('Tidy src/services/billing.ts').critical, null);
  assert.equal(selectIn('Tidy the sums', { plan: [task('backend', ['src/services/billing.ts'])] }).critical, null);
  assert.equal(selectIn('Take a payment by credit card', { files: [] }).critical?.feature, 'payment');
  assert.equal(selectIn('Take a fee by cash', { files: [] }).critical, null);
  const added = selectIn('Add payments with Stripe to src/components/UserCard.tsx');
  assert.deepEqual([added.critical?.feature, added.pattern], ['payment', 'quality_gate']);
  assert.equal(added.patternWhy, 'payment is critical');
  assert.equal(selectIn('Log in with OAuth: src/pages/Shop.tsx').critical?.feature, 'authentication');
});

test('a critical feature and a large one have the quality gate, a large one a designer too', () => {
  assert.deepEqual(selectIn('Refund: src/services/billing.ts').roles, [
    'backend-dev',
    'frontend-dev',
    'tester',
    'quality',
  ]);
  const sized = (files: number, changed: Partial<SelectionInput> = {}) => selectIn('', { set: { files }, ...changed });
  assert.equal(sized(4).size, 'solo');
  assert.equal(sized(5).size, 'medium');
  assert.deepEqual(sized(20).roles, ['backend-dev', 'frontend-dev', 'tester']);
  assert.deepEqual(sized(21).roles, ['backend-dev', 'frontend-dev', 'designer', 'tester', 'quality']);
  assert.equal(sized(21).patternWhy, 'more than 20 files');
  const own = teamSettings({ patterns: { quality_gate: ['reviewer'] } });
  assert.deepEqual(sized(21, { settings: own }).roles, ['reviewer', 'designer']);
});

test('roles are the project’s, then the program’s, then none', () => {
  assert.deepEqual(rolesOf('implementation', teamSettings({ patterns: { implementation: ['a'] } })), ['a']);
  assert.deepEqual(rolesOf('implementation', teamSettings({ patterns: {} })), [
    'backend-dev',
    'frontend-dev',
    'tester',
  ]);
  assert.deepEqual(rolesOf('constructor', teamSettings()), []);
});

const paths = fc.array(
  fc
    .array(fc.constantFrom('src', 'api', 'users', 'Order List', 'tests', '*', '[id]', '{a}', '..', 'migrations', 'é'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => `${parts.join('/')}.ts`),
  { maxLength: 30 },
);
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '- the API shall',
        'users.ts',
        'src/',
        'src/api/users.ts',
        'orders.\n',
        'payment',
        '**',
        '{',
        '[',
        '```',
        '#',
      ),
    )
    .map((words) => words.join(' ')),
);
const plans = fc.option(
  fc.array(
    fc.record({ domain: fc.constantFrom('backend', 'core', 'x'), files: paths, dependsOn: fc.array(fc.string()) }),
  ),
);

test('any text on any paths has figures that fit together, whatever their order', () => {
  fc.assert(
    fc.property(texts, paths, plans, (text, files, plan) => {
      const input = { text, settings: teamSettings(), plan };
      const selection = select({ ...input, files });
      const { domains, files: count, complexity } = selection.figures;
      assert.equal(count.value, selection.files.length || null);
      assert.equal(domains.value, selection.domains.length || null);
      assert.equal(complexity.value === null, count.value === null && domains.value === null);
      const sum = selection.scoreLines.reduce((all, line) => all + line.points, 0);
      assert.equal(sum, complexity.value ?? 0);
      if (complexity.value !== null) assert.ok(complexity.value >= SCORE_MIN && complexity.value <= SCORE_MAX);
      for (const { source } of [domains, count, complexity]) assert.notEqual(source, '');
      if (plan === null) for (const file of selection.files) assert.ok(files.includes(file), file);
      assert.deepEqual(select({ ...input, files: [...files].reverse() }), selection);
      assert.deepEqual(select({ ...input, files: [...files, ...files] }), selection);
    }),
  );
});
