import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { SCORE_MAX, SCORE_MIN } from '../../../src/domain/team/complexity.ts';
import { rolesOf, type SelectionInput, select } from '../../../src/domain/team/selection.ts';
import { teamSettings } from '../../support/team-settings.ts';

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

function domains(text: string, changed: Partial<SelectionInput> = {}): readonly string[] {
  return selectIn(text, changed).domains.map((one) => one.name);
}

test('a path that is named counts, in whatever words', () => {
  assert.deepEqual(selectIn('Tidy `src/lib/money.ts`.').files, ['src/lib/money.ts']);
  assert.deepEqual(selectIn('Tidy money.ts!').files, ['src/lib/money.ts']);
  assert.deepEqual(selectIn('Tidy (src/components/*.tsx)').files, [
    'src/components/OrderList.test.tsx',
    'src/components/OrderList.tsx',
    'src/components/UserCard.tsx',
  ]);
  assert.ok(selectIn('Tidy src/api/').files.includes('src/api/users.ts'));
  assert.deepEqual(selectIn('Tidy', { mentioned: ['src/pages/index.tsx'] }).files, ['src/pages/index.tsx']);
});

test('a path that is to be made counts where somebody owns it or its folder is there', () => {
  assert.deepEqual(selectIn('Add src/services/mail.ts').files, ['src/services/mail.ts']);
  assert.deepEqual(domains('Add src/hooks/useMail.tsx', { files: [] }), ['frontend']);
  assert.deepEqual(selectIn('Add elsewhere/a.ts').files, []);
  assert.deepEqual(selectIn('Read ../../etc/passwd.txt and /etc/hosts.txt').files, []);
});

test('a hint alone is no domain', () => {
  assert.deepEqual(domains('Mind the pipeline'), []);
  assert.deepEqual(domains('Mind the page', { files: ['src/a.py'] }), []);
  assert.deepEqual(domains('A server with an endpoint', { files: ['src/a.ts', 'src/b.ts'] }), []);
});

test('two hints are one where that part is there', () => {
  assert.deepEqual(domains('An endpoint of the server'), ['backend']);
});

test('a glob that would be costly to try is not tried', () => {
  assert.deepEqual(selectIn(`Tidy src/${'*a'.repeat(40)}*.ts`).files, []);
});

test('a text of one endless word, or of quotes, is read like any other', () => {
  for (const part of ['a', '_', 'A', 'aA', '/', '.', '"a ', '- a\n'])
    assert.deepEqual(selectIn(part.repeat(20_000)).domains, [], part);
});

test('files that a plan names are counted, however little code there is yet', () => {
  const text = 'A greeting\n\n- It greets.\n- It greets by name.\n- It is polite.';
  const { fileCount, isEstimate, size } = selectIn(text, { files: [], mentioned: ['src/greet.js'] });
  assert.deepEqual([fileCount, isEstimate, size], [1, false, 'solo']);
});

test('an empty repository is estimated from the requirements, and said to be', () => {
  const text = `A shop.
- The API shall list orders of the server.
- The page shall show a form with a button.
- Orders shall be stored in a database table.`;
  const selection = selectIn(text, { files: ['README.md'] });
  assert.equal(selection.isEstimate, true);
  assert.equal(selection.fileCount, 6);
  assert.deepEqual(
    selection.domains.map((one) => one.name),
    ['backend', 'frontend', 'database'],
  );
  assert.match(selection.reasons.join('\n'), /about 6 files: an estimate from 3 requirements/);
  assert.equal(selectIn(text).isEstimate, false);
});

test('a critical feature needs its word and a file of that name, or two of its words', () => {
  assert.equal(selectIn('Refund an order: src/services/billing.ts').critical?.feature, 'payment');
  assert.equal(selectIn('Refund: src/components/UserCard.tsx').critical, null);
  assert.equal(selectIn('Tidy src/services/billing.ts').critical?.feature, undefined);
  assert.equal(selectIn('Take a payment by credit card', { files: [] }).critical?.feature, 'payment');
  assert.equal(selectIn('Take a fee by cash', { files: [] }).critical, null);
  // What is new has no file of its name yet; the files that it changes are called otherwise.
  const added = selectIn('Add payments with Stripe to src/components/UserCard.tsx');
  assert.deepEqual([added.critical?.feature, added.pattern], ['payment', 'quality_gate']);
  assert.equal(selectIn('Log in with OAuth: src/pages/Shop.tsx').critical?.feature, 'authentication');
});

test('a critical feature and a large one have the quality gate, a large one a designer too', () => {
  assert.deepEqual(selectIn('Refund: src/services/billing.ts').roles, [
    'backend-dev',
    'frontend-dev',
    'tester',
    'quality',
  ]);
  const many = Array.from({ length: 21 }, (_, index) => `src/api/part${index}.ts`);
  const large = selectIn('Tidy src/api/**', { files: many });
  assert.equal(large.size, 'large');
  assert.deepEqual(large.roles, ['backend-dev', 'frontend-dev', 'designer', 'tester', 'quality']);
  const medium = selectIn('Tidy src/api/**', { files: many.slice(0, 20) });
  assert.equal(medium.size, 'medium');
  assert.deepEqual(medium.roles, ['backend-dev', 'frontend-dev', 'tester']);
  assert.equal(selectIn('Tidy src/api/**', { files: [...SHOP, ...many.slice(0, 2)] }).size, 'solo');
  const own = teamSettings({ patterns: { quality_gate: ['reviewer'] } });
  assert.deepEqual(selectIn('Tidy src/api/**', { files: many, settings: own }).roles, ['reviewer', 'designer']);
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

test('shared files cost a point', () => {
  const why = (text: string) => selectIn(text).scoreLines.map((line) => line.why);
  assert.ok(why('Tidy src/lib/money.ts').includes('files that several share: src/lib/money.ts'));
  assert.ok(!why('Tidy src/api/users.ts').some((line) => line.startsWith('files that')));
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
        'users',
        'src/**',
        'orders.\n',
        'payment',
        '**',
        '{',
        '[',
        'tests',
        '```',
        '#',
      ),
    )
    .map((words) => words.join(' ')),
);

test('any text on any paths has a score from 1 to 10, the sum of its lines, whatever their order', () => {
  fc.assert(
    fc.property(texts, paths, fc.array(fc.string(), { maxLength: 3 }), (text, files, mentioned) => {
      const input = { text, settings: teamSettings(), mentioned };
      const selection = select({ ...input, files });
      assert.ok(selection.score >= SCORE_MIN && selection.score <= SCORE_MAX);
      const sum = selection.scoreLines.reduce((all, line) => all + line.points, 0);
      assert.equal(sum, selection.score);
      assert.ok(selection.fileCount >= selection.files.length);
      for (const { files: own } of selection.domains) for (const file of own) assert.ok(selection.files.includes(file));
      assert.deepEqual(select({ ...input, files: [...files].reverse() }), selection);
      assert.deepEqual(select({ ...input, files: [...files, ...files] }), selection);
    }),
  );
});
