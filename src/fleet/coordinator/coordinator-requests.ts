// The coordinator's HTTP routes for other coordinators: what it acts for, its pages, and commands for its issues.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../base/ports.ts';
import { failure, isFailure, messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Look } from '../../daemon/rules/look.ts';
import type { Steer } from '../../daemon/rules/record.ts';
import type { Steered } from '../../daemon/steering.ts';
import type { Page } from '../../daemon/view-page.ts';
import {
  ASK_HEADERS,
  COORDINATORS_PATH,
  PAGE_MARK,
  PAGES_PATH,
  type SharedView,
  saidSchema,
  type Wanted,
} from '../coordinator-wire.ts';
import { coordinatorAnswerProof, coordinatorProof, digestOf, isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { decodeJson } from '../wire.ts';
import { readText, send } from './json-requests.ts';

/** What this coordinator acts for; repositories are `<host>/<owner>/<repo>`. */
export type Shared = {
  /** Whether readers of its own pages need one. */
  readonly needsToken: boolean;
  readonly view: (repositories: readonly Wanted[], page: Page) => SharedView;
  readonly steer: (command: Steer, issue: number, repository: string) => Promise<Steered>;
  readonly tell: (issue: number, text: string, repository: string) => Promise<Steered>;
  readonly deliver: (repository: string, event: string, look: Look) => void;
  readonly refresh: () => void;
  /** Answers a request for one of its own pages. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, hasToken: boolean) => Promise<void>;
};

export type CoordinatorRequestsOptions = {
  readonly key: string;
  readonly version: string;
  readonly shared: Shared;
  readonly log: Logger;
};

/** Of whoever has shown the key. */
const MOST_BYTES = 2 * 1024 * 1024;
/** A command with the same nonce was given before. */
const MOST_NONCES = 10_000;

export class CoordinatorRequests {
  readonly #options: CoordinatorRequestsOptions;
  /** Orders to an earlier process are not carried out. */
  readonly #session = newToken();
  readonly #nonces = new Set<string>();

  constructor(options: CoordinatorRequestsOptions) {
    this.#options = options;
  }

  /** Whether a path is one of these. */
  readonly handles = (path: string): boolean => path === COORDINATORS_PATH || path.startsWith(`${PAGES_PATH}/`);

  /** Answers one request. Never rejects. */
  readonly serve = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const isAsked = path === COORDINATORS_PATH;
      if (request.method !== (isAsked ? 'POST' : 'GET'))
        throw failure(FLEET_CODES.fleet_request_invalid, { said: 'there is no such path' });
      if (isAsked) send(response, 200, await this.#asked(request));
      else await this.#page(request, response);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const known = error instanceof ToolError;
      const isForeign = isFailure(error, FLEET_CODES.fleet_key_wrong);
      if (isForeign) this.#options.log.log('warn', 'http', error.refusal);
      send(response, isForeign ? 403 : known ? 422 : 500, {
        error: { code: known ? error.code : 'internal', message: messageOf(error) },
      });
    }
  };

  /** The nonce of a request with the proof of the key, before anything of its body is read. */
  #admit({ headers }: IncomingMessage, said: string): string {
    const nonce = String(headers[ASK_HEADERS.nonce] ?? '');
    const proof = String(headers[ASK_HEADERS.proof] ?? '');
    if (!isSame(proof, coordinatorProof(this.#options.key, nonce, said)))
      throw failure(FLEET_CODES.fleet_key_wrong, {});
    return nonce;
  }

  async #page(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, url = '' } = request;
    const commands = String(headers[ASK_HEADERS.commands] ?? '');
    this.#admit(request, `${url} ${commands}`);
    if (this.#options.shared.needsToken && commands !== 'yes') throw failure(FLEET_CODES.coordinator_token_missing, {});
    request.url = url.slice(PAGES_PATH.length);
    response.setHeader(PAGE_MARK, 'yes');
    await this.#options.shared.answer(request, response, commands === 'yes');
  }

  async #asked(request: IncomingMessage): Promise<unknown> {
    const digest = String(request.headers[ASK_HEADERS.said] ?? '');
    const nonce = this.#admit(request, digest);
    const said = await readText(request, MOST_BYTES);
    if (digestOf(said) !== digest) throw failure(FLEET_CODES.fleet_key_wrong, {});
    const answer = JSON.stringify(await this.#answerTo(said, nonce));
    return { answer, proof: coordinatorAnswerProof(this.#options.key, nonce, answer) };
  }

  async #answerTo(text: string, nonce: string): Promise<unknown> {
    const { shared, version } = this.#options;
    const said = decodeJson(saidSchema, text);
    if (said.kind === 'view') {
      const { needsToken } = shared;
      return { version, session: this.#session, needsToken, ...shared.view(said.repositories, said.page) };
    }
    if (said.kind === 'steer' || said.kind === 'tell') {
      this.#requireNew(said.session, nonce);
      return said.kind === 'steer'
        ? shared.steer(said.command, said.issue, said.repository)
        : shared.tell(said.issue, said.text, said.repository);
    }
    if (said.kind === 'refresh') shared.refresh();
    else shared.deliver(said.repository, said.event, said.look);
    return {};
  }

  #requireNew(session: string, nonce: string): void {
    if (session !== this.#session || this.#nonces.has(nonce))
      throw failure(FLEET_CODES.fleet_request_invalid, {
        said: 'it is an order to an earlier process, or came before',
      });
    this.#nonces.add(nonce);
    for (const oldest of this.#nonces) {
      if (this.#nonces.size <= MOST_NONCES) break;
      this.#nonces.delete(oldest);
    }
  }
}
