// Of the person's git settings the daemon's own git keeps those of the machine and the network, and ignores all others.

import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { cloneEnvironment, git, networkEnvironment, SETTINGS_VARIABLE } from '../../src/git/git.ts';
import { namePersonSettings, writePersonSettings } from '../../src/git/person-settings.ts';
import { tempDir } from '../support/temp.ts';

const ADDRESS = 'https://forge.invalid/a/b.git';

const SYSTEM = `[safe]
	directory = /srv/one
[credential]
	helper = store
`;
const GLOBAL = `[safe]
	directory = ~/two
[include]
	path = more
[url "https://name:secret@example.com/"]
	pushInsteadOf = https://example.com/
[push]
	gpgSign = true
[core]
	hooksPath = /somewhere
	attributesFile = /attributes
[http]
	proxy = http://first.example:3128
	extraHeader = X-Token: secret
[http "https://Host.example/Path"]
	proxy = "http://u:p;#\\"x@second.example"
	sslVerify = false
`;
const INCLUDED = `[http]
	sslCAInfo = ~/ca.pem
	proxySSLCAInfo = ~/proxy.pem
[http "https://ca.example"]
	sslCAInfo = /etc/ca.pem
	proxySSLCAInfo = /etc/proxy.pem
`;

function personAt(directory: string): Record<string, string> {
  mkdirSync(join(directory, 'home'));
  writeFileSync(join(directory, 'system'), SYSTEM);
  writeFileSync(join(directory, 'home', '.gitconfig'), GLOBAL);
  writeFileSync(join(directory, 'home', 'more'), INCLUDED);
  const { PATH = '' } = process.env;
  return { PATH, HOME: join(directory, 'home'), GIT_CONFIG_SYSTEM: join(directory, 'system') };
}

test('git on the network and in a clone sees the kept ones and no other, in their order', async (t) => {
  const directory = tempDir(t);
  const env = personAt(directory);
  const path = join(directory, 'settings');
  await writePersonSettings(path, env);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const { HOME: home = '' } = env;
  const expected = [
    'safe.directory=/srv/one',
    `safe.directory=${home}/two`,
    `http.sslcainfo=${home}/ca.pem`,
    `http.proxysslcainfo=${home}/proxy.pem`,
    'http.https://ca.example.sslcainfo=/etc/ca.pem',
    'http.https://ca.example.proxysslcainfo=/etc/proxy.pem',
    'http.proxy=http://first.example:3128',
    'http.https://Host.example/Path.proxy=http://u:p;#"x@second.example',
  ];
  const own = { ...env, [SETTINGS_VARIABLE]: path };
  for (const made of [networkEnvironment(own, ADDRESS), cloneEnvironment(own)]) {
    const listed = await git(['config', '--global', '--list'], { cwd: '/', env: made });
    assert.deepEqual(listed.trim().split('\n'), expected);
    const all = await git(['config', '--show-scope', '--list'], { cwd: directory, env: made });
    assert.deepEqual(
      all.split('\n').filter((row) => row.startsWith('system')),
      [],
    );
  }
});

test('without that file there are none', async (t) => {
  const directory = tempDir(t);
  const env = personAt(directory);
  for (const made of [networkEnvironment(env, ADDRESS), cloneEnvironment(env)])
    assert.deepEqual([made.GIT_CONFIG_GLOBAL, made.GIT_CONFIG_NOSYSTEM], ['/dev/null', '1']);
});

test('they are named without addresses, which may hold a password', async (t) => {
  assert.deepEqual(await namePersonSettings(personAt(tempDir(t))), {
    kept: [
      'safe.directory',
      'http.sslcainfo',
      'http.proxysslcainfo',
      'http.*.sslcainfo',
      'http.*.proxysslcainfo',
      'http.proxy',
      'http.*.proxy',
    ],
    ignored: [
      'credential.helper',
      'url.*.pushinsteadof',
      'push.gpgsign',
      'core.hookspath',
      'core.attributesfile',
      'http.extraheader',
      'http.*.sslverify',
    ],
  });
});
