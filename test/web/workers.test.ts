// Workers of a queue on the dashboard, the page and in the metrics; nothing of them without a queue.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { StateView } from '../../src/daemon/view.ts';
import { textDashboard } from '../../src/web/dashboard.ts';
import { renderMetrics } from '../../src/web/metrics.ts';
import { page, pageParts } from '../../src/web/page.ts';
import { viewWith } from '../support/view.ts';

const WORKERS: StateView['workers'] = [
  {
    ...{ name: 'rack-1', labels: ['big', 'gpu'], slots: 4, used: 3, version: '1.2.3', draining: true },
    ...{ started_at: '2026-01-01T11:00:00.000Z', last_heartbeat_at: '2026-01-01T11:59:58.000Z' },
  },
  {
    ...{ name: 'rack-2', labels: [], slots: 2, used: 0, version: '1.2.2', draining: false },
    ...{ started_at: '2026-01-01T11:59:00.000Z', last_heartbeat_at: '2026-01-01T11:59:59.000Z' },
  },
];

test('names, slots, labels, versions, ages and heartbeats', async () => {
  const view = viewWith({ queue: { waiting: 5, active: 3, problem: null }, workers: WORKERS });
  const text = textDashboard(view, 240);
  assert.match(text, /\nWORKERS · 5 attempts wait for one · 3 are with one\n/);
  assert.match(text, /\n {2}rack-1\s+3\/4 drains\s+big,gpu\s+1\.2\.3\s+1h 00m\s+2s\n/);
  assert.match(text, /\n {2}rack-2\s+0\/2\s+–\s+1\.2\.2\s+1m 00s\s+1s\n/);
  assert.match(page(view, 'n', true), /<h2>Workers<\/h2>/);
  const parts = pageParts(view);
  assert.match(parts['worker-rack-1'] ?? '', /3 of 4, drains.*big, gpu.*1\.2\.3/);
  assert.match(parts.facts ?? '', /<b>5<\/b>wait for a worker/);
  const { body } = await renderMetrics(view);
  for (const line of [
    'toolcrew_queue_attempts{state="waiting"} 5',
    'toolcrew_queue_attempts{state="active"} 3',
    'toolcrew_queue_ok 1',
    'toolcrew_workers 2',
    'toolcrew_worker_slots 6',
    'toolcrew_worker_slots_used 3',
  ])
    assert.ok(body.split('\n').includes(line), line);
});

test('a queue without an answer, and without workers, says so', async () => {
  const view = viewWith({ queue: { waiting: 1, active: 0, problem: 'connect <refused>' }, workers: [] });
  assert.match(textDashboard(view, 240), /^! the queue .*: connect <refused>\n {2}none was heard of lately/m);
  assert.match(page(view, 'n', true), /The queue [^<]*: connect &lt;refused&gt;/);
  assert.match((await renderMetrics(view)).body, /^toolcrew_queue_ok 0$/m);
});

test('without a queue there is no word of workers', async () => {
  const view = viewWith();
  assert.doesNotMatch(textDashboard(view, 240) + page(view, 'n', true), /worker/i);
  assert.doesNotMatch((await renderMetrics(view)).body, /worker|queue_/);
});
