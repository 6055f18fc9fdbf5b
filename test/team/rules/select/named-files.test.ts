import assert from 'node:assert/strict';
import test from 'node:test';
import { areasIn, askedOf, criticalIn, namedIn, titleOf } from '../../../../src/team/rules/select/named-files.ts';
import { ACCEPTANCE_TEXT, SPEC_TEXT } from '../../../support/spec.ts';

const FILES = [
  'README.md',
  'src/api/orders.ts',
  'src/api/orders.test.ts',
  'src/api/index.ts',
  'src/components/OrderList.tsx',
  'src/components/OrderList.test.tsx',
  'src/components/index.ts',
  'app/(shop)/[id]/page.tsx',
  'docs/release notes.md',
  'docs/größe.md',
  'tests/orders.ts',
  'jobs/update_index.py',
];

const files = (text: string) => namedIn(text, FILES).files;

const NAMED: readonly [string, readonly string[]][] = [
  ['Tidy src/api/orders.ts.', ['src/api/orders.ts']],
  ['Tidy ./src/api/orders.ts:12, please', ['src/api/orders.ts']],
  [
    'Tidy (src/api/orders.ts) and [it](src/components/OrderList.tsx)!',
    ['src/api/orders.ts', 'src/components/OrderList.tsx'],
  ],
  ['Tidy "src/api/orders.ts"\'s end', ['src/api/orders.ts']],
  ['Tidy app/(shop)/[id]/page.tsx', ['app/(shop)/[id]/page.tsx']],
  ['Tidy `docs/release notes.md`', ['docs/release notes.md']],
  ['Tidy docs/größe.md', ['docs/größe.md']],
  ['Tidy api/orders.ts', ['src/api/orders.ts']],
  ['README.md', ['README.md']],
  ['OrderList loses its order; update_index too', ['jobs/update_index.py', 'src/components/OrderList.tsx']],
  // More than one file has that name.
  ['Tidy index.ts and orders.ts', []],
  ['Tidy components/index.ts', ['src/components/index.ts']],
  ['Orders are listed by page, e.g. in Node.js', []],
  ['See https://example.com/src/api/orders.ts', []],
  ['Read ../../etc/passwd.txt, /etc/hosts.txt and ../src/api/orders.ts', []],
  ['constructor __proto__ toString hasOwnProperty', []],
];

for (const [text, expected] of NAMED)
  test(`files named in ${JSON.stringify(text)}`, () => assert.deepEqual(files(text), expected));

test('a directory counts by its slash, and a path that does not exist by its extension', () => {
  const named = namedIn(
    'Put src/api/mail.ts beside src/api/ and src/components, as the tests and app/(shop)/ do',
    FILES,
  );
  assert.deepEqual(named, {
    files: [],
    directories: ['app/(shop)', 'src/api', 'src/components'],
    absent: ['src/api/mail.ts'],
  });
});

test('a directory is of an area where all its files are, tests aside', () => {
  const areas = (text: string) => [...areasIn(namedIn(text, FILES), FILES)].sort();
  assert.deepEqual(areas('src/api/'), ['backend']);
  assert.deepEqual(areas('src/api/ and src/components/'), ['backend', 'frontend']);
  assert.deepEqual(areas('Tidy src/'), []);
  assert.deepEqual(areas('Tidy tests/'), ['tests']);
  assert.deepEqual(areas('Tidy src/api/orders.test.ts'), ['tests']);
});

test('front matter, code fences and sections out of scope ask for nothing', () => {
  const text = [
    '---\nstatus: draft\n---\n# Orders\n\nsrc/api/a.ts\n```\nsrc/api/b.ts\n```\n## Out of scope\nsrc/api/c.ts',
    '### More of it\nsrc/api/d.ts\n## Acceptance\nsrc/api/e.ts',
  ].join('\n');
  assert.equal(askedOf(text), '# Orders\n\nsrc/api/a.ts\n## Acceptance\nsrc/api/e.ts');
  assert.equal(askedOf('---\nno front matter'), '---\nno front matter');
  assert.equal(askedOf(''), '');
});

test('the title of a SPEC, an issue and a list', () => {
  assert.equal(titleOf(`${SPEC_TEXT}\n\n${ACCEPTANCE_TEXT}`), 'Users log in with their address');
  assert.equal(titleOf('Users can log in\n\nBy a link.'), 'Users can log in');
  assert.equal(titleOf('- Users can log in'), 'Users can log in');
  assert.equal(titleOf('---\nid: x\n---\n# Out of scope\n\nOrders'), 'Out of scope');
  assert.equal(titleOf(''), '');
});

test('a critical feature shows twice, in whole words', () => {
  const feature = (text: string, ...paths: string[]) => criticalIn(text, paths)?.feature ?? null;
  assert.equal(feature('People sign in'), null);
  assert.equal(feature('People sign in with their password'), 'authentication');
  assert.equal(feature('People sign-in', 'src/pages/SignInForm.tsx'), 'authentication');
  assert.equal(feature('Refunds', 'src/api/refunds.ts'), 'payment');
  assert.equal(feature('The e-mail address of each user account'), 'user data');
  assert.equal(feature('The obsession of a taxpayer'), null);
  assert.deepEqual(criticalIn('Each payment is invoiced', []), {
    feature: 'payment',
    source: '"payment", "invoice"',
  });
});

test('a text of one endless word, or of quotes, is read like any other', () => {
  for (const part of ['a', '_', 'A', 'aA', '/', '.', '`', '"a ', '- a\n', '('])
    assert.deepEqual(files(part.repeat(20_000)), [], part);
});
