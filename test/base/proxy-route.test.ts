// The proxy that the environment names for an address.

import assert from 'node:assert/strict';
import test from 'node:test';
import { proxyFor } from '../../src/base/proxy-route.ts';
import { ToolError } from '../../src/base/rules/errors.ts';

const API = 'https://api.example.org';

test('the variables come in order: the scheme, http, then all; lower case first, empty ones left out', () => {
  const env = { all_proxy: 'a:1', ALL_PROXY: 'b:1', HTTP_PROXY: 'c:1', http_proxy: 'd:1', HTTPS_PROXY: 'e:1' };
  const taken: string[] = [];
  for (let left: Record<string, string> = { https_proxy: '', ...env }; ; ) {
    const proxy = proxyFor(API, left);
    if (proxy === undefined) break;
    taken.push(`${proxy.variable} ${proxy.host}`);
    left = { ...left, [proxy.variable]: '' };
  }
  assert.deepEqual(taken, ['HTTPS_PROXY e:1', 'http_proxy d:1', 'HTTP_PROXY c:1', 'all_proxy a:1', 'ALL_PROXY b:1']);
  assert.equal(proxyFor('http://api.example.org', { HTTPS_PROXY: 'e:1' }), undefined);
});

test('user and password stand in the header alone, a bare percent sign too', () => {
  const headerOf = (login: string) => {
    const proxy = proxyFor(API, { HTTPS_PROXY: `http://${login}@proxy.example:3128` });
    assert.deepEqual([proxy?.origin, proxy?.host], ['http://proxy.example:3128', 'proxy.example:3128']);
    return Buffer.from(proxy?.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
  };
  assert.equal(headerOf('me:p%40ss'), 'me:p@ss');
  assert.equal(headerOf('me:50%'), 'me:50%');
  assert.equal(headerOf('me'), 'me:');
});

const EXCLUDED = [
  ['https://api.example.org', 'example.org'],
  ['https://api.example.org', '.example.org'],
  ['https://api.example.org', 'a.b *.example.org'],
  ['https://api.example.org', 'API.example.org:443'],
  ['https://api.example.org', 'x,*'],
  ['https://10.1.2.3:8443', '10.0.0.0/8'],
  ['https://[::1]:8443', '::1'],
  ['https://[fd00::1]', 'fd00::/8'],
] as const;

for (const [address, entry] of EXCLUDED)
  test(`NO_PROXY=${entry} takes ${address} out`, () => {
    assert.equal(proxyFor(address, { HTTPS_PROXY: 'p:1', NO_PROXY: entry }), undefined);
    assert.equal(proxyFor(address, { HTTPS_PROXY: 'p:1', no_proxy: '', NO_PROXY: entry }), undefined);
  });

for (const [address, entry] of [
  ['https://notexample.org', 'example.org'],
  ['https://api.example.org', 'api.example.org:8443'],
  ['https://11.1.2.3', '10.0.0.0/8'],
  ['https://10.1.2.3', '10.0.0.0/64'],
] as const)
  test(`NO_PROXY=${entry} leaves ${address} to the proxy`, () => {
    assert.equal(proxyFor(address, { HTTPS_PROXY: 'p:1', NO_PROXY: entry })?.host, 'p:1');
  });

for (const value of ['socks5://me:secret@p:1', 'http://me:secret@', 'http://me:secret@p:x'])
  test(`a proxy that cannot be used (${value}) is a configuration error without the password`, () => {
    assert.throws(
      () => proxyFor(API, { ALL_PROXY: value }),
      (error) =>
        error instanceof ToolError &&
        error.kind === 'config' &&
        error.message.startsWith('ALL_PROXY: ') &&
        !error.message.includes('secret'),
    );
    assert.equal(proxyFor(API, { ALL_PROXY: value, NO_PROXY: 'example.org' }), undefined);
  });
