// Traces of an attempt as a collector gets them: over a coordinator and a worker, in one process, and while it is away.

import assert from 'node:assert/strict';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { Collector } from '../support/collector.ts';
import { Daemon } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { DAEMON_TOKEN, startForge } from '../support/forge.ts';
import { freePort } from '../support/free-port.ts';

const HEADER = 'canary-of-the-header';
const PROMPT_CANARY = 'canary-of-the-prompt';
const CODE_CANARY = 'canary-of-the-code';

/** Fails where it sees what says where traces go, even when it is asked for. */
const AGENT = agentRunning(
  [
    'cat > /dev/null; [ "$(env | grep -c OTEL_EXPORTER_OTLP)" = 0 ]',
    `! grep -qs ${HEADER} /proc/[0-9]*/environ`,
    `echo ${CODE_CANARY} > work.txt; git add -A; git commit -qm "Do the work"`,
  ].join('\n'),
  'env: [OTEL_EXPORTER_OTLP_HEADERS]',
);
/** Its base names the command that measures it. */
const MEASURED = { 'a.txt': 'a', '.tool/config/workflow.yaml': 'quality:\n  commands:\n    tests: node -e 0\n' };
const TRACED = 'telemetry: { traces: true }\nhooks: { after_run: "true" }\ngate: { mode: required }\n';

function settingsOf(url: string) {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_HEADERS: `x-key=${HEADER}` };
}

function assertClean(collector: Collector, more: readonly string[]): void {
  for (const canary of [PROMPT_CANARY, CODE_CANARY, HEADER, DAEMON_TOKEN])
    for (const text of [collector.text, ...more]) assert.ok(!text.includes(canary), `${canary} in ${text}`);
  assert.ok(collector.headers.every((headers) => headers['x-key'] === HEADER));
}

test('an attempt over a coordinator and a worker is one trace', async (t) => {
  const [forge, redis, collector] = await Promise.all([
    startForge(t, MEASURED),
    RedisServer.start(t),
    Collector.start(t),
  ]);
  const issue = await forge.open('Do it', { body: PROMPT_CANARY });
  const env = settingsOf(collector.url);
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${TRACED}${AGENT}`, env });
  const worker = startWorker(t, 'one', redis, ['--traces'], env);
  await daemon.until('it is done', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  await worker.kill();
  await daemon.stop();
  const below = (parent: string) =>
    collector.tree.flatMap((line) => (line.endsWith(` < ${parent}`) ? [line.slice(0, -` < ${parent}`.length)] : []));
  assert.deepEqual(
    collector.tree.filter((line) => !line.includes('<')),
    ['attempt'],
    collector.tree.join('\n'),
  );
  assert.deepEqual(
    below('attempt').filter((name) => name !== 'adopt'),
    ['wait', 'workspace', 'hook after_create', 'hook before_run', 'pack', 'queue', 'worker', 'publish'],
  );
  assert.ok(below('attempt').includes('adopt'));
  assert.deepEqual(below('worker'), [
    ...['take', 'fetch', 'workspace', 'hook after_create', 'hook before_run'],
    ...['agent', 'hook after_run', 'hand_in', 'gate'],
  ]);
  assert.deepEqual(below('agent'), ['turn']);
  for (const effect of ['push', 'pull_request', 'label_add']) assert.ok(below('publish').includes(effect), effect);
  assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
  const [attempt, made] = [collector.named('attempt')[0], collector.named('worker')[0]];
  const { 'toolcrew.outcome': outcome, 'toolcrew.issue': number } = attempt?.attributes ?? {};
  assert.deepEqual([outcome, number, made?.attributes['toolcrew.worker']], ['succeeded', issue, 'one']);
  assertClean(collector, [daemon.log, worker.stderr, await redis.dump()]);
});

test('without a queue, one process has the same steps', async (t) => {
  const [forge, collector] = await Promise.all([startForge(t, MEASURED), Collector.start(t)]);
  const issue = await forge.open('Do it', { body: PROMPT_CANARY });
  const daemon = await Daemon.start(t, forge, { yaml: `${TRACED}${AGENT}`, env: settingsOf(collector.url) });
  await daemon.until('it is done', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  await daemon.stop();
  for (const step of ['wait', 'workspace', 'hook before_run', 'agent', 'hook after_run', 'publish'])
    assert.ok(collector.tree.includes(`${step} < attempt`), collector.tree.join('\n'));
  for (const effect of ['gate', 'push', 'pull_request', 'label_add'])
    assert.ok(collector.tree.includes(`${effect} < publish`), collector.tree.join('\n'));
  assert.ok(collector.tree.includes('turn < agent'));
  assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
  assertClean(collector, [daemon.log]);
});

test('a collector that is away costs one warning', async (t) => {
  const forge = await startForge(t, MEASURED);
  const issue = await forge.open('Do it');
  const env = { ...settingsOf(`http://127.0.0.1:${await freePort()}`), OTEL_EXPORTER_OTLP_TIMEOUT: '100' };
  const daemon = await Daemon.start(t, forge, {
    ...{ yaml: `${TRACED}${AGENT}`, env: { ...env, OTEL_BSP_SCHEDULE_DELAY: '50' } },
  });
  await daemon.until('it is done', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  await daemon.logged(/traces_not_taken/);
  assert.equal(await daemon.stop(), 143, daemon.log);
  assert.equal(daemon.log.split('traces_not_taken').length, 2, daemon.log);
});
