// The built daemon and a hosting service whose certificate a company signs: one setting serves the API and git. Which variable names the
// proxy is in test/base/proxy-route.test.ts.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { Daemon, type DaemonOptions } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';
import type { Cleanup } from '../support/temp.ts';
import { TlsFront } from '../support/tls-front.ts';

async function served(t: Cleanup, options: (front: TlsFront, proxy: ConnectProxy) => DaemonOptions) {
  const forge = await startForge(t);
  const front = await TlsFront.start(t, forge.forge.url);
  const proxy = await ConnectProxy.start(t);
  await forge.open('Behind a certificate of the company');
  const given = options(front, proxy);
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(COMMITS),
    args: ['--once'],
    apiUrl: front.url,
    ...given,
  });
  const code = await daemon.exit();
  return { code, daemon, front, proxy, pulls: (await forge.pulls()).length };
}

const trusting = (front: TlsFront) => ({
  'tracker.ca_file': { tracker: `ca_file: "${front.caFile}"` },
  NODE_EXTRA_CA_CERTS: { env: { NODE_EXTRA_CA_CERTS: front.caFile } },
});

test('NODE_EXTRA_CA_CERTS serves the API, the clone and the push', async (t) => {
  const { code, daemon, pulls, front } = await served(t, (front) => trusting(front).NODE_EXTRA_CA_CERTS);
  assert.equal(code, 0, daemon.log);
  assert.equal(pulls, 1, daemon.log);
  assert.ok(front.connections > 0);
});

for (const [setting, variable] of [
  ['tracker.ca_file', 'HTTPS_PROXY'],
  ['NODE_EXTRA_CA_CERTS', 'ALL_PROXY'],
] as const)
  test(`${setting} serves all through ${variable} with user and password`, async (t) => {
    const { code, daemon, pulls, front, proxy } = await served(t, (front, proxy) => {
      const given: DaemonOptions = trusting(front)[setting];
      return { ...given, env: { ...given.env, [variable]: proxy.url } };
    });
    assert.equal(code, 0, daemon.log);
    assert.equal(pulls, 1, daemon.log);
    // Every connection came by a tunnel: the API's, the clone's, the push's.
    const tunnels = proxy.seen.filter((line) => line === `CONNECT ${new URL(front.url).host}`);
    assert.equal(tunnels.length, front.connections, proxy.seen.join('\n'));
    assert.ok(tunnels.length >= 3, proxy.seen.join('\n'));
    assert.ok(!daemon.log.includes('p%40ss') && !daemon.log.includes('p@ss'), daemon.log);
  });

test("NO_PROXY keeps a service with a company's certificate out of the proxy", async (t) => {
  const { code, daemon, pulls, proxy } = await served(t, (front, proxy) => ({
    tracker: `ca_file: "${front.caFile}"`,
    env: { HTTPS_PROXY: proxy.url, https_proxy: proxy.url, NO_PROXY: 'example.org,127.0.0.1' },
  }));
  assert.equal(code, 0, daemon.log);
  assert.equal(pulls, 1, daemon.log);
  assert.deepEqual(proxy.seen, []);
});

for (const through of ['', 'HTTPS_PROXY'])
  test(`without the authority the error names the certificate and the key (${through || 'directly'})`, async (t) => {
    const { code, daemon, pulls } = await served(t, (_, proxy) => ({
      env: through === '' ? {} : { [through]: proxy.url },
    }));
    assert.notEqual(code, 0);
    assert.equal(pulls, 0);
    assert.match(daemon.log, /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT/);
    assert.match(daemon.log, /tracker\.ca_file/);
    assert.doesNotMatch(daemon.log, /made no tunnel/);
  });

for (const [setting, what, text] of [
  ['tracker.ca_file', 'is missing', null],
  ['tracker.ca_file', 'holds no certificate', 'none here\n'],
  ['NODE_EXTRA_CA_CERTS', 'holds a damaged one', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
] as const)
  test(`${setting} with a file that ${what} is a configuration error`, async (t) => {
    let path = '';
    const { code, daemon } = await served(t, (front) => {
      path = join(front.caFile, '..', 'other.pem');
      if (text !== null) writeFileSync(path, text);
      return trusting({ ...front, caFile: path })[setting];
    });
    assert.equal(code, 2, daemon.log);
    assert.ok(daemon.log.includes(setting), daemon.log);
    assert.ok(daemon.log.includes(path), daemon.log);
  });

test('a proxy of a kind that the API cannot use is a configuration error without the password', async (t) => {
  const { code, daemon, proxy } = await served(t, (_, proxy) => ({
    env: { ALL_PROXY: proxy.url.replace('http:', 'socks5h:') },
  }));
  assert.equal(code, 2, daemon.log);
  assert.match(daemon.log, /ALL_PROXY.*socks5h:/);
  assert.ok(!daemon.log.includes('p%40ss'), daemon.log);
  assert.deepEqual(proxy.seen, []);
});
