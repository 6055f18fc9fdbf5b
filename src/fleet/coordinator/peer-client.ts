// Requests of a coordinator to another one: questions with a proof on both sides, and pages that are passed on.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import * as z from 'zod';
import { failure, isFailure } from '../../base/rules/errors.ts';
import { ASK_HEADERS, COORDINATORS_PATH, PAGE_MARK, PAGES_PATH, type Said } from '../coordinator-wire.ts';
import { coordinatorAnswerProof, coordinatorProof, digestOf, isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { decodeJson, offerAnswerSchema } from '../wire.ts';

/** An event stream says something every 15 s. */
const SILENT_MS = 45_000;
const ANSWER_MS = 5_000;

const PASSED_HEADERS = ['accept', 'last-event-id'] as const;
const ANSWERED_HEADERS = [
  ...['content-type', 'content-length', 'content-security-policy', 'cache-control', 'x-content-type-options'],
  ...['referrer-policy', 'vary', 'x-output', 'x-output-from', 'x-output-to', 'x-accel-buffering', 'retry-after'],
];

const refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** What a coordinator of this version refuses with; all else was not written by one. */
function refusalOf(status: number, body: string) {
  const unread = () => failure(FLEET_CODES.coordinator_answer_unread, { status });
  try {
    const { code: reason, message: said } = decodeJson(refused, body).error;
    return reason.startsWith('attempt_') ? unread() : failure(FLEET_CODES.coordinator_refused, { said, reason });
  } catch (error) {
    if (isFailure(error, FLEET_CODES.fleet_request_invalid)) return unread();
    throw error;
  }
}

/** Aborts after a time, or with what is given. `AbortSignal.any` would keep something of each in a signal that lasts. */
class Limit {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#abort.abort(new Error('no answer in time')), ms);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  readonly end = (): void => {
    this.over();
    this.#abort.abort(new Error('it is not wanted any more'));
  };

  /** Nothing aborts it by time any more. */
  over(): void {
    clearTimeout(this.#timer);
  }
}

export class PeerClient {
  readonly #key: string;
  readonly #agent = new Agent({ headersTimeout: ANSWER_MS, bodyTimeout: SILENT_MS });
  readonly #open = new Set<Limit>();
  /** Pages that are open, by what ends them, with the address that they are from. */
  readonly #pages = new Map<Limit, { readonly address: string; readonly repository: string }>();

  constructor(key: string) {
    this.#key = key;
  }

  /** Gives the JSON of the answer. */
  async ask(address: string, said: Said, ms = ANSWER_MS): Promise<string> {
    const [nonce, body] = [newToken(), JSON.stringify(said)];
    const digest = digestOf(body);
    const limit = this.#limit(ms);
    try {
      const answered = await request(`${address}${COORDINATORS_PATH}`, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: {
          'content-type': 'application/json',
          [ASK_HEADERS.nonce]: nonce,
          [ASK_HEADERS.said]: digest,
          [ASK_HEADERS.proof]: coordinatorProof(this.#key, nonce, digest),
        },
        body,
        signal: limit.signal,
      });
      const text = await answered.body.text();
      if (answered.statusCode !== 200) throw refusalOf(answered.statusCode, text);
      const { answer, proof } = decodeJson(offerAnswerSchema, text);
      if (!isSame(proof, coordinatorAnswerProof(this.#key, nonce, answer)))
        throw failure(FLEET_CODES.fleet_key_wrong, {});
      return answer;
    } finally {
      this.#over(limit);
    }
  }

  /** Has another coordinator answer a request. Rejects where nothing was answered yet. */
  async passOn(
    address: string,
    repository: string,
    from: IncomingMessage,
    to: ServerResponse,
    hasToken: boolean,
  ): Promise<void> {
    // The address may have a path, which a proxy takes off: the proof is of the rest.
    const { pathname, search } = new URL(`${PAGES_PATH}${from.url ?? '/'}`, 'http://here');
    const target = `${pathname}${search}`;
    const [nonce, commands] = [newToken(), hasToken ? 'yes' : 'no'];
    const passed = PASSED_HEADERS.flatMap((name) => {
      const value = from.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    const limit = this.#limit(ANSWER_MS);
    to.once('close', limit.end);
    try {
      const answer = await request(`${address}${target}`, {
        dispatcher: this.#agent,
        headers: {
          ...Object.fromEntries(passed),
          [ASK_HEADERS.nonce]: nonce,
          [ASK_HEADERS.commands]: commands,
          [ASK_HEADERS.proof]: coordinatorProof(this.#key, nonce, `${target} ${commands}`),
        },
        signal: limit.signal,
      });
      limit.over();
      if (answer.headers[PAGE_MARK] === undefined) throw refusalOf(answer.statusCode, await answer.body.text());
      this.#pages.set(limit, { address, repository });
      const kept = ANSWERED_HEADERS.flatMap((name) => {
        const value = answer.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      });
      to.writeHead(answer.statusCode, Object.fromEntries(kept));
      await pipeline(answer.body, to);
    } catch (error) {
      if (!to.headersSent && !to.destroyed) throw error;
      to.destroy();
    } finally {
      this.#pages.delete(limit);
      this.#over(limit);
    }
  }

  /** Ends pages whose repository is acted for somewhere else by now: their readers ask again. */
  endMoved(addressOf: (repository: string) => string | undefined): void {
    for (const [limit, { address, repository }] of this.#pages) if (addressOf(repository) !== address) limit.end();
  }

  #limit(ms: number): Limit {
    const limit = new Limit(ms);
    this.#open.add(limit);
    return limit;
  }

  #over(limit: Limit): void {
    limit.over();
    this.#open.delete(limit);
  }

  close(): void {
    for (const limit of this.#open) limit.end();
    void this.#agent.destroy();
  }
}
