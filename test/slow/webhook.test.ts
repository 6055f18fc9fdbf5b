// A real daemon with a webhook of the played service: its polls are hours apart, so that only deliveries start work.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { Daemon } from '../support/daemon.ts';
import { BASE, fields, startForge, type TestForge } from '../support/forge.ts';
import type { Cleanup } from '../support/temp.ts';

const HOURS = 10 * 60 * 60_000;
const SECRET = 'canary-of-the-webhook';
const EVENTS = ['issues', 'pull_request', 'pull_request_review', 'pull_request_review_comment', 'check_run', 'status'];

async function startDaemon(t: Cleanup, service: TestForge, script: string, more: readonly string[] = []) {
  const daemon = await Daemon.create(t, service, {
    pollMs: HOURS,
    server: 'webhook_secret: $HOOK_SECRET',
    env: { HOOK_SECRET: SECRET },
  });
  daemon.write([agentRunning(script.replaceAll('DIRECTORY', daemon.directory)), ...more].join('\n'));
  daemon.start();
  await daemon.until('the first poll', async () => (await daemon.state()).poll.last_at !== null);
  const url = `http://127.0.0.1:${daemon.port}/webhooks/github`;
  const config = { url, content_type: 'json', secret: SECRET };
  const { status } = await service.forge.call('maintainer', 'POST', `${BASE}/hooks`, { config, events: EVENTS });
  assert.equal(status, 201);
  await daemon.logged('its ping has come');
  return { daemon, url };
}

test('a label starts an agent by delivery; forged, replayed and foreign deliveries start none', async (t) => {
  const service = await startForge(t);
  const { webhooks } = service.forge;
  const commits = 'echo x > work.txt; git add work.txt; git commit -qm work; env > DIRECTORY/env-$TOOL_ISSUE';
  const { daemon, url } = await startDaemon(t, service, commits);
  const issue = await service.open('Do it');
  await daemon.until('the pull request', async () => (await daemon.state()).counts.completed === 1);
  assert.deepEqual(await service.labelsOf(issue), ['tool-done']);
  await webhooks.settled();
  assert.ok(
    webhooks.deliveries.every(({ status }) => status === 200 || status === 202),
    JSON.stringify(webhooks.deliveries.map(({ status, answer }) => [status, answer])),
  );

  // The service is silent from here on: whatever starts an agent now is one of these.
  const original = webhooks.deliveries.find(({ body }) => body.includes('"labeled"'));
  assert.ok(original !== undefined);
  const { headers, body } = original;
  const replayed = await webhooks.deliver(url, 'issues', body, { ...headers, 'x-github-delivery': 'another-id' });
  const forged = await webhooks.deliver(url, 'issues', body.replace('labeled', 'opened'), headers);
  const { 'x-hub-signature-256': _, ...unsigned } = headers;
  assert.deepEqual(
    [replayed.status, forged.status, (await webhooks.deliver(url, 'issues', body, unsigned)).status],
    [200, 401, 401],
  );
  assert.equal(JSON.parse(replayed.answer).result, 'known');
  const { webhook } = await daemon.state();
  assert.deepEqual([webhook?.deliveries.known, webhook?.deliveries.forged], [1, 2]);
  assert.ok(webhook?.last_delivery_at !== null);
  assert.ok(!readFileSync(join(daemon.directory, `env-${issue}`), 'utf8').includes(SECRET));
  for (const file of ['journal.jsonl']) assert.ok(!readFileSync(join(daemon.stateDir, file), 'utf8').includes(SECRET));
  assert.ok(!daemon.log.includes(SECRET));
  assert.equal(await daemon.stop(), 143, daemon.log);
});

test('a red check and a review of a followed pull request reach the agent by delivery', async (t) => {
  const service = await startForge(t);
  const { forge } = service;
  const script = [
    'cat > DIRECTORY/prompt-$TOOL_ATTEMPT',
    'echo "$TOOL_ATTEMPT" >> work.txt; git add work.txt; git commit -qm "Part $TOOL_ATTEMPT"',
  ].join('\n');
  const { daemon } = await startDaemon(t, service, script, ['follow: { until: approved }']);
  await service.open('Do it');
  const followed = (rounds: number) =>
    daemon.until(
      `followed after ${rounds} rounds`,
      async () => fields((await daemon.state()).following[0]).rounds === rounds,
    );
  await followed(0);
  const [pull] = await service.pulls();
  assert.ok(pull !== undefined);
  const { data } = await forge.call('maintainer', 'GET', `${BASE}/pulls/${pull.number}`);
  const head = String(fields(fields(data).head).sha);
  forge.checks.finish(forge.checks.start(head, 'build'), 'failure', { step: 'npm test', log: 'expected 3, got 4\n' });
  await followed(1);
  assert.match(readFileSync(join(daemon.directory, 'prompt-2'), 'utf8'), /The check "build" failed/);

  const review = { event: 'REQUEST_CHANGES', body: 'One more line, please.' };
  await forge.call('maintainer', 'POST', `${BASE}/pulls/${pull.number}/reviews`, review);
  await followed(2);
  assert.match(readFileSync(join(daemon.directory, 'prompt-3'), 'utf8'), /One more line, please\./);
  assert.ok(!existsSync(join(daemon.directory, 'prompt-4')));
  assert.equal(await daemon.stop(), 143, daemon.log);
});

test('without a status server there is no webhook: the command refuses port 0', async (t) => {
  const service = await startForge(t);
  const daemon = await Daemon.create(t, service, { server: 'webhook_secret: secret', args: ['--port', '0'] });
  daemon.start();
  assert.equal(await daemon.exit(), 2);
  assert.match(daemon.log, /--port: expected the port of a status server, which server\.webhook_secret needs, got 0/);
});
