import assert from 'node:assert/strict';
import test from 'node:test';
import { type Area, areaOf, areasOf, isSettled, subjectOf } from '../../../src/domain/team/areas.ts';
import { findEvidence } from '../../../src/domain/team/evidence.ts';
import { conceptsOf, indexPaths, rarity } from '../../../src/domain/team/path-index.ts';
import { readAsked } from '../../../src/domain/team/requirement.ts';
import { select } from '../../../src/domain/team/selection.ts';
import { suggestOwnership } from '../../../src/domain/team/suggest-ownership.ts';
import { criticalHintsOf, hintsOf } from '../../../src/domain/team/vocabulary.ts';
import { stem, termsOfPart, termsOfText } from '../../../src/domain/team/words.ts';
import { teamSettings } from '../../support/team-settings.ts';

const SAME: readonly (readonly string[])[] = [
  ['entry', 'entries', 'Entry'],
  ['search', 'searches', 'searching', 'searched'],
  ['cancel', 'cancels', 'cancelled', 'cancelling'],
  ['pin', 'pins', 'pinned'],
  ['delete', 'deletes', 'deleted', 'deleting'],
  ['note', 'notes'],
  ['class', 'classes'],
  ['validate', 'validation', 'validator'],
  ['cookie', 'cookies'],
  ['box', 'boxes'],
];

for (const forms of SAME)
  test(`${forms.join(', ')} are one word`, () => assert.equal(new Set(forms.map(stem)).size, 1));

test('other words stay other words', () => {
  for (const [one, other] of [
    ['user', 'use'],
    ['string', 'str'],
    ['status', 'state'],
    ['seed', 'see'],
  ] as const)
    assert.notEqual(stem(one), stem(other));
});

test('identifiers are taken apart, and neighbours are a word too', () => {
  assert.deepEqual(termsOfPart('BankAccountForm.tsx').words, ['bank', 'account', 'form']);
  assert.ok(termsOfPart('bank-account.ts').pairs.some((pair) => pair.joined === 'bankaccount'));
  assert.deepEqual(termsOfPart('0007_add_OAuth2.py').words, ['add', 'oauth2']);
  assert.deepEqual(termsOfText('The API shall add bank accounts').words, ['api', 'bank', 'account']);
  assert.deepEqual(termsOfText('the and of').words, []);
});

const AREAS: readonly [string, Area][] = [
  ['src/api/users.ts', 'backend'],
  ['app/api/users/route.ts', 'backend'],
  ['blog/views.py', 'backend'],
  ['cmd/main.go', 'backend'],
  ['users.controller.ts', 'backend'],
  ['src/components/Form.tsx', 'frontend'],
  ['templates/page.html', 'frontend'],
  ['src/styles/page.css', 'frontend'],
  ['src/stores/cart.ts', 'frontend'],
  ['client/index.js', 'frontend'],
  ['internal/store/payment.go', 'core'],
  ['internal/client/github.go', 'core'],
  ['app/client/stripe.py', 'core'],
  ['src/main/java/shop/store/OrderStore.java', 'core'],
  ['web/templates/page.tmpl', 'frontend'],
  ['prisma/schema.prisma', 'database'],
  ['blog/models.py', 'database'],
  ['blog/migrations/0001_initial.py', 'database'],
  ['src/styles/tokens/colour.json', 'design'],
  ['src/api/users.test.ts', 'tests'],
  ['blog/tests.py', 'tests'],
  ['pkg/a_test.go', 'tests'],
  ['cypress/support/e2e.ts', 'tests'],
  ['.github/workflows/ci.yml', 'infrastructure'],
  ['Dockerfile', 'infrastructure'],
  ['package.json', 'infrastructure'],
  ['docs/page.md', 'documentation'],
  ['README.md', 'documentation'],
  ['lib/parse.js', 'core'],
  ['lib/head-route.js', 'core'],
  ['src/lexer.c', 'core'],
  ['include/lexer.h', 'core'],
  ['lib/cart.dart', 'core'],
];

for (const [path, area] of AREAS) test(`${path} alone is ${area}`, () => assert.equal(areaOf(path, []), area));

test('what no rule names belongs where its neighbours do', () => {
  const areas = areasOf(['src/components/A.tsx', 'src/machines/a.ts', 'shop/views.py', 'shop/feeds.py', 'tool.ts']);
  assert.equal(areas.get('src/machines/a.ts'), 'frontend');
  assert.equal(areas.get('shop/feeds.py'), 'backend');
  assert.equal(areas.get('tool.ts'), 'core', 'the two sides are even');
});

test('a server’s store and its clients are no screens', () => {
  const files = [
    'go.mod',
    'cmd/shop/main.go',
    'internal/http/pay.go',
    'internal/store/payment.go',
    'internal/client/git.go',
  ];
  const selection = select({
    text: 'The store shall keep when a payment was refunded.',
    files,
    settings: teamSettings(),
  });
  assert.ok(!selection.domains.some(({ name }) => name === 'frontend'), JSON.stringify(selection.domains));
});

test('what stays as it is, and what a test is about', () => {
  for (const path of ['blog/migrations/0001.py', 'package-lock.json', 'yarn.lock', 'a/locale/de/x.po', 'a.min.js'])
    assert.ok(isSettled(path), path);
  for (const path of ['src/lock.ts', 'src/api/block.ts', 'src/distance.ts']) assert.ok(!isSettled(path), path);
  for (const path of ['a/Form.tsx', 'b/Form.cy.tsx', 'test_form.py', 'form_test.go', 'form.d.ts', 'form.spec.ts'])
    assert.equal(subjectOf(path), 'form', path);
});

test('a rare word weighs more than one that is everywhere', () => {
  const index = indexPaths(Array.from({ length: 20 }, (_, at) => `lib/widget${at < 3 ? '-rare' : ''}-${at}.js`));
  assert.equal(rarity('widget', index), 0);
  assert.equal(rarity('absent', index), 0);
  assert.ok(rarity('rare', index) > 0.5);
  const shown = (text: string) => conceptsOf(termsOfText(text), index).map((one) => one.shown);
  assert.deepEqual(shown('a rare widget'), ['rare']);
  assert.deepEqual(shown('a widget rare'), ['widget rare'], 'a pair takes the place of its words');
});

test('each line has its own files', () => {
  const index = indexPaths(['src/api/orders.ts', 'src/api/invoices.ts', 'src/api/orders.test.ts', 'src/pages/a.tsx']);
  const { byLine, sources, tests } = findEvidence('', ['Orders are sorted', 'Invoices are dated', 'Nothing'], index);
  assert.deepEqual(byLine, [['src/api/orders.test.ts', 'src/api/orders.ts'], ['src/api/invoices.ts'], []]);
  assert.deepEqual(
    sources.map((one) => one.path),
    ['src/api/invoices.ts', 'src/api/orders.ts'],
  );
  assert.deepEqual(
    tests.map((one) => one.path),
    ['src/api/orders.test.ts'],
  );
});

test('requirement lines of a SPEC, an issue and a sentence', () => {
  const asked = readAsked(
    '---\nstatus: draft\n---\n# Title\nIntro.\n\n1. One\n   goes on\n2) [ ] Two\n* Three\nIt shall be four.\n```\n- not this\n```\n## Out of scope\n- nor this\n## Acceptance criteria\nGiven a, when b, then c.\n- Five',
  );
  assert.equal(asked.title, 'Title\nIntro.');
  assert.deepEqual(
    asked.requirements.map((one) => [one.text, one.kind]),
    [
      ['One goes on', 'requirement'],
      ['Two', 'requirement'],
      ['Three', 'requirement'],
      ['It shall be four.', 'requirement'],
      ['Given a, when b, then c.', 'acceptance'],
      ['Five', 'acceptance'],
    ],
  );
  assert.deepEqual(readAsked('Users can log in'), { title: 'Users can log in', requirements: [] });
  assert.deepEqual(readAsked(''), { title: '', requirements: [] });
});

test('hints are words and phrases, each once', () => {
  assert.deepEqual(
    [...hintsOf('The data model of the endpoints')],
    [
      ['backend', ['endpoint']],
      ['database', ['data model']],
    ],
  );
  assert.equal(hintsOf('Test the connection').has('tests'), false);
  assert.equal(hintsOf('The tests cover it').has('tests'), true);
  assert.deepEqual([...criticalHintsOf('People sign in, or log in')], [['authentication', ['log in', 'sign in']]]);
  assert.deepEqual([...criticalHintsOf('Amounts have their sign in lists; the log in the root')], []);
});

test('owners are proposed by folders, exceptions by themselves', () => {
  assert.deepEqual(suggestOwnership([]), []);
  const files = [
    'shop/views.py',
    'shop/urls.py',
    'shop/models.py',
    'shop/page.html',
    'shop/test_views.py',
    'src/[id]/a.tsx',
    'README.md',
  ];
  assert.deepEqual(suggestOwnership(files), [
    { owner: 'backend-dev', patterns: ['shop/**'] },
    { owner: 'frontend-dev', patterns: ['shop/page.html', 'src/**'] },
    { owner: 'tester', patterns: ['**/test_*.py'] },
  ]);
});
