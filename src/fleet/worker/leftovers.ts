// Work that an earlier process of this worker left: handed in where the coordinator still takes it, kept otherwise.

import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../base/files/remove-tree.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import { Unreachable } from './coordinator-answers.ts';
import { CoordinatorClient } from './coordinator-client.ts';
import { reportReturned } from './hand-in.ts';
import type { KeptRecord, KeptWork } from './kept-work.ts';
import type { WorkerAttempt } from './worker-attempt.ts';

export type LeftoversOptions = {
  readonly kept: KeptWork;
  /** Directories with a place for each attempt, by its id. */
  readonly places: readonly string[];
  readonly key: string;
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** The attempt as it was, whose workspace is there. */
  readonly attemptOf: (client: CoordinatorClient, record: KeptRecord, id: string) => Pick<WorkerAttempt, 'salvage'>;
};

export class Leftovers {
  readonly #options: LeftoversOptions;
  #ids: readonly string[] = [];

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /** Before any attempt begins: removes the places of those that have no record. */
  async find(): Promise<void> {
    const { kept, places } = this.#options;
    this.#ids = await kept.ids();
    for (const place of places)
      for (const name of await readdir(place).catch(() => []))
        if (!this.#ids.includes(name)) await removeTree(join(place, name)).catch(() => undefined);
  }

  /** One after the other. Never rejects. */
  async handIn(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    for (const id of this.#ids) {
      if (signal.aborted) return;
      await this.#handIn(id, signal).catch((error: unknown) =>
        log.log('warn', 'agent', `attempt ${attemptName(id)}: ${messageOf(error)}`),
      );
    }
  }

  async #handIn(id: string, signal: AbortSignal): Promise<void> {
    const { kept, places, key, name, version, clock, log, attemptOf } = this.#options;
    // What was published meanwhile is forgotten.
    if (!kept.has(id)) return;
    const record = await kept.read(id);
    const { job, token } = record;
    if (record.handed === true) return this.#clear(id);
    const [cut, over] = [new AbortController(), new AbortController()];
    const end = () => cut.abort(new Error('the worker ends'));
    signal.addEventListener('abort', end, { once: true });
    void clock.sleep(2 * job.lease_ms, over.signal).then(() => cut.abort(new Unreachable('no answer')));
    const onSilent = (said: string) =>
      log.log('warn', 'serve', refusal(FLEET_CODES.coordinator_silent, { address: job.coordinator, said }));
    const client = new CoordinatorClient({
      ...{ job, key, worker: name, version, clock, token, signal: cut.signal, onSilent },
    });
    try {
      if (places.every((place) => existsSync(join(place, id)))) await attemptOf(client, record, id).salvage();
      else await this.#handInBundle(client, record, id);
      const left = await kept.read(id).catch(() => null);
      if (left === null || left.handed === true)
        log.log('info', 'agent', `what the attempt ${attemptName(id)} left is handed in`);
    } finally {
      over.abort();
      signal.removeEventListener('abort', end);
      await client.close();
    }
  }

  async #clear(id: string): Promise<void> {
    for (const place of this.#options.places) await removeTree(join(place, id)).catch(() => undefined);
  }

  async #handInBundle(client: CoordinatorClient, record: KeptRecord, id: string): Promise<void> {
    const { kept, log } = this.#options;
    const { work } = record;
    const path = kept.bundleOf(id);
    if (work !== null && kept.hasBundle(id)) {
      try {
        await client.work(path, work);
      } catch (error) {
        const what = { attempt: attemptName(id), path, said: messageOf(error) };
        log.log('warn', 'agent', refusal(FLEET_CODES.work_kept_on_worker, what));
        return;
      }
      await reportReturned(client);
    }
    await this.#clear(id);
    if (work !== null && kept.hasBundle(id)) await kept.note(id, { ...record, handed: true });
    else await kept.forget(id);
  }
}
