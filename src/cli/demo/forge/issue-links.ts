// Dependencies and sub-issues of the forge's issues, which the emulation does not have, with their counts in each row.

import { isObject } from '../../../base/rules/values.ts';
import type { Accounts } from './accounts.ts';
import { type Answer, type Call, errorAnswer, type Fields, fieldsOf, invalidAnswer, json } from './answers.ts';

type Link = 'blocked_by' | 'sub_issues';

/** An issue of any repository of the forge. */
type Linked = { readonly id: number; readonly path: string };

export type IssueLinksOptions = {
  readonly owner: string;
  /** `/repos/<owner>/<repo>` */
  readonly base: string;
  readonly accounts: Accounts;
  readonly upstream: (method: string, path: string, authorization: string | undefined) => Promise<Answer>;
};

const FIELDS: Readonly<Record<Link, string>> = { blocked_by: 'issue_id', sub_issues: 'sub_issue_id' };
const MOST: Readonly<Record<Link, number>> = { blocked_by: 50, sub_issues: 100 };

function rowsOf(text: string): readonly Fields[] {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export class IssueLinks {
  readonly #options: IssueLinksOptions;
  /** By the id of the issue that waits. */
  readonly #links: Readonly<Record<Link, Map<number, readonly Linked[]>>> = {
    blocked_by: new Map(),
    sub_issues: new Map(),
  };

  constructor(options: IssueLinksOptions) {
    this.#options = options;
  }

  /** Undefined: the call is for something else. @param rest path below that of the repository */
  async answer(call: Call, rest: string): Promise<Answer | undefined> {
    const { method } = call;
    const links = /^\/issues\/(\d+)\/(?:dependencies\/(blocked_by)|(sub_issues))$/.exec(rest);
    if (links !== null && (method === 'GET' || method === 'POST')) {
      const link = links[2] === undefined ? 'sub_issues' : 'blocked_by';
      const issue = await this.#get(`${this.#options.base}/issues/${links[1]}`, call.authorization);
      if (issue === undefined) return errorAnswer(404, 'Not Found');
      return method === 'GET' ? this.#list(call, issue, link) : this.#add(call, issue, link);
    }
    const number = /^\/issues\/(\d+)$/.exec(rest)?.[1];
    return number !== undefined && method === 'GET' ? this.#issue(call, number) : undefined;
  }

  async #get(path: string, authorization: string | undefined): Promise<Fields | undefined> {
    const { status, body } = await this.#options.upstream('GET', path, authorization);
    return status === 200 ? fieldsOf(body) : undefined;
  }

  /** The original answers pull requests as issues too. */
  async #issue({ authorization }: Call, number: string): Promise<Answer> {
    const { base, upstream } = this.#options;
    const answer = await upstream('GET', `${base}/issues/${number}`, authorization);
    const pull = answer.status === 404 ? await this.#get(`${base}/pulls/${number}`, authorization) : undefined;
    if (pull === undefined) return answer;
    const { issue_url: url, html_url, diff_url, patch_url, merged_at, head: _, base: __, ...row } = pull;
    const repository_url = String(url).replace(/\/issues\/\d+$/, '');
    const pull_request = { url: pull.url, html_url, diff_url, patch_url, merged_at };
    return json(200, { ...row, url, html_url, repository_url, pull_request });
  }

  /** The answer with the counts that each row of an issue of this repository has. */
  async withCounts(answer: Answer): Promise<Answer> {
    const value: unknown = JSON.parse(answer.body);
    if (Array.isArray(value)) return { ...answer, body: JSON.stringify(await this.#counted(value.filter(isObject))) };
    const [row] = isObject(value) ? await this.#counted([value]) : [];
    return row === undefined ? answer : { ...answer, body: JSON.stringify(row) };
  }

  #counted(rows: readonly Fields[]): Promise<readonly Fields[]> {
    return Promise.all(
      rows.map(async (row) => {
        const id = Number(row.id);
        const [blockedBy, parts] = [await this.#states('blocked_by', id), await this.#states('sub_issues', id)];
        const isOpen = (state: string) => state === 'open';
        const completed = parts.filter((state) => !isOpen(state)).length;
        const blocking = [...this.#links.blocked_by.values()].filter((all) => all.some((one) => one.id === id)).length;
        return {
          ...row,
          sub_issues_summary: {
            total: parts.length,
            completed,
            percent_completed: parts.length === 0 ? 0 : Math.floor((completed / parts.length) * 100),
          },
          issue_dependencies_summary: {
            blocked_by: blockedBy.filter(isOpen).length,
            total_blocked_by: blockedBy.length,
            blocking: row.state === 'open' ? blocking : 0,
            total_blocking: blocking,
          },
        };
      }),
    );
  }

  async #rows(link: Link, id: number): Promise<readonly Fields[]> {
    const linked = this.#links[link].get(id) ?? [];
    const rows = await Promise.all(linked.map(({ path }) => this.#get(path, undefined)));
    return rows.filter((row) => row !== undefined);
  }

  async #states(link: Link, id: number): Promise<readonly string[]> {
    return (await this.#rows(link, id)).map(({ state }) => String(state));
  }

  async #list(call: Call, issue: Fields, link: Link): Promise<Answer> {
    const size = Math.min(100, Number(call.query.get('per_page') ?? 30));
    const from = (Number(call.query.get('page') ?? 1) - 1) * size;
    const rows = await this.#rows(link, Number(issue.id));
    return json(200, await this.#counted(rows.slice(from, from + size)));
  }

  async #add(call: Call, issue: Fields, link: Link): Promise<Answer> {
    if (!this.#options.accounts.mayTriage(call.account))
      return errorAnswer(call.account === undefined ? 401 : 403, 'Must have push access to repository');
    const field = FIELDS[link];
    const id = fieldsOf(call.body)[field];
    if (typeof id !== 'number' || !Number.isInteger(id))
      return errorAnswer(422, `Invalid request. "${field}" wasn't an integer.`);
    const linked = await this.#find(id);
    if (linked === undefined) return errorAnswer(404, 'Not Found');
    const all = this.#links[link];
    const parent = Number(issue.id);
    const others = all.get(parent) ?? [];
    if (id === parent) return invalidAnswer('Issue', 'An issue may not be linked to itself');
    if (others.some((one) => one.id === id)) return invalidAnswer('Issue', 'The link is there already');
    if (others.length >= MOST[link]) return invalidAnswer('Issue', `At most ${MOST[link]} are allowed`);
    if (link === 'sub_issues') {
      if ([...all.values()].some((parts) => parts.some((one) => one.id === id)))
        return invalidAnswer('Issue', 'Sub issue may only have one parent');
      if (this.#isBelow(parent, id)) return invalidAnswer('Issue', 'Sub issue may not be an ancestor of its parent');
    }
    all.set(parent, [...others, linked]);
    const row = link === 'sub_issues' ? issue : await this.#get(linked.path, call.authorization);
    const [counted] = await this.#counted(row === undefined ? [] : [row]);
    return json(201, counted);
  }

  #isBelow(id: number, ancestor: number): boolean {
    const parts = this.#links.sub_issues.get(ancestor) ?? [];
    return parts.some((one) => one.id === id || this.#isBelow(id, one.id));
  }

  /** An issue by its id, in the repositories of the owner; pull requests are none. */
  async #find(id: number): Promise<Linked | undefined> {
    const { upstream, owner } = this.#options;
    const repositories = rowsOf((await upstream('GET', `/users/${owner}/repos?per_page=100`, undefined)).body);
    for (const { full_name: name } of repositories)
      for (let page = 1, isFull = true; isFull; page++) {
        const path = `/repos/${String(name)}/issues?state=all&per_page=100&page=${page}`;
        const rows = rowsOf((await upstream('GET', path, undefined)).body);
        const row = rows.find((one) => one.id === id);
        if (row !== undefined) return { id, path: `/repos/${String(name)}/issues/${String(row.number)}` };
        isFull = rows.length === 100;
      }
    return undefined;
  }
}
