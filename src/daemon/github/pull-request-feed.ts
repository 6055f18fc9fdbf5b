// Pull requests after they were opened, on GitHub: state, checks, reviews, threads and comments. A quiet one costs no quota.

import * as z from 'zod';
import type { Clock } from '../../base/ports.ts';
import type { PullRequestFeed } from '../ports.ts';
import type {
  Check,
  CheckFailure,
  MergeState,
  PullRequestStatus,
  ReadChecks,
  Remark,
  Review,
  ReviewThread,
} from '../rules/pull-request-status.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { AnswerCache, etagOf } from './answer-cache.ts';
import { CommitChecks } from './commit-checks.ts';
import { ConditionalLists } from './conditional-lists.ts';
import { actor } from './issue-row.ts';
import { isMissing, type RepositoryClient } from './repository-client.ts';
import { ReviewThreads } from './review-threads.ts';

const ONE = '/repos/{owner}/{repo}/pulls/{pull_number}';
/** The states of so many pull requests are kept. */
const KEPT_STATES = 500;
/** Of one that cannot be merged, the version is believed for so long: that it can be need not change its version. */
const BELIEVED_MS = 600_000;

const MERGE_STATES: Readonly<Record<string, MergeState>> = {
  ...{ clean: 'clean', has_hooks: 'clean', unstable: 'unstable', behind: 'behind', dirty: 'dirty', unknown: 'unknown' },
  // What keeps a draft from being merged beside that shows only later.
  ...{ draft: 'blocked', blocked: 'blocked' },
};

/** A word that is not known yet counts as one that keeps it from being merged. */
function mergeStateOf(word: string | null, mergeable: boolean | null): MergeState {
  if (word !== null && (word !== 'unknown' || mergeable === null)) return MERGE_STATES[word] ?? 'blocked';
  return mergeable === null ? 'unknown' : mergeable ? (word === null ? 'clean' : 'unknown') : 'dirty';
}

const pullRow = z
  .object({
    state: z.enum(['open', 'closed']),
    merged: z.boolean().nullish(),
    head: z.object({ sha: z.string() }),
    mergeable: z.boolean().nullish(),
    mergeable_state: z.string().nullish(),
    draft: z.boolean().nullish(),
    requested_reviewers: z.array(z.object({ login: z.string() })).nullish(),
    requested_teams: z.array(z.object({ slug: z.string() })).nullish(),
    updated_at: z.string(),
  })
  .transform((row): PullRequestStatus => {
    const { state, merged, head, draft, requested_reviewers: people, requested_teams: teams, updated_at } = row;
    const merge = mergeStateOf(row.mergeable_state ?? null, row.mergeable ?? null);
    return {
      state: merged === true ? 'merged' : state,
      head: head.sha,
      conflicts: merge === 'unknown' ? null : merge === 'dirty',
      merge,
      draft: draft === true,
      awaited: [...(people ?? []).map(({ login }) => login), ...(teams ?? []).map(({ slug }) => `team ${slug}`)],
      updatedAt: updated_at,
    };
  });

const VERDICTS: Readonly<Record<string, Review['verdict']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
};

const person = actor.optional();
const words = z.string().nullish();

/** Null: it was not handed in. */
const reviewRow = z
  .object({ id: z.number().int(), state: z.string(), user: person, body: words })
  .transform(({ id, state, user, body }): Review | null => {
    const verdict = VERDICTS[state];
    return verdict === undefined ? null : { id, author: user ?? null, verdict, body: body ?? '' };
  });

const remarkRow = z
  .object({ id: z.number().int(), user: person, body: words, created_at: z.string().optional() })
  .transform(
    ({ id, user, body, created_at }): Remark => ({ id, author: user ?? null, body: body ?? '', createdAt: created_at }),
  );

/** `readAt`: when the service gave it in full last, in elapsed time. */
type ReadState = { readonly status: PullRequestStatus; readonly readAt: number };

export class GitHubPullRequestFeed implements PullRequestFeed {
  readonly #repository: RepositoryClient;
  readonly #clock: Clock;
  readonly #states = new AnswerCache<ReadState>(KEPT_STATES);
  /** The states of the checks of commits. `isNews`: they changed since the pull request was read. */
  readonly #seen = new AnswerCache<{ readonly text: string; readonly isNews: boolean }>(KEPT_STATES);
  readonly #checks: CommitChecks;
  readonly #reviews: ConditionalLists<Review | null>;
  readonly #threads: ReviewThreads;
  readonly #comments: ConditionalLists<Remark>;
  #account: string | null | undefined;

  /** @param account login of the credential's account; undefined: the service is asked */
  constructor(repository: RepositoryClient, clock: Clock, account?: string) {
    this.#repository = repository;
    this.#account = account;
    this.#clock = clock;
    this.#checks = new CommitChecks(repository, clock);
    this.#threads = new ReviewThreads(repository);
    this.#reviews = new ConditionalLists(repository, `GET ${ONE}/reviews`, z.array(reviewRow));
    const comments = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
    this.#comments = new ConditionalLists(repository, comments, z.array(remarkRow));
  }

  async read(number: number, signal: AbortSignal): Promise<PullRequestStatus | null> {
    const key = String(number);
    const known = this.#states.get(key);
    try {
      const parameters = { pull_number: number };
      const etag = known !== undefined && this.#isBelieved(known.value) ? known.etag : undefined;
      const answer = await this.#repository.requestIfChanged(`GET ${ONE}`, parameters, pullRow, etag, signal);
      if (answer === null) return known?.value.status ?? null;
      const { data: status, headers } = answer;
      this.#states.set(key, { etag: etagOf(headers), value: { status, readAt: this.#clock.elapsed() } });
      const seen = this.#seen.get(status.head)?.value;
      if (seen?.isNews) this.#seen.set(status.head, { etag: undefined, value: { ...seen, isNews: false } });
      return status;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** What the service has yet to work out, and what it says of merging, need not change the version. */
  #isBelieved({ status, readAt }: ReadState): boolean {
    if (status.merge === 'clean') return true;
    const isNews = this.#seen.get(status.head)?.value.isNews === true;
    return status.conflicts !== null && !isNews && this.#clock.elapsed() - readAt < BELIEVED_MS;
  }

  async checks(commit: string, signal: AbortSignal): Promise<ReadChecks> {
    const read = await this.#checks.list(commit, signal);
    const text = JSON.stringify(read.checks.map(({ name, state }) => [name, state]));
    const seen = this.#seen.get(commit)?.value;
    const isNews = seen !== undefined && (seen.isNews || seen.text !== text);
    this.#seen.set(commit, { etag: undefined, value: { text, isNews } });
    return read;
  }

  lacks(signal: AbortSignal): Promise<readonly string[]> {
    return this.#checks.lacks(signal);
  }

  explain(check: Check, signal: AbortSignal): Promise<CheckFailure> {
    return this.#checks.explain(check, signal);
  }

  async reviews(number: number, signal: AbortSignal): Promise<readonly Review[]> {
    const { rows } = await this.#reviews.read({ pull_number: number }, signal);
    return rows.filter((row) => row !== null);
  }

  threads(number: number, signal: AbortSignal): Promise<readonly ReviewThread[]> {
    return this.#threads.list(number, this.#states.get(String(number))?.value.status.updatedAt, signal);
  }

  async comments(number: number, signal: AbortSignal): Promise<readonly Remark[]> {
    return (await this.#comments.read({ issue_number: number }, signal)).rows;
  }

  reply(number: number, thread: number, body: string, marker: string, signal: AbortSignal): Promise<void> {
    return this.#threads.reply(number, thread, body, marker, signal);
  }

  async requestReview(number: number, logins: readonly string[], signal: AbortSignal): Promise<void> {
    if (logins.length === 0) return;
    try {
      const parameters = { pull_number: number, reviewers: logins };
      await this.#repository.request(`POST ${ONE}/requested_reviewers`, parameters, z.unknown(), signal);
    } catch (error) {
      if (!(error instanceof TrackerError && error.status === 422)) throw error;
      // One who cannot be asked makes the service refuse all of them.
      if (logins.length > 1) for (const login of logins) await this.requestReview(number, [login], signal);
    }
  }

  async account(signal: AbortSignal): Promise<string | null> {
    if (this.#account === undefined) this.#account = await this.#readAccount(signal);
    return this.#account;
  }

  /** The token of an app belongs to no account. */
  async #readAccount(signal: AbortSignal): Promise<string | null> {
    try {
      const { data } = await this.#repository.client.request('GET /user', {}, z.object({ login: z.string() }), signal);
      return data.login;
    } catch (error) {
      if (error instanceof TrackerError && (error.status === 403 || error.status === 404)) return null;
      throw error;
    }
  }
}
