// The coordinator's HTTP routes for other coordinators: what it acts for, its pages, and commands for its issues.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Look } from '../../daemon/rules/look.ts';
import type { Steer } from '../../daemon/rules/record.ts';
import type { Steered } from '../../daemon/steering.ts';
import type { Page } from '../../daemon/view-page.ts';
import {
  askedSchema,
  COORDINATORS_PATH,
  PAGE_HEADERS,
  PAGES_PATH,
  type SharedView,
  saidSchema,
} from '../coordinator-wire.ts';
import { coordinatorAnswerProof, coordinatorProof, isSame } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { decodeJson } from '../wire.ts';

/** What this coordinator acts for; repositories are `<host>/<owner>/<repo>`. */
export type Shared = {
  readonly view: (repositories: readonly string[], page: Page) => SharedView;
  readonly steer: (command: Steer, issue: number, repository: string) => Promise<Steered>;
  readonly tell: (issue: number, text: string, repository: string) => Promise<Steered>;
  readonly deliver: (repository: string, event: string, look: Look) => void;
  readonly refresh: () => void;
  /** Answers a request for one of its own pages. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, hasToken: boolean) => Promise<void>;
};

export type CoordinatorRequestsOptions = { readonly key: string; readonly version: string; readonly shared: Shared };

const MOST_BYTES = 2 * 1024 * 1024;
/** A command with the same nonce was given before. */
const MOST_NONCES = 10_000;

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > MOST_BYTES) throw failure(FLEET_CODES.fleet_request_too_large, { limit: MOST_BYTES });
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent) return;
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

export class CoordinatorRequests {
  readonly #options: CoordinatorRequestsOptions;
  readonly #nonces = new Set<string>();

  constructor(options: CoordinatorRequestsOptions) {
    this.#options = options;
  }

  /** Whether a path is one of these. */
  readonly handles = (path: string): boolean => path === COORDINATORS_PATH || path.startsWith(`${PAGES_PATH}/`);

  /** Answers one request. Never rejects. */
  readonly serve = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (path === COORDINATORS_PATH && request.method === 'POST')
        return send(response, 200, await this.#asked(await readText(request)));
      if (path === COORDINATORS_PATH || request.method !== 'GET')
        throw failure(FLEET_CODES.fleet_request_invalid, { said: 'there is no such path' });
      await this.#page(request, response);
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const known = error instanceof ToolError;
      send(response, known ? 422 : 500, {
        error: { code: known ? error.code : 'internal', message: messageOf(error) },
      });
    }
  };

  async #page(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { key, shared } = this.#options;
    const { headers, url = '' } = request;
    const of = (name: string) => String(headers[name] ?? '');
    const commands = of(PAGE_HEADERS.commands);
    const expected = coordinatorProof(key, of(PAGE_HEADERS.nonce), `${url} ${commands}`);
    if (!isSame(of(PAGE_HEADERS.proof), expected)) throw failure(FLEET_CODES.fleet_key_wrong, {});
    request.url = url.slice(PAGES_PATH.length);
    await shared.answer(request, response, commands === 'yes');
  }

  async #asked(body: string): Promise<unknown> {
    const { key } = this.#options;
    const { nonce, said, proof } = decodeJson(askedSchema, body);
    if (!isSame(proof, coordinatorProof(key, nonce, said))) throw failure(FLEET_CODES.fleet_key_wrong, {});
    const answer = JSON.stringify(await this.#answerTo(said, nonce));
    return { answer, proof: coordinatorAnswerProof(key, nonce, answer) };
  }

  async #answerTo(text: string, nonce: string): Promise<unknown> {
    const { shared, version } = this.#options;
    const said = decodeJson(saidSchema, text);
    if (said.kind === 'view') return { version, ...shared.view(said.repositories, said.page) };
    if (this.#nonces.has(nonce)) throw failure(FLEET_CODES.fleet_request_invalid, { said: 'it came before' });
    this.#nonces.add(nonce);
    for (const oldest of this.#nonces) {
      if (this.#nonces.size <= MOST_NONCES) break;
      this.#nonces.delete(oldest);
    }
    if (said.kind === 'steer') return shared.steer(said.command, said.issue, said.repository);
    if (said.kind === 'tell') return shared.tell(said.issue, said.text, said.repository);
    if (said.kind === 'refresh') shared.refresh();
    else shared.deliver(said.repository, said.event, said.look);
    return {};
  }
}
