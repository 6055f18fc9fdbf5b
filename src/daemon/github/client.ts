// One HTTP client for the hosting service: time-outs, limits, and every failure told apart.

import { createSecureContext, rootCertificates } from 'node:tls';
import { Octokit } from '@octokit/rest';
import type { Dispatcher } from 'undici';
import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import { proxyFor } from '../../base/proxy-route.ts';
import { explainCertificate, isCertificateProblem } from '../../base/rules/certificate.ts';
import { refusal, type ValuesOf } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { Agent, fetch, ProxyAgent } from '../../base/undici.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { Limits } from './limits.ts';
import { StreamEnd } from './log-end.ts';
import { createPool, TunnelError } from './tunnel.ts';

export type ClientOptions = {
  readonly apiUrl: string;
  readonly token: () => Promise<string>;
  /** The token was turned away: another one may be had. */
  readonly onUnauthorized: () => void;
  readonly userAgent: string;
  readonly clock: Clock;
  /** PEM texts of authorities that are trusted beside Node's own. */
  readonly authorities?: readonly string[];
  /** Names the proxy; this process's own unless given. */
  readonly env?: Environment;
  /** How long an answer may take, ms. */
  readonly timeoutMs?: number;
};

export type Answer<T> = { readonly data: T; readonly headers: Readonly<Record<string, string | number | undefined>> };

type Parameters = Readonly<Record<string, unknown>>;

const TIMEOUT_MS = 20_000;
/** So many requests are under way at a time: services take many at once for abuse. */
const CONNECTIONS = 6;

const failure = z.object({
  status: z.number(),
  message: z.string(),
  response: z
    .object({ headers: z.record(z.string(), z.union([z.string(), z.number(), z.undefined()])), data: z.unknown() })
    .optional(),
});

const told = z.object({ message: z.string().min(1) });

/** What came with a failure: the service's own words, where there are any. */
function describeFailure(data: unknown): string {
  const words = told.safeParse(data);
  if (words.success) return oneLine(words.data.message, 120);
  return typeof data === 'string' ? describeBody(data) : 'no reason given';
}

function describeBody(data: unknown): string {
  if (typeof data === 'string') {
    if (/^\s*(<!doctype|<html)/i.test(data)) return 'a page of HTML';
    return data === '' ? 'an empty body' : `text that is not JSON (${oneLine(data, 60)})`;
  }
  return `JSON of another shape (${oneLine(JSON.stringify(data) ?? 'nothing', 60)})`;
}

/** What was asked for has another address now. It is not asked there: what moved may be somebody else's. */
export class MovedError extends TrackerError {
  readonly location: string;

  constructor(status: number, location: string) {
    const said = `moved to ${location === '' ? 'nowhere' : oneLine(location, 160)}`;
    super('refused', refusal(GITHUB_CODES.tracker_refused, { status, said }), { status });
    this.location = location;
  }
}

type Unanswered = ValuesOf<typeof GITHUB_CODES.tracker_unavailable>;

function unavailable(values: Unanswered, cause: unknown): TrackerError {
  return new TrackerError('unavailable', refusal(GITHUB_CODES.tracker_unavailable, values), { cause });
}

function pausedUntil(until: number, reason: string | null, cause?: unknown): TrackerError {
  const why = reason ?? 'no reason was given';
  return new TrackerError('paused', refusal(GITHUB_CODES.tracker_paused, { why, until }), { retryAt: until, cause });
}

function verbOf(route: string): string {
  return route.split(' ')[0] ?? '';
}

/** The words of what is behind an error: "fetch failed" says nothing. */
export function innermost(error: unknown): string {
  let current = error;
  while (current instanceof Error && current.cause !== undefined && !(current instanceof TunnelError))
    current = current.cause;
  const code = current instanceof Error && 'code' in current ? String(current.code) : '';
  if (current instanceof TunnelError) return oneLine(current.message, 240);
  const name = current instanceof Error && current.name !== 'Error' ? current.name : '';
  const all = [...new Set([code, name, messageOf(current)])].filter((word) => word !== '').join(' ');
  const words = oneLine(all, 120);
  return isCertificateProblem(current) ? explainCertificate(words) : words;
}

/** The way to the service: straight, or through the proxy of the environment. Throws when that names none that can be used. */
export function dispatcherFor(
  options: Pick<ClientOptions, 'apiUrl' | 'authorities' | 'env'>,
  timeout: number,
): Dispatcher {
  const { authorities = [] } = options;
  // An explicit list replaces what Node trusts by itself, so it stays away where nothing is added.
  const secureContext =
    authorities.length === 0 ? undefined : createSecureContext({ ca: [...rootCertificates, ...authorities] });
  const trust = secureContext === undefined ? {} : { secureContext };
  const common = {
    connections: CONNECTIONS,
    factory: createPool,
    headersTimeout: timeout,
    bodyTimeout: timeout,
    connect: { timeout, ...trust },
    keepAliveTimeout: 60_000,
  };
  const proxy = proxyFor(options.apiUrl, options.env ?? process.env);
  if (proxy === undefined) return new Agent(common);
  const { origin, authorization } = proxy;
  return new ProxyAgent({
    ...common,
    uri: origin,
    requestTls: trust,
    proxyTls: trust,
    ...(authorization === undefined ? {} : { token: authorization }),
  });
}

export class HostingClient {
  readonly #options: ClientOptions;
  readonly #octokit: Octokit;
  readonly #dispatcher: Dispatcher;
  /** By the proxy that they use; empty: none. */
  readonly #others = new Map<string, Dispatcher>();
  readonly limits: Limits;
  #requests = 0;
  #notModified = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.limits = new Limits(options.clock);
    const timeout = options.timeoutMs ?? TIMEOUT_MS;
    this.#dispatcher = dispatcherFor(options, timeout);
    const silent = () => undefined;
    this.#octokit = new Octokit({
      baseUrl: options.apiUrl,
      userAgent: options.userAgent,
      log: { debug: silent, info: silent, warn: silent, error: silent },
      request: {
        fetch: (url: string, init: Parameters) =>
          fetch(url, { ...init, redirect: 'manual', dispatcher: this.#dispatcher }),
      },
    });
  }

  get stats(): { readonly requests: number; readonly notModified: number } {
    return { requests: this.#requests, notModified: this.#notModified };
  }

  /** On a server of one's own the REST service is at `/api/v3`, and GraphQL beside it. */
  get graphqlUrl(): string {
    return `${this.#options.apiUrl.replace(/\/+$/, '').replace(/\/v3$/, '')}/graphql`;
  }

  /** One request; the answer's body is decoded by `schema`. Throws a TrackerError. */
  async request<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<Answer<T>> {
    const answer = await this.#send(route, parameters, signal);
    const decoded = schema.safeParse(answer.data);
    if (decoded.success) return { data: decoded.data, headers: answer.headers };
    throw unavailable({ request: verbOf(route), said: `it answered ${describeBody(answer.data)}` }, decoded.error);
  }

  /** The same, conditional: null when nothing changed since the answer that had this `etag`. */
  async requestIfChanged<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<Answer<T> | null> {
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    try {
      return await this.request(route, { ...parameters, headers }, schema, signal);
    } catch (error) {
      if (!(error instanceof NotModified)) throw error;
      if (etag !== undefined) return null;
      throw unavailable({ said: 'it answered "not modified" to an unconditional request' }, error);
    }
  }

  /** The address that the service answers with (302); null: it answers with something else. */
  async locate(route: string, parameters: Parameters, signal: AbortSignal): Promise<string | null> {
    try {
      await this.#send(route, parameters, signal);
      return null;
    } catch (error) {
      if (error instanceof MovedError && error.status === 302) return error.location === '' ? null : error.location;
      throw error;
    }
  }

  /**
   * The end of a text that lies at a signed address, at least `least` bytes where it has so many. The token stays here: the
   * address belongs to another service. Null: no text came from there in time.
   */
  async readEnd(location: string, least: number, signal: AbortSignal): Promise<string | null> {
    const { apiUrl, userAgent, timeoutMs = TIMEOUT_MS } = this.#options;
    if (!URL.canParse(location, apiUrl)) return null;
    const url = new URL(location, apiUrl);
    if (url.protocol !== 'https:' && url.protocol !== new URL(apiUrl).protocol) return null;
    const limit = boundedBy(signal, timeoutMs);
    try {
      const dispatcher = this.#wayTo(url.origin);
      const headers = { 'user-agent': userAgent };
      const { ok, body } = await fetch(url, { headers, redirect: 'manual', dispatcher, signal: limit.signal });
      if (!ok || body === null) {
        await body?.cancel();
        return null;
      }
      const end = new StreamEnd(least);
      for await (const chunk of body) end.push(chunk);
      return end.text;
    } catch {
      signal.throwIfAborted();
      return null;
    } finally {
      limit.release();
    }
  }

  /** NO_PROXY may name this host and not the service's own, or the other way round. */
  #wayTo(origin: string): Dispatcher {
    const { apiUrl, env = process.env, timeoutMs = TIMEOUT_MS } = this.#options;
    const way = (address: string) => proxyFor(address, env)?.origin ?? '';
    if (way(origin) === way(apiUrl)) return this.#dispatcher;
    const known = this.#others.get(way(origin));
    const other = known ?? dispatcherFor({ ...this.#options, apiUrl: origin }, timeoutMs);
    this.#others.set(way(origin), other);
    return other;
  }

  async #send(route: string, parameters: Parameters, signal: AbortSignal): Promise<Answer<unknown>> {
    const paused = this.limits.pausedUntil;
    if (paused !== null) throw pausedUntil(paused, this.limits.reason);
    const authorization = `token ${await this.#options.token()}`;
    const given = typeof parameters.headers === 'object' ? parameters.headers : {};
    this.#requests += 1;
    const limit = boundedBy(signal, this.#options.timeoutMs ?? TIMEOUT_MS);
    try {
      const { data, headers, status } = await this.#octokit.request(route, {
        ...parameters,
        headers: { ...given, authorization },
        request: { signal: limit.signal },
      });
      this.limits.observe(status, headers, '');
      if (status >= 300) throw new MovedError(status, headers.location ?? '');
      return { data, headers };
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof MovedError ? error : this.#explain(error, route);
    } finally {
      limit.release();
    }
  }

  #explain(error: unknown, route: string): Error {
    const known = failure.safeParse(error);
    if (!known.success) return unavailable({ request: verbOf(route), said: `no answer (${messageOf(error)})` }, error);
    const { status, response, message } = known.data;
    // Octokit reports what never became an answer as a 500 without one.
    if (response === undefined) {
      const cause = innermost(error);
      const timedOut = /timeout|timed out/i.test(`${message} ${cause}`);
      const limit = this.#options.timeoutMs ?? TIMEOUT_MS;
      return unavailable({ said: timedOut ? `no answer within ${limit / 1000} s` : `no answer (${cause})` }, error);
    }
    const pause = this.limits.observe(status, response.headers, message);
    if (status === 304) {
      this.#notModified += 1;
      return new NotModified();
    }
    if (pause !== null) return pausedUntil(pause, this.limits.reason, error);
    if (status >= 500)
      return unavailable({ status, said: `it answered ${status} (${describeFailure(response.data)})` }, error);
    if (status === 401) {
      this.#options.onUnauthorized();
      const turnedAway = refusal(GITHUB_CODES.tracker_unauthorized, { said: oneLine(message, 120) });
      return new TrackerError('unauthorized', turnedAway, { cause: error });
    }
    const said = oneLine(message.replace(/ - https?:\S+$/, ''), 200);
    return new TrackerError('refused', refusal(GITHUB_CODES.tracker_refused, { status, said }), {
      cause: error,
      status,
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#dispatcher, ...this.#others.values()].map((dispatcher) => dispatcher.close()));
  }
}

/**
 * A signal for one request, aborted with the given one or when its time is over. A combination by AbortSignal.any would be
 * held by the given signal, which lives as long as the daemon.
 */
function boundedBy(signal: AbortSignal, timeoutMs: number): { readonly signal: AbortSignal; release(): void } {
  signal.throwIfAborted();
  const own = new AbortController();
  const follow = () => own.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => own.abort(new DOMException('The operation timed out', 'TimeoutError')), timeoutMs);
  return {
    signal: own.signal,
    release() {
      clearTimeout(timer);
      signal.removeEventListener('abort', follow);
    },
  };
}

class NotModified extends Error {}
