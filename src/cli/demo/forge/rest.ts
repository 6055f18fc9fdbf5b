// The layer in front of the emulated REST service: stricter where the original is.

import { createHash } from 'node:crypto';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { isObject } from '../../../base/rules/values.ts';
import { sameLabel } from '../../../daemon/rules/issue.ts';
import { tryGit } from '../../../git/git.ts';
import type { Account, Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, invalidAnswer, json } from './answers.ts';
import type { Apps } from './apps.ts';
import { Checks } from './checks.ts';
import { IssueLinks } from './issue-links.ts';
import { PullRequests } from './pull-requests.ts';
import { Reviews } from './reviews.ts';
import { Webhooks } from './webhooks.ts';

export type RestOptions = {
  /** Address of the emulated service. */
  readonly upstream: string;
  /** Address that callers know. */
  readonly url: string;
  readonly owner: string;
  readonly repo: string;
  /** The bare repository. */
  readonly repository: string;
  readonly accounts: Accounts;
  readonly apps?: Apps;
  /** False: pull requests are no drafts, as in private repositories of a free plan. */
  readonly drafts?: boolean;
};

const QUOTA = 5000;
const MAX_TITLE = 256;
/** Of an issue, a pull request and a comment, in characters. */
const MAX_BODY = 65_536;
const HOUR_MS = 3_600_000;
const KEPT_HEADERS = ['content-type', 'link', 'location', 'last-modified'];

function namesIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((item) =>
    typeof item === 'string' ? [item] : isObject(item) && 'name' in item ? [String(item.name)] : [],
  );
}

/** The original's times have no fractions of a second. */
function inSeconds(body: string): string {
  return body.replaceAll(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z"/g, '"$1Z"');
}

/** What is too long for the original, or undefined. */
function tooLong(resource: string, { title, body }: Fields): Answer | undefined {
  const longer = (value: unknown, most: number) => typeof value === 'string' && [...value].length > most;
  if (longer(title, MAX_TITLE))
    return invalidAnswer(resource, `title is too long (maximum is ${MAX_TITLE} characters)`);
  if (longer(body, MAX_BODY)) return invalidAnswer(resource, `body is too long (maximum is ${MAX_BODY} characters)`);
  return undefined;
}

function readingOf(path: string): Call {
  return { method: 'GET', path, query: new URLSearchParams(), body: '', account: undefined, authorization: undefined };
}

export class RestLayer {
  readonly #options: RestOptions;
  readonly #base: string;
  readonly #links: IssueLinks;
  readonly checks: Checks;
  readonly pulls: PullRequests;
  readonly reviews: Reviews;
  readonly webhooks: Webhooks;
  readonly #quota = new Map<string, { used: number; resetAt: number }>();

  constructor(options: RestOptions) {
    this.#options = options;
    this.#base = `/repos/${options.owner}/${options.repo}`;
    const { url, owner, repo, repository, accounts } = options;
    const base = this.#base;
    const upstream = this.upstream.bind(this);
    this.#links = new IssueLinks({ owner, accounts, base, upstream });
    const read = async (path: string) =>
      fieldsOf(
        (await this.#links.answer(readingOf(`${base}${path}`), path))?.body ??
          (await upstream('GET', `${base}${path}`)).body,
      );
    const webhooks = new Webhooks({ owner, repo, accounts, read });
    this.webhooks = webhooks;
    const onRun = (run: Fields) => {
      const action = run.conclusion === null ? 'created' : 'completed';
      webhooks.happened('check_run', async () => ({ action, check_run: run }));
    };
    this.checks = new Checks({ url, base, repository, accounts, onRun });
    const pulls = new PullRequests({
      ...{ owner, base, repository, accounts, upstream },
      reviews: (number) => this.reviews.tally(number),
      checks: (commit) => this.checks.tally(commit),
    });
    this.pulls = pulls;
    const changed = async (number: number, reviewer?: Account) => {
      pulls.changed(number);
      if (reviewer !== undefined) await pulls.reviewed(number, reviewer);
    };
    this.reviews = new Reviews({ url, owner, repo, accounts, pull: (number) => pulls.row(number), changed });
  }

  /** Calls the emulated service as it is. */
  upstream(method: string, path: string, authorization?: string, body = ''): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...(authorization === undefined ? {} : { authorization }),
      };
      const { upstream, url } = this.#options;
      const ours = (text: string) => text.replaceAll(upstream, url);
      const { port } = new URL(upstream);
      // A connection for each: one that is kept may be closed at the other end just when it is used again.
      const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const kept = KEPT_HEADERS.flatMap((name) =>
            typeof response.headers[name] === 'string' ? [[name, ours(String(response.headers[name]))]] : [],
          );
          resolve({
            status: response.statusCode ?? 502,
            headers: Object.fromEntries(kept),
            body: ours(Buffer.concat(chunks).toString('utf8')),
          });
        });
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://here');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { authorization } = request.headers;
    const account = this.#options.accounts.behind(authorization);
    const call: Call = {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      body: Buffer.concat(chunks).toString('utf8'),
      account,
      authorization,
    };
    const { apps } = this.#options;
    const inner = apps?.innerToken(account);
    const answer =
      apps?.answer(call) ??
      (authorization !== undefined && account === undefined
        ? errorAnswer(401, 'Bad credentials')
        : await this.#answer(inner === undefined ? call : { ...call, authorization: `token ${inner}` }));
    const isRow =
      answer.status < 300 && /\/issues(?:\/\d+)?$/.test(call.path) && call.path.startsWith(`${this.#base}/`);
    const resource = call.path === '/graphql' ? 'graphql' : 'core';
    this.#send(request, response, isRow ? await this.#links.withCounts(answer) : answer, account, resource);
    if (call.path.startsWith(`${this.#base}/`)) this.webhooks.called(call, call.path.slice(this.#base.length), answer);
  }

  /** Adds what every answer of the original carries: quota and validator; "not modified" costs nothing. */
  #send(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    account: Account | undefined,
    resource: string,
  ): void {
    const body = inSeconds(this.#withTypes(answer.body));
    const etag = `W/"${createHash('sha256').update(body).digest('hex')}"`;
    const unchanged = answer.status === 200 && request.method === 'GET' && request.headers['if-none-match'] === etag;
    const headers = {
      ...answer.headers,
      ...this.#countRequest(account?.login ?? 'anonymous', unchanged ? 0 : 1, resource),
      ...(answer.status === 200 && request.method === 'GET' ? { etag } : {}),
    };
    if (unchanged) {
      response.writeHead(304, headers).end();
      return;
    }
    response.writeHead(answer.status, { ...headers, 'content-length': String(Buffer.byteLength(body)) }).end(body);
  }

  #countRequest(login: string, cost: number, resource: string): Readonly<Record<string, string>> {
    const now = Date.now();
    const key = `${resource} ${login}`;
    const known = this.#quota.get(key);
    const quota = known === undefined || known.resetAt <= now ? { used: 0, resetAt: now + HOUR_MS } : known;
    quota.used += cost;
    this.#quota.set(key, quota);
    return {
      'x-ratelimit-limit': String(QUOTA),
      'x-ratelimit-remaining': String(Math.max(0, QUOTA - quota.used)),
      'x-ratelimit-used': String(quota.used),
      'x-ratelimit-reset': String(Math.ceil(quota.resetAt / 1000)),
      'x-ratelimit-resource': resource,
    };
  }

  /** The emulation calls every account a user. */
  #withTypes(body: string): string {
    const bots = this.#options.accounts.all.filter((account) => account.type === 'Bot').map((account) => account.login);
    if (bots.length === 0 || !bots.some((login) => body.includes(login))) return body;
    return JSON.stringify(JSON.parse(body), (_, value: unknown) =>
      typeof value === 'object' &&
      value !== null &&
      'login' in value &&
      'type' in value &&
      bots.includes(String(value.login))
        ? { ...value, type: 'Bot' }
        : value,
    );
  }

  async #answer(call: Call): Promise<Answer> {
    const { method, path } = call;
    if (path === this.#base && method === 'GET') return this.#repository(call);
    if (path === '/graphql' && method === 'POST') return this.reviews.graphql(call);
    if (path === '/user' && call.account?.type === 'Bot')
      return errorAnswer(403, 'Resource not accessible by integration');
    if (!path.startsWith(`${this.#base}/`)) return this.#pass(call);
    const rest = path.slice(this.#base.length);
    const labels = /^\/issues\/(\d+)\/labels(?:\/(.+))?$/.exec(rest);
    if (labels !== null && method !== 'GET') return this.#changeLabels(call, Number(labels[1]), labels[2]);
    if (rest === '/issues' && method === 'GET') return this.#listIssues(call);
    if (rest === '/issues' && method === 'POST')
      return tooLong('Issue', fieldsOf(call.body)) ?? this.#createIssue(call);
    if (/^\/issues\/\d+\/comments$/.test(rest) && method === 'POST')
      return tooLong('IssueComment', fieldsOf(call.body)) ?? this.#addComment(call, rest);
    if (/^\/pulls\/.*(?:comments|replies|reviews)$/.test(rest) && method === 'POST') {
      const long = tooLong('PullRequestReviewComment', fieldsOf(call.body));
      if (long !== undefined) return long;
    }
    const permission = /^\/collaborators\/([^/]+)\/permission$/.exec(rest)?.[1];
    if (permission !== undefined && method === 'GET') return this.#permission(call, decodeURIComponent(permission));
    const ref = /^\/git\/ref\/(.+)$/.exec(rest)?.[1];
    if (ref !== undefined && method === 'GET') return this.#ref(`refs/${decodeURIComponent(ref)}`);
    if (rest === '/pulls' && method === 'POST') return this.#createPull(call);
    if (rest === '/pulls' && method === 'GET') return this.pulls.withState(await this.#pass(call));
    return (
      this.webhooks.answer(call, rest) ??
      (await this.#links.answer(call, rest)) ??
      (await this.pulls.answer(call, rest)) ??
      (await this.reviews.answer(call, rest)) ??
      (await this.checks.answer(call, rest)) ??
      this.#pass(call)
    );
  }

  /** A pull request is changed by its comments; an issue is the emulation's own. */
  async #addComment(call: Call, rest: string): Promise<Answer> {
    const answer = await this.#pass(call);
    if (answer.status === 201) this.pulls.changed(Number(rest.split('/')[2]));
    return answer;
  }

  #pass(call: Call): Promise<Answer> {
    const query = call.query.size === 0 ? '' : `?${call.query.toString()}`;
    return this.upstream(call.method, call.path + query, call.authorization, call.body);
  }

  /** What the caller may do is told to every caller who says who it is. */
  async #repository(call: Call): Promise<Answer> {
    const answer = await this.#pass(call);
    const { account } = call;
    if (answer.status !== 200 || account === undefined) return answer;
    const { accounts } = this.#options;
    const permissions = {
      admin: account.role === 'admin',
      maintain: account.role === 'admin',
      push: accounts.mayWrite(account),
      triage: accounts.mayTriage(account),
      pull: true,
    };
    return { ...answer, body: JSON.stringify({ ...fieldsOf(answer.body), permissions }) };
  }

  /** Labels of the repository, as they are spelled there. */
  async #spelling(name: string): Promise<string> {
    const { body } = await this.upstream('GET', `${this.#base}/labels?per_page=100`, undefined);
    return namesIn(JSON.parse(body)).find((known) => sameLabel(known, name)) ?? name;
  }

  async #listIssues(call: Call): Promise<Answer> {
    const wanted = call.query.get('labels');
    if (wanted !== null)
      call.query.set('labels', (await Promise.all(wanted.split(',').map((name) => this.#spelling(name)))).join(','));
    return this.#pass(call);
  }

  /** Whoever may not triage cannot label; the original ignores the labels of a stranger's new issue. */
  async #createIssue(call: Call): Promise<Answer> {
    const fields = fieldsOf(call.body);
    const { labels, ...rest } = fields;
    const created = await this.upstream('POST', call.path, call.authorization, JSON.stringify(rest));
    const names = namesIn(labels);
    const { number } = fieldsOf(created.body);
    if (created.status !== 201 || names.length === 0 || !this.#options.accounts.mayTriage(call.account)) return created;
    await this.#addLabels(Number(number), names, call.authorization);
    const again = await this.upstream('GET', `${this.#base}/issues/${String(number)}`, call.authorization);
    return { ...created, body: again.body };
  }

  async #addLabels(issue: number, names: readonly string[], authorization: string | undefined): Promise<Answer> {
    const { body } = await this.upstream('GET', `${this.#base}/issues/${issue}/labels`, authorization);
    const there = namesIn(JSON.parse(body));
    const spelled = await Promise.all(
      names.filter((name) => !there.some((known) => sameLabel(known, name))).map((name) => this.#spelling(name)),
    );
    if (spelled.length === 0) return json(200, JSON.parse(body));
    return this.upstream(
      'POST',
      `${this.#base}/issues/${issue}/labels`,
      authorization,
      JSON.stringify({ labels: spelled }),
    );
  }

  async #changeLabels(call: Call, issue: number, name: string | undefined): Promise<Answer> {
    if (!this.#options.accounts.mayTriage(call.account))
      return errorAnswer(call.account === undefined ? 401 : 403, 'Must have admin rights to Repository.');
    if (call.method === 'POST') {
      const value: unknown = JSON.parse(call.body || '{}');
      return this.#addLabels(
        issue,
        Array.isArray(value) ? namesIn(value) : namesIn(fieldsOf(call.body).labels),
        call.authorization,
      );
    }
    if (name === undefined || call.method !== 'DELETE') return this.#pass(call);
    const { body, status } = await this.upstream('GET', `${this.#base}/issues/${issue}/labels`, call.authorization);
    if (status !== 200) return this.#pass(call);
    const known = namesIn(JSON.parse(body)).find((label) => sameLabel(label, decodeURIComponent(name)));
    if (known === undefined) return errorAnswer(404, 'Label does not exist');
    return this.upstream(
      'DELETE',
      `${this.#base}/issues/${issue}/labels/${encodeURIComponent(known)}`,
      call.authorization,
    );
  }

  /** On a public repository everybody who has an account may read. */
  async #permission(call: Call, login: string): Promise<Answer> {
    const { accounts } = this.#options;
    if (!accounts.mayWrite(call.account))
      return errorAnswer(403, 'Must have push access to view collaborator permission.');
    const account = accounts.named(login);
    if (account === undefined) return errorAnswer(404, 'Not Found');
    const role = account.role === 'none' ? 'read' : account.role;
    const user = fieldsOf((await this.upstream('GET', `/users/${account.login}`, call.authorization)).body);
    return json(200, { permission: role === 'triage' ? 'read' : role, role_name: role, user });
  }

  /** What git prints about the repository; undefined when it fails. */
  async #git(...args: string[]): Promise<string | undefined> {
    const { exitCode, stdout } = await tryGit(args, { cwd: this.#options.repository });
    return exitCode === 0 ? stdout.trim() : undefined;
  }

  async #ref(ref: string): Promise<Answer> {
    const sha = await this.#git('rev-parse', '--verify', '--quiet', ref);
    return sha === undefined ? errorAnswer(404, 'Not Found') : json(200, { ref, object: { sha, type: 'commit' } });
  }

  async #createPull(call: Call): Promise<Answer> {
    const fields = fieldsOf(call.body);
    const head = String(fields.head ?? '').replace(`${this.#options.owner}:`, '');
    const base = String(fields.base ?? '');
    if (!this.#options.accounts.mayWrite(call.account))
      return errorAnswer(403, 'Resource not accessible by personal access token');
    const ahead = await this.#git('rev-list', '--count', `refs/heads/${base}..refs/heads/${head}`);
    if (ahead === undefined) {
      const hasHead =
        (await this.#git('rev-parse', '--verify', '--quiet', `refs/heads/${head}^{commit}`)) !== undefined;
      const field = hasHead ? 'base' : 'head';
      return json(422, { message: 'Validation Failed', errors: [{ resource: 'PullRequest', field, code: 'invalid' }] });
    }
    const long = tooLong('PullRequest', fields);
    if (long !== undefined) return long;
    if (fields.draft === true && this.#options.drafts === false)
      return errorAnswer(422, 'Draft pull requests are not supported in this repository.');
    if (ahead === '0') return invalidAnswer('PullRequest', `No commits between ${base} and ${head}`);
    const open = await this.upstream(
      'GET',
      `${this.#base}/pulls?state=open&per_page=100&head=${encodeURIComponent(`${this.#options.owner}:${head}`)}`,
      call.authorization,
    );
    const rows: unknown = JSON.parse(open.body);
    if (Array.isArray(rows) && rows.length > 0)
      return invalidAnswer('PullRequest', `A pull request already exists for ${this.#options.owner}:${head}.`);
    const made = await this.upstream('POST', call.path, call.authorization, JSON.stringify({ ...fields, head }));
    return this.pulls.withState(made);
  }
}
