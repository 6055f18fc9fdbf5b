// Dependencies and sub-issues of an issue on GitHub's REST API.

import * as z from 'zod';
import { formatSlug, type RepoSlug } from '../../git/rules/repository.ts';
import type { Link, LinkedIssue } from '../rules/blockers.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { AnswerCache, etagOf } from './answer-cache.ts';
import type { Answer } from './client.ts';

const linkedRow = z.object({
  number: z.number().int(),
  state: z.enum(['open', 'closed']),
  repository_url: z.string(),
});
const linkedRows = z.array(linkedRow);

type Row = z.output<typeof linkedRow>;

const ROUTES: Readonly<Record<Link, string>> = {
  dependencies: 'GET /repos/{owner}/{repo}/issues/{issue_number}/dependencies/blocked_by',
  subIssues: 'GET /repos/{owner}/{repo}/issues/{issue_number}/sub_issues',
};

/** An issue has at most 50 dependencies and 100 sub-issues, so one page holds them. */
const PER_PAGE = 100;
/** So many answers are kept. */
const KEPT_LISTS = 500;

/** Conditional request; null: nothing changed since the answer that had this `etag`. */
export type ReadRows = (
  route: string,
  parameters: Readonly<Record<string, unknown>>,
  schema: z.ZodType<Row[]>,
  etag: string | undefined,
  signal: AbortSignal,
) => Promise<Answer<Row[]> | null>;

export class IssueLinks {
  readonly #slug: string;
  readonly #read: ReadRows;
  readonly #lists = new AnswerCache<readonly LinkedIssue[]>(KEPT_LISTS);

  constructor(slug: RepoSlug, read: ReadRows) {
    this.#slug = formatSlug(slug).toLowerCase();
    this.#read = read;
  }

  /** One conditional request. A server without such links has none. */
  async list(issue: number, link: Link, signal: AbortSignal): Promise<readonly LinkedIssue[]> {
    const key = `${link} ${issue}`;
    const known = this.#lists.get(key);
    const parameters = { issue_number: issue, per_page: PER_PAGE };
    try {
      const answer = await this.#read(ROUTES[link], parameters, linkedRows, known?.etag, signal);
      if (answer === null) return known?.value ?? [];
      const value = answer.data.map((row) => this.#linked(row));
      this.#lists.set(key, { etag: etagOf(answer.headers), value });
      return value;
    } catch (error) {
      if (error instanceof TrackerError && (error.status === 404 || error.status === 410)) return [];
      throw error;
    }
  }

  #linked({ number, state, repository_url: address }: Row): LinkedIssue {
    const slug = /\/repos\/([^/]+\/[^/]+)$/.exec(address)?.[1] ?? address;
    return { number, state, repository: slug.toLowerCase() === this.#slug ? null : slug };
  }
}
