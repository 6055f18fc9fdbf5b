// The built daemon behind a company's proxy that is spoken to over TLS: API, git and git-lfs go through it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { Daemon } from '../support/daemon.ts';
import { commitFiles, gitAs, startForge } from '../support/forge.ts';
import { LfsServer, oidOf, pointerTo } from '../support/lfs-server.ts';
import type { Cleanup } from '../support/temp.ts';
import { TlsFront } from '../support/tls-front.ts';
import { joinAuthorities, startTlsProxy } from '../support/tls-proxy.ts';

async function place(t: Cleanup) {
  const forge = await startForge(t);
  const front = await TlsFront.start(t, forge.forge.url);
  const proxy = await startTlsProxy(t);
  await forge.open('Behind a proxy over TLS');
  return { forge, front, proxy, host: new URL(front.url).host };
}

// What tracker.ca_file names is in the last test.
test('NODE_EXTRA_CA_CERTS names the authority of the proxy for the API, the clone and the push', async (t) => {
  const { forge, front, proxy, host } = await place(t);
  const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: joinAuthorities(t, front.caFile, proxy.caFile) };
  const options = { yaml: agentRunning(COMMITS), args: ['--once'], apiUrl: front.url, env };
  const daemon = await Daemon.start(t, forge, options);
  assert.equal(await daemon.exit(), 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.equal(proxy.seen.filter((line) => line === `CONNECT ${host}`).length, front.connections);
  assert.ok(front.connections >= 3, proxy.seen.join('\n'));
  assert.ok(!daemon.log.includes('p%40ss') && !daemon.log.includes('p@ss'), daemon.log);
});

test('http.proxy and http.proxySSLCAInfo of the person’s git settings are kept', async (t) => {
  const { forge, front, proxy } = await place(t);
  const options = { yaml: agentRunning(COMMITS), apiUrl: front.url, tracker: `ca_file: "${front.caFile}"` };
  const daemon = await Daemon.create(t, forge, options);
  const settings = `[http "${front.url}"]\n\tproxy = ${proxy.url}\n\tproxySSLCAInfo = ${proxy.caFile}\n`;
  writeFileSync(join(daemon.home, '.gitconfig'), settings);
  daemon.start(['--once']);
  assert.equal(await daemon.exit(), 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.ok(proxy.seen.length >= 2, 'the clone and the push');
});

test('GIT_SSL_CAINFO and GIT_PROXY_SSL_CAINFO of the environment are kept, each for itself', async (t) => {
  const { forge, front, proxy } = await place(t);
  // The API knows both authorities, git the proxy's alone from the environment.
  const both = joinAuthorities(t, front.caFile, proxy.caFile);
  for (const [name, file] of [
    ['GIT_SSL_CAINFO', front.caFile],
    ['GIT_PROXY_SSL_CAINFO', proxy.caFile],
  ] as const) {
    await forge.open(`With ${name}`);
    const daemon = await Daemon.start(t, forge, {
      yaml: agentRunning(COMMITS),
      args: ['--once'],
      apiUrl: front.url,
      tracker: `ca_file: "${both}"`,
      env: { HTTPS_PROXY: proxy.url, [name]: file },
    });
    assert.equal(await daemon.exit(), 0, daemon.log);
  }
  assert.equal((await forge.pulls()).length, 3);
});

test('tracker.ca_file names the authority of the proxy for the API, the clone, the push and git-lfs', async (t) => {
  const forge = await startForge(t);
  const server = await LfsServer.start(t, forge.forge.url);
  const front = await TlsFront.start(t, server.url);
  const proxy = await startTlsProxy(t);
  // git-lfs asks loopback addresses past every proxy.
  const url = front.url.replace('127.0.0.1', 'forge.test');
  server.front = url;
  server.put('base\n');
  const files = { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'base.bin': pointerTo('base\n') };
  await commitFiles(forge.work, files, 'With LFS');
  await gitAs(forge.work, 'push', '--quiet', forge.bare, 'main');
  await forge.open('Large files');
  const daemon = await Daemon.start(t, forge, {
    yaml: agentRunning(`${COMMITS}; grep -q base base.bin; echo new > new.bin; git add -A; git commit -qm Add`),
    args: ['--once'],
    apiUrl: url,
    tracker: `ca_file: "${joinAuthorities(t, front.caFile, proxy.caFile)}"`,
    env: { HTTPS_PROXY: proxy.url },
  });
  assert.equal(await daemon.exit(), 0, daemon.log);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.equal(server.objects.get(oidOf('new\n'))?.toString(), 'new\n', daemon.log);
  assert.equal(proxy.seen.length, front.connections);
});
