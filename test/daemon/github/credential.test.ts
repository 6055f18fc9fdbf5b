import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { Credential, clientStatus, exposedIn } from '../../../src/daemon/github/credential.ts';
import { CONFIG_CODES } from '../../../src/daemon/rules/codes/config-codes.ts';
import { GITHUB_CODES } from '../../../src/daemon/rules/codes/github-codes.ts';
import { failsWith } from '../../support/codes.ts';
import { scriptFile } from '../../support/compiled.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

/** A hosting client that is logged in, or not: a small program of that name. */
function client(t: Cleanup, script: string): { readonly env: Record<string, string>; readonly directory: string } {
  const directory = tempDir(t);
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gh'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'gh'), 0o755);
  return { env: { PATH: `${bin}:/usr/bin:/bin`, HOME: directory }, directory };
}

const LOGGED_IN =
  'case "$*" in "auth token --hostname github.com") cat "$HOME/token" 2>/dev/null || echo gho_from_client;; "auth status --hostname github.com") echo "Logged in to github.com as someone" >&2;; *) exit 9;; esac';
const LOGGED_OUT = 'echo "You are not logged into any GitHub hosts. Run gh auth login to authenticate." >&2; exit 1';

test('the file’s variable, then $GITHUB_TOKEN, then $GH_TOKEN, then the client’s login', async (t) => {
  const { env } = client(t, LOGGED_IN);
  const find = async (named: string | null, tokens: Record<string, string>) => {
    const credential = await Credential.find(named, new Map(Object.entries(tokens)), 'github.com', env);
    return `${credential.value} from ${credential.source}`;
  };
  assert.equal(await find('MINE', { MINE: 'a', GITHUB_TOKEN: 'b', GH_TOKEN: 'c' }), 'a from $MINE');
  assert.equal(await find(null, { GITHUB_TOKEN: 'b', GH_TOKEN: 'c' }), 'b from $GITHUB_TOKEN');
  assert.equal(await find(null, { GH_TOKEN: 'c' }), 'c from $GH_TOKEN');
  assert.equal(await find(null, {}), 'gho_from_client from the login of gh for github.com');
  await failsWith(find('MINE', { GITHUB_TOKEN: 'b' }), CONFIG_CODES.variable_unset, {
    key: 'tracker.token',
    variable: '$MINE',
  });
});

test('another host than github.com has the variables that the hosting client reads for it', async (t) => {
  const { env } = client(t, LOGGED_OUT);
  const all = { GITHUB_TOKEN: 'a', GH_TOKEN: 'b', GH_ENTERPRISE_TOKEN: 'c', GITHUB_ENTERPRISE_TOKEN: 'd' };
  const find = async (host: string, tokens: Record<string, string>) =>
    (await Credential.find(null, new Map(Object.entries(tokens)), host, env)).source;
  assert.equal(await find('git.example.com', all), '$GH_ENTERPRISE_TOKEN');
  assert.equal(
    await find('git.example.com', { GITHUB_TOKEN: 'a', GITHUB_ENTERPRISE_TOKEN: 'd' }),
    '$GITHUB_ENTERPRISE_TOKEN',
  );
  assert.equal(await find('git.example.com', { GH_TOKEN: 'b' }), '$GH_TOKEN');
  assert.equal(await find('acme.ghe.com', all), '$GITHUB_TOKEN');
  assert.equal(await find('github.com', all), '$GITHUB_TOKEN');
  const ordinary = ['$GITHUB_TOKEN', '$GH_TOKEN'];
  await failsWith(find('github.com', { GH_ENTERPRISE_TOKEN: 'c' }), GITHUB_CODES.token_missing, {
    host: 'github.com',
    variables: ordinary,
  });
  await failsWith(find('git.example.com', {}), GITHUB_CODES.token_missing, {
    host: 'git.example.com',
    variables: ['$GH_ENTERPRISE_TOKEN', '$GITHUB_ENTERPRISE_TOKEN', ...ordinary],
  });
});

test('without any, the error names every way to give one, and what the client says', async (t) => {
  const { env } = client(t, LOGGED_OUT);
  await assert.rejects(Credential.find(null, new Map(), 'github.com', env), (error: unknown) => {
    assert.ok(error instanceof ToolError && error.kind === 'credential' && error.exitCode === 2);
    assert.match(String(error.values.said), /not logged into any GitHub hosts/);
    assert.match(
      error.message,
      /\$GITHUB_TOKEN, \$GH_TOKEN.*not logged into.*gh auth login --hostname github\.com.*tracker\.token/s,
    );
    return true;
  });
  const nowhere = { PATH: '/nowhere' };
  assert.deepEqual(await clientStatus('github.com', nowhere), {
    installed: false,
    ok: false,
    says: 'the hosting client gh is not installed',
  });
});

test('a token that was turned away is fetched again from the client’s login', async (t) => {
  const { env, directory } = client(t, LOGGED_IN);
  const credential = await Credential.find(null, new Map(), 'github.com', env);
  writeFileSync(join(directory, 'token'), 'gho_renewed\n');
  assert.equal(await credential.token(), 'gho_from_client');
  credential.reject();
  assert.equal(await credential.token(), 'gho_renewed');
  assert.match(await credential.gitSecret(), /^username=x-access-token\npassword=gho_renewed\n$/);
  const fixed = await Credential.find(null, new Map([['GH_TOKEN', 'x']]), 'github.com', env);
  fixed.reject();
  assert.equal(await fixed.token(), 'x');
});

test('a token leaves the environment of the process, where the kernel shows it too', () => {
  const taker = scriptFile(`
    import { readFileSync } from 'node:fs';
    import { spawnSync } from 'node:child_process';
    import { takeTokens } from './src/daemon/github/credential.ts';
    const { tokens, scrubbed } = takeTokens(process.env, ['MINE']);
    const kernel = readFileSync('/proc/self/environ', 'latin1');
    const child = spawnSync('/usr/bin/env', { encoding: 'utf8' }).stdout;
    console.log(JSON.stringify({ tokens: [...tokens], scrubbed, kernel: /canary/.test(kernel), own: /canary/.test(JSON.stringify(process.env)), child: /canary/.test(child), kept: process.env.KEPT, path: typeof process.env.PATH }));
  `);
  const { stdout } = execaSync(process.execPath, [taker], {
    env: {
      PATH: process.env.PATH,
      GITHUB_TOKEN: 'canary-1',
      KEPT: 'yes',
      GH_TOKEN: 'canary-2',
      MINE: 'canary-3',
      GITHUB_TOKEN_X: 'other',
    },
    extendEnv: false,
  });
  assert.deepEqual(JSON.parse(stdout), {
    tokens: [
      ['GITHUB_TOKEN', 'canary-1'],
      ['GH_TOKEN', 'canary-2'],
      ['MINE', 'canary-3'],
    ],
    scrubbed: process.platform === 'linux',
    kernel: process.platform !== 'linux',
    own: false,
    child: false,
    kept: 'yes',
    path: 'string',
  });
});

test('processes that still show a token are found', async () => {
  const child = execa({ env: { X: 'a-token-that-shows' }, extendEnv: false, reject: false })`/bin/sleep 100`;
  await once(child, 'spawn');
  assert.deepEqual(exposedIn('a-token-that-shows'), [child.pid]);
  child.kill('SIGKILL');
  assert.deepEqual(exposedIn('short'), []);
});
