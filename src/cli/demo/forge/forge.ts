// The embedded forge: an emulated REST service, our layer in front of it, and a bare Git repository, on one port of loopback.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Emulator } from 'emulate';
import { failure, messageOf } from '../../../base/rules/errors.ts';
import { CLI_CODES } from '../../rules/cli-codes.ts';
import { type Account, Accounts } from './accounts.ts';
import type { Answer } from './answers.ts';
import { type App, Apps, accountOf } from './apps.ts';
import type { Checks } from './checks.ts';
import { loadEmulator } from './emulator.ts';
import { serveGit } from './git-http.ts';
import { forgePage } from './pages.ts';
import type { PullRequests } from './pull-requests.ts';
import { RestLayer } from './rest.ts';
import type { Reviews } from './reviews.ts';
import type { Webhooks } from './webhooks.ts';

export type ForgeOptions = {
  readonly owner: string;
  readonly repo: string;
  /** Directory of a bare Git repository with a branch `main`. */
  readonly repository: string;
  readonly accounts: readonly Account[];
  /** Further bare repositories, by `<owner>/<name>`, for git alone; accounts with a role here may read what is private. */
  readonly others?: Readonly<Record<string, { readonly repository: string; readonly isPrivate: boolean }>>;
  /** 0 or none: any free port. */
  readonly port?: number;
  /** Whether pull requests may be drafts; they may. */
  readonly drafts?: boolean;
  readonly apps?: readonly App[];
};

export class Forge {
  readonly url: string;
  readonly #server: Server;
  readonly #emulator: Emulator;
  readonly #options: ForgeOptions;
  /** What nothing else sets: runs of checks with their logs. Statuses, reviews and comments come by `call`. */
  readonly checks: Checks;
  /** Conflicts; `call` closes and merges. */
  readonly pulls: PullRequests;
  /** Threads that are resolved, or whose line is gone. */
  readonly reviews: Reviews;
  /** `call` sets them up. */
  readonly webhooks: Webhooks;
  readonly accounts: Accounts;
  readonly apps: Apps;

  private constructor(
    options: ForgeOptions,
    server: Server,
    url: string,
    emulator: Emulator,
    rest: RestLayer,
    accounts: Accounts,
    apps: Apps,
  ) {
    this.accounts = accounts;
    this.apps = apps;
    this.#options = options;
    this.checks = rest.checks;
    this.pulls = rest.pulls;
    this.reviews = rest.reviews;
    this.webhooks = rest.webhooks;
    this.#server = server;
    this.url = url;
    this.#emulator = emulator;
  }

  static async start(options: ForgeOptions): Promise<Forge> {
    const { owner, repo, repository, drafts = true } = options;
    const { createEmulator } = await loadEmulator();
    const { apps: known = [] } = options;
    const bots = known.map(accountOf);
    const accounts = new Accounts([...options.accounts, ...bots]);
    const apps = new Apps({ owner, repo, accounts, apps: known });
    let handler: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async (_, response) => {
      response.writeHead(503).end();
    };
    const server = createServer((request, response) => {
      handler(request, response).catch((error: unknown) => {
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        response.end(messageOf(error));
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const tokens = accounts.all.flatMap((account) => {
      const token = account.token ?? apps.innerToken(account);
      return token === undefined ? [] : [[token, { login: account.login, scopes: ['repo', 'user'] }]];
    });
    const emulator = await createEmulator({
      service: 'github',
      port: 0,
      seed: {
        tokens: Object.fromEntries(tokens),
        github: {
          users: accounts.all.map(({ login }) => ({ login })),
          repos: [{ owner, name: repo, auto_init: true }],
        },
      },
    });
    const rest = new RestLayer({ upstream: emulator.url, url, owner, repo, repository, accounts, apps, drafts });
    await letIn(rest, accounts, owner, repo);
    const gitPath = `/${owner}/${repo}.git/`;
    handler = async (request, response) => {
      const path = (request.url ?? '/').split('?')[0] ?? '/';
      if (rest.checks.serves(path)) return rest.checks.serveLog(request, response);
      if (path.startsWith(gitPath)) return serveGit(request, response, repository, accounts);
      const other = options.others?.[/^\/([^/]+\/[^/]+)\.git\//.exec(path)?.[1] ?? ''];
      if (other !== undefined) return serveGit(request, response, other.repository, accounts, other.isPrivate);
      const page = request.method === 'GET' ? await forgePage(path, options, rest) : undefined;
      if (page === undefined) return rest.serve(request, response);
      response
        .writeHead(200, {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        })
        .end(page);
    };
    return new Forge(options, server, url, emulator, rest, accounts, apps);
  }

  get cloneUrl(): string {
    return `${this.url}/${this.#options.owner}/${this.#options.repo}.git`;
  }

  /** Calls the forge's REST service as an account, through the layer's rules. */
  async call(
    login: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly data: unknown }> {
    const token = this.#options.accounts.find((account) => account.login === login)?.token;
    const response = await fetch(this.url + path, {
      method,
      headers: { ...(token == null ? {} : { authorization: `token ${token}` }), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, data: text === '' ? null : JSON.parse(text) };
  }

  async close(): Promise<void> {
    await this.webhooks.close();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    await this.#emulator.close();
  }
}

/** The emulation asks for collaborators before it lets an account write. */
async function letIn(rest: RestLayer, accounts: Accounts, owner: string, repo: string): Promise<void> {
  const admin = accounts.named(owner);
  const authorization = `token ${admin?.token ?? ''}`;
  const permissions = { admin: 'admin', write: 'push', triage: 'triage', read: 'pull', none: 'pull' } as const;
  const others = accounts.all.filter(({ login, role }) => login !== owner && role !== 'none');
  const results: Answer[] = [];
  for (const { login, role } of others) {
    results.push(
      await rest.upstream(
        'PUT',
        `/repos/${owner}/${repo}/collaborators/${encodeURIComponent(login)}`,
        authorization,
        JSON.stringify({ permission: permissions[role] }),
      ),
    );
  }
  const failed = results.find(({ status }) => status >= 300);
  if (failed !== undefined)
    throw failure(CLI_CODES.demo_failed, {
      said: `the emulated service took no collaborator: ${failed.status} ${failed.body}`,
    });
}
