// Other coordinators: what they act for in the place of this one, read while it waits for them; pages and commands are passed on.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Agent, request as ask } from 'undici';
import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import type { Look } from '../../daemon/rules/look.ts';
import type { Steer } from '../../daemon/rules/record.ts';
import type { Steered } from '../../daemon/steering.ts';
import type { PlacedView } from '../../daemon/view.ts';
import { FIRST_PAGE, type Page } from '../../daemon/view-page.ts';
import type { CoordinatorRow } from '../../daemon/view-queue.ts';
import {
  COORDINATORS_PATH,
  PAGE_HEADERS,
  PAGES_PATH,
  type Said,
  type SharedView,
  viewAnswerSchema,
} from '../coordinator-wire.ts';
import { addressFrom, coordinatorAnswerProof, coordinatorProof, isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import type { Store } from '../store/store.ts';
import { decodeJson, offerAnswerSchema } from '../wire.ts';

export type OtherCoordinatorsOptions = {
  readonly store: Pick<Store, 'problem' | 'heldAddresses'>;
  readonly key: string;
  readonly version: string;
  readonly clock: Clock;
  /** Where others reach this one. */
  readonly address: () => string;
};

/** Pause between two looks at what the others show. */
const LOOK_MS = 2_000;
const ANSWER_MS = 5_000;
/** Pages beside the first one that are at hand. */
const MOST_PAGES = 20;

const PASSED_HEADERS = ['accept', 'last-event-id'] as const;
const ANSWERED_HEADERS = [
  ...['content-type', 'content-length', 'content-security-policy', 'cache-control', 'x-content-type-options'],
  ...['referrer-policy', 'vary', 'x-output', 'x-output-from', 'x-output-to', 'x-accel-buffering', 'retry-after'],
];

const steered: z.ZodType<Steered> = z.object({
  issue: z.number(),
  command: z.custom<Steered['command']>((value) => typeof value === 'string'),
  standing: z.custom<Steered['standing']>((value) => typeof value === 'string'),
});
const refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** One of them, as it answered last. */
type Other = {
  readonly address: string;
  /** What this one waits for there. */
  readonly wanted: readonly string[];
  readonly shared: SharedView | null;
  readonly problem: string | null;
};

function pageKey({ limit, after }: Page): string {
  return JSON.stringify([limit, after]);
}

function partsOf(others: readonly Other[]): readonly PlacedView[] {
  return others.flatMap(({ shared }) => (shared === null || shared.repositories.length === 0 ? [] : [shared.view]));
}

/** Without what changes with each look. */
function textOf(others: readonly Other[]): string {
  return JSON.stringify(others, (key, value: unknown) => (key === 'generated_at' ? undefined : value));
}

export class OtherCoordinators {
  readonly #options: OtherCoordinatorsOptions;
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  readonly #over = new AbortController();
  #others: readonly Other[] = [];
  #waited: () => readonly string[] = () => [];
  readonly #pages = new Map<string, readonly Other[]>();

  constructor(options: OtherCoordinatorsOptions) {
    this.#options = options;
  }

  /**
   * Begins to look.
   * @param waited repositories that this one waits for, `<host>/<owner>/<repo>`
   */
  watch(waited: () => readonly string[], onChange: () => void): void {
    this.#waited = waited;
    void this.#watch(onChange);
  }

  async #watch(onChange: () => void): Promise<void> {
    const { clock, store } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted) {
      const wanted = this.#waited();
      const before = textOf(this.#others);
      if (wanted.length === 0) this.#others = [];
      else if (store.problem === null) this.#others = await this.#look(wanted, FIRST_PAGE).catch(() => this.#others);
      if (textOf(this.#others) !== before) {
        this.#pages.clear();
        onChange();
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** Asks everybody who acts for one of these. */
  async #look(wanted: readonly string[], page: Page): Promise<readonly Other[]> {
    const { key, store, address: own } = this.#options;
    const written = await store.heldAddresses();
    const byAddress = new Map<string, string[]>();
    for (const repository of wanted) {
      const address = addressFrom(key, repository, written.get(repository.toLowerCase()) ?? '');
      if (address !== null && address !== own())
        byAddress.set(address, [...(byAddress.get(address) ?? []), repository]);
    }
    return Promise.all(
      [...byAddress].map(async ([address, repositories]): Promise<Other> => {
        try {
          return {
            address,
            wanted: repositories,
            shared: await this.#view(address, repositories, page),
            problem: null,
          };
        } catch (error) {
          return { address, wanted: repositories, shared: null, problem: messageOf(error) };
        }
      }),
    );
  }

  async #view(address: string, repositories: readonly string[], page: Page): Promise<SharedView> {
    const { version } = this.#options;
    const said = { kind: 'view', repositories, page } as const;
    const answer = decodeJson(viewAnswerSchema, await this.#ask(address, said));
    if (answer.version !== version)
      throw failure(FLEET_CODES.worker_version_wrong, { expected: version, got: answer.version });
    // The same program wrote it, with the key of the fleet.
    return { repositories: answer.repositories, view: answer.view as PlacedView };
  }

  async #ask(address: string, said: Said): Promise<string> {
    const { key } = this.#options;
    const [nonce, text] = [newToken(), JSON.stringify(said)];
    const body = JSON.stringify({ nonce, said: text, proof: coordinatorProof(key, nonce, text) });
    const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(ANSWER_MS)]);
    const headers = { 'content-type': 'application/json' };
    const { statusCode, body: answered } = await ask(`${address}${COORDINATORS_PATH}`, {
      ...{ method: 'POST', dispatcher: this.#agent, headers, body, signal },
    });
    const content = await answered.text();
    if (statusCode !== 200) {
      const { code: reason, message } = decodeJson(refused, content).error;
      throw failure(FLEET_CODES.coordinator_refused, { said: message, reason });
    }
    const { answer, proof } = decodeJson(offerAnswerSchema, content);
    if (!isSame(proof, coordinatorAnswerProof(key, nonce, answer))) throw failure(FLEET_CODES.fleet_key_wrong, {});
    return answer;
  }

  /** What this one acts for itself since the last look is not asked there any more. */
  #stillOf(others: readonly Other[]): readonly Other[] {
    const waited = new Set(this.#waited());
    return others.filter(({ wanted }) => wanted.every((one) => waited.has(one)));
  }

  get #now(): readonly Other[] {
    return this.#stillOf(this.#others);
  }

  /** How each of them stands. */
  get rows(): readonly CoordinatorRow[] {
    return this.#now.map(({ address, wanted, problem }) => ({ address, repositories: wanted, problem }));
  }

  /** Repositories that are shown from there. */
  get shown(): readonly string[] {
    return this.#now.flatMap(({ shared }) => shared?.repositories ?? []);
  }

  /** What they show of a page, as it was read last. */
  partsFor(page: Page): readonly PlacedView[] {
    return partsOf(this.#stillOf(this.#pages.get(pageKey(page)) ?? this.#others));
  }

  /** Reads a page anew. */
  async read(page: Page): Promise<void> {
    const wanted = this.#now.flatMap((one) => one.wanted);
    if (wanted.length === 0 || !Number.isFinite(page.limit)) return;
    const found = await this.#look(wanted, page).catch(() => null);
    if (found === null) return;
    this.#pages.set(pageKey(page), found);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(oldest);
    }
  }

  /** Where the repository is acted for; undefined: here, or nobody knows. */
  #addressOf(repository: string): string | undefined {
    const named = repository.toLowerCase();
    return this.#now.find(({ wanted }) => wanted.some((one) => one.toLowerCase() === named))?.address;
  }

  has(repository: string): boolean {
    return this.#addressOf(repository) !== undefined;
  }

  async steer(command: Steer, issue: number, repository: string): Promise<Steered> {
    return this.#command({ kind: 'steer', repository, issue, command });
  }

  async tell(issue: number, text: string, repository: string): Promise<Steered> {
    return this.#command({ kind: 'tell', repository, issue, text });
  }

  async #command(said: Extract<Said, { kind: 'steer' | 'tell' }>): Promise<Steered> {
    const address = this.#addressOf(said.repository) ?? '';
    return decodeJson(steered, await this.#ask(address, said));
  }

  /** A delivery that is lost is made up for by a poll. */
  deliver(repository: string, event: string, look: Look): void {
    const address = this.#addressOf(repository);
    if (address !== undefined)
      void this.#ask(address, { kind: 'delivery', repository, event, look }).catch(() => undefined);
  }

  refresh(): void {
    for (const { address } of this.#now) void this.#ask(address, { kind: 'refresh' }).catch(() => undefined);
  }

  /** Passes a request on; gives why nobody answers it. */
  async passOn(
    repository: string,
    from: IncomingMessage,
    to: ServerResponse,
    hasToken: boolean,
  ): Promise<Refusal | null> {
    const { key } = this.#options;
    const address = this.#addressOf(repository) ?? '';
    const target = `${PAGES_PATH}${from.url ?? '/'}`;
    const [nonce, commands] = [newToken(), hasToken ? 'yes' : 'no'];
    const gone = new AbortController();
    to.once('close', () => gone.abort());
    const passed = PASSED_HEADERS.flatMap((name) => {
      const value = from.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    const proof = coordinatorProof(key, nonce, `${target} ${commands}`);
    const headers = {
      ...Object.fromEntries(passed),
      ...{ [PAGE_HEADERS.nonce]: nonce, [PAGE_HEADERS.proof]: proof, [PAGE_HEADERS.commands]: commands },
    };
    const signal = AbortSignal.any([gone.signal, this.#over.signal]);
    try {
      const late = AbortSignal.timeout(ANSWER_MS);
      const begun = ask(`${address}${target}`, { dispatcher: this.#agent, headers, signal });
      const answer = await Promise.race([
        begun,
        new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(new Error('no answer in time')))),
      ]);
      const kept = ANSWERED_HEADERS.flatMap((name) => {
        const value = answer.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      });
      to.writeHead(answer.statusCode, Object.fromEntries(kept));
      await pipeline(answer.body, to);
    } catch (error) {
      if (!to.headersSent && !to.destroyed)
        return refusal(FLEET_CODES.coordinator_unasked, { address, repository, said: messageOf(error) });
      to.destroy();
    }
    return null;
  }

  close(): void {
    this.#over.abort();
    void this.#agent.destroy();
  }
}
