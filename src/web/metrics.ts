// The daemon's numbers in Prometheus' text format.

import { Counter, Gauge, Registry } from 'prom-client';
import type { StateView } from '../daemon/view.ts';

/** Renders one state; nothing is kept between calls. */
export async function renderMetrics(view: StateView): Promise<{ readonly contentType: string; readonly body: string }> {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: number) => new Gauge({ name, help, registers }).set(value);
  const counter = (name: string, help: string, value: number) => new Counter({ name, help, registers }).inc(value);
  const issues = new Gauge({
    name: 'toolcrew_issues',
    help: 'Issues by where they stand.',
    labelNames: ['state'],
    registers,
  });
  for (const state of ['running', 'retrying', 'asking', 'following', 'queued'] as const)
    issues.set({ state }, view.counts[state]);
  const waiting = new Gauge({
    name: 'toolcrew_issues_waiting',
    help: 'Queued issues by the code of their reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const [reason, count] of Object.entries(view.waiting.reasons)) waiting.set({ reason }, count);
  gauge('toolcrew_issues_postponed', 'Issues with a step of publishing that is tried again.', view.waiting.postponed);
  const finished = new Counter({
    name: 'toolcrew_issues_finished_total',
    help: 'Issues that came to an end.',
    labelNames: ['outcome'],
    registers,
  });
  finished.inc({ outcome: 'done' }, view.counts.completed);
  finished.inc({ outcome: 'failed' }, view.counts.failed);
  gauge('toolcrew_slots', 'Agents that may work at a time.', view.slots);
  if (view.queue !== undefined) {
    const jobs = new Gauge({
      name: 'toolcrew_queue_attempts',
      help: 'Attempts in the queue: without a worker, and with one.',
      labelNames: ['state'],
      registers,
    });
    for (const state of ['waiting', 'active'] as const) jobs.set({ state }, view.queue[state]);
    gauge('toolcrew_queue_ok', 'Whether the queue answers.', view.queue.problem === null ? 1 : 0);
    const workers = view.workers ?? [];
    const sum = (of: 'slots' | 'used') => workers.reduce((total, one) => total + one[of], 0);
    gauge('toolcrew_workers', 'Workers that were heard of lately.', workers.length);
    gauge('toolcrew_worker_slots', 'Agents that these may run at a time.', sum('slots'));
    gauge('toolcrew_worker_slots_used', 'Agents that they run.', sum('used'));
  }
  const tokens = new Counter({
    name: 'toolcrew_tokens_total',
    help: 'Tokens of the model used by agents.',
    labelNames: ['direction'],
    registers,
  });
  tokens.inc({ direction: 'input' }, view.totals.input_tokens);
  tokens.inc({ direction: 'output' }, view.totals.output_tokens);
  counter('toolcrew_cost_usd_total', 'Cost of agents, US dollars.', view.totals.cost_usd);
  if (view.budget !== null) {
    gauge('toolcrew_day_budget_usd', 'What agents may cost on a day (UTC), US dollars.', view.budget.limit_usd);
    gauge('toolcrew_day_cost_usd', 'What agents have cost today (UTC), US dollars.', view.budget.spent_usd);
  }
  counter('toolcrew_agent_seconds_total', 'Time that agents worked, seconds.', view.totals.seconds_running);
  counter('toolcrew_tracker_requests_total', 'Requests to the tracker since the start.', view.poll.requests);
  counter('toolcrew_tracker_not_modified_total', 'Of these, answered "not modified".', view.poll.not_modified);
  if (view.webhook !== null) {
    const deliveries = new Counter({
      name: 'toolcrew_webhook_deliveries_total',
      help: 'Deliveries of the webhook since the start, by result.',
      labelNames: ['result'],
      registers,
    });
    for (const [result, many] of Object.entries(view.webhook.deliveries)) deliveries.inc({ result }, many);
  }
  gauge('toolcrew_poll_ok', 'Whether the last poll got an answer.', view.poll.last_error === null ? 1 : 0);
  if (view.poll.last_at !== null) {
    const seconds = Date.parse(view.poll.last_at) / 1000;
    gauge('toolcrew_last_poll_timestamp_seconds', 'When a poll last got an answer, seconds since 1970.', seconds);
  }
  gauge(
    'toolcrew_workflow_ok',
    'Whether the workflow file is valid as it stands.',
    view.workflow.error === null ? 1 : 0,
  );
  gauge('toolcrew_resident_memory_bytes', 'Memory of the daemon itself.', process.memoryUsage.rss());
  if (view.rate_limit.remaining !== null)
    gauge('toolcrew_rate_limit_remaining', 'Requests left of the quota.', view.rate_limit.remaining);
  return { contentType: registry.contentType, body: await registry.metrics() };
}
