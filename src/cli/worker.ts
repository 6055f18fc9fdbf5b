// `tool worker`: makes the attempts of a queue, until a signal drains it.

import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { stateHome } from '../base/files/state-home.ts';
import { failure } from '../base/rules/errors.ts';
import { EXPECTED_QUEUE_URL, isWorkerLabel, LEAST_KEY, MOST_LABELS } from '../daemon/rules/queue-settings.ts';
import { FLEET_CODES } from '../fleet/rules/fleet-codes.ts';
import { type EndSignal, SIGNAL_CODES, SIGNALS } from './signals.ts';

export type WorkerCommandOptions = {
  readonly queue?: string;
  readonly labels?: string;
  readonly slots: number;
  readonly once?: boolean;
  readonly traces?: boolean;
  readonly drain: 'finish' | 'return';
  readonly drainSeconds: number;
  readonly name?: string;
  readonly stateDir?: string;
  readonly root: string;
  readonly logFormat: 'text' | 'json';
};

const KEY_VARIABLE = 'TOOL_FLEET_KEY';
const URL_VARIABLE = 'TOOL_QUEUE_URL';
/** To hand the work back, once the time of draining is over. */
const RETURN_MS = 30_000;
/** For what does not end by itself even so. */
const LAST_MS = 10_000;

function labelsOf(text: string): readonly string[] {
  const labels = text.split(',').flatMap((label) => (label.trim() === '' ? [] : [label.trim().toLowerCase()]));
  if (labels.length > MOST_LABELS || !labels.every(isWorkerLabel))
    throw failure(FLEET_CODES.worker_labels_wrong, { most: MOST_LABELS, got: text });
  return [...new Set(labels)].sort();
}

export async function workerCommand(options: WorkerCommandOptions): Promise<void> {
  const { env } = process;
  const key = env[KEY_VARIABLE] ?? '';
  const url = options.queue ?? env[URL_VARIABLE] ?? '';
  if (url === '') throw failure(FLEET_CODES.queue_store_unknown, { expected: EXPECTED_QUEUE_URL, got: 'nothing' });
  if (key.length < LEAST_KEY) throw failure(FLEET_CODES.fleet_key_missing, { least: LEAST_KEY, got: key.length });
  const name =
    options.name ??
    hostname()
      .replace(/[^\w.-]/g, '-')
      .slice(0, 64);
  const { createWorker } = await import('../compose/fleet.ts');
  const worker = await createWorker({
    ...{ env, url, key, name, slots: options.slots, once: options.once === true, logFormat: options.logFormat },
    traces: options.traces === true,
    secrets: [KEY_VARIABLE, URL_VARIABLE],
    labels: labelsOf(options.labels ?? ''),
    stateDir: resolve(options.stateDir ?? join(stateHome(env), 'toolcrew', 'worker')),
    root: resolve(options.root),
    write: (line) => void process.stderr.write(line),
  });
  let ended: EndSignal | undefined;
  const onSignal = (signal: EndSignal) => {
    // Asked twice: nobody wants to wait for agents.
    const isAgain = ended !== undefined;
    const how = isAgain ? 'return' : options.drain;
    ended ??= signal;
    worker.drain(how);
    const later = how === 'return' ? 0 : options.drainSeconds * 1000;
    setTimeout(() => worker.drain('return'), later).unref();
    setTimeout(() => worker.end(), later + RETURN_MS).unref();
    // What is left then is ended by the next start.
    setTimeout(() => process.exit(SIGNAL_CODES[signal]), later + RETURN_MS + LAST_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    await worker.run();
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    await worker.close();
  }
  if (ended !== undefined) process.exitCode = SIGNAL_CODES[ended];
}
