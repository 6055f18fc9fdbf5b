// The coordinator's HTTP routes for workers, below /fleet/v1/: each request shows the key of the fleet or an attempt's token.

import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '../../base/ports.ts';
import { failure, isFailure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { TrackerError } from '../../daemon/rules/tracker-error.ts';
import { decodeAgentRequest } from '../../daemon/runners/agent-socket.ts';
import { isSame, offerAnswerProof, offerProof, orderProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import {
  askSchema,
  beatSchema,
  decodeJson,
  endSchema,
  goOnSchema,
  offeredSchema,
  offerSchema,
  startedSchema,
  takeSchema,
  workSchema,
} from '../wire.ts';
import type { Coordinator } from './coordinator.ts';
import { readText, send } from './json-requests.ts';
import type { RemoteAttempt } from './remote-attempt.ts';

const FLEET_PATH = '/fleet/v1/';
const ATTEMPT = /^\/fleet\/v1\/attempts\/([\w.-]+)\/([a-z]+)$/;
const SHA = /^[0-9a-f]{40,64}$/;
/** Of a worker that shows the token of its attempt. */
const MOST_JSON_BYTES = 8 * 1024 * 1024;
/** Of anybody. */
const MOST_TAKE_BYTES = 16 * 1024;

/** The answer of a refusal by its code; 422 for all others. */
const STATUS = new Map<unknown, number>([
  [FLEET_CODES.attempt_superseded, 409],
  [FLEET_CODES.attempt_taken, 409],
  [FLEET_CODES.worker_version_wrong, 409],
  [FLEET_CODES.fleet_key_wrong, 403],
  [FLEET_CODES.attempt_not_begun, 503],
  // Whoever acts next answers it.
  [FLEET_CODES.repository_lease_lost, 503],
  [FLEET_CODES.bundle_too_large, 413],
  [FLEET_CODES.fleet_request_too_large, 413],
]);

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function addressed(path: string, request: IncomingMessage) {
  const [, id = '', verb = ''] = ATTEMPT.exec(path) ?? [];
  const token = /^Bearer (.+)$/.exec(header(request, 'authorization'))?.[1] ?? '';
  return { id, verb, token };
}

export class WorkerRequests {
  readonly #coordinator: Coordinator;
  readonly #log: Logger;
  readonly #closing = new AbortController();

  constructor(coordinator: Coordinator, log: Logger) {
    this.#coordinator = coordinator;
    this.#log = log;
  }

  /** Whether a path is one of these. */
  readonly handles = (path: string): boolean => path.startsWith(FLEET_PATH);

  /** Whether it shows the token of an attempt, before anything of its body is read. */
  readonly standingOf = (path: string, request: IncomingMessage): 'unknown' | 'known' | 'bundle' => {
    const { id, verb, token } = addressed(path, request);
    if (this.#coordinator.hasEnded(id, token)) return 'known';
    if (verb === 'kept' && this.#coordinator.keeperOf(id, token) !== undefined) return 'bundle';
    if (!this.#coordinator.admits(id, token)) return 'unknown';
    return verb === 'work' ? 'bundle' : 'known';
  };

  /** Answers one request. Never rejects. */
  readonly serve = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (path === `${FLEET_PATH}take` && request.method === 'POST')
        return send(response, 200, this.#take(await readText(request, MOST_TAKE_BYTES)));
      if (path === `${FLEET_PATH}kept` && request.method === 'POST')
        return send(response, 200, this.#offer(await readText(request, MOST_TAKE_BYTES)));
      if (path === `${FLEET_PATH}go-on` && request.method === 'POST')
        return send(response, 200, this.#goOn(await readText(request, MOST_TAKE_BYTES)));
      const { id, verb, token } = addressed(path, request);
      if (verb === 'kept') return send(response, 200, await this.#kept(id, token, request));
      if (verb === 'end' && this.#coordinator.hasEnded(id, token)) {
        await readText(request, MOST_JSON_BYTES);
        return send(response, 200, {});
      }
      const attempt = this.#coordinator.admit(id, token);
      if (verb === 'code') return await this.#code(attempt, header(request, 'x-have'), response);
      if (verb === 'work') return send(response, 200, await this.#work(attempt, request));
      const body = await readText(request, MOST_JSON_BYTES);
      // Again, after the body has come.
      this.#coordinator.admit(id, token);
      const call = header(request, 'x-call');
      if (call === '') throw failure(FLEET_CODES.fleet_request_invalid, { said: 'it has no number' });
      return send(response, 200, (await attempt.once(verb, call, () => this.#answer(attempt, verb, body))) ?? {});
    } catch (error) {
      this.#refuse(error, path, response);
    }
  };

  #refuse(error: unknown, path: string, response: ServerResponse): void {
    if (error instanceof ToolError) {
      const status = STATUS.get(error.refusal.of) ?? 422;
      if (isFailure(error, FLEET_CODES.fleet_key_wrong)) this.#log.log('warn', 'http', error.refusal);
      send(response, status, { error: { code: error.code, message: error.message } });
      return;
    }
    const code = error instanceof TrackerError ? 'tracker' : 'internal';
    if (code === 'internal') this.#log.log('warn', 'http', `${path}: ${messageOf(error)}`);
    send(response, code === 'tracker' ? 422 : 500, { error: { code, message: messageOf(error) } });
  }

  #take(body: string): unknown {
    const asked = decodeJson(takeSchema, body);
    const { attempt, token } = this.#coordinator.take(asked);
    const order = JSON.stringify(attempt.options.order);
    return { token, order, proof: orderProof(this.#coordinator.options.key, asked.id, asked.nonce, order) };
  }

  #goOn(body: string): unknown {
    const asked = decodeJson(goOnSchema, body);
    const answer = JSON.stringify(this.#coordinator.goOn(asked));
    return { answer, proof: orderProof(this.#coordinator.options.key, asked.id, asked.nonce, answer) };
  }

  #offer(body: string): unknown {
    const { key } = this.#coordinator.options;
    const { worker, repository, nonce, kept, proof } = decodeJson(offerSchema, body);
    if (!isSame(proof, offerProof(key, repository, nonce, kept))) throw failure(FLEET_CODES.fleet_key_wrong, {});
    const answer = JSON.stringify(this.#coordinator.fates(repository, decodeJson(offeredSchema, kept), worker));
    return { answer, proof: offerAnswerProof(key, repository, nonce, answer) };
  }

  /** Takes in what a worker has kept and this machine lacks. */
  async #kept(id: string, token: string, request: IncomingMessage): Promise<unknown> {
    const keeper = this.#coordinator.keeperOf(id, token);
    if (keeper === undefined) throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(id) });
    await keeper.take(id, token, (path) => this.#receive(request, path, this.#closing.signal));
    return {};
  }

  /** Gives the bytes of a bundle, up to its limit. */
  async #receive(request: IncomingMessage, path: string, signal: AbortSignal): Promise<number> {
    const { maxBundleBytes: limit } = this.#coordinator.options;
    const tooLarge = () => failure(FLEET_CODES.bundle_too_large, { limit });
    if (Number(header(request, 'content-length') || 0) > limit) throw tooLarge();
    let bytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        done(bytes > limit ? tooLarge() : null, chunk);
      },
    });
    const file = createWriteStream(path, { mode: 0o600 });
    await pipeline(request.iterator({ destroyOnReturn: false }), measure, file, { signal });
    return bytes;
  }

  /** @param have a commit that the worker has; empty: none */
  async #code({ options }: RemoteAttempt, have: string, response: ServerResponse): Promise<void> {
    const since = join(dirname(options.bundle), `${randomBytes(9).toString('hex')}.bundle`);
    try {
      const isShort = SHA.test(have) && (await this.#packSince(options, have, since));
      const path = isShort ? since : options.bundle;
      const { size } = await stat(path);
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
      await pipeline(createReadStream(path), response).catch(() => response.destroy());
    } finally {
      await rm(since, { force: true });
    }
  }

  /** False: the worker takes the whole, which is there. */
  async #packSince({ packSince }: RemoteAttempt['options'], have: string, path: string): Promise<boolean> {
    try {
      return (await packSince?.(have, path)) === true;
    } catch (error) {
      this.#log.log('info', 'http', `a worker that has ${have} gets the whole bundle: ${messageOf(error)}`);
      return false;
    }
  }

  /** Takes in a bundle, up to its limit. */
  async #work(attempt: RemoteAttempt, request: IncomingMessage): Promise<unknown> {
    const files = header(request, 'x-files');
    const commits = decodeJson(
      workSchema,
      JSON.stringify({ head: header(request, 'x-head'), files: files === '' ? null : files }),
    );
    const path = join(dirname(attempt.options.bundle), `${randomBytes(9).toString('hex')}.bundle`);
    try {
      const bytes = await this.#receive(request, path, attempt.receive());
      attempt.admit(attempt.token ?? '');
      await attempt.work(bytes === 0 ? null : path, commits);
      return {};
    } catch (error) {
      // Whoever was cut off since the attempt is over hears of that.
      attempt.admit(attempt.token ?? '');
      throw error;
    } finally {
      await rm(path, { force: true });
    }
  }

  async #answer(attempt: RemoteAttempt, verb: string, body: string): Promise<unknown> {
    switch (verb) {
      case 'beat': {
        const { others, ...beat } = decodeJson(beatSchema, body);
        return { ...attempt.beat(beat), ...(others === undefined ? {} : { others: this.#coordinator.hear(others) }) };
      }
      case 'started':
        return attempt.started(decodeJson(startedSchema, body).pid);
      case 'turn':
        return attempt.turn();
      case 'ask':
        return this.#ask(attempt, body);
      case 'end':
        return attempt.end(decodeJson(endSchema, body));
      default:
        throw failure(FLEET_CODES.fleet_request_invalid, { said: `there is no ${verb || 'such path'}` });
    }
  }

  #ask(attempt: RemoteAttempt, body: string): Promise<unknown> {
    const { request, ...place } = decodeJson(askSchema, body);
    return attempt.ask(decodeAgentRequest(JSON.stringify(request)), this.#closing.signal, place);
  }

  close(): void {
    this.#closing.abort();
  }
}
