// Reviews and threads of the forge's pull requests.

import { isObject } from '../../../base/rules/values.ts';
import type { Account, Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, invalidAnswer, json, paged } from './answers.ts';

type State = 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'DISMISSED' | 'PENDING';

type Review = {
  readonly id: number;
  readonly pull: number;
  readonly author: Account;
  readonly body: string;
  readonly at: string;
  state: State;
};

type Comment = {
  readonly id: number;
  readonly pull: number;
  readonly review: number;
  readonly author: Account;
  readonly body: string;
  readonly path: string;
  readonly at: string;
  /** The first comment of the thread; null: it is this one. */
  readonly of: number | null;
  line: number | null;
};

export type ReviewTally = { readonly approvals: number; readonly isRefused: boolean; readonly openThreads: number };

export type ReviewsOptions = {
  /** Address that callers know. */
  readonly url: string;
  readonly owner: string;
  readonly repo: string;
  readonly accounts: Accounts;
  /** The pull request as the caller sees it; undefined: there is none. */
  readonly pull: (number: number) => Promise<Fields | undefined>;
  /** A pull request has changed; `reviewer` was asked for a review and gave it. */
  readonly changed: (number: number, reviewer?: Account) => Promise<void>;
};

const EVENTS: Readonly<Record<string, State>> = {
  APPROVE: 'APPROVED',
  REQUEST_CHANGES: 'CHANGES_REQUESTED',
  COMMENT: 'COMMENTED',
};

function user({ login, type }: Account): Fields {
  return { login, type };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function loginOf(row: Fields): unknown {
  return isObject(row.user) ? row.user.login : undefined;
}

export class Reviews {
  readonly #options: ReviewsOptions;
  readonly #reviews: Review[] = [];
  #comments: Comment[] = [];
  /** Threads, by the id of their first comment. */
  readonly #resolved = new Set<number>();
  #lastId = 3_000_000_000;

  constructor(options: ReviewsOptions) {
    this.#options = options;
  }

  /** @param thread id of its first comment */
  resolve(thread: number, isResolved = true): void {
    if (isResolved) this.#resolved.add(thread);
    else this.#resolved.delete(thread);
  }

  /** The line of a thread is not there any more. */
  outdate(thread: number): void {
    for (const comment of this.#comments) if ((comment.of ?? comment.id) === thread) comment.line = null;
  }

  /** What the rules of a branch count: the last word of each who may write, and threads that are not resolved. */
  tally(pull: number): ReviewTally {
    const last = new Map<Account, State>();
    for (const { pull: of, author, state } of this.#reviews)
      if (of === pull && state !== 'COMMENTED' && state !== 'PENDING') last.set(author, state);
    const states = [...last].flatMap(([author, state]) => (this.#options.accounts.mayWrite(author) ? [state] : []));
    const threads = new Set(this.#comments.filter((one) => one.pull === pull).map(({ of, id }) => of ?? id));
    return {
      approvals: states.filter((state) => state === 'APPROVED').length,
      isRefused: states.includes('CHANGES_REQUESTED'),
      openThreads: [...threads].filter((thread) => !this.#resolved.has(thread)).length,
    };
  }

  /** Undefined: the call is for something else. @param rest path below that of the repository */
  async answer(call: Call, rest: string): Promise<Answer | undefined> {
    const [, comment] = /^\/pulls\/comments\/(\d+)$/.exec(rest) ?? [];
    if (comment !== undefined && call.method === 'DELETE') return this.#delete(call, Number(comment));
    const [, number, kind, id, action] =
      /^\/pulls\/(\d+)\/(reviews|comments)(?:\/(\d+)\/(dismissals|replies))?$/.exec(rest) ?? [];
    if (number === undefined) return undefined;
    const pull = await this.#options.pull(Number(number));
    if (pull === undefined) return errorAnswer(404, 'Not Found');
    const route = `${call.method} ${[kind, action].filter(Boolean).join('/')}`;
    if (route === 'GET reviews') return this.#listReviews(call, pull);
    if (route === 'GET comments') return this.#listComments(call, pull);
    const { account } = call;
    if (account === undefined) return errorAnswer(401, 'Requires authentication');
    switch (route) {
      case 'POST reviews':
        return this.#review(call, pull, account);
      case 'PUT reviews/dismissals':
        return this.#dismiss(call, pull, account, Number(id));
      case 'POST comments':
        return this.#comment(call, pull, account);
      case 'POST comments/replies':
        return this.#reply(call, pull, account, Number(id));
      default:
        return undefined;
    }
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #addReview(pull: Fields, author: Account, state: State, body: string): Review {
    const at = new Date().toISOString();
    const review = { id: this.#nextId(), pull: Number(pull.number), author, body, at, state };
    this.#reviews.push(review);
    return review;
  }

  #addComment(review: Review, body: string, path: string, line: number | null, of: number | null = null): Comment {
    const { pull, author, at } = review;
    const comment = { id: this.#nextId(), pull, review: review.id, author, body, path, at, of, line };
    this.#comments.push(comment);
    return comment;
  }

  #listReviews(call: Call, pull: Fields): Answer {
    const rows = this.#reviews
      .filter((review) => review.pull === pull.number)
      .filter(({ state, author }) => state !== 'PENDING' || author.login === call.account?.login)
      .map((review) => this.#reviewRow(review));
    return paged(call, this.#options.url, rows);
  }

  #reviewRow({ id, pull, author, body, at, state }: Review): Fields {
    const html_url = `${this.#page(pull)}#pullrequestreview-${id}`;
    return { id, user: user(author), body, state, html_url, ...(state === 'PENDING' ? {} : { submitted_at: at }) };
  }

  #listComments(call: Call, pull: Fields): Answer {
    const pending = new Set(this.#reviews.filter(({ state }) => state === 'PENDING').map(({ id }) => id));
    const own = this.#comments.filter((comment) => comment.pull === pull.number && !pending.has(comment.review));
    return paged(
      call,
      this.#options.url,
      own.map((comment) => this.#commentRow(comment)),
    );
  }

  #commentRow({ id, pull, review, author, body, path, at, of, line }: Comment): Fields {
    return {
      id,
      pull_request_review_id: review,
      ...(of === null ? {} : { in_reply_to_id: of }),
      user: user(author),
      body,
      path,
      line,
      created_at: at,
      updated_at: at,
      html_url: this.#address(id, pull),
    };
  }

  #page(pull: number): string {
    const { url, owner, repo } = this.#options;
    return `${url}/${owner}/${repo}/pull/${pull}`;
  }

  #address(id: number, pull: number): string {
    return `${this.#page(pull)}#discussion_r${id}`;
  }

  async #review(call: Call, pull: Fields, account: Account): Promise<Answer> {
    const { event, body = '', comments = [] } = fieldsOf(call.body);
    const state = event === undefined ? 'PENDING' : EVENTS[String(event)];
    if (state === undefined || typeof body !== 'string') return errorAnswer(422, 'Validation Failed');
    const isOwn = account.login === loginOf(pull);
    if (isOwn && state === 'APPROVED') return errorAnswer(422, 'Can not approve your own pull request');
    if (isOwn && state === 'CHANGES_REQUESTED')
      return errorAnswer(422, 'Can not request changes on your own pull request');
    const rows = Array.isArray(comments) ? comments.filter(isObject) : [];
    if ((state === 'CHANGES_REQUESTED' || (state === 'COMMENTED' && rows.length === 0)) && !isText(body))
      return invalidAnswer('PullRequestReview', 'body cannot be blank');
    if (!rows.every((row) => isText(row.body) && isText(row.path) && Number.isInteger(row.line)))
      return errorAnswer(422, 'Validation Failed');
    const review = this.#addReview(pull, account, state, body);
    for (const row of rows) this.#addComment(review, String(row.body), String(row.path), Number(row.line));
    if (state !== 'PENDING') await this.#options.changed(review.pull, account);
    return json(200, this.#reviewRow(review));
  }

  async #dismiss(call: Call, pull: Fields, account: Account, id: number): Promise<Answer> {
    if (!this.#options.accounts.mayWrite(account))
      return errorAnswer(403, 'Must have push access to dismiss a review.');
    const review = this.#reviews.find((one) => one.id === id && one.pull === pull.number);
    if (review === undefined) return errorAnswer(404, 'Not Found');
    if (!isText(fieldsOf(call.body).message))
      return errorAnswer(422, 'Invalid request.\n\n"message" wasn\'t supplied.');
    if (review.state !== 'APPROVED' && review.state !== 'CHANGES_REQUESTED')
      return errorAnswer(422, `Can not dismiss a ${review.state.toLowerCase()} pull request review`);
    review.state = 'DISMISSED';
    await this.#options.changed(review.pull);
    return json(200, this.#reviewRow(review));
  }

  async #comment(call: Call, pull: Fields, account: Account): Promise<Answer> {
    const { body, path, line, subject_type, in_reply_to } = fieldsOf(call.body);
    if (in_reply_to !== undefined) return this.#reply(call, pull, account, Number(in_reply_to));
    const isOnFile = subject_type === 'file';
    if (!isText(body) || !isText(path) || !(isOnFile || Number.isInteger(line)))
      return errorAnswer(422, 'Validation Failed');
    const review = this.#addReview(pull, account, 'COMMENTED', '');
    const comment = this.#addComment(review, body, path, isOnFile ? null : Number(line));
    await this.#options.changed(comment.pull);
    return json(201, this.#commentRow(comment));
  }

  /** Answers to answers are refused. */
  async #reply(call: Call, pull: Fields, account: Account, id: number): Promise<Answer> {
    const { body } = fieldsOf(call.body);
    const other = this.#comments.find((one) => one.id === id && one.pull === pull.number);
    if (other === undefined) return errorAnswer(404, 'Not Found');
    const isFirst = !this.#comments.some((one) => one.id === other.of);
    if (!isText(body) || !isFirst) return errorAnswer(422, 'Validation Failed');
    const review = this.#addReview(pull, account, 'COMMENTED', '');
    const comment = this.#addComment(review, body, other.path, other.line, other.of ?? other.id);
    await this.#options.changed(comment.pull);
    return json(201, this.#commentRow(comment));
  }

  async #delete(call: Call, id: number): Promise<Answer> {
    const comment = this.#comments.find((one) => one.id === id);
    if (comment === undefined) return errorAnswer(404, 'Not Found');
    if (call.account !== comment.author && !this.#options.accounts.mayWrite(call.account))
      return errorAnswer(call.account === undefined ? 401 : 403, 'Must have admin rights to Repository.');
    this.#comments = this.#comments.filter((one) => one !== comment);
    await this.#options.changed(comment.pull);
    return { status: 204, headers: {}, body: '' };
  }

  /** One query is known: which threads of a pull request are resolved. */
  async graphql(call: Call): Promise<Answer> {
    if (call.account === undefined) return errorAnswer(401, 'This endpoint requires you to be authenticated.');
    const { query, variables } = fieldsOf(call.body);
    if (!isText(query)) return json(200, { errors: [{ message: 'A query attribute must be specified.' }] });
    if (!query.includes('reviewThreads(first: 100, after: $after)') || !isObject(variables))
      return json(200, { errors: [{ message: 'The forge knows no such query.' }] });
    const { owner, repo, pull } = this.#options;
    const missing = (data: Fields, what: string) =>
      json(200, { data, errors: [{ type: 'NOT_FOUND', message: `Could not resolve to a ${what}` }] });
    if (variables.owner !== owner || variables.name !== repo) return missing({ repository: null }, 'Repository');
    const number = Number(variables.number);
    if ((await pull(number)) === undefined) return missing({ repository: { pullRequest: null } }, 'PullRequest');
    const threads = new Map<number, Comment>();
    for (const comment of this.#comments.filter((one) => one.pull === number)) {
      const thread = comment.of ?? comment.id;
      if (!threads.has(thread)) threads.set(thread, comment);
    }
    const from = Number(variables.after ?? 0);
    const nodes = [...threads].slice(from, from + 100).map(([thread, { id }]) => ({
      isResolved: this.#resolved.has(thread),
      comments: { nodes: [{ url: this.#address(id, number) }] },
    }));
    const end = from + nodes.length;
    const pageInfo = { endCursor: nodes.length === 0 ? null : String(end), hasNextPage: end < threads.size };
    return json(200, { data: { repository: { pullRequest: { reviewThreads: { nodes, pageInfo } } } } });
  }
}
