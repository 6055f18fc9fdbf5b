// `tool doctor` tries the routes of the API and git, and names proxy and authority.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { diagnose } from '../../src/cli/doctor.ts';
import { ConnectProxy } from '../support/connect-proxy.ts';
import { cleanEnv } from '../support/daemon.ts';
import { DAEMON_TOKEN, startForge } from '../support/forge.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';
import { TlsFront } from '../support/tls-front.ts';

const forge = await startForge({ after });
const front = await TlsFront.start({ after }, forge.forge.url);
const { host } = new URL(front.url);

async function rowsOf(t: Cleanup, tracker: string, more: Readonly<Record<string, string>>) {
  const directory = tempDir(t);
  const project = join(directory, 'project');
  mkdirSync(project);
  const workflow = join(project, 'WORKFLOW.md');
  const text = `tracker: { repo: maintainer/project, api_url: "${front.url}"${tracker} }`;
  writeFileSync(workflow, `---\n${text}\ntool: { runtime: patch }\nserver: { port: 0 }\n---\n`);
  const checks = await diagnose(workflow, { ...cleanEnv(directory), GITHUB_TOKEN: DAEMON_TOKEN, ...more });
  const all = JSON.stringify(checks);
  assert.ok(!all.includes('p%40ss') && !all.includes('p@ss') && !all.includes('worker'), all);
  return (name: string) => checks.find((check) => check.name === name);
}

const CA = `, ca_file: "${front.caFile}"`;
const AUTHORITIES = `authorities: the usual ones, ${front.caFile} (tracker.ca_file)`;

test('directly, with the authority of tracker.ca_file', async (t) => {
  const row = await rowsOf(t, CA, {});
  for (const name of ['API route', 'git route'])
    assert.deepEqual(row(name), { name, status: 'ok', says: `${host} directly, ${AUTHORITIES}`, mend: null });
});

test('through the proxy, which is named without user and password', async (t) => {
  const proxy = await ConnectProxy.start(t);
  const row = await rowsOf(t, CA, { HTTPS_PROXY: proxy.url });
  const at = `127.0.0.1:${new URL(proxy.url).port}`;
  for (const name of ['API route', 'git route'])
    assert.equal(row(name)?.says, `${host} through the proxy ${at} (HTTPS_PROXY), ${AUTHORITIES}`);
  // The API keeps its tunnel; git has one of its own.
  assert.ok(proxy.seen.filter((line) => line === `CONNECT ${host}`).length >= 2, proxy.seen.join('\n'));
});

for (const entry of [host, '*.0.0.1'])
  test(`past the proxy with NO_PROXY=${entry}: git goes where the row says`, async (t) => {
    const proxy = await ConnectProxy.start(t);
    const row = await rowsOf(t, CA, { HTTPS_PROXY: proxy.url, NO_PROXY: entry });
    for (const name of ['API route', 'git route'])
      assert.deepEqual(row(name), { name, status: 'ok', says: `${host} directly, ${AUTHORITIES}`, mend: null });
    assert.deepEqual(proxy.seen, []);
  });

test('without the authority, and with a proxy that turns away, both routes fail', async (t) => {
  const bare = await rowsOf(t, '', {});
  for (const name of ['API route', 'git route']) {
    assert.equal(bare(name)?.status, 'fail');
    assert.match(bare(name)?.says ?? '', /directly, authorities: the usual ones: .*tracker\.ca_file/);
  }
  const proxy = await ConnectProxy.start(t);
  const row = await rowsOf(t, CA, { HTTPS_PROXY: proxy.url.replace('worker:', 'someone:') });
  for (const name of ['API route', 'git route']) {
    assert.equal(row(name)?.status, 'fail');
    assert.match(row(name)?.says ?? '', /407/);
  }
});

test('a file that is missing and a proxy of another kind fail as one row', async (t) => {
  const missing = await rowsOf(t, ', ca_file: ./none.pem', {});
  assert.equal(missing('network')?.status, 'fail');
  assert.match(missing('network')?.says ?? '', /^tracker\.ca_file: .*none\.pem/);
  const socks = await rowsOf(t, CA, { ALL_PROXY: 'socks5://worker:p%40ss@127.0.0.1:1' });
  assert.match(socks('network')?.says ?? '', /^ALL_PROXY: /);
});
