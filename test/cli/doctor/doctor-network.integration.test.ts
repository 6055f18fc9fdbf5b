// `tool doctor` tries the routes of the API and git, and names proxy and authority.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { diagnose } from '../../../src/cli/doctor/doctor.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { cleanEnv } from '../../support/daemon.ts';
import { commitFiles, DAEMON_TOKEN, gitAs, startForge } from '../../support/forge.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';
import { TlsFront } from '../../support/tls-front.ts';
import { joinAuthorities, startTlsProxy } from '../../support/tls-proxy.ts';

const forge = await startForge({ after });
const front = await TlsFront.start({ after }, forge.forge.url);
const { host } = new URL(front.url);

/** @param settings the text of the person's `.gitconfig` */
async function rowsOf(
  t: Cleanup,
  tracker: string,
  more: Readonly<Record<string, string>>,
  settings = '',
  project = tempDir(t),
) {
  const directory = tempDir(t);
  writeFileSync(join(directory, '.gitconfig'), settings);
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

const KEPT = 'of your git settings';

test('the git route goes through http.proxy of the git settings, as the daemon’s git does', async (t) => {
  const proxy = await ConnectProxy.start(t);
  const at = `127.0.0.1:${new URL(proxy.url).port}`;
  for (const section of ['http', `http "${front.url}/"`]) {
    proxy.seen.length = 0;
    const row = await rowsOf(t, CA, {}, `[${section}]\n\tproxy = ${proxy.url}\n`);
    assert.equal(row('API route')?.says, `${host} directly, ${AUTHORITIES}`);
    const says = `${host} through the proxy ${at} (http.proxy ${KEPT}), ${AUTHORITIES}`;
    assert.deepEqual(row('git route'), { name: 'git route', status: 'ok', says, mend: null });
    assert.deepEqual(proxy.seen, [`CONNECT ${host}`]);
  }
});

test('http.proxy at a port where nothing listens fails the git route alone', async (t) => {
  const row = await rowsOf(t, CA, {}, `[http]\n\tproxy = http://worker:p%40ss@127.0.0.1:1\n`);
  assert.equal(row('API route')?.status, 'ok');
  assert.equal(row('git route')?.status, 'fail');
  assert.match(row('git route')?.says ?? '', /through the proxy 127\.0\.0\.1:1 \(http\.proxy of your git settings\)/);
  assert.match(row('git route')?.mend ?? '', /http\.proxy/);
});

test('http.proxy comes before HTTPS_PROXY, empty too, and NO_PROXY before both', async (t) => {
  const dead = { HTTPS_PROXY: 'http://127.0.0.1:1' };
  const proxy = await ConnectProxy.start(t);
  const settings = `[http]\n\tproxy = ${proxy.url}\n`;
  const first = await rowsOf(t, CA, dead, settings);
  assert.deepEqual([first('API route')?.status, first('git route')?.status], ['fail', 'ok']);
  const empty = await rowsOf(t, CA, dead, '[http]\n\tproxy =\n');
  assert.deepEqual([empty('API route')?.status, empty('git route')?.status], ['fail', 'ok']);
  assert.equal(empty('git route')?.says, `${host} directly (http.proxy ${KEPT} is empty), ${AUTHORITIES}`);
  proxy.seen.length = 0;
  const past = await rowsOf(t, CA, { ...dead, NO_PROXY: '*.0.0.1' }, settings);
  assert.equal(past('git route')?.says, `${host} directly, ${AUTHORITIES}`);
  assert.deepEqual(proxy.seen, []);
});

test('http.sslCAInfo of the git settings serves the git route, alone and beside tracker.ca_file', async (t) => {
  const settings = `[http "${front.url}"]\n\tsslCAInfo = ${front.caFile}\n`;
  const alone = await rowsOf(t, '', {}, settings);
  assert.equal(alone('API route')?.status, 'fail');
  const own = `${front.caFile} (http.sslCAInfo ${KEPT})`;
  const says = `${host} directly, authorities: the usual ones, ${own}`;
  assert.deepEqual(alone('git route'), { name: 'git route', status: 'ok', says, mend: null });
  const other = await TlsFront.start(t, forge.forge.url);
  const both = await rowsOf(t, `, ca_file: "${other.caFile}"`, {}, settings);
  assert.equal(both('git route')?.status, 'ok', both('git route')?.says);
  const named = `authorities: the usual ones, ${other.caFile} (tracker.ca_file), ${own}`;
  assert.equal(both('git route')?.says, `${host} directly, ${named}`);
});

test('a proxy spoken to over TLS: tracker.ca_file names its authority for the API and git', async (t) => {
  const proxy = await startTlsProxy(t);
  const caFile = joinAuthorities(t, front.caFile, proxy.caFile);
  const row = await rowsOf(t, `, ca_file: "${caFile}"`, { HTTPS_PROXY: proxy.url });
  for (const name of ['API route', 'git route']) assert.equal(row(name)?.status, 'ok', row(name)?.says);
  // The proxy's own file of the settings, beside the service's.
  const settings = `[http]\n\tproxy = ${proxy.url}\n\tproxySSLCAInfo = ${proxy.caFile}\n`;
  const kept = await rowsOf(t, CA, {}, settings);
  assert.equal(kept('git route')?.status, 'ok', kept('git route')?.says);
  const env = { GIT_SSL_CAINFO: front.caFile, GIT_PROXY_SSL_CAINFO: proxy.caFile, HTTPS_PROXY: proxy.url };
  const given = await rowsOf(t, '', env);
  assert.equal(given('git route')?.status, 'ok', given('git route')?.says);
});

test('a submodule is asked for through http.proxy of the git settings', async (t) => {
  const proxy = await ConnectProxy.start(t);
  const settings = `[http]\n\tproxy = ${proxy.url}\n`;
  const place = tempDir(t);
  await gitAs(place, 'init', '--quiet');
  await commitFiles(place, { '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = ../project.git\n' }, 'one');
  const row = await rowsOf(t, CA, {}, settings, place);
  assert.equal(row('submodules')?.status, 'ok', row('submodules')?.says);
  assert.deepEqual(proxy.seen, [`CONNECT ${host}`, `CONNECT ${host}`]);
});
