// A worker's requests to the coordinator of an attempt: each is repeated until it is answered.

import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import * as z from 'zod';
import { NO_USAGE } from '../../agents/rules/usage.ts';
import type { Clock } from '../../base/ports.ts';
import { errorCode, failure } from '../../base/rules/errors.ts';
import { isPlainHttp } from '../../daemon/rules/queue-settings.ts';
import { goOnProof, isSame, newToken, orderProof, takeProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptId, attemptName } from '../rules/job.ts';
import {
  type AgentUsage,
  type Beat,
  beatAnswerSchema,
  decodeJson,
  goneOnSchema,
  goOnAnswerSchema,
  type Order,
  orderSchema,
  type SignedJob,
  takenSchema,
  turnAnswerSchema,
  type WorkCommits,
  type WorkerEnd,
} from '../wire.ts';
import {
  asUnanswered,
  MOST_UPLOADS,
  Moved,
  NotBegun,
  Refused,
  reasonOf,
  refused,
  Superseded,
  Unanswered,
  Unreachable,
  Unserved,
} from './coordinator-answers.ts';
import { type Body, contentOf, readText } from './request-body.ts';
import type { Successor } from './successor.ts';

export type ClientOptions = {
  readonly job: SignedJob;
  readonly key: string;
  readonly worker: string;
  readonly version: string;
  readonly clock: Clock;
  /** Of an attempt that was taken before. */
  readonly token?: string;
  /** Called once for each time that the coordinator falls silent. */
  readonly onSilent: (said: string) => void;
  /** Called when no answer came on the connections; they are made anew without it. */
  readonly onDead?: () => void;
  /** Ends all requests and their repetitions. */
  readonly signal: AbortSignal;
  /** Gives who acts for the repository now; null: nobody is known to. */
  readonly successor?: () => Promise<Successor | null>;
};

/** No attempt has this id. */
const NO_ATTEMPT = 'none';
const LONGEST_PAUSE_MS = 5_000;
/** A bundle is taken in by then. */
const ANSWER_MS = 600_000;
/** A sign of life is answered at once: without an answer for longer, the connections to the coordinator are dead. */
const LONGEST_BEAT_MS = 30_000;
const BEAT = 'beat';
/** Between two questions to the coordinator that is to go on with an agent at work, and for how long they are asked. */
const GO_ON_MS = 1_000;
const LONGEST_GO_ON_MS = 600_000;
const MOST_SAME = 2;

export class CoordinatorClient {
  readonly #options: ClientOptions;
  #agent = new Agent({ headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  #job: SignedJob;
  #id: string;
  #token = '';
  /** Of the agent at work; null: there is none that could go on. */
  #pid: number | null = null;
  /** How often another coordinator went on with the attempt. */
  #moves = 0;
  #moving: Promise<boolean> | null = null;
  /** Nobody goes on with it any more. */
  #isGivenUp = false;
  /** Called after each move, before anything else is asked. Never rejects. */
  onMoved: () => Promise<void> = async () => undefined;
  /** Commit of the default branch that the work goes back to. */
  #base = '';
  /** What the agent had used when its attempt began, as coordinators counted it. */
  #used: AgentUsage = NO_USAGE;
  /** Requests of the agent so far. */
  #asked = 0;
  /** What came in the place of the last answer. */
  #silence = 'no answer';

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#job = options.job;
    this.#id = attemptId(options.job);
    this.#token = options.token ?? '';
  }

  /**
   * Takes the attempt. Throws `Superseded`, a ToolError where key or version are wrong, or `Unreachable`.
   * @param limitMs an answer must come in this time; two leases otherwise
   */
  async take(limitMs = 2 * this.#options.job.lease_ms): Promise<Order> {
    const { key } = this.#options;
    const nonce = newToken();
    const taken = decodeJson(takenSchema, await this.#within(limitMs, (signal) => this.#take(this.#id, nonce, signal)));
    if (!isSame(taken.proof, orderProof(key, this.#id, nonce, taken.order)))
      throw failure(FLEET_CODES.fleet_key_wrong, {});
    this.#token = taken.token;
    const order = decodeJson(orderSchema, taken.order);
    this.#base = order.base;
    return order;
  }

  /**
   * Asks whether the coordinator has the same key: its refusal names another reason then. It gets a proof of no attempt, since
   * the address may be somebody else's. Throws `Unreachable`.
   */
  async sharesKey(limitMs: number): Promise<boolean> {
    try {
      await this.#within(limitMs, (signal) => this.#take(NO_ATTEMPT, newToken(), signal));
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      return reasonOf(error) !== FLEET_CODES.fleet_key_wrong.code;
    }
    return true;
  }

  #take(id: string, nonce: string, signal: AbortSignal): Promise<string> {
    const { key, worker, version } = this.#options;
    const proof = takeProof(key, id, nonce, worker);
    return this.#text('POST', () => 'take', { kind: 'json', value: { id, nonce, worker, version, proof } }, signal);
  }

  async #within<T>(limitMs: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, signal } = this.#options;
    const [over, late] = [new AbortController(), new AbortController()];
    void clock.sleep(limitMs, over.signal).then(() => late.abort(new Unreachable(this.#silence)));
    try {
      return await act(AbortSignal.any([signal, late.signal]));
    } finally {
      over.abort();
    }
  }

  /** Writes the bundle with which the work begins. @param have a commit that it may leave out, with all before it */
  async code(path: string, have = ''): Promise<void> {
    await this.#repeat('GET', this.#path('code'), { kind: 'none', headers: { 'x-have': have } }, async (body) => {
      await pipeline(body, createWriteStream(path, { mode: 0o600 }));
      return '';
    });
  }

  async beat(beat: Beat) {
    return decodeJson(beatAnswerSchema, await this.#call(BEAT, beat));
  }

  /** As `beat`, for others as well: throws at once where another coordinator has to go on with this attempt. */
  async sign(beat: Beat) {
    const body: Body = { kind: 'json', value: beat };
    return decodeJson(beatAnswerSchema, await this.#repeat('POST', this.#path(BEAT), body, readText, { waits: false }));
  }

  /** Aborted when the attempt is this worker's no more, or the worker ends. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** From now on, another coordinator may go on with the attempt. */
  async started(pid: number): Promise<void> {
    this.#pid = pid;
    await this.#call('started', { pid });
  }

  /** @param moves throws `Moved` once there were more */
  async turn(moves = this.#moves): Promise<string | null> {
    return decodeJson(turnAnswerSchema, await this.#call('turn', {}, moves)).prompt;
  }

  /** Gives what asks for the agent, the same request for each coordinator. It throws `Moved` once there were more than `moves`. */
  asker(request: unknown): (moves: number) => Promise<Readonly<Record<string, unknown>>> {
    this.#asked += 1;
    const [attempt, number, first] = [this.#options.job.attempt, this.#asked, this.#moves];
    return async (moves) => {
      const value = { request, attempt, number, isRepeated: moves !== first };
      return decodeJson(z.record(z.string(), z.unknown()), await this.#call('ask', value, moves));
    };
  }

  /** @param path of the bundle; null: the coordinator has all commits */
  async work(path: string | null, { head, files }: WorkCommits): Promise<void> {
    const headers = { 'x-head': head, 'x-files': files ?? '' };
    await this.#text('POST', this.#path('work'), { kind: 'file', path, headers });
  }

  /** @param moves throws `Moved` once there were more */
  async end(end: WorkerEnd, moves = this.#moves): Promise<void> {
    await this.#call('end', end, moves);
  }

  /** As which attempt, and of which coordinator, it is at work now. */
  get job(): SignedJob {
    return this.#job;
  }

  get moves(): number {
    return this.#moves;
  }

  /**
   * Has the coordinator that acts for the repository now go on with the attempt and its agent. False: it does not, or it is
   * the same as before.
   */
  goOn(): Promise<boolean> {
    if (this.#isGivenUp) return Promise.resolve(false);
    this.#moving ??= this.#goOn()
      .then((goesOn) => {
        this.#isGivenUp = !goesOn;
        return goesOn;
      })
      .finally(() => {
        this.#moving = null;
      });
    return this.#moving;
  }

  async #goOn(): Promise<boolean> {
    const { successor, clock, signal } = this.#options;
    if (this.#pid === null || successor === undefined) return false;
    const { insecure, fence } = this.#job;
    const nonce = newToken();
    const end = clock.elapsed() + LONGEST_GO_ON_MS;
    let same = 0;
    for (; !signal.aborted && clock.elapsed() < end; await clock.sleep(GO_ON_MS, signal)) {
      const next = await successor();
      if (next === null) continue;
      if (isPlainHttp(next.address) && !insecure) return false;
      // One that lost its lease may know it a moment before the store does.
      same = next.fence === fence ? same + 1 : 0;
      if (same > MOST_SAME) return false;
      if (same > 0) continue;
      try {
        await this.#moveTo(next, nonce);
        return true;
      } catch (error) {
        if (!(error instanceof Unanswered)) return false;
      }
    }
    return false;
  }

  async #moveTo({ address }: Successor, nonce: string): Promise<void> {
    const { key, worker, version, signal } = this.#options;
    const { repository, issue, life, attempt } = this.#job;
    const [base, pid, used] = [this.#base, this.#pid, this.#used];
    const proof = goOnProof(key, this.#id, nonce, worker);
    const value = { id: this.#id, nonce, worker, version, proof, repository, issue, life, attempt, base, pid, used };
    const body: Body = { kind: 'json', value };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_BEAT_MS)]);
    // Whoever is asked there may be nobody of this fleet: no token goes with it.
    const text = await this.#once('POST', `${address}/fleet/v1/go-on`, null, body, readText, limit);
    const answered = decodeJson(goOnAnswerSchema, text);
    if (!isSame(answered.proof, orderProof(key, this.#id, nonce, answered.answer)))
      throw failure(FLEET_CODES.fleet_key_wrong, {});
    const { token, used: counted, ...as } = decodeJson(goneOnSchema, answered.answer);
    this.#job = { ...this.#job, ...as, coordinator: address };
    this.#id = attemptId(this.#job);
    this.#token = token;
    this.#used = counted;
    this.#moves += 1;
    this.renewConnections();
    await this.onMoved();
  }

  /** Of the attempt, as the coordinator knows it now. */
  get id(): string {
    return this.#id;
  }

  /** Of the coordinator that has the attempt now. */
  get address(): string {
    return this.#job.coordinator;
  }

  get token(): string {
    return this.#token;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** Whatever waits for an answer on a connection of before is asked again on a new one. */
  renewConnections(): void {
    const before = this.#agent;
    this.#agent = new Agent({ headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
    void before.destroy();
  }

  #path(verb: string, moves?: number): () => string {
    return () => {
      if (moves !== undefined && moves !== this.#moves) throw new Moved(`another coordinator is asked for ${verb}`);
      return `attempts/${this.#id}/${verb}`;
    };
  }

  #call(verb: string, value: unknown, moves?: number): Promise<string> {
    return this.#text('POST', this.#path(verb, moves), { kind: 'json', value });
  }

  #text(method: 'GET' | 'POST', path: () => string, body: Body, signal?: AbortSignal): Promise<string> {
    return this.#repeat(method, path, body, readText, { signal });
  }

  /**
   * Until there is an answer that another try would not change.
   * @param path as the attempt is known now
   * @param how `waits`: for another coordinator to go on with the attempt
   */
  async #repeat(
    method: 'GET' | 'POST',
    path: () => string,
    body: Body,
    read: (stream: Readable) => Promise<string>,
    {
      signal = this.#options.signal,
      waits = true,
    }: { readonly signal?: AbortSignal | undefined; readonly waits?: boolean } = {},
  ): Promise<string> {
    const { clock, onSilent } = this.#options;
    const end = clock.elapsed() + LONGEST_GO_ON_MS;
    // The same in each try, so that the coordinator does nothing twice.
    const call = randomUUID();
    let [isSilent, unserved] = [false, 0];
    for (let pause = 200; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (!waits && this.#moving !== null) throw new Moved('another coordinator is asked to go on');
      await this.#moving;
      signal.throwIfAborted();
      const token = this.#token;
      try {
        const url = `${this.#job.coordinator}/fleet/v1/${path()}`;
        return await this.#once(method, url, call, body, read, signal);
      } catch (error) {
        // Another coordinator may go on with it by now.
        if (error instanceof Superseded && (token !== this.#token || (waits && (await this.goOn())))) continue;
        if (!(error instanceof Unanswered)) throw error;
        if (error instanceof Unserved && body.kind === 'file' && ++unserved === MOST_UPLOADS) throw error.why;
        if (error instanceof NotBegun && clock.elapsed() > end)
          throw new Superseded(failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(this.#id) }));
        signal.throwIfAborted();
        this.#silence = error.message;
        if (!isSilent) onSilent(error.message);
        isSilent = true;
      }
      await clock.sleep(pause, signal);
    }
  }

  /** @param call its number; null: it shows no token */
  async #once(
    method: 'GET' | 'POST',
    url: string,
    call: string | null,
    body: Body,
    read: (stream: Readable) => Promise<string>,
    signal: AbortSignal,
  ): Promise<string> {
    const { onDead = () => this.renewConnections() } = this.#options;
    const [content, headers] = await contentOf(body);
    const isBeat = url.endsWith(`/${BEAT}`);
    try {
      const answer = await request(url, {
        method,
        dispatcher: this.#agent,
        ...(isBeat ? { headersTimeout: Math.min(2 * this.#job.lease_ms, LONGEST_BEAT_MS) } : {}),
        headers: { ...(call === null ? {} : { authorization: `Bearer ${this.#token}`, 'x-call': call }), ...headers },
        body: content,
        signal,
      });
      if (answer.statusCode === 200) return await read(answer.body);
      throw refused(answer.statusCode, await answer.body.text());
    } catch (error) {
      if (error instanceof Refused) throw error.why;
      if (isBeat && errorCode(error) === 'UND_ERR_HEADERS_TIMEOUT') onDead();
      throw asUnanswered(error);
    }
  }
}
