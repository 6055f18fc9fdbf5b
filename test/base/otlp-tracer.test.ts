// Traces over OTLP, with the packages of OpenTelemetry and a collector on loopback.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { inSpan } from '../../src/base/in-span.ts';
import { openTracer, TRACE_PACKAGES } from '../../src/base/otlp-tracer.ts';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import type { Refusal } from '../../src/base/rules/codes.ts';
import { failure, isFailure } from '../../src/base/rules/errors.ts';
import { Collector } from '../support/collector.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** The exporter reads the process's own environment, once. */
async function tracerTo(t: TestContext, collector: Collector, clock = systemClock) {
  const said: Refusal[] = [];
  const log = {
    log: (_: unknown, __: unknown, what: string | Refusal) => void (typeof what !== 'string' && said.push(what)),
  };
  const own = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret-of-the-key',
    // One try.
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
  };
  Object.assign(process.env, own);
  t.after(() => {
    for (const name of Object.keys(own)) delete process.env[name];
  });
  const tracer = await openTracer(process.env, clock, log, 'tool serve');
  for (const name of Object.keys(own)) delete process.env[name];
  return { tracer, said };
}

test('spans come with their parents, their facts, and the codes of failures', async (t) => {
  const collector = await Collector.start(t);
  const { tracer, said } = await tracerTo(t, collector);
  const root = tracer.start('attempt', { issue: 7 }, { at: Date.now() - 5_000 });
  await inSpan(root, 'good', async () => undefined);
  await assert.rejects(
    inSpan(root, 'bad', async () => {
      throw failure(BASE_CODES.unexpected_error, { said: 'words that stay here' });
    }),
  );
  const elsewhere = tracer.start('worker', { worker: 'w' }, { parent: root.traceparent ?? '' });
  elsewhere.end();
  root.end(undefined, { outcome: 'succeeded' });
  root.end('too_late');
  await tracer.close();
  assert.deepEqual([...collector.tree].sort(), ['attempt', 'bad < attempt', 'good < attempt', 'worker < attempt']);
  const [attempt, bad] = [collector.named('attempt')[0], collector.named('bad')[0]];
  assert.deepEqual(attempt?.attributes, { 'toolcrew.issue': 7, 'toolcrew.outcome': 'succeeded' });
  assert.deepEqual([bad?.attributes, bad?.status.code], [{ 'toolcrew.code': 'unexpected_error' }, 2]);
  assert.equal(new Set(collector.spans.map(({ traceId }) => traceId)).size, 1);
  const took = Number((attempt?.endTimeUnixNano ?? 0n) - (attempt?.startTimeUnixNano ?? 0n)) / 1e6;
  assert.ok(took >= 5_000, String(took));
  assert.equal(collector.headers[0]?.['x-key'], 'secret-of-the-key');
  assert.equal(attempt?.service, 'toolcrew');
  assert.doesNotMatch(collector.text, /words that stay here/);
  assert.deepEqual(said, []);
});

test('a parent that cannot be read begins a trace of its own', async (t) => {
  const collector = await Collector.start(t);
  const { tracer } = await tracerTo(t, collector);
  tracer.start('worker', {}, { parent: 'not a parent' }).end();
  await tracer.close();
  assert.deepEqual(collector.tree, ['worker']);
});

test('a collector that refuses is named once', async (t) => {
  const collector = await Collector.start(t);
  collector.status = 403;
  const { tracer, said } = await tracerTo(t, collector);
  // More than one request takes.
  for (let number = 0; number < 1_500; number++) tracer.start('attempt', {}).end();
  await tracer.close();
  assert.ok(collector.headers.length > 1, String(collector.headers.length));
  assert.deepEqual(
    said.map(({ of }) => of.code),
    ['traces_not_taken'],
  );
});

test('a collector that gives no answer keeps nobody waiting for longer than the close has', async (t) => {
  const collector = await Collector.start(t);
  collector.isSilent = true;
  const clock = new FakeClock();
  const { tracer, said } = await tracerTo(t, collector, clock);
  tracer.start('attempt', {}).end();
  const closed = tracer.close();
  await clock.pass(2_000);
  await closed;
  assert.deepEqual(
    said.map(({ of }) => of.code),
    ['traces_not_taken'],
  );
});

test('the packages are those of package.json', () => {
  const own: Record<string, Record<string, string>> = JSON.parse(readFileSync('package.json', 'utf8'));
  const { peerDependencies, devDependencies } = own;
  for (const one of TRACE_PACKAGES) {
    const [, name = '', version = ''] = /^(@[^@]+)@(.+)$/.exec(one) ?? [];
    assert.equal(peerDependencies?.[name]?.startsWith(`^${version}`), true, one);
    assert.equal(devDependencies?.[name]?.startsWith(`${version}.`), true, one);
  }
});

test('a file of certificates that cannot be read is named', async (t) => {
  process.env.OTEL_EXPORTER_OTLP_CERTIFICATE = '/dev/null/none.pem';
  t.after(() => delete process.env.OTEL_EXPORTER_OTLP_CERTIFICATE);
  await assert.rejects(
    openTracer(process.env, systemClock, { log: () => undefined }, 'tool serve'),
    (error) => isFailure(error, BASE_CODES.config_value) && error.values.key === 'OTEL_EXPORTER_OTLP_CERTIFICATE',
  );
});
