// The status server: routes, their guards, and an end that leaves no connection behind.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import { checkOrigin, Sessions, sessionCookie } from './access-control.ts';
import { Answers, bodyOf } from './answers.ts';
import { type FleetRoutes, serverWith } from './fleet-routes.ts';
import { listenOn, urlOf } from './listen.ts';
import { missing, refuse, sendHtml, sendJson, wantsHtml } from './reply.ts';
import { METHODS, pageAfterLogin, routeOf, withoutRepository } from './routes.ts';
import type { Source } from './source.ts';
import type { Webhook } from './webhook.ts';

export type ServerOptions = {
  readonly source: Source;
  readonly log: Logger;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly token: string | null;
  /** Takes deliveries of webhooks; null: there is no such route. */
  readonly webhook: Webhook | null;
  /** Answers workers, below paths of its own; absent: there are none. */
  readonly fleet?: FleetRoutes | undefined;
};

const WEBHOOK_PATH = '/webhooks/github';

export class StatusServer {
  readonly #options: ServerOptions;
  readonly #sessions: Sessions;
  readonly #answers: Answers;
  readonly #server: Server;
  #port = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#sessions = new Sessions(options.token);
    this.#answers = new Answers(options);
    this.#server = serverWith(options.fleet, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendJson(response, 500, { error: { code: 'internal', message: messageOf(error) } });
      });
    });
  }

  /** Starts to listen; a busy port is a ToolError that names both ways out. */
  async listen(): Promise<void> {
    const { host, port } = this.#options;
    this.#port = await listenOn(this.#server, host, port);
  }

  get url(): string {
    return urlOf(this.#options.host, this.#port);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = (request.url ?? '/').split('?')[0] ?? '/';
    const { path, repository } = withoutRepository(asked);
    const { webhook } = this.#options;
    // The signature stands for the token, and for the name and the origin of other requests.
    if (path === WEBHOOK_PATH && webhook !== null) return this.#deliver(webhook, request, response);
    const foreign = checkOrigin(request, this.#options.allowedHosts);
    if (foreign !== undefined) return refuse(response, foreign);
    const route = routeOf(path);
    if (route === undefined || (route === 'login' && !this.#sessions.required)) {
      return missing(response, refusal(HTTP_CODES.not_found, { path: asked }));
    }
    const methods = METHODS[route];
    if (!methods.includes(request.method ?? '')) return this.#refuseMethod(path, methods, request, response);
    if (route === 'login') return this.#login(request, response);
    if (route !== 'healthz' && !this.#sessions.admits(request)) return this.#askForToken(request, response, false);
    return this.#answers.answer({ route, path, repository, hasToken: this.#sessions.required }, request, response);
  }

  #refuseMethod(path: string, methods: readonly string[], request: IncomingMessage, response: ServerResponse): void {
    const allow = methods.join(', ');
    const why = refusal(HTTP_CODES.method_not_allowed, { path, allow, method: request.method ?? '' });
    refuse(response, { status: 405, why, headers: { allow } });
  }

  async #deliver(webhook: Webhook, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return this.#refuseMethod(WEBHOOK_PATH, ['POST'], request, response);
    const answer = await webhook.receive(request);
    if ('why' in answer) return refuse(response, answer);
    sendJson(response, answer.status, answer.body);
    answer.work?.();
  }

  async #login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers['content-type'];
    if (!/^application\/x-www-form-urlencoded\b/i.test(type ?? '')) {
      const why = refusal(HTTP_CODES.unsupported_media_type, { expected: 'a form', got: type ?? 'no type' });
      return refuse(response, { status: 415, why });
    }
    const body = await bodyOf(request, response);
    if (body === undefined) return;
    const form = new URLSearchParams(body.text);
    const path = pageAfterLogin(form.get('then'));
    const session = this.#sessions.login(form.get('token') ?? '');
    if (session === undefined) return this.#askForToken(request, response, true, path);
    response.writeHead(303, {
      location: path,
      'set-cookie': `${sessionCookie(request)}=${session}; HttpOnly; SameSite=Strict; Path=/`,
      'content-length': 0,
    });
    response.end();
  }

  async #askForToken(
    request: IncomingMessage,
    response: ServerResponse,
    refused: boolean,
    path = pageAfterLogin(request.url ?? null),
  ): Promise<void> {
    if (wantsHtml(request)) {
      const { loginPage } = await import('./page-parts.ts');
      sendHtml(response, 401, (nonce) => loginPage(nonce, refused, path));
      return;
    }
    refuse(response, {
      status: 401,
      why: refusal(HTTP_CODES.unauthorized, {}),
      headers: { 'www-authenticate': 'Bearer' },
    });
  }

  async close(): Promise<void> {
    await this.#answers.close();
    await this.#options.fleet?.close?.();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }
}
