// Answers of the status server to whoever may ask: the state, pages, outputs, events, commands.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { assertNever, isFailure, ToolError } from '../base/rules/errors.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import type { StateView } from '../daemon/view.ts';
import { EVERYTHING, LIMIT_DEFAULT, type Page } from '../daemon/view-page.ts';
import { FLEET_CODES } from '../fleet/rules/fleet-codes.ts';
import type { EventStream } from './events.ts';
import { columnsOf, isFirstPage, outputOf, pageOf } from './query.ts';
import { missing, refuse, refuseReader, send, sendHtml, sendJson, wantsHtml } from './reply.ts';
import { isEmpty, MAX_BODY_BYTES, readBody, TooLarge, toldIn } from './request-body.ts';
import {
  commandIn,
  ISSUE_API,
  ISSUE_PAGE,
  METHODS,
  numberIn,
  OUTPUT_END,
  type Route,
  routeOf,
  withoutRepository,
} from './routes.ts';
import type { Source } from './source.ts';
import { teamRows } from './team-lines.ts';

/** So many rows of each list a terminal is shown. */
const TEXT_ROWS = 20;

export type AnswersOptions = {
  readonly source: Source;
  readonly log: Logger;
};

export type Asked = {
  readonly route: Exclude<Route, 'login'>;
  /** Without the repository. */
  readonly path: string;
  readonly repository: string | undefined;
  /** Whether whoever asks has shown a token: only then commands are taken. */
  readonly hasToken: boolean;
};

/** Requests about one issue are answered where its repository is acted for. */
function isOfIssue({ route }: Asked, { url }: IncomingMessage): boolean {
  if (route === 'events') return new URL(url ?? '/', 'http://here').searchParams.has('issue');
  return route === 'issue' || route === 'issue_page' || route === 'output';
}

/** Answers where it is too large. */
export async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ readonly text: string } | undefined> {
  try {
    return { text: (await readBody(request, MAX_BODY_BYTES)).toString('utf8') };
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    refuse(response, {
      status: 413,
      why: refusal(HTTP_CODES.too_large, { limit: MAX_BODY_BYTES }),
      headers: { connection: 'close' },
    });
    return undefined;
  }
}

export class Answers {
  readonly #options: AnswersOptions;
  /** Like the pages, it is loaded for whoever asks first: agents start sooner. */
  #events: Promise<EventStream> | undefined;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  #eventStream(): Promise<EventStream> {
    const { source, log } = this.#options;
    this.#events ??= import('./events.ts').then(({ EventStream }) => new EventStream(source, log));
    return this.#events;
  }

  /** Answers whoever may ask. */
  async answer(asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { others } = this.#options.source;
    if (others !== undefined && isOfIssue(asked, request)) {
      const query = new URL(request.url ?? '/', 'http://here').searchParams;
      const passOn = others.passOn(asked.repository ?? query.get('repository') ?? undefined);
      if (passOn !== undefined) {
        const why = await passOn(request, response, asked.hasToken);
        return why === null ? undefined : refuseReader(response, 503, why.of.code, why);
      }
    }
    try {
      await this.#answer(asked, request, response);
    } catch (error) {
      if (isFailure(error, WORK_CODES.repository_not_known)) return missing(response, error.refusal);
      if (isFailure(error, WORK_CODES.repository_not_open))
        return refuseReader(response, 503, error.code, error.refusal);
      throw error;
    }
  }

  /** Answers a request for a page that another coordinator passes on. */
  async answerPath(request: IncomingMessage, response: ServerResponse, hasToken: boolean): Promise<void> {
    const asked = (request.url ?? '/').split('?')[0] ?? '/';
    const { path, repository } = withoutRepository(asked);
    const route = routeOf(path);
    if (route === undefined || route === 'login' || !METHODS[route].includes('GET'))
      return missing(response, refusal(HTTP_CODES.not_found, { path: asked }));
    return this.answer({ route, path, repository, hasToken }, request, response);
  }

  /** With what other coordinators show of the page. */
  async #stateOf(page: Page): Promise<StateView> {
    const { source } = this.#options;
    return source.others === undefined ? source.state(page) : source.others.state(page);
  }

  async #answer(
    { route, path, repository, hasToken }: Asked,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { source } = this.#options;
    switch (route) {
      case 'home': {
        const asked = pageOf(request.url, wantsHtml(request) ? LIMIT_DEFAULT : TEXT_ROWS);
        if ('why' in asked) return refuse(response, asked);
        if (wantsHtml(request)) {
          const { page } = await import('./page.ts');
          const state = await this.#stateOf(asked);
          return sendHtml(response, 200, (nonce) => page(state, nonce, isFirstPage(asked), hasToken));
        }
        const { textDashboard } = await import('./dashboard.ts');
        const columns = columnsOf(request.url);
        return typeof columns === 'number'
          ? send(response, 200, 'text/plain; charset=utf-8', textDashboard(await this.#stateOf(asked), columns))
          : refuse(response, columns);
      }
      case 'state': {
        const asked = pageOf(request.url, LIMIT_DEFAULT);
        return 'why' in asked ? refuse(response, asked) : sendJson(response, 200, await this.#stateOf(asked));
      }
      case 'issue': {
        const issue = await this.#numberIn(path.slice(ISSUE_API.length), response);
        if (issue === undefined) return;
        const found = source.issue(issue, repository);
        // Of an issue that is over, the journal alone has the checks.
        const evidence = found?.evidence ?? source.history(issue, repository).evidence;
        if (found !== undefined) return sendJson(response, 200, { ...found, evidence });
        return missing(response, refusal(HTTP_CODES.issue_unknown, { issue }));
      }
      case 'issue_page': {
        const issue = await this.#numberIn(path.slice(ISSUE_PAGE.length), response);
        if (issue === undefined) return;
        const { issuePage, issueText, shownIssue } = await import('./issue-page.ts');
        const shown = shownIssue(source, { issue, repository }, source.state());
        if (shown === undefined) return missing(response, refusal(HTTP_CODES.issue_unknown, { issue }));
        if (!wantsHtml(request)) return send(response, 200, 'text/plain; charset=utf-8', issueText(shown));
        return sendHtml(response, 200, (nonce) => issuePage(shown, nonce, hasToken));
      }
      case 'output': {
        const issue = await this.#numberIn(path.slice(ISSUE_API.length, -OUTPUT_END.length), response);
        if (issue === undefined) return;
        const asked = outputOf(request.url);
        if ('why' in asked) return refuse(response, asked);
        const part = source.output(issue, asked, repository);
        if (part === undefined) return missing(response, refusal(HTTP_CODES.output_missing, { issue }));
        return send(response, 200, 'text/plain; charset=utf-8', part.text, {
          'x-output': part.name,
          'x-output-from': `${part.from}`,
          'x-output-to': `${part.to}`,
          'content-security-policy': "default-src 'none'",
        });
      }
      case 'steer':
        return this.#steer({ path, repository, hasToken }, request, response);
      case 'team':
        return this.#teams(path.slice('/api/v1/teams/'.length), response);
      case 'events':
        return (await this.#eventStream()).open(request, response);
      case 'refresh':
        return this.#refresh(request, response);
      case 'metrics': {
        const { renderMetrics } = await import('./metrics.ts');
        const { contentType, body } = await renderMetrics(source.own?.() ?? source.state());
        return send(response, 200, contentType, body);
      }
      case 'healthz':
        return sendJson(response, 200, { ok: true });
      default:
        return assertNever(route);
    }
  }

  /** Answers where the text is no number. */
  async #numberIn(got: string, response: ServerResponse): Promise<number | undefined> {
    const number = numberIn(got);
    if (number === undefined) await missing(response, refusal(HTTP_CODES.issue_number_invalid, { got }));
    return number;
  }

  /** All teams at work and the last ones that are finished, or the one of that name. */
  async #teams(name: string, response: ServerResponse): Promise<void> {
    const teams = teamRows(this.#options.source.state(EVERYTHING));
    const found = name === '' ? { teams } : teams.find(({ team }) => team === name);
    const known = teams.map(({ team }) => team);
    if (found !== undefined) sendJson(response, 200, found);
    else await missing(response, refusal(HTTP_CODES.team_unlisted, { team: name, ...(known.length > 0 && { known }) }));
  }

  async #refresh(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const type = request.headers['content-type'];
    const empty = isEmpty(request);
    if (!empty && !/^application\/json\b/i.test(type ?? '')) {
      return refuse(response, {
        status: 415,
        why: refusal(HTTP_CODES.unsupported_media_type, {
          expected: 'no body or application/json',
          got: type ?? 'a body without a type',
        }),
      });
    }
    if (!empty && !(await bodyOf(request, response))) return;
    const { coalesced } = this.#options.source.refresh();
    const requestedAt = new Date(this.#options.source.now()).toISOString();
    sendJson(response, 202, {
      queued: true,
      coalesced,
      requested_at: requestedAt,
      operations: ['poll', 'reconcile'],
    });
  }

  /** Only with a token: whoever reaches the port otherwise, also an agent, could stop work. No form of a page can send JSON. */
  async #steer(
    { path, repository, hasToken }: Pick<Asked, 'path' | 'repository' | 'hasToken'>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const command = commandIn(path) ?? 'pause';
    const got = path.slice(ISSUE_API.length, -command.length - 1);
    const issue = numberIn(got);
    if (!hasToken) return refuse(response, { status: 403, why: refusal(HTTP_CODES.steering_locked, { command }) });
    if (issue === undefined) return missing(response, refusal(HTTP_CODES.issue_number_invalid, { got }));
    const type = request.headers['content-type'] ?? 'no type';
    if (!/^application\/json\b/i.test(type)) {
      const why = refusal(HTTP_CODES.unsupported_media_type, { expected: 'application/json', got: type });
      return refuse(response, { status: 415, why });
    }
    const body = await bodyOf(request, response);
    if (body === undefined) return;
    const { source } = this.#options;
    try {
      const given =
        command === 'tell'
          ? source.tell(issue, toldIn(body.text), repository)
          : source.steer(command, issue, repository);
      sendJson(response, 200, await given);
    } catch (error) {
      if (!(error instanceof ToolError) || error.kind !== 'refused') throw error;
      const why = error.refusal;
      // What another coordinator refuses keeps its code beside.
      const code = typeof error.values.reason === 'string' ? error.values.reason : why.of.code;
      if (code === WORK_CODES.issue_not_known.code || code === WORK_CODES.repository_not_known.code)
        return missing(response, why);
      const isAway = code === FLEET_CODES.coordinator_unasked.code || code === WORK_CODES.repository_not_open.code;
      refuse(response, { status: isAway ? 503 : code === WORK_CODES.issue_not_steerable.code ? 409 : 400, why });
    }
  }

  async close(): Promise<void> {
    (await this.#events)?.close();
  }
}
