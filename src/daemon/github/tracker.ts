// The tracker on GitHub's REST API: issues, labels, comments, pull requests.

import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import { formatSlug, type RepoSlug } from '../../git/rules/repository.ts';
import type { IssueComment, LabelEvent, NewPullRequest, PullRequestFeed, RateLimit, Tracker } from '../ports.ts';
import type { Link, LinkedIssue } from '../rules/blockers.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import type { Actor, Issue } from '../rules/issue.ts';
import { byAge } from '../rules/issue.ts';
import type { PullRequest } from '../rules/record.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { countsAsWriter } from '../rules/trust.ts';
import { AnswerCache, etagOf } from './answer-cache.ts';
import type { Answer, HostingClient } from './client.ts';
import { IssueLinks } from './issue-links.ts';
import { actor, issueRow, toIssue } from './issue-row.ts';
import { type EventPage, eventRow, LabelEvents } from './label-events.ts';
import { LabelList, type ListPage, type ListQuery } from './label-list.ts';
import { carriesMarker, withMarker } from './marker.ts';
import { GitHubPullRequestFeed } from './pull-request-feed.ts';
import { PullRequests } from './pull-requests.ts';
import { isMissing, RepositoryClient } from './repository-client.ts';

const commentRow = z.object({
  id: z.number(),
  body: z.string().nullish(),
  user: actor.optional(),
  created_at: z.string(),
});
const anything = z.unknown();

const PERMISSION_FRESH_MS = 5 * 60_000;

/** Whether somebody may write. Issues that are looked at together ask about the same people once. */
type Permission = {
  readonly question: SingleFlight<boolean>;
  mayWrite: boolean;
  /** When it was answered, in elapsed time. */
  at: number;
};
const PER_PAGE = 100;
/** So many answers about single issues are kept. */
const KEPT_ISSUES = 500;

function linkOf(headers: Readonly<Record<string, string | number | undefined>>, rel: string): string | undefined {
  return new RegExp(`<([^>]*)>;\\s*rel="${rel}"`).exec(String(headers.link ?? ''))?.[1];
}

/** The number of the last page, as far as the answer tells. */
function lastPageOf(headers: Readonly<Record<string, string | number | undefined>>): number {
  const page = Number(new URL(linkOf(headers, 'last') ?? 'http://none/?page=1').searchParams.get('page') ?? 1);
  return Number.isInteger(page) && page >= 1 ? page : 1;
}

export type TrackerOptions = {
  readonly client: HostingClient;
  readonly slug: RepoSlug;
  readonly clock: Clock;
  /** Where answers about label events are kept over restarts; null: nowhere. */
  readonly eventsFile?: string | null;
  /** Login of the credential's account; null: the service is asked. */
  readonly account?: string | null;
};

export class GitHubTracker implements Tracker {
  /** Pull requests after they were opened. */
  readonly feed: PullRequestFeed;
  readonly #client: HostingClient;
  readonly #repository: RepositoryClient;
  readonly #slug: RepoSlug;
  readonly #at: { readonly owner: string; readonly repo: string };
  readonly #clock: Clock;
  readonly #lists = new Map<string, LabelList>();
  #listed: { readonly key: string; readonly issues: readonly Issue[] } = { key: '', issues: [] };
  readonly #issues = new AnswerCache<Issue>(KEPT_ISSUES);
  readonly #labelEvents: LabelEvents;
  readonly #pulls: PullRequests;
  readonly #links: IssueLinks;
  readonly #permissions = new Map<string, Permission>();

  constructor(options: TrackerOptions) {
    this.#client = options.client;
    this.#slug = options.slug;
    this.#repository = new RepositoryClient(options.client, options.slug);
    this.feed = new GitHubPullRequestFeed(this.#repository, options.clock, options.account ?? undefined);
    this.#at = { ...options.slug };
    this.#clock = options.clock;
    this.#pulls = new PullRequests(options.slug.owner, (...request) => this.#repository.request(...request));
    this.#labelEvents = new LabelEvents(
      (issue, page, etag, signal) => this.#readEvents(issue, page, etag, signal),
      options.eventsFile ?? null,
    );
    this.#links = new IssueLinks(options.slug, (...request) => this.#repository.requestIfChanged(...request));
  }

  get rateLimit(): RateLimit {
    return this.#client.limits.snapshot;
  }

  get stats() {
    return this.#client.stats;
  }

  /** Nothing of another repository is taken for an issue of this one. */
  #own(row: z.output<typeof issueRow>, wanted: number = row.number): Issue {
    const of = /\/repos\/([^/]+\/[^/]+)$/.exec(row.repository_url ?? '')?.[1] ?? formatSlug(this.#slug);
    if (row.number === wanted && of.toLowerCase() === formatSlug(this.#slug).toLowerCase()) return toIssue(row);
    const said = `expected issue #${wanted} of ${formatSlug(this.#slug)}, got ${oneLine(of, 100)}#${row.number}`;
    throw new TrackerError('unavailable', refusal(GITHUB_CODES.tracker_unavailable, { said }));
  }

  /** One conditional request for each label, alone and with each of `urgent`, whatever the backlog. */
  async listActive(
    labels: readonly string[],
    signal: AbortSignal,
    urgent: readonly string[] = [],
  ): Promise<readonly Issue[]> {
    const all = labels.flatMap((label) => [...urgent.map((other) => [label, other]), [label]]);
    const wanted = new Map(all.map((some) => [some.join(',').toLowerCase(), some]));
    for (const key of this.#lists.keys()) if (!wanted.has(key)) this.#lists.delete(key);
    for (const [key, some] of wanted) {
      const known = this.#lists.get(key);
      const list = known ?? new LabelList(some, (query, etag, stop) => this.#readPage(query, etag, stop), this.#clock);
      await list.poll(signal);
      this.#lists.set(key, list);
    }
    return this.#listing();
  }

  async listRest(signal: AbortSignal): Promise<readonly Issue[] | null> {
    const due = [...this.#lists.values()].filter((list) => list.isDue);
    for (const list of due) await list.readWhole(signal);
    return due.length === 0 ? null : this.#listing();
  }

  #listing(): readonly Issue[] {
    const lists = [...this.#lists.entries()];
    const key = lists.map(([label, { version }]) => `${version} ${label}`).join('\n');
    if (this.#listed.key === key) return this.#listed.issues;
    const found = new Map<number, Issue>();
    for (const [, list] of lists)
      for (const issue of list.issues) {
        const other = found.get(issue.number);
        if (other === undefined || other.updatedAt < issue.updatedAt) found.set(issue.number, issue);
      }
    this.#listed = { key, issues: [...found.values()].sort(byAge) };
    return this.#listed.issues;
  }

  async #readPage(query: ListQuery, etag: string | undefined, signal: AbortSignal): Promise<ListPage | null> {
    const parameters = { ...this.#at, ...query, state: 'open', per_page: PER_PAGE };
    let answer: Answer<z.output<typeof issueRow>[]> | null;
    try {
      const route = 'GET /repos/{owner}/{repo}/issues';
      answer = await this.#client.requestIfChanged(route, parameters, z.array(issueRow), etag, signal);
    } catch (error) {
      if (error instanceof TrackerError && error.status === 404)
        throw new TrackerError(
          'refused',
          refusal(GITHUB_CODES.repository_not_found, { repository: formatSlug(this.#slug) }),
          { cause: error, status: 404 },
        );
      throw await this.#repository.explainMove(error, signal);
    }
    if (answer === null) return null;
    const { data, headers } = answer;
    return {
      etag: etagOf(headers),
      issues: data
        .filter((row) => row.pull_request === undefined || row.pull_request === null)
        .map((row) => this.#own(row)),
      oldest: data.at(-1)?.updated_at ?? '',
      isFull: data.length >= PER_PAGE || linkOf(headers, 'next') !== undefined,
      last: lastPageOf(headers),
    };
  }

  /** One conditional request. */
  async readIssue(issue: number, signal: AbortSignal): Promise<Issue | null> {
    const read = await this.#readIssue(issue, signal);
    for (const list of this.#lists.values()) list.note(issue, read);
    return read;
  }

  async #readIssue(issue: number, signal: AbortSignal): Promise<Issue | null> {
    const known = this.#issues.get(String(issue));
    try {
      const answer = await this.#repository.requestIfChanged(
        'GET /repos/{owner}/{repo}/issues/{issue_number}',
        { issue_number: issue },
        issueRow,
        known?.etag,
        signal,
      );
      if (answer === null) return known?.value ?? null;
      const value = this.#own(answer.data, issue);
      this.#issues.set(String(issue), { etag: etagOf(answer.headers), value });
      return value;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  readLinks(issue: number, link: Link, signal: AbortSignal): Promise<readonly LinkedIssue[]> {
    return this.#links.list(issue, link, signal);
  }

  /** One conditional request for an issue that was asked about before. */
  readLabelEvent(issue: number, label: string, signal: AbortSignal): Promise<LabelEvent | null> {
    return this.#labelEvents.latest(issue, label, signal);
  }

  async #readEvents(
    issue: number,
    page: number,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<EventPage | null> {
    const answer = await this.#repository.requestIfChanged(
      'GET /repos/{owner}/{repo}/issues/{issue_number}/events',
      { issue_number: issue, per_page: PER_PAGE, page },
      z.array(eventRow),
      etag,
      signal,
    );
    if (answer === null) return null;
    return { etag: etagOf(answer.headers), rows: answer.data, last: lastPageOf(answer.headers) };
  }

  /** Resolves when what is kept for the next process is written. */
  async close(): Promise<void> {
    await this.#labelEvents.written();
  }

  async mayWrite(who: Actor, signal: AbortSignal): Promise<boolean> {
    if (countsAsWriter(who)) return true;
    const { login } = who;
    const permission = this.#permissions.get(login) ?? {
      question: new SingleFlight((asked) => this.#askPermission(login, asked)),
      mayWrite: false,
      at: Number.NEGATIVE_INFINITY,
    };
    this.#permissions.set(login, permission);
    if (this.#clock.elapsed() - permission.at < PERMISSION_FRESH_MS) return permission.mayWrite;
    permission.mayWrite = await permission.question.join(signal);
    permission.at = this.#clock.elapsed();
    return permission.mayWrite;
  }

  async #askPermission(username: string, signal: AbortSignal): Promise<boolean> {
    try {
      const { data } = await this.#repository.request(
        'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
        { username },
        z.object({ permission: z.string() }),
        signal,
      );
      return data.permission === 'admin' || data.permission === 'write' || data.permission === 'maintain';
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async readComments(issue: number, signal: AbortSignal): Promise<readonly IssueComment[]> {
    const rows: IssueComment[] = [];
    for (let page = 1; page <= 10; page++) {
      const { data, headers } = await this.#repository.request(
        'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
        { issue_number: issue, per_page: 100, page },
        z.array(commentRow),
        signal,
      );
      rows.push(
        ...data.map((row) => ({
          ...{ id: row.id, author: row.user ?? null },
          ...{ body: row.body ?? '', createdAt: row.created_at },
        })),
      );
      if (linkOf(headers, 'next') === undefined) break;
    }
    return rows;
  }

  async addComment(issue: number, body: string, marker: string, signal: AbortSignal): Promise<void> {
    await this.#repository.request(
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
      { issue_number: issue, body: withMarker(body, marker) },
      anything,
      signal,
    );
  }

  async hasComment(issue: number, marker: string, signal: AbortSignal): Promise<boolean> {
    const comments = await this.readComments(issue, signal);
    return comments.some((comment) => carriesMarker(comment.body, marker));
  }

  async addLabel(issue: number, name: string, signal: AbortSignal): Promise<void> {
    await this.#repository.request(
      'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
      { issue_number: issue, labels: [name] },
      anything,
      signal,
    );
  }

  async removeLabel(issue: number, name: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#repository.request(
        'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
        { issue_number: issue, name },
        anything,
        signal,
      );
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  findPullRequest(branch: string, signal: AbortSignal): Promise<PullRequest | null> {
    return this.#pulls.find(branch, signal);
  }

  createPullRequest(request: NewPullRequest, signal: AbortSignal): Promise<PullRequest> {
    return this.#pulls.create(request, signal);
  }

  rewritePullRequest(number: number, rewrite: (body: string) => string, signal: AbortSignal): Promise<void> {
    return this.#pulls.rewrite(number, rewrite, signal);
  }
}
