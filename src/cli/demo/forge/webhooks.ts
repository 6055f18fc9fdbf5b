// Webhooks of the forge: set up as at the original, signed, and delivered one after the other.

import { createHmac, randomUUID } from 'node:crypto';
import { messageOf } from '../../../base/rules/errors.ts';
import { isObject } from '../../../base/rules/values.ts';
import type { Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, json } from './answers.ts';

type Hook = {
  readonly id: number;
  readonly url: string;
  readonly secret: string;
  readonly isForm: boolean;
  readonly events: readonly string[];
};

export type Delivery = {
  readonly event: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Null: no answer came. */
  readonly status: number | null;
  readonly answer: string;
};

export type WebhooksOptions = {
  readonly owner: string;
  readonly repo: string;
  readonly accounts: Accounts;
  /** The row at a path below that of the repository, as it is now. */
  readonly read: (rest: string) => Promise<Fields>;
};

const TIMEOUT_MS = 10_000;

function labelsIn(body: Fields): readonly string[] {
  return Array.isArray(body.labels) ? body.labels.map(String) : [];
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #hooks: Hook[] = [];
  readonly #end = new AbortController();
  #last: Promise<void> = Promise.resolve();
  #lastId = 500_000_000;
  /** What was sent, the newest last. */
  readonly deliveries: Delivery[] = [];

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Undefined: the call is for something else. @param rest path below that of the repository */
  answer(call: Call, rest: string): Answer | undefined {
    const [, id] = /^\/hooks(?:\/(\d+))?$/.exec(rest) ?? [];
    if (rest !== '/hooks' && id === undefined) return undefined;
    if (call.account?.role !== 'admin') return errorAnswer(404, 'Not Found');
    if (call.method === 'POST' && id === undefined) return this.#add(fieldsOf(call.body));
    const index = this.#hooks.findIndex((hook) => hook.id === Number(id));
    if (index < 0 || call.method !== 'DELETE') return errorAnswer(404, 'Not Found');
    this.#hooks.splice(index, 1);
    return { status: 204, headers: {}, body: '' };
  }

  #add({ config, events = ['push'] }: Fields): Answer {
    const { url, secret = '', content_type: type = 'form' } = isObject(config) ? config : {};
    if (typeof url !== 'string' || !/^https?:/.test(url) || !Array.isArray(events))
      return json(422, { message: 'Validation Failed', errors: [{ resource: 'Hook', code: 'custom' }] });
    this.#lastId += 1;
    const hook = { id: this.#lastId, url, secret: String(secret), isForm: type === 'form', events: events.map(String) };
    this.#hooks.push(hook);
    this.#queue(async () => this.#send(hook, 'ping', { zen: 'Keep it logically awesome.', hook_id: hook.id }));
    return json(201, { id: hook.id, name: 'web', active: true, events, config: { url, content_type: type } });
  }

  /** A call has changed something. */
  called(call: Call, rest: string, answer: Answer): void {
    if (this.#hooks.length === 0 || answer.status >= 300 || call.method === 'GET') return;
    const { body: text, method } = call;
    const body = fieldsOf(text);
    const sender = call.account?.login;
    const tell = (event: string, make: () => Promise<Fields>) => this.happened(event, make, sender);
    const [, kind, number, below = ''] = /^\/(issues|pulls)\/(\d+)(?:\/(\w+))?/.exec(rest) ?? [];
    const action = body.state === 'closed' ? 'closed' : body.state === 'open' ? 'reopened' : 'edited';
    if (kind === 'issues') {
      const issue = async () => ({ issue: await this.#options.read(`/issues/${number}`) });
      if (below === 'comments') tell('issue_comment', async () => ({ action: 'created', ...(await issue()) }));
      else if (below === 'labels' && method === 'POST')
        for (const name of labelsIn(body))
          tell('issues', async () => ({ action: 'labeled', label: { name }, ...(await issue()) }));
      else if (below === 'labels') tell('issues', async () => ({ action: 'unlabeled', ...(await issue()) }));
      else if (below === 'dependencies')
        tell('issue_dependencies', async () => ({ action: 'blocked_by_added', blocked_issue: (await issue()).issue }));
      else if (below === 'sub_issues')
        tell('sub_issues', async () => ({ action: 'sub_issue_added', parent_issue: (await issue()).issue }));
      else if (below === '') tell('issues', async () => ({ action, ...(await issue()) }));
    } else if (kind === 'pulls') {
      const pull = async () => ({ pull_request: await this.#options.read(`/pulls/${number}`) });
      if (below === 'reviews') tell('pull_request_review', async () => ({ action: 'submitted', ...(await pull()) }));
      else if (below === 'comments')
        tell('pull_request_review_comment', async () => ({ action: 'created', ...(await pull()) }));
      else if (below === 'merge') tell('pull_request', async () => ({ action: 'closed', ...(await pull()) }));
      else if (below === '') tell('pull_request', async () => ({ action, ...(await pull()) }));
    } else if (rest === '/issues' || rest === '/pulls') {
      const made = fieldsOf(answer.body);
      if (rest === '/issues') tell('issues', async () => ({ action: 'opened', issue: made }));
      else tell('pull_request', async () => ({ action: 'opened', pull_request: made }));
    } else if (rest.startsWith('/statuses/')) tell('status', async () => ({ sha: rest.slice(10), state: body.state }));
  }

  /** @param make the payload, without what all have; called when the event's turn comes */
  happened(event: string, make: () => Promise<Fields>, sender = 'somebody'): void {
    const hooks = this.#hooks.filter(({ events }) => events.includes(event) || events.includes('*'));
    if (hooks.length === 0) return;
    this.#queue(async () => {
      const payload = { ...(await make()), sender: { login: sender } };
      for (const hook of hooks) await this.#send(hook, event, payload);
    });
  }

  #queue(task: () => Promise<void>): void {
    this.#last = this.#last.then(task).catch(() => undefined);
  }

  async #send(hook: Hook, event: string, payload: Fields): Promise<void> {
    const { owner, repo } = this.#options;
    const repository = { name: repo, full_name: `${owner}/${repo}`, owner: { login: owner } };
    const text = JSON.stringify({ ...payload, repository });
    const body = hook.isForm ? new URLSearchParams({ payload: text }).toString() : text;
    const signed = (algorithm: string) =>
      `${algorithm}=${createHmac(algorithm, hook.secret).update(body).digest('hex')}`;
    const signatures = { 'x-hub-signature': signed('sha1'), 'x-hub-signature-256': signed('sha256') };
    await this.deliver(hook.url, event, body, {
      'user-agent': 'GitHub-Hookshot/0000000',
      'content-type': hook.isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'x-github-event': event,
      'x-github-delivery': randomUUID(),
      'x-github-hook-id': String(hook.id),
      ...(hook.secret === '' ? {} : signatures),
    });
  }

  /** Sends what somebody says that a delivery is. */
  async deliver(
    url: string,
    event: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<Delivery> {
    const sent = { event, headers, body: String(body) };
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    let delivery: Delivery;
    try {
      const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      delivery = { ...sent, status: response.status, answer: await response.text() };
    } catch (error) {
      delivery = { ...sent, status: null, answer: messageOf(error) };
    }
    this.deliveries.push(delivery);
    return delivery;
  }

  /** Resolves when everything that happened was delivered. */
  async settled(): Promise<void> {
    await this.#last;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#last;
  }
}
