// A daemon that is a GitHub App: its tokens change under it, and neither they nor the key reach an agent or a file.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { GITHUB_CODES } from '../../src/daemon/rules/codes/github-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { wordsLike } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { BASE, fields, gitAs, startForge } from '../support/forge.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
/** A line of the key. */
const CANARY = privateKey.split('\n')[5] ?? '';
const APP = { id: 7, slug: 'crew', publicKey, installed: 'yes' } as const;

test('issue to pull request as an App, whose token is taken back while the agent works', async (t) => {
  const service = await startForge(t, undefined, { apps: [APP] });
  const { forge, bare } = service;
  const issue = await service.open('Do it');
  const daemon = await Daemon.create(t, service, {
    tracker: 'app_id: 7, private_key: $APP_KEY',
    env: { APP_KEY: privateKey.replaceAll('\n', '\\n'), GITHUB_TOKEN: '' },
  });
  const script = [
    'env > seen.txt; cat /proc/*/environ >> seen.txt 2>/dev/null || true',
    `grep -c -F ${CANARY} seen.txt && exit 1`,
    'grep -c -F ghs_ seen.txt && exit 1',
    'rm seen.txt',
    'tool issue comment --body "on it"',
    `touch ${daemon.directory}/at-work`,
    `until [ -e ${daemon.directory}/go ]; do sleep 0.05; done`,
    'echo x > work.txt; git add work.txt; git commit -qm work',
  ].join('\n');
  daemon.write(agentRunning(script));
  daemon.start();
  await daemon.until('the agent', () => existsSync(join(daemon.directory, 'at-work')));
  const { made } = forge.apps;
  forge.accounts.endLoans();
  writeFileSync(join(daemon.directory, 'go'), '');
  await daemon.until('the pull request', async () => (await daemon.state()).counts.completed === 1);
  assert.equal(forge.apps.made, made + 1, 'one new token');
  assert.deepEqual(await service.labelsOf(issue), ['tool-done']);

  const [pull] = await service.pulls();
  assert.ok(pull !== undefined);
  const { data } = await forge.call('maintainer', 'GET', `${BASE}/pulls/${pull.number}`);
  assert.equal(fields(fields(data).user).login, 'crew[bot]');
  const { data: comments } = await forge.call('maintainer', 'GET', `${BASE}/issues/${issue}/comments`);
  assert.ok(Array.isArray(comments) && comments.length > 0);
  for (const comment of comments) assert.equal(fields(fields(comment).user).login, 'crew[bot]');
  const author = await gitAs(bare, 'log', '-1', '--format=%an <%ae> %cn', pull.head);
  assert.equal(author.trim(), 'crew[bot] <41000007+crew[bot]@users.noreply.github.com> crew[bot]');

  assert.match(daemon.log, /token from the App crew \(key from \$APP_KEY\)/);
  assert.doesNotMatch(daemon.log, /gh auth status/);
  const state = JSON.stringify(await daemon.state());
  const logs = await runTool(['logs', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  await daemon.stop();
  for (const secret of [CANARY, 'ghs_']) {
    for (const text of [daemon.log, state, logs.stdout]) assert.ok(!text.includes(secret));
    // The file has the agent's script, which looks for both.
    const found = execaSync({ reject: false })`grep -rlF ${secret} ${daemon.directory}`.stdout;
    assert.equal(found, daemon.workflow);
  }
});

test('a wrong App ends the start with a line that names the key of the file', async (t) => {
  const service = await startForge(t, undefined, { apps: [{ ...APP, installed: 'none' }] });
  const cases: readonly [string, Record<string, string>, RegExp][] = [
    [
      'app_id: 7, private_key: $APP_KEY',
      { APP_KEY: privateKey },
      wordsLike(GITHUB_CODES.app_not_installed, {
        ...{ key: 'tracker.app_id', app: 'crew', repository: 'maintainer/project' },
      }),
    ],
    ['app_id: 7, private_key: $APP_KEY', { APP_KEY: 'x' }, /tracker\.private_key: expected an RSA key in PEM/],
    [
      'app_id: 8, private_key: $APP_KEY',
      { APP_KEY: privateKey },
      wordsLike(GITHUB_CODES.app_unknown, { key: 'tracker.app_id', id: '8' }),
    ],
    ['app_id: 7', {}, /tracker\.private_key: expected the key of the App of tracker\.app_id, got nothing/],
  ];
  for (const [tracker, env, words] of cases) {
    const daemon = await Daemon.create(t, service, { tracker, env });
    daemon.start();
    assert.equal(await daemon.exit(), 2, daemon.log);
    assert.match(daemon.log, words);
    assert.ok(!daemon.log.includes(CANARY));
  }
});

test('tool doctor takes the App, from a file that agents do not see', async (t) => {
  const service = await startForge(t, undefined, { apps: [APP] });
  const env = { APP_PEM: privateKey.replaceAll('\n', '\\n') };
  const daemon = await Daemon.create(t, service, { tracker: 'app_id: 7, private_key: app.pem', env });
  writeFileSync(join(daemon.directory, 'project', 'app.pem'), privateKey, { mode: 0o600 });
  const { stdout } = await runTool(['doctor', daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.match(stdout, /token +from the App crew \(key from .*app\.pem\)/);
  assert.match(stdout, /maintainer\/project can be read and pushed to/);
  const agent = agentRunning(
    `if cat ${daemon.directory}/project/app.pem | grep -q -F ${CANARY}; then echo SEEN; fi; echo x > a; git add a; git commit -qm a`,
  );
  daemon.write([agent, `hooks: { after_run: "env > ${daemon.directory}/hook" }`].join('\n'));
  const issue = await service.open('Do it');
  daemon.start();
  await daemon.until('the pull request', async () => (await daemon.state()).counts.completed === 1);
  const seen = readFileSync(join(daemon.directory, 'hook'), 'utf8');
  assert.ok(seen.includes('PATH=') && !seen.includes(CANARY), 'a variable with the same key stays from hooks');
  const logs = await runTool(['logs', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  if (daemon.log.includes('agents run in namespaces')) assert.doesNotMatch(logs.stdout, /SEEN/);
});
