// Git and the API take the same route to an https address: a proxy, or none.

import assert from 'node:assert/strict';
import test from 'node:test';
import { proxyFor } from '../../src/base/proxy-route.ts';
import { networkEnvironment, tryGit } from '../../src/git/git.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';

// The name has no address: the proxy sees the request for a tunnel, and the tunnel fails.
const TARGET = 'forge.invalid:8443';
const ADDRESS = `https://${TARGET}/a/b.git`;

for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])
  test(`with ${name} alone, git asks the proxy for a tunnel to an https address`, async (t) => {
    const proxy = await ConnectProxy.start(t);
    const env = networkEnvironment({ PATH: process.env.PATH, HOME: '/nonexistent', [name]: proxy.url }, ADDRESS);
    await tryGit(['ls-remote', ADDRESS], { cwd: '/', env });
    assert.deepEqual([...new Set(proxy.seen)], [`CONNECT ${TARGET}`]);
  });

test('a proxy for https of its own stays', () => {
  const env = networkEnvironment({ http_proxy: 'http://a.example', HTTPS_PROXY: 'http://b.example' }, ADDRESS);
  assert.equal(env.https_proxy, undefined);
  assert.equal(env.HTTPS_PROXY, 'http://b.example');
});

for (const [entries, isDirect] of [
  ['*.invalid', true],
  ['forge.invalid:8443', true],
  ['other.example,*', true],
  ['.invalid', true],
  ['forge.invalid:443', false],
  ['*.forge.invalid:8080,other.invalid', false],
] as const)
  for (const name of ['NO_PROXY', 'no_proxy'])
    test(`with ${name}=${entries} git and the API go ${isDirect ? 'directly' : 'through the proxy'}`, async (t) => {
      const proxy = await ConnectProxy.start(t);
      const own = {
        PATH: process.env.PATH,
        HOME: '/nonexistent',
        HTTPS_PROXY: proxy.url,
        no_proxy: '',
        [name]: entries,
      };
      await tryGit(['ls-remote', ADDRESS], { cwd: '/', env: networkEnvironment(own, ADDRESS) });
      assert.deepEqual([...new Set(proxy.seen)], isDirect ? [] : [`CONNECT ${TARGET}`]);
      assert.equal(proxyFor(ADDRESS, own) === undefined, isDirect);
    });

test('a host that is taken out for one address stays with the proxy for the others', () => {
  const own = { HTTPS_PROXY: 'http://a.example', NO_PROXY: 'forge.invalid:8443' };
  assert.equal(networkEnvironment(own, ADDRESS).no_proxy, 'forge.invalid:8443,forge.invalid');
  assert.equal(networkEnvironment(own, 'https://forge.invalid/a/b.git').no_proxy, undefined);
  assert.equal(networkEnvironment({ ...own, NO_PROXY: 'x *' }, ADDRESS).no_proxy, '*');
  assert.equal(networkEnvironment({ NO_PROXY: '::1' }, 'https://[::1]:8443/a').no_proxy, '::1,::1');
});
