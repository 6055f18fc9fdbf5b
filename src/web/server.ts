// The status server: routes, their guards, and an end that leaves no connection behind.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from '../base/ports.ts';
import { type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import { assertNever, messageOf, ToolError } from '../base/rules/errors.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import { EVERYTHING, LIMIT_DEFAULT } from '../daemon/view-page.ts';
import { checkOrigin, type Refused, Sessions, sessionCookie } from './access-control.ts';
import type { EventStream } from './events.ts';
import { type FleetRoutes, serverWith } from './fleet-routes.ts';
import { listenOn, urlOf } from './listen.ts';
import { columnsOf, isFirstPage, outputOf, pageOf } from './query.ts';
import { isEmpty, MAX_BODY_BYTES, readBody, TooLarge, toldIn } from './request-body.ts';
import {
  commandIn,
  ISSUE_API,
  ISSUE_PAGE,
  METHODS,
  numberIn,
  OUTPUT_END,
  pageAfterLogin,
  type Route,
  routeOf,
  withoutRepository,
} from './routes.ts';
import type { Source } from './source.ts';
import { teamRows } from './team-lines.ts';
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

/** So many rows of each list a terminal is shown. */
const TEXT_ROWS = 20;
const WEBHOOK_PATH = '/webhooks/github';

function wantsHtml(request: IncomingMessage): boolean {
  return /\btext\/html\b/.test(request.headers.accept ?? '');
}

export class StatusServer {
  readonly #options: ServerOptions;
  readonly #sessions: Sessions;
  /** Like the pages, it is loaded for whoever asks first: agents start sooner. */
  #events: Promise<EventStream> | undefined;
  readonly #server: Server;
  #port = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#sessions = new Sessions(options.token);
    this.#server = serverWith(options.fleet, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else this.#json(response, 500, { error: { code: 'internal', message: messageOf(error) } });
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
    if (foreign !== undefined) return this.#refuse(response, foreign);
    const route = routeOf(path);
    if (route === undefined || (route === 'login' && !this.#sessions.required)) {
      return this.#missing(response, refusal(HTTP_CODES.not_found, { path: asked }));
    }
    const methods = METHODS[route];
    if (!methods.includes(request.method ?? '')) return this.#refuseMethod(path, methods, request, response);
    if (route !== 'healthz' && route !== 'login' && !this.#sessions.admits(request))
      return this.#askForToken(request, response, false);
    try {
      return await this.#answer(route, path, request, response, repository);
    } catch (error) {
      if (error instanceof ToolError && error.refusal.of === WORK_CODES.repository_not_known)
        return this.#missing(response, error.refusal);
      throw error;
    }
  }

  #eventStream(): Promise<EventStream> {
    const { source, log } = this.#options;
    this.#events ??= import('./events.ts').then(({ EventStream }) => new EventStream(source, log));
    return this.#events;
  }

  #refuseMethod(path: string, methods: readonly string[], request: IncomingMessage, response: ServerResponse): void {
    const allow = methods.join(', ');
    const why = refusal(HTTP_CODES.method_not_allowed, { path, allow, method: request.method ?? '' });
    this.#refuse(response, { status: 405, why, headers: { allow } });
  }

  async #deliver(webhook: Webhook, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return this.#refuseMethod(WEBHOOK_PATH, ['POST'], request, response);
    const answer = await webhook.receive(request);
    if ('why' in answer) return this.#refuse(response, answer);
    this.#json(response, answer.status, answer.body);
    answer.work?.();
  }

  async #answer(
    route: Route,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    repository: string | undefined,
  ): Promise<void> {
    const { source } = this.#options;
    switch (route) {
      case 'home': {
        const asked = pageOf(request.url, wantsHtml(request) ? LIMIT_DEFAULT : TEXT_ROWS);
        if ('why' in asked) return this.#refuse(response, asked);
        if (wantsHtml(request)) {
          const { page } = await import('./page.ts');
          return this.#html(response, 200, (nonce) =>
            page(source.state(asked), nonce, isFirstPage(asked), this.#sessions.required),
          );
        }
        const { textDashboard } = await import('./dashboard.ts');
        const columns = columnsOf(request.url);
        return typeof columns === 'number'
          ? this.#send(response, 200, 'text/plain; charset=utf-8', textDashboard(source.state(asked), columns))
          : this.#refuse(response, columns);
      }
      case 'state': {
        const asked = pageOf(request.url, LIMIT_DEFAULT);
        return 'why' in asked ? this.#refuse(response, asked) : this.#json(response, 200, source.state(asked));
      }
      case 'issue': {
        const issue = await this.#numberIn(path.slice(ISSUE_API.length), response);
        if (issue === undefined) return;
        const found = source.issue(issue, repository);
        // Of an issue that is over, the journal alone has the checks.
        const evidence = found?.evidence ?? source.history(issue, repository).evidence;
        if (found !== undefined) return this.#json(response, 200, { ...found, evidence });
        return this.#missing(response, refusal(HTTP_CODES.issue_unknown, { issue }));
      }
      case 'issue_page': {
        const issue = await this.#numberIn(path.slice(ISSUE_PAGE.length), response);
        if (issue === undefined) return;
        const { issuePage, issueText, shownIssue } = await import('./issue-page.ts');
        const shown = shownIssue(source, { issue, repository }, source.state());
        if (shown === undefined) return this.#missing(response, refusal(HTTP_CODES.issue_unknown, { issue }));
        if (!wantsHtml(request)) return this.#send(response, 200, 'text/plain; charset=utf-8', issueText(shown));
        return this.#html(response, 200, (nonce) => issuePage(shown, nonce, this.#sessions.required));
      }
      case 'output': {
        const issue = await this.#numberIn(path.slice(ISSUE_API.length, -OUTPUT_END.length), response);
        if (issue === undefined) return;
        const asked = outputOf(request.url);
        if ('why' in asked) return this.#refuse(response, asked);
        const part = source.output(issue, asked, repository);
        if (part === undefined) return this.#missing(response, refusal(HTTP_CODES.output_missing, { issue }));
        return this.#send(response, 200, 'text/plain; charset=utf-8', part.text, {
          'x-output': part.name,
          'x-output-from': `${part.from}`,
          'x-output-to': `${part.to}`,
          'content-security-policy': "default-src 'none'",
        });
      }
      case 'steer':
        return this.#steer(path, request, response, repository);
      case 'team':
        return this.#teams(path.slice('/api/v1/teams/'.length), response);
      case 'events':
        return (await this.#eventStream()).open(request, response);
      case 'refresh':
        return this.#refresh(request, response);
      case 'metrics': {
        const { renderMetrics } = await import('./metrics.ts');
        const { contentType, body } = await renderMetrics(source.state());
        return this.#send(response, 200, contentType, body);
      }
      case 'healthz':
        return this.#json(response, 200, { ok: true });
      case 'login':
        return this.#login(request, response);
      default:
        return assertNever(route);
    }
  }

  /** Answers where the text is no number. */
  async #numberIn(got: string, response: ServerResponse): Promise<number | undefined> {
    const number = numberIn(got);
    if (number === undefined) await this.#missing(response, refusal(HTTP_CODES.issue_number_invalid, { got }));
    return number;
  }

  /** All teams at work and the last ones that are finished, or the one of that name. */
  async #teams(name: string, response: ServerResponse): Promise<void> {
    const teams = teamRows(this.#options.source.state(EVERYTHING));
    const found = name === '' ? { teams } : teams.find(({ team }) => team === name);
    const known = teams.map(({ team }) => team);
    if (found !== undefined) this.#json(response, 200, found);
    else
      await this.#missing(
        response,
        refusal(HTTP_CODES.team_unlisted, { team: name, ...(known.length > 0 && { known }) }),
      );
  }

  async #refresh(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers['content-type'];
    const empty = isEmpty(request);
    if (!empty && !/^application\/json\b/i.test(type ?? '')) {
      return this.#refuse(response, {
        status: 415,
        why: refusal(HTTP_CODES.unsupported_media_type, {
          expected: 'no body or application/json',
          got: type ?? 'a body without a type',
        }),
      });
    }
    if (!empty && !(await this.#bodyOf(request, response))) return;
    const { coalesced } = this.#options.source.refresh();
    const requestedAt = new Date(this.#options.source.now()).toISOString();
    this.#json(response, 202, {
      queued: true,
      coalesced,
      requested_at: requestedAt,
      operations: ['poll', 'reconcile'],
    });
  }

  /** Only with a token: whoever reaches the port otherwise, also an agent, could stop work. No form of a page can send JSON. */
  async #steer(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    repository: string | undefined,
  ): Promise<void> {
    const command = commandIn(path) ?? 'pause';
    const got = path.slice(ISSUE_API.length, -command.length - 1);
    const issue = numberIn(got);
    if (!this.#sessions.required)
      return this.#refuse(response, { status: 403, why: refusal(HTTP_CODES.steering_locked, { command }) });
    if (issue === undefined) return this.#missing(response, refusal(HTTP_CODES.issue_number_invalid, { got }));
    const type = request.headers['content-type'] ?? 'no type';
    if (!/^application\/json\b/i.test(type)) {
      const why = refusal(HTTP_CODES.unsupported_media_type, { expected: 'application/json', got: type });
      return this.#refuse(response, { status: 415, why });
    }
    const body = await this.#bodyOf(request, response);
    if (body === undefined) return;
    const { source } = this.#options;
    try {
      const given =
        command === 'tell'
          ? source.tell(issue, toldIn(body.text), repository)
          : source.steer(command, issue, repository);
      this.#json(response, 200, await given);
    } catch (error) {
      if (!(error instanceof ToolError) || error.kind !== 'refused') throw error;
      const why = error.refusal;
      if (why.of === WORK_CODES.issue_not_known || why.of === WORK_CODES.repository_not_known)
        return this.#missing(response, why);
      this.#refuse(response, { status: why.of === WORK_CODES.issue_not_steerable ? 409 : 400, why });
    }
  }

  async #bodyOf(request: IncomingMessage, response: ServerResponse): Promise<{ readonly text: string } | undefined> {
    try {
      return { text: (await readBody(request, MAX_BODY_BYTES)).toString('utf8') };
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      this.#refuse(response, {
        status: 413,
        why: refusal(HTTP_CODES.too_large, { limit: MAX_BODY_BYTES }),
        headers: { connection: 'close' },
      });
      return undefined;
    }
  }

  async #login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers['content-type'];
    if (!/^application\/x-www-form-urlencoded\b/i.test(type ?? '')) {
      const why = refusal(HTTP_CODES.unsupported_media_type, { expected: 'a form', got: type ?? 'no type' });
      return this.#refuse(response, { status: 415, why });
    }
    const body = await this.#bodyOf(request, response);
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
      this.#html(response, 401, (nonce) => loginPage(nonce, refused, path));
      return;
    }
    this.#refuse(response, {
      status: 401,
      why: refusal(HTTP_CODES.unauthorized, {}),
      headers: { 'www-authenticate': 'Bearer' },
    });
  }

  #refuse(response: ServerResponse, { status, why, headers }: Refused): void {
    this.#json(response, status, { error: { code: why.of.code, message: textOf(why) } }, headers);
  }

  /** Whatever is missing, the answer has one code. A browser that asks for the page of an issue gets a sentence. */
  async #missing(response: ServerResponse, why: Refusal): Promise<void> {
    const { req } = response;
    const message = textOf(why);
    if (req.url?.startsWith(ISSUE_PAGE) === true && wantsHtml(req)) {
      const { sentencePage } = await import('./page-parts.ts');
      this.#html(response, 404, (nonce) => sentencePage(nonce, message));
    } else this.#json(response, 404, { error: { code: HTTP_CODES.not_found.code, message } });
  }

  #json(
    response: ServerResponse,
    status: number,
    value: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    this.#send(response, status, 'application/json; charset=utf-8', `${JSON.stringify(value, null, 2)}\n`, headers);
  }

  #html(response: ServerResponse, status: number, render: (nonce: string) => string): void {
    const nonce = randomBytes(16).toString('base64');
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
    this.#send(response, status, 'text/html; charset=utf-8', render(nonce), { 'content-security-policy': policy });
  }

  #send(
    response: ServerResponse,
    status: number,
    type: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Not no-referrer: under that a browser's own form says Origin: null.
      'referrer-policy': 'same-origin',
      vary: 'accept',
      ...headers,
    });
    response.end(response.req.method === 'HEAD' ? undefined : body);
  }

  async close(): Promise<void> {
    (await this.#events)?.close();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }
}
