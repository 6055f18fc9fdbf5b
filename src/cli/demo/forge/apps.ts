// Apps of the forge: their keys prove who they are, and their tokens are valid for an hour and the repositories that were asked for.

import { createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto';
import type { Account, Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, json, paged } from './answers.ts';

export type App = {
  readonly id: number;
  readonly slug: string;
  /** PEM. */
  readonly publicKey: string;
  /** `none`: it is not installed on the repository. */
  readonly installed: 'yes' | 'none' | 'suspended';
};

export type AppsOptions = {
  readonly owner: string;
  readonly repo: string;
  readonly accounts: Accounts;
  readonly apps: readonly App[];
};

const HOUR_MS = 3_600_000;
const MOST_JWT_SECONDS = 600;
/** Clocks differ by so much, in seconds. */
const SKEW = 60;
const ACCOUNT_ID = 41_000_000;

function partOf(token: string, index: number) {
  return fieldsOf(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString('utf8'));
}

export class Apps {
  readonly #options: AppsOptions;
  readonly #inner: ReadonlyMap<string, string>;
  /** How many tokens were made. */
  made = 0;
  /** None is made from here on. */
  isClosed = false;
  /** How often each App was installed anew: its installation has another id then. */
  reinstalls = 0;
  /** The rows of repositories that installations were given; undefined: the one of this service. */
  listed: readonly Fields[] | undefined;

  constructor(options: AppsOptions) {
    this.#options = options;
    this.#inner = new Map(options.apps.map((app) => [accountOf(app).login, randomUUID()]));
  }

  /** The App that the signed token of a call stands for, or why it stands for none. */
  #caller({ authorization = '' }: Call): App | Answer {
    const [scheme = '', token = ''] = authorization.split(' ');
    const { alg } = partOf(token, 0);
    const { iss, iat, exp } = partOf(token, 1);
    const app = this.#options.apps.find(({ id }) => String(id) === String(iss));
    if (scheme.toLowerCase() !== 'bearer' || token.split('.').length !== 3 || alg !== 'RS256')
      return errorAnswer(401, 'A JSON web token could not be decoded');
    if (app === undefined) return errorAnswer(404, 'Integration not found');
    const [head = '', payload = '', signature = ''] = token.split('.');
    const signed = Buffer.from(`${head}.${payload}`);
    const key = createPublicKey(app.publicKey);
    if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')))
      return errorAnswer(401, 'A JSON web token could not be decoded');
    const now = Date.now() / 1000;
    if (typeof iat !== 'number' || !Number.isInteger(iat) || iat > now + SKEW)
      return errorAnswer(
        401,
        "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
      );
    if (typeof exp !== 'number' || exp < now)
      return errorAnswer(
        401,
        "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
      );
    if (exp > now + MOST_JWT_SECONDS)
      return errorAnswer(401, "'Expiration time' claim ('exp') is too far in the future");
    return app;
  }

  /** The token by which the emulated service knows the account of an App. */
  innerToken(account: Account | undefined): string | undefined {
    return account && this.#inner.get(account.login);
  }

  /** Undefined: the call is for something else. */
  answer(call: Call): Answer | undefined {
    const { owner, repo, apps } = this.#options;
    const login = /^\/users\/([^/]+)$/.exec(call.path)?.[1];
    if (login !== undefined && call.method === 'GET') return this.#user(decodeURIComponent(login));
    const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(call.path) ?? [];
    const isInstallation = call.path === `/repos/${owner}/${repo}/installation`;
    const isApp = call.path === '/app';
    if (call.path === '/installation/repositories') return this.#repositories(call);
    // The owner is a person: of organisations there is none.
    const [, kind, account] = /^\/(orgs|users)\/([^/]+)\/installation$/.exec(call.path) ?? [];
    const isOwner = kind === 'users' && account?.toLowerCase() === owner.toLowerCase();
    if (id === undefined && !isInstallation && !isApp && kind === undefined) return undefined;
    const app = this.#caller(call);
    if ('status' in app) return app;
    if (isApp) return json(200, { id: app.id, slug: app.slug, name: app.slug });
    if (kind !== undefined && !isOwner) return errorAnswer(404, 'Not Found');
    const installation = apps.indexOf(app) + 1 + this.reinstalls * apps.length;
    if (app.installed === 'none') return errorAnswer(404, 'Not Found');
    const suspended = app.installed === 'suspended' ? '2026-01-01T00:00:00Z' : null;
    if (id === undefined)
      return json(200, { id: installation, app_id: app.id, app_slug: app.slug, suspended_at: suspended });
    if (Number(id) !== installation || call.method !== 'POST') return errorAnswer(404, 'Not Found');
    if (suspended !== null || this.isClosed) return errorAnswer(403, 'This installation has been suspended');
    return this.#make(app, fieldsOf(call.body).repositories);
  }

  #user(login: string): Answer | undefined {
    const app = this.#options.apps.find(({ slug }) => `${slug}[bot]` === login);
    return app && json(200, { login, id: ACCOUNT_ID + app.id, type: 'Bot' });
  }

  /** Only the token of an installation leads to them. */
  #repositories(call: Call): Answer {
    const { method, authorization } = call;
    const { owner, repo, accounts, apps } = this.#options;
    const account = accounts.behind(authorization);
    const isOfApp = apps.some((app) => accountOf(app).login === account?.login);
    if (account === undefined) return errorAnswer(401, 'Bad credentials');
    if (method !== 'GET') return errorAnswer(404, 'Not Found');
    if (!isOfApp)
      return errorAnswer(
        403,
        'You must authenticate with an installation access token in order to list repositories for an installation.',
      );
    const listed = this.listed ?? [{ full_name: `${owner}/${repo}`, owner: { login: owner } }];
    const wrap = (repositories: readonly Fields[]) => ({
      ...{ total_count: listed.length, repository_selection: 'all', repositories },
    });
    return paged(call, '', listed, wrap);
  }

  #make(app: App, repositories: unknown): Answer {
    const { repo, accounts } = this.#options;
    const isOne = Array.isArray(repositories) && repositories.length === 1 && repositories[0] === repo;
    // Without names it is for all that the installation was given.
    if (repositories !== undefined && !isOne)
      return errorAnswer(422, 'There is at least one repository that does not exist or is not accessible');
    const account = accounts.named(`${app.slug}[bot]`);
    if (account === undefined) return errorAnswer(404, 'Not Found');
    this.made += 1;
    const token = `ghs_${randomBytes(18).toString('hex')}`;
    const expiresAt = Date.now() + HOUR_MS;
    accounts.lend(account, token, expiresAt);
    return json(201, {
      token,
      expires_at: new Date(expiresAt).toISOString().replace(/\.\d+Z$/, 'Z'),
      permissions: { contents: 'write', issues: 'write', pull_requests: 'write', metadata: 'read' },
      repository_selection: isOne ? 'selected' : 'all',
      ...(isOne && { repositories: [{ id: 1, name: repo }] }),
    });
  }
}

/** The account of an App, which no token of its own leads to. */
export function accountOf({ slug }: App): Account {
  return { login: `${slug}[bot]`, role: 'write', type: 'Bot', token: null };
}
