// Tokens of a GitHub App, made by the real client with a real key, at a played service that checks what the original checks.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import type { App } from '../../../src/cli/demo/forge/apps.ts';
import { AppCredential } from '../../../src/daemon/github/app-credential.ts';
import { readAppKey, variablesWithKey } from '../../../src/daemon/github/app-key.ts';
import { CONFIG_CODES } from '../../../src/daemon/rules/codes/config-codes.ts';
import { GITHUB_CODES } from '../../../src/daemon/rules/codes/github-codes.ts';
import { TrackerError } from '../../../src/daemon/rules/tracker-error.ts';
import { failsWith, isOf, isRefusal } from '../../support/codes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { startForge } from '../../support/forge.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const pem = { type: 'pkcs8', format: 'pem' } as const;
const pair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: pem,
  });
const KEYS = pair();
const MINUTE = 60_000;
const keyOf = (text: string) =>
  readAppKey({ id: '7', key: { kind: 'variable', name: 'KEY' } }, new Map([['KEY', text]]));

async function start(t: Cleanup, change: Partial<App> = {}) {
  const app: App = { id: 7, slug: 'crew', publicKey: KEYS.publicKey, installed: 'yes', ...change };
  const { forge } = await startForge(t, undefined, { apps: [app] });
  const clock = new FakeClock(Date.now());
  const warnings: Refusal[] = [];
  const open = (id = '7', key = KEYS.privateKey, repo = 'project') =>
    AppCredential.open({
      ...{ id, key: keyOf(key), slug: { owner: 'maintainer', repo }, apiUrl: forge.url },
      ...{ userAgent: 'test', authorities: [], env: {}, clock, onUnrenewed: (what) => warnings.push(what) },
    });
  const statusWith = async (token: string) =>
    (await fetch(`${forge.url}/repos/maintainer/project`, { headers: { authorization: `token ${token}` } })).status;
  return { forge, clock, open, statusWith, warnings };
}

test('a token of the installation, with the account that commits and comments carry', async (t) => {
  const { open, statusWith, forge } = await start(t);
  const credential = await open();
  assert.equal(await statusWith(await credential.token()), 200);
  assert.equal(credential.login, 'crew[bot]');
  assert.deepEqual(credential.author, {
    name: 'crew[bot]',
    email: '41000007+crew[bot]@users.noreply.github.com',
  });
  assert.equal(await credential.gitSecret(), `username=x-access-token\npassword=${await credential.token()}\n`);
  assert.match(credential.source, /^the App crew \(key from \$KEY\)$/);
  assert.equal(forge.apps.made, 1);
});

test('a token is renewed ten minutes before it expires, once for all who wait', async (t) => {
  const { open, clock, forge, statusWith } = await start(t);
  const credential = await open();
  const first = await credential.token();
  await clock.pass(49 * MINUTE);
  assert.equal(await credential.token(), first);
  await clock.pass(2 * MINUTE);
  const [second, third] = await Promise.all([credential.token(), credential.gitSecret()]);
  assert.notEqual(second, first);
  assert.ok(third.includes(second));
  assert.equal(forge.apps.made, 2);
  assert.equal(await statusWith(second), 200);
  for (const token of [first, second]) assert.ok(credential.secrets.includes(token), 'both are redacted');
});

test('a clock that is an hour ahead costs a token a minute, and not one a request', async (t) => {
  const { open, clock, forge } = await start(t);
  const credential = await open();
  await clock.pass(60 * MINUTE);
  for (let request = 0; request < 3; request++) await credential.token();
  assert.equal(forge.apps.made, 2);
  await clock.pass(MINUTE);
  await credential.token();
  assert.equal(forge.apps.made, 3);
});

test('a token that is turned away gives way to one new one', async (t) => {
  const { open, clock, forge, statusWith } = await start(t);
  const credential = await open();
  await clock.pass(5 * MINUTE);
  forge.accounts.endLoans();
  const old = await credential.token();
  assert.equal(await statusWith(old), 401);
  credential.reject();
  assert.equal(await statusWith(await credential.token()), 200);
  assert.equal(forge.apps.made, 2);
  credential.reject();
  await credential.token();
  assert.equal(forge.apps.made, 2, 'what is turned away at once would not be the last one');
  await clock.pass(MINUTE);
  credential.reject();
  await credential.token();
  assert.equal(forge.apps.made, 3);
});

test('an App that gets no further token, and a service that is away, are told apart', async (t) => {
  const { open, clock, forge } = await start(t);
  const credential = await open();
  const first = await credential.token();
  await clock.pass(51 * MINUTE);
  forge.apps.isClosed = true;
  assert.equal(await credential.token(), first, 'it may pass, and the token is valid for some minutes');
  await clock.pass(10 * MINUTE);
  const refused = await credential.token().catch((error: unknown) => error);
  assert.ok(refused instanceof TrackerError && refused.failure === 'unauthorized');
  await forge.close();
  const closed = await credential.token().catch((error: unknown) => error);
  assert.ok(closed instanceof TrackerError && closed.failure === 'unavailable');
});

test('a service that is away for some minutes does not end a token that is valid', async (t) => {
  const { open, clock, forge, warnings } = await start(t);
  const credential = await open();
  const last = await credential.token();
  await clock.pass(52 * MINUTE);
  await clock.pass(5 * MINUTE);
  await forge.close();
  assert.equal(await credential.token(), last, 'it is valid for some minutes');
  await clock.pass(MINUTE);
  assert.equal(await credential.token(), last);
  assert.equal(warnings.length, 1, 'it is told once');
  isRefusal(warnings[0], GITHUB_CODES.app_token_not_renewed, { app: 'crew[bot]' });
  assert.ok([2, 3].includes(Number(warnings[0]?.values.minutes)), 'the service gives whole seconds');
  await clock.pass(10 * MINUTE);
  const away = await credential.token().catch((error: unknown) => error);
  assert.ok(away instanceof TrackerError && away.failure === 'unavailable');
});

test('an App that is installed anew has another installation, which is found', async (t) => {
  const { open, clock, forge, statusWith } = await start(t);
  const credential = await open();
  const first = await credential.token();
  forge.apps.reinstalls = 1;
  await clock.pass(51 * MINUTE);
  const second = await credential.token();
  assert.notEqual(second, first);
  assert.equal(await statusWith(second), 200);
});

test('each wrong setting is refused at the start, and names its key of the file', async (t) => {
  const { open } = await start(t);
  await failsWith(open('8'), GITHUB_CODES.app_unknown, { key: 'tracker.app_id', id: '8' });
  await failsWith(open('7', pair().privateKey), GITHUB_CODES.app_unknown, { key: 'tracker.app_id', id: '7' });
  const none = await start(t, { installed: 'none' });
  const where = { key: 'tracker.app_id', app: 'crew', repository: 'maintainer/project' };
  await failsWith(none.open(), GITHUB_CODES.app_not_installed, where);
  const suspended = await start(t, { installed: 'suspended' });
  await failsWith(suspended.open(), GITHUB_CODES.app_suspended, where);
  await none.forge.close();
  await failsWith(none.open(), GITHUB_CODES.app_unreachable, { key: 'tracker.app_id' });
});

test('a key is PEM, from a variable or a file, with newlines as they are or written as \\n', (t) => {
  const path = join(tempDir(t), 'key.pem');
  writeFileSync(path, KEYS.privateKey);
  const file = readAppKey({ id: '7', key: { kind: 'file', path } }, new Map());
  const pkcs1 = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
  assert.equal(file.pem, KEYS.privateKey);
  assert.equal(keyOf(KEYS.privateKey.replaceAll('\n', '\\n')).pem, KEYS.privateKey);
  assert.equal(keyOf(KEYS.privateKey.replaceAll('\n', '\r\n')).pem, KEYS.privateKey);
  assert.equal(keyOf(String(pkcs1)).pem, pkcs1);
  const line = KEYS.privateKey.trim().replaceAll('\n', '\\n');
  for (const quote of ['"', "'"]) assert.equal(keyOf(`${quote}${line}${quote}`).pem, KEYS.privateKey);
  for (const part of KEYS.privateKey.split('\n').slice(1, -3)) assert.ok(file.secrets.includes(part));

  const elliptic = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: pem,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const cases: readonly [string, string][] = [
    ['canary of no key', 'a text that does not begin so'],
    ['  ', 'nothing'],
    [KEYS.publicKey, 'a text that does not begin so'],
    // As systemd reads it without quotes, and as a shell joins its words.
    [line.replaceAll('\\n', 'n'), 'one whose newlines are missing'],
    [KEYS.privateKey.replaceAll('\n', ' '), 'one whose newlines are missing'],
    [KEYS.privateKey.slice(0, 300), 'one that is damaged'],
    [elliptic.privateKey, 'a key of the type ec'],
  ];
  for (const [text, got] of cases)
    assert.throws(
      () => keyOf(text),
      isOf(GITHUB_CODES.app_key_invalid, { key: 'tracker.private_key', source: '$KEY', got }),
    );
  assert.throws(
    () => readAppKey({ id: '7', key: { kind: 'variable', name: 'NONE' } }, new Map()),
    isOf(CONFIG_CODES.variable_unset, { key: 'tracker.private_key', variable: '$NONE' }),
  );
  const missing = join(path, 'none');
  assert.throws(
    () => readAppKey({ id: '7', key: { kind: 'file', path: missing } }, new Map()),
    isOf(GITHUB_CODES.app_key_unreadable, { key: 'tracker.private_key', path: missing }),
  );
});

test('each variable that holds the key is known, in whatever form, and no other one', (t) => {
  const path = join(tempDir(t), 'key.pem');
  writeFileSync(path, KEYS.privateKey);
  const line = KEYS.privateKey.trim().replaceAll('\n', '\\n');
  const env = {
    APP: KEYS.privateKey,
    LINE: line,
    QUOTED: `"${line}"`,
    OTHER: pair().privateKey,
    EMPTY: '',
    NONE: undefined,
  };
  const same = ['APP', 'LINE', 'QUOTED'];
  assert.deepEqual(variablesWithKey({ id: '7', key: { kind: 'file', path } }, env), same);
  assert.deepEqual(variablesWithKey({ id: '7', key: { kind: 'variable', name: 'LINE' } }, env).toSorted(), same);
  assert.deepEqual(variablesWithKey({ id: '7', key: { kind: 'file', path: join(path, 'none') } }, env), []);
  assert.deepEqual(variablesWithKey({ id: '7', key: { kind: 'variable', name: 'EMPTY' } }, env), ['EMPTY']);
});
