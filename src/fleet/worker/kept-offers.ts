// Work that is kept until it is published, offered to the coordinator that acts for its repository now: that one says what becomes of it.

import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure, isFailure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { isPlainHttp } from '../../daemon/rules/queue-settings.ts';
import { addressFrom, isSame, newToken, offerAnswerProof, offerProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import type { Store } from '../store/store.ts';
import { decodeJson, errorSchema, type Fates, fatesSchema, type Kept, offerAnswerSchema } from '../wire.ts';
import type { KeptRecord, KeptWork } from './kept-work.ts';

export type KeptOffersOptions = {
  readonly kept: KeptWork;
  /** Directories with a place for each attempt at work, by its id. */
  readonly places: readonly string[];
  readonly store: Pick<Store, 'problem' | 'addressOf'>;
  readonly key: string;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
};

const OFFER_MS = 5_000;
/** An offer stays below what a coordinator reads of anybody. */
const MOST_OFFERED = 30;
const ANSWER_MS = 15_000;
const BUNDLE_MS = 600_000;
/** What nobody asked for is kept so long, and so much of it. */
const MOST_MS = 7 * 24 * 3_600_000;
const MOST_BYTES = 1024 ** 3;

type Row = { readonly id: string; readonly record: KeptRecord; readonly kept: Kept };

export class KeptOffers {
  readonly #options: KeptOffersOptions;
  readonly #agent = new Agent();
  /** Those that a coordinator did not take. */
  readonly #refused = new Set<string>();
  /** Repositories whose coordinator is being asked. */
  readonly #busy = new Set<string>();
  /** What was said last, by repositories and ids. */
  readonly #said = new Map<string, string>();

  constructor(options: KeptOffersOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const looks = new Set<Promise<void>>();
    try {
      for (;;) {
        await clock.sleep(OFFER_MS, signal);
        if (signal.aborted) break;
        const look = this.#try('', signal, () => this.look(signal)).finally(() => looks.delete(look));
        looks.add(look);
      }
    } finally {
      await Promise.all(looks);
      await this.#agent.destroy();
    }
  }

  /** Says once for each new reason why it failed. Never rejects: others do not wait for it. */
  async #try(what: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.#said.delete(what);
    } catch (error) {
      const words = messageOf(error);
      if (signal.aborted || this.#said.get(what) === words) return;
      this.#said.set(what, words);
      this.#options.log.log('warn', 'agent', error instanceof ToolError ? error.refusal : words);
    }
  }

  /** Asks once for all that is kept, where an earlier look is over: each coordinator by itself. */
  async look(signal: AbortSignal): Promise<void> {
    await this.#drop();
    const byRepository = new Map<string, Row[]>();
    for (const row of await this.#rows()) {
      const name = row.record.job.repository;
      byRepository.set(name, [...(byRepository.get(name) ?? []), row]);
    }
    const free = [...byRepository].filter(([repository]) => !this.#busy.has(repository));
    const offered = free.map(async ([repository, rows]) => {
      this.#busy.add(repository);
      await this.#try(repository, signal, () => this.#offer(repository, rows, signal));
      this.#busy.delete(repository);
    });
    await Promise.all(offered);
  }

  async #rows(): Promise<readonly Row[]> {
    const { kept, places } = this.#options;
    const rows: Row[] = [];
    for (const id of await kept.ids()) {
      // The attempt is at work.
      if (!kept.hasBundle(id) || places.some((place) => existsSync(join(place, id)))) continue;
      const record = await kept.read(id).catch(() => null);
      if (record === null || record.work === null) continue;
      const { issue, life, attempt, base } = record.order;
      rows.push({
        id,
        record,
        kept: { id, issue, life, attempt, base, ...record.work, handed: record.handed === true },
      });
    }
    return rows;
  }

  /** Nothing of it goes to an address that nobody with the key has written. */
  async #offer(repository: string, rows: readonly Row[], signal: AbortSignal): Promise<void> {
    const { store, key, kept, log } = this.#options;
    if (store.problem !== null) return;
    // The worker itself says when the store gives no answer.
    const named = await store.addressOf(repository).catch(() => null);
    const address = addressFrom(key, repository, named ?? '');
    if (address === null) return;
    if (isPlainHttp(address) && !rows.every(({ record }) => record.job.insecure))
      throw failure(FLEET_CODES.fleet_address_insecure, { address });
    const wanted: Fates['bring'] = [];
    // Of all of them before the first bundle, which may take long.
    for (let from = 0; from < rows.length && !signal.aborted; from += MOST_OFFERED) {
      const { forget, bring } = await this.#ask(address, repository, rows.slice(from, from + MOST_OFFERED), signal);
      for (const { id, record } of rows.filter((row) => forget.includes(row.id))) {
        await kept.forget(id);
        // Whoever was told of its place may look for it.
        if (record.handed !== true)
          log.log('info', 'agent', `what was kept of the attempt ${attemptName(id)} is needed no more, and removed`);
      }
      wanted.push(...bring);
    }
    for (const { id, token } of wanted) {
      const row = rows.find((one) => one.id === id);
      if (row === undefined || this.#refused.has(id) || signal.aborted) continue;
      await this.#try(id, signal, () => this.#bring(address, row, token, signal));
    }
  }

  async #bring(address: string, { id, record }: Row, token: string, signal: AbortSignal): Promise<void> {
    const { kept, log } = this.#options;
    const { size } = await stat(kept.bundleOf(id));
    const headers = { authorization: `Bearer ${token}`, 'content-length': String(size) };
    try {
      await this.#post(`${address}/fleet/v1/attempts/${id}/kept`, headers, createReadStream(kept.bundleOf(id)), signal);
    } catch (error) {
      // Nobody waits for it now; it may be asked for again.
      const isFinal = (reason: unknown) => reason !== FLEET_CODES.attempt_superseded.code;
      if (isFailure(error, FLEET_CODES.coordinator_refused) && isFinal(error.values.reason)) this.#refused.add(id);
      throw error;
    }
    await kept.note(id, { ...record, handed: true });
    log.log('info', 'agent', `what was kept of the attempt ${attemptName(id)} is with the coordinator ${address}`);
  }

  async #ask(address: string, repository: string, rows: readonly Row[], signal: AbortSignal): Promise<Fates> {
    const { key, name: worker } = this.#options;
    const [nonce, kept] = [newToken(), JSON.stringify(rows.map((row) => row.kept))];
    const body = JSON.stringify({ worker, nonce, repository, kept, proof: offerProof(key, repository, nonce, kept) });
    const headers = { 'content-type': 'application/json' };
    const answered = decodeJson(offerAnswerSchema, await this.#post(`${address}/fleet/v1/kept`, headers, body, signal));
    if (!isSame(answered.proof, offerAnswerProof(key, repository, nonce, answered.answer)))
      throw failure(FLEET_CODES.fleet_key_wrong, {});
    return decodeJson(fatesSchema, answered.answer);
  }

  async #post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Readable,
    signal: AbortSignal,
  ): Promise<string> {
    const limit = AbortSignal.timeout(typeof body === 'string' ? ANSWER_MS : BUNDLE_MS);
    const either = AbortSignal.any([signal, limit]);
    const silent = (said: string) => failure(FLEET_CODES.coordinator_silent, { address: new URL(url).origin, said });
    const options = { method: 'POST', dispatcher: this.#agent, headers, body, signal: either } as const;
    const { status, text } = await request(url, options).then(
      async (answer) => ({ status: answer.statusCode, text: await answer.body.text() }),
      (error: unknown) => {
        throw silent(messageOf(error));
      },
    );
    if (status === 200) return text;
    if (status >= 500) throw silent(`status ${status}`);
    const said = errorOf(text);
    const reason = said === undefined ? {} : { reason: said.code };
    throw failure(FLEET_CODES.coordinator_refused, { said: said?.message ?? `status ${status}`, ...reason });
  }

  /** What is too old or too much, the oldest first. */
  async #drop(): Promise<void> {
    const { kept, clock, log } = this.#options;
    let bytes = 0;
    for (const { id, size, since } of [...(await kept.bundles())].sort((a, b) => b.since - a.since)) {
      bytes += size;
      if (clock.now() - since < MOST_MS && bytes <= MOST_BYTES) continue;
      await kept.forget(id);
      const days = Math.floor((clock.now() - since) / 86_400_000);
      log.log('warn', 'agent', refusal(FLEET_CODES.kept_work_dropped, { attempt: attemptName(id), days, bytes: size }));
    }
  }
}

function errorOf(body: string): { readonly code: string; readonly message: string } | undefined {
  try {
    return errorSchema.parse(JSON.parse(body)).error;
  } catch {
    return undefined;
  }
}
