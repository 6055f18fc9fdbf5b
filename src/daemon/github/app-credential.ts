// Tokens of a GitHub App for one repository or all of an owner: made with the App's key, renewed before they expire.

import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { failure, ToolError } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { fetch } from '../../base/undici.ts';
import type { Author } from '../../git/rules/author.ts';
import { formatSlug, type RepoSlug } from '../../git/rules/repository.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import { isEvery } from '../rules/repositories.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import type { AppKey } from './app-key.ts';
import { dispatcherFor, innermost } from './client.ts';
import type { HostingCredential } from './credential.ts';

export type AppOptions = {
  /** Number of the App, or its client id. */
  readonly id: string;
  readonly key: AppKey;
  /** With `*` as the name: of the installation of the owner, for all repositories that it was given. */
  readonly slug: RepoSlug;
  readonly apiUrl: string;
  readonly userAgent: string;
  readonly authorities: readonly string[];
  readonly env: Environment;
  readonly clock: Clock;
  /** The token could not be renewed early; told once until one is. */
  readonly onUnrenewed: (what: Refusal) => void;
};

const TIMEOUT_MS = 20_000;
const REPOSITORY_ROUTE = 'GET /repos/{owner}/{repo}/installation';
const OWNER_ROUTES = ['GET /orgs/{owner}/installation', 'GET /users/{owner}/installation'] as const;
/** A token is valid for an hour. What begins with one, like the upload of large files, is to end with it. */
const LIFE_MS = 60 * 60_000;
const RENEW_BEFORE_MS = 10 * 60_000;
/** A token that is turned away gives way to a new one, so often at most. */
const REJECTION_MS = 60_000;
/** Between two tries while the last token is still valid. */
const TRY_AGAIN_MS = 60_000;

const failed = z.object({ status: z.number(), message: z.string(), response: z.unknown().optional() });
const appRow = z.object({ slug: z.string() });
const installationRow = z.object({ id: z.int(), suspended_at: z.string().nullish() });
const accountRow = z.object({ id: z.int() });
const tokenRow = z.object({ token: z.string(), expiresAt: z.string() });

/** Status of the answer; null: there was none. */
function statusOf(error: unknown): number | null {
  const known = failed.safeParse(error);
  return known.success && known.data.response !== undefined ? known.data.status : null;
}

function said(error: unknown): string {
  const status = statusOf(error);
  const words = failed.safeParse(error).data?.message ?? innermost(error);
  return status === null ? `no answer (${innermost(error)})` : `it answered ${status} (${oneLine(words, 120)})`;
}

export class AppCredential implements HostingCredential {
  readonly fromClient = false;
  readonly source: string;
  readonly login: string;
  readonly author: Author;
  readonly inEnvironment: string;
  readonly #options: AppOptions;
  readonly #make: () => Promise<unknown>;
  /** The last ones: what was printed with the token before is still to be redacted. */
  #tokens: readonly string[];
  /** In elapsed time. */
  #renewAt: number;
  #expiresAt: number;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  #isUnrenewed = false;
  #making: Promise<string> | undefined;

  private constructor(
    options: AppOptions,
    make: () => Promise<unknown>,
    {
      slug,
      id,
      token,
      renewAt,
    }: { readonly slug: string; readonly id: number; readonly token: string; readonly renewAt: number },
  ) {
    this.#options = options;
    this.#make = make;
    this.#tokens = [token];
    this.#renewAt = renewAt;
    this.#expiresAt = renewAt + RENEW_BEFORE_MS;
    this.source = `the App ${slug} (key from ${options.key.source})`;
    this.login = `${slug}[bot]`;
    this.author = { name: this.login, email: `${id}+${this.login}@users.noreply.github.com` };
    this.inEnvironment = options.key.source.startsWith('$') ? (options.key.secrets.at(-1) ?? '') : '';
  }

  /** Finds the App and its installation on the repository or the owner, and makes the first token. Throws a ToolError. */
  static async open(options: AppOptions): Promise<AppCredential> {
    const { id, key, slug, apiUrl, userAgent } = options;
    const silent = () => undefined;
    const dispatcher = dispatcherFor(options, TIMEOUT_MS);
    const settings = {
      baseUrl: apiUrl,
      userAgent,
      log: { debug: silent, info: silent, warn: silent, error: silent },
      request: {
        fetch: (url: string, init: Readonly<Record<string, unknown>>) =>
          fetch(url, { ...init, redirect: 'manual', dispatcher, signal: AbortSignal.timeout(TIMEOUT_MS) }),
      },
    };
    const plain = new Octokit(settings);
    const app = new Octokit({ ...settings, authStrategy: createAppAuth, auth: { appId: id, privateKey: key.pem } });
    const unknown = (error: unknown) =>
      failure(GITHUB_CODES.app_unknown, { key: 'tracker.app_id', id, said: said(error) }, { cause: error });
    const unreachable = (error: unknown) =>
      failure(GITHUB_CODES.app_unreachable, { key: 'tracker.app_id', said: said(error) }, { cause: error });
    /** Only an answer tells that something is wrong with the settings. */
    const ask = async <T>(
      schema: z.ZodType<T>,
      asked: Promise<{ readonly status: number; readonly data: unknown }>,
      refused: (error: unknown) => Error,
      ...statuses: readonly number[]
    ): Promise<T> => {
      try {
        const { status, data } = await asked;
        if (statuses.includes(status)) throw refused(undefined);
        return schema.parse(data);
      } catch (error) {
        if (error instanceof ToolError) throw error;
        throw statuses.includes(statusOf(error) ?? 0) ? refused(error) : unreachable(error);
      }
    };
    const { slug: name } = await ask(appRow, app.request('GET /app'), unknown, 401, 403, 404);
    const repository = formatSlug(slug);
    const missing = (error: unknown) =>
      failure(GITHUB_CODES.app_not_installed, { key: 'tracker.app_id', app: name, repository }, { cause: error });
    const routes = isEvery(slug) ? OWNER_ROUTES : [REPOSITORY_ROUTE];
    const find = async () => {
      const [first, ...others] = routes;
      let answer = app.request(first, { ...slug });
      // A person is no organisation, and is asked for by another route.
      for (const route of others)
        answer = answer.catch((error: unknown) => {
          if (statusOf(error) !== 404) throw error;
          return app.request(route, { ...slug });
        });
      return answer;
    };
    const found = await ask(installationRow, find(), missing, 301, 404);
    if (typeof found.suspended_at === 'string')
      throw failure(GITHUB_CODES.app_suspended, { key: 'tracker.app_id', app: name, repository });
    const makeFor = (installationId: number) =>
      app.auth({
        ...{ type: 'installation', installationId, refresh: true },
        ...(isEvery(slug) ? {} : { repositoryNames: [slug.repo] }),
      });
    let installation = found.id;
    const make = async () => {
      try {
        return await makeFor(installation);
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
        // An App that was installed anew has another installation.
        const { data } = await find();
        installation = installationRow.parse(data).id;
        return await makeFor(installation);
      }
    };
    const first = make().then((data) => ({ status: 201, data }));
    const { token, expiresAt } = await ask(tokenRow, first, missing, 403, 404, 422);
    const headers = { authorization: `token ${token}` };
    const bot = plain.request('GET /users/{username}', { username: `${name}[bot]`, headers });
    const { id: account } = await ask(accountRow, bot, unknown, 404);
    const renewAt = options.clock.elapsed() + timeToRenew(expiresAt, options.clock.now());
    return new AppCredential(options, make, { slug: name, id: account, token, renewAt });
  }

  get secrets(): readonly string[] {
    return [...this.#tokens, ...this.#options.key.secrets];
  }

  async token(): Promise<string> {
    const [current = ''] = this.#tokens;
    if (this.#options.clock.elapsed() < this.#renewAt) return current;
    this.#making ??= this.#renew().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #renew(): Promise<string> {
    const { clock } = this.#options;
    try {
      const { token, expiresAt } = tokenRow.parse(await this.#make());
      this.#tokens = [token, ...this.#tokens].slice(0, 3);
      this.#renewAt = clock.elapsed() + timeToRenew(expiresAt, clock.now());
      this.#expiresAt = this.#renewAt + RENEW_BEFORE_MS;
      this.#isUnrenewed = false;
      return token;
    } catch (error) {
      const status = statusOf(error) ?? 0;
      const isRefused = [401, 403, 404, 422].includes(status);
      // Limits and clocks turn requests away for a while; what is not found does not come back.
      const mayPass = status !== 404 && status !== 422;
      const [current] = this.#tokens;
      if (mayPass && current !== undefined && clock.elapsed() < this.#expiresAt) {
        this.#renewAt = clock.elapsed() + TRY_AGAIN_MS;
        this.#tellUnrenewed(error);
        return current;
      }
      const what: Refusal = isRefused
        ? refusal(GITHUB_CODES.app_token_refused, { app: this.login, said: said(error) })
        : refusal(GITHUB_CODES.tracker_unavailable, { said: said(error) });
      throw new TrackerError(isRefused ? 'unauthorized' : 'unavailable', what, { cause: error });
    }
  }

  #tellUnrenewed(error: unknown): void {
    if (this.#isUnrenewed) return;
    this.#isUnrenewed = true;
    const minutes = Math.floor((this.#expiresAt - this.#options.clock.elapsed()) / 60_000);
    this.#options.onUnrenewed(
      refusal(GITHUB_CODES.app_token_not_renewed, { app: this.login, said: said(error), minutes }),
    );
  }

  reject(): void {
    const now = this.#options.clock.elapsed();
    if (now - this.#rejectedAt < REJECTION_MS) return;
    this.#rejectedAt = now;
    this.#renewAt = now;
    this.#expiresAt = now;
  }

  async gitSecret(): Promise<string> {
    return `username=x-access-token\npassword=${await this.token()}\n`;
  }
}

/** A clock of this machine that is an hour ahead costs a token a minute, and not one a request. */
function timeToRenew(expiresAt: string, now: number): number {
  return Math.max(Math.min(Date.parse(expiresAt) - now, LIFE_MS) - RENEW_BEFORE_MS, TRY_AGAIN_MS);
}
