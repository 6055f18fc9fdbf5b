// Many repositories of one daemon as a GitHub App, with a webhook and followed pull requests; and what those cost that are not open.

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import type { Daemon } from '../support/daemon.ts';
import { fields } from '../support/forge.ts';
import { daemonFor, startForges } from '../support/two-forges.ts';

const HOURS = 10 * 60 * 60_000;
const SECRET = 'canary-of-the-webhook';
const EVENTS = ['issues', 'pull_request', 'check_run'];
const NAMES = 'repositories: [maintainer/shop, maintainer/site]';

/** A host whose one turn does nothing, for 0.60 dollars. */
const HOST = `import { createInterface } from 'node:readline';
const print = (row) => process.stdout.write(JSON.stringify(row) + '\\n');
if (process.argv.includes('--version')) {
  console.log('2.1.331 (Claude Code)');
  process.exit(0);
}
print({ type: 'system', subtype: 'init', session_id: 's' });
const usage = { input_tokens: 100, output_tokens: 10 };
for await (const _ of createInterface({ input: process.stdin }))
  print({ type: 'result', subtype: 'success', is_error: false, result: 'no', total_cost_usd: 0.6, usage });
`;

const rowsOf = async (daemon: Daemon) => (await daemon.state()).repositories ?? [];

test('an App with one webhook for two repositories: labels and a red check reach the right one by delivery', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const all = await startForges(t, ['shop', 'site'], { apps: [{ id: 7, slug: 'crew', publicKey, installed: 'yes' }] });
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  const script = [
    `cat > "${all.directory}/$(basename "$TOOL_REPO")-$TOOL_ISSUE-$TOOL_ATTEMPT"`,
    'echo "$TOOL_ATTEMPT" >> work.txt; git add work.txt; git commit -qm "Part $TOOL_ATTEMPT"',
  ].join('\n');
  const daemon = await daemonFor(
    t,
    all,
    `${NAMES}, app_id: 7, private_key: $APP_KEY`,
    [agentRunning(script), 'follow: { until: green }', 'agent: { max_concurrent_agents: 2 }'].join('\n'),
    {
      pollMs: HOURS,
      server: 'webhook_secret: $HOOK_SECRET',
      env: { HOOK_SECRET: SECRET, APP_KEY: privateKey, GITHUB_TOKEN: '' },
    },
  );
  daemon.start();
  await daemon.until('the first polls', async () => {
    const rows = await rowsOf(daemon);
    return rows.length === 2 && rows.every(({ last_poll_at: at }) => at !== null);
  });
  // The webhook of the App is one for all repositories that it is installed on.
  const url = `http://127.0.0.1:${daemon.port}/webhooks/github`;
  for (const [repo, { forge }] of all.forges) {
    const config = { url, content_type: 'json', secret: SECRET };
    const asked = { config, events: EVENTS };
    assert.equal((await forge.call('maintainer', 'POST', `/repos/maintainer/${repo}/hooks`, asked)).status, 201);
  }
  const issue = await site.open('Do it');
  const row = async () => fields((await daemon.state()).following[0]);
  const followed = (rounds: number) =>
    daemon.until(`followed after ${rounds} rounds`, async () => (await row()).rounds === rounds);
  await followed(0);
  assert.equal((await row()).issue_identifier, `maintainer/site#${issue}`);
  const [pull] = await site.pulls();
  const { data } = await site.forge.call('maintainer', 'GET', `/repos/maintainer/site/pulls/${pull?.number}`);
  assert.equal(fields(fields(data).user).login, 'crew[bot]');
  const head = String(fields(fields(data).head).sha);
  const { checks } = site.forge;
  checks.finish(checks.start(head, 'build'), 'failure', { step: 'npm test', log: 'expected 3, got 4\n' });
  await followed(1);
  const prompt = readFileSync(join(all.directory, `site-${issue}-2`), 'utf8');
  assert.match(prompt, /The check "build" failed[\s\S]*expected 3, got 4/);
  assert.ok(!existsSync(join(all.directory, `shop-${issue}-1`)));
  assert.deepEqual(await shop.pulls(), []);

  const other = await shop.open('Do that');
  await daemon.until('the other one', async () => (await daemon.state()).following.length === 2);
  assert.deepEqual(await shop.labelsOf(other), ['tool-done']);
  const { webhook } = await daemon.state();
  assert.equal(webhook?.deliveries.forged, 0);
  assert.match(daemon.log, /watching .*maintainer\/shop for \[tool-todo\], token from the App crew/);
  assert.ok(!daemon.log.includes(SECRET));
  assert.equal(await daemon.stop(), 143, daemon.log);
});

test('what a repository cost today counts after a restart in which it cannot be opened', async (t) => {
  const all = await startForges(t, ['shop', 'site']);
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  await shop.open('one');
  const host = join(all.directory, 'host.mjs');
  writeFileSync(host, HOST);
  const runtime = `tool: { runtime: claude, command: ${JSON.stringify([process.execPath, host])} }`;
  const daemon = await daemonFor(
    t,
    all,
    NAMES,
    `${runtime}\nagent: { max_concurrent_agents: 1, max_attempts: 1, max_turns: 1, max_cost_usd_per_day: 0.5 }\n`,
    { env: { ANTHROPIC_API_KEY: 'none' } },
  );
  daemon.start();
  const budget = async () => (await daemon.state()).budget;
  await daemon.until('the issue is over', async () => (await daemon.state()).counts.failed === 1);
  const spent = (await budget())?.spent_usd ?? 0;
  assert.ok(spent >= 0.5, String(spent));
  assert.equal(await daemon.stop(), 143, daemon.log);

  // A file in the place of its workspaces.
  const place = join(daemon.root, 'maintainer', 'shop');
  rmSync(place, { recursive: true });
  writeFileSync(place, '');
  await site.open('two');
  daemon.log = '';
  daemon.start();
  await daemon.until('the issue of the other one waits', async () => (await daemon.state()).queued.length === 1);
  const rows = await rowsOf(daemon);
  assert.deepEqual(rows.map(({ repository, problem }) => [repository, problem !== null]).sort(), [
    ['maintainer/shop', true],
    ['maintainer/site', false],
  ]);
  const view = await daemon.state();
  assert.match(view.queued[0]?.reason ?? '', /daily limit of 0\.5 USD is reached/);
  assert.deepEqual([view.budget?.spent_usd, view.budget?.waiting], [spent, 1]);
  assert.equal(await daemon.stop(), 143, daemon.log);
});
