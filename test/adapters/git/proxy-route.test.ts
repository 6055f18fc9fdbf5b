// Git and the API take the same proxy to an https address.

import assert from 'node:assert/strict';
import test from 'node:test';
import { networkEnvironment, tryGit } from '../../../src/adapters/git/git.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';

// The name has no address: the proxy sees the request for a tunnel, and the tunnel fails.
const TARGET = 'forge.invalid:8443';

for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])
  test(`with ${name} alone, git asks the proxy for a tunnel to an https address`, async (t) => {
    const proxy = await ConnectProxy.start(t);
    const env = networkEnvironment({ PATH: process.env.PATH, HOME: '/nonexistent', [name]: proxy.url });
    await tryGit(['ls-remote', `https://${TARGET}/a/b.git`], { cwd: '/', env });
    assert.deepEqual([...new Set(proxy.seen)], [`CONNECT ${TARGET}`]);
  });

test('a proxy for https of its own stays', () => {
  const env = networkEnvironment({ http_proxy: 'http://a.example', HTTPS_PROXY: 'http://b.example' });
  assert.equal(env.https_proxy, undefined);
  assert.equal(env.HTTPS_PROXY, 'http://b.example');
});
