// Threads of a pull request: their comments on GitHub's REST API, and in its GraphQL API whether they are resolved.

import * as z from 'zod';
import { refusal } from '../../base/rules/codes.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import type { Remark, ReviewThread } from '../rules/pull-request-status.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { AnswerCache } from './answer-cache.ts';
import { ConditionalLists } from './conditional-lists.ts';
import { actor } from './issue-row.ts';
import { carriesMarker, withMarker } from './marker.ts';
import { isMissing, type RepositoryClient } from './repository-client.ts';

const COMMENTS = '/repos/{owner}/{repo}/pulls/{pull_number}/comments';
/** So many pages of threads are read. */
const MOST_PAGES = 10;
/** The threads of so many pull requests are kept. */
const KEPT_ANSWERS = 200;

const commentRow = z
  .object({
    id: z.number().int(),
    in_reply_to_id: z.number().int().nullish(),
    path: z.string(),
    line: z.number().int().nullish(),
    user: actor.optional(),
    body: z.string().nullish(),
  })
  .transform(({ id, in_reply_to_id, path, line, user, body }) => ({
    of: in_reply_to_id ?? id,
    path,
    line: line ?? null,
    remark: { id, author: user ?? null, body: body ?? '' } satisfies Remark,
  }));

type Row = z.output<typeof commentRow>;

// The address names the comment: `databaseId` has 32 bits, and the ids are larger by now.
const QUERY = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { endCursor hasNextPage }
        nodes { isResolved comments(first: 1) { nodes { url } } }
      }
    }
  }
}`;

const threadNode = z.object({
  isResolved: z.boolean(),
  comments: z.object({ nodes: z.array(z.object({ url: z.string() })) }),
});
const pageInfo = z.object({ endCursor: z.string().nullish(), hasNextPage: z.boolean() });
const pullRequest = z.object({ reviewThreads: z.object({ nodes: z.array(threadNode), pageInfo }) });
const resolution = z.object({
  data: z.object({ repository: z.object({ pullRequest: pullRequest.nullish() }).nullish() }).nullish(),
  errors: z.array(z.object({ type: z.string().nullish(), message: z.string() })).nullish(),
});

type Resolved = ReadonlySet<number>;

/** What GraphQL said, and what of the pull request it belongs to. */
type Answered = { readonly comments: string; readonly updatedAt: string | undefined; readonly resolved: Resolved };

/** Replies name the first comment of their thread. Once that is deleted, the oldest of the others takes its place. */
function threadsOf(rows: readonly Row[], resolved: Resolved): readonly ReviewThread[] {
  const threads = new Map<number, Row[]>();
  for (const row of rows) threads.set(row.of, [...(threads.get(row.of) ?? []), row]);
  return [...threads.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { path, line, remark } = first;
    const comments = all.map((row) => row.remark);
    return [{ id: remark.id, path, line, isResolved: resolved.has(remark.id), comments }];
  });
}

export class ReviewThreads {
  readonly #repository: RepositoryClient;
  readonly #comments: ConditionalLists<Row>;
  readonly #answers = new AnswerCache<Answered>(KEPT_ANSWERS);

  constructor(repository: RepositoryClient) {
    this.#repository = repository;
    this.#comments = new ConditionalLists(repository, `GET ${COMMENTS}`, z.array(commentRow));
  }

  /**
   * GraphQL has no conditional requests. It is asked when the comments changed, and when a thread was unresolved and the
   * pull request has changed since.
   * @param updatedAt of the pull request, as it was read last
   */
  async list(number: number, updatedAt: string | undefined, signal: AbortSignal): Promise<readonly ReviewThread[]> {
    const { rows, version } = await this.#comments.read({ pull_number: number }, signal);
    if (rows.length === 0) return [];
    const known = this.#answers.get(String(number))?.value;
    if (known?.comments === version) {
      const threads = threadsOf(rows, known.resolved);
      if (known.updatedAt === updatedAt || threads.every(({ isResolved }) => isResolved)) return threads;
    }
    const resolved = await this.#askResolved(number, signal);
    const value = { comments: version, updatedAt, resolved };
    this.#answers.set(String(number), { etag: undefined, value });
    return threadsOf(rows, resolved);
  }

  /** First comments of resolved threads; none where the service does not tell. */
  async #askResolved(number: number, signal: AbortSignal): Promise<Resolved> {
    const { client, slug } = this.#repository;
    const resolved = new Set<number>();
    let after: string | null = null;
    try {
      for (let page = 0; page < MOST_PAGES; page++) {
        const variables: Readonly<Record<string, unknown>> = { owner: slug.owner, name: slug.repo, number, after };
        const parameters = { query: QUERY, variables };
        const answer = await client.request(`POST ${client.graphqlUrl}`, parameters, resolution, signal);
        const { data, errors } = answer.data;
        const limit = errors?.find(({ type }) => type === 'RATE_LIMITED');
        if (limit !== undefined) {
          const what = refusal(GITHUB_CODES.tracker_unavailable, { request: 'GraphQL', said: limit.message });
          throw new TrackerError('unavailable', what);
        }
        const threads = data?.repository?.pullRequest?.reviewThreads;
        const addresses = threads?.nodes
          .filter(({ isResolved }) => isResolved)
          .flatMap(({ comments }) => comments.nodes);
        for (const { url } of addresses ?? []) resolved.add(Number(/#discussion_r(\d+)$/.exec(url)?.[1]));
        after = threads?.pageInfo.endCursor ?? null;
        if (threads?.pageInfo.hasNextPage !== true || after === null) break;
      }
      return resolved;
    } catch (error) {
      if (error instanceof TrackerError && error.failure === 'refused') return new Set();
      throw error;
    }
  }

  async reply(number: number, thread: number, body: string, marker: string, signal: AbortSignal): Promise<void> {
    const { rows } = await this.#comments.read({ pull_number: number }, signal);
    const found = threadsOf(rows, new Set()).find(({ comments }) => comments.some(({ id }) => id === thread));
    if (found?.comments.some((comment) => carriesMarker(comment.body, marker))) return;
    const gone = (cause?: unknown) => {
      const what = refusal(GITHUB_CODES.review_thread_gone, { thread, pull_request: number });
      return new TrackerError('refused', what, { status: 404, cause });
    };
    if (found === undefined) throw gone();
    const parameters = { pull_number: number, comment_id: found.id, body: withMarker(body, marker) };
    try {
      await this.#repository.request(`POST ${COMMENTS}/{comment_id}/replies`, parameters, z.unknown(), signal);
    } catch (error) {
      throw isMissing(error) ? gone(error) : error;
    }
  }
}
