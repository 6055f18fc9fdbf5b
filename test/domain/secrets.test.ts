import assert from 'node:assert/strict';
import test from 'node:test';
import { entropyOf, secretsIn } from '../../src/domain/secrets.ts';

/** Put together here, so that nothing that looks like a secret stands in this file. */
const random = (length: number, alphabet = 'q7RtY2wEz9XcV4bNm1LkJ8hGf6DsA3pO5uI0') =>
  Array.from({ length }, (_, index) => alphabet[(index * 7 + 3) % alphabet.length]).join('');
const upper = (length: number) => random(length, 'Q7RTY2WEZ9XCV4BNM');
const hex = (length: number) => random(length, '0123456789abcdef');

const FOUND: readonly [string, string][] = [
  ['an AWS access key', `aws = "${'AK'}IA${upper(16)}"`],
  ['a GitHub token', `token: ${'gh'}p_${random(36)}`],
  ['a GitHub token', `${'github'}_pat_${random(70)}`],
  ['a GitLab token', `${'glp'}at-${random(20)}`],
  ['a Slack token', `${'xo'}xb-${random(30)}`],
  ['a Stripe key', `stripe(${'sk'}_live_${random(24)})`],
  ['a Google API key', `key=${'AI'}za${random(35)}`],
  ['an npm token', `//registry/:_authToken=${'np'}m_${random(36)}`],
  ['an Anthropic key', `${'sk'}-ant-api03-${random(40)}`],
  ['an OpenAI key', `${'sk'}-proj-${random(60)}`],
  ['a private key', `${'-----BEGIN'} RSA PRIVATE KEY-----`],
  ['a private key', `${'-----BEGIN'} PRIVATE KEY-----`],
  ['a JSON web token', `${'ey'}J${random(20)}.${'ey'}J${random(20)}.${random(30)}`],
  ['a password in a URL', `DATABASE=postgres://app:${random(12)}@db.prod.internal.net/app`],
  ['a value that looks random under the name of a secret', `const apiKey = '${random(32)}';`],
  ['a value that looks random under the name of a secret', `  "client_secret": "${hex(40)}",`],
  ['a value that looks random under the name of a secret', `SESSION_SECRET=${hex(40)}`],
  ['a value that looks random under the name of a secret', `password := "${random(20)}"`],
  ['a value that looks random under the name of a secret', `token: string = "${random(20)}"`],
  // Groups of letters and digits are no words.
  [
    'a value that looks random under the name of a secret',
    `password: "${[4, 4, 4, 4].map((length, at) => random(28).slice(at * 7, at * 7 + length)).join('-')}"`,
  ],
  ['a value that looks random under the name of a secret', `token: "prod-${random(16)}"`],
];

for (const [kind, line] of FOUND)
  test(`found: ${kind} in ${line.slice(0, 12)}…`, () => {
    const [found, ...more] = secretsIn(line);
    assert.deepEqual([found?.kind, more], [kind, []]);
    assert.ok(line.includes(found?.value ?? 'nothing'));
  });

const NOT_FOUND: readonly string[] = [
  'password = "test-password-123"',
  'apiKey: "your-api-key-here"',
  'apiKey = "test_api_key_12345"',
  'DB_PASSWORD=my-local-dev-password-123',
  'token: "Bearer:test:Token2:2024"',
  'secret: "superSecret.value.v2.0.17"',
  'accessKey: "0123456789abcdef"',
  'secretArn: "arn:aws:secretsmanager:us-east-1:123456789012:secret:prod-db"',
  'const apiKey = process.env.API_KEY;',
  'const token = await readToken(session, "id-of-the-user-42");',
  'password: "correct horse battery staple 1"',
  'password = "short1"',
  `token: "your-${random(24)}"`,
  `apiKey: "\${API_KEY_${random(16)}}"`,
  `aws = "${'AK'}IA${upper(9)}EXAMPLE"`,
  'postgres://user:password@localhost:5432/app',
  'postgres://app:pass@db/app',
  `"integrity": "sha512-${random(60)}"`,
  `const digest = '${hex(64)}';`,
  'tokenPath: "/var/lib/app/secrets/token-file-2024"',
  'const tokens = tokenize2(source3, options4)',
  'secretName: my-service-account-secret-1',
  'const tokenValue = someFunction2Result',
];

for (const line of NOT_FOUND) test(`no secret: ${line.slice(0, 50)}`, () => assert.deepEqual(secretsIn(line), []));

test('entropy is in bits for each character', () => {
  assert.equal(entropyOf('aaaa'), 0);
  assert.equal(entropyOf('abab'), 1);
  assert.equal(entropyOf('0123456789abcdef'), 4);
});

test('a long line of code is read to its end', () => {
  const line = `${'token_'.repeat(50_000)}${'a.b://c:'.repeat(50_000)}`;
  assert.deepEqual(secretsIn(line), []);
  assert.equal(secretsIn(`${line} secret = "${random(32)}"`).length, 1);
});
