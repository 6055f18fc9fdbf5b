// Apps of the embedded forge: signed tokens are checked as the original checks them.

import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import { startForge } from '../../../support/forge.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

function jwt(claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: 'RS256', typ: 'JWT', ...header })}.${encode({ iss: 7, iat: now, exp: now + 300, ...claims })}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}

test('a signed token needs the right key, algorithm, issuer and times', async (t) => {
  const { forge } = await startForge(t, undefined, {
    apps: [{ id: 7, slug: 'crew', publicKey, installed: 'yes' }],
  });
  const statusOf = async (token: string, scheme = 'Bearer', path = '/app', method = 'GET', body?: string) => {
    const headers = { authorization: `${scheme} ${token}` };
    return (await fetch(forge.url + path, { method, headers, ...(body === undefined ? {} : { body }) })).status;
  };
  const now = Math.floor(Date.now() / 1000);
  assert.equal(await statusOf(jwt({})), 200);
  for (const [token, status] of [
    [jwt({ exp: now + 700 }), 401],
    [jwt({ exp: now - 1 }), 401],
    [jwt({ iat: now + 120 }), 401],
    [jwt({ iss: 8 }), 404],
    [jwt({}, { alg: 'none' }), 401],
    [jwt({}).slice(0, -20), 401],
    ['no.jwt', 401],
  ] as const)
    assert.equal(await statusOf(token), status);
  assert.equal(await statusOf(jwt({}), 'token'), 401);
  const tokens = '/app/installations/1/access_tokens';
  for (const [repositories, status] of [
    [['project'], 201],
    [['other'], 422],
  ] as const)
    assert.equal(await statusOf(jwt({}), 'Bearer', tokens, 'POST', JSON.stringify({ repositories })), status);
  assert.equal(await statusOf(jwt({}), 'Bearer', '/app/installations/2/access_tokens', 'POST', '{}'), 404);
});
