// Requests in one repository. What moved away is told apart from a repository with a new name.

import type * as z from 'zod';
import { refusal } from '../../base/rules/codes.ts';
import { formatSlug, type RepoSlug } from '../../git/rules/repository.ts';
import { GITHUB_CODES } from '../rules/codes/github-codes.ts';
import { TrackerError } from '../rules/tracker-error.ts';
import { type Answer, type HostingClient, MovedError } from './client.ts';
import { readRepository } from './repository.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** Gone, never there, or not to be seen with this credential. What moved away is given as gone. */
export function isMissing(error: unknown): boolean {
  return error instanceof TrackerError && (error.status === 404 || error.status === 410);
}

export class RepositoryClient {
  readonly client: HostingClient;
  readonly slug: RepoSlug;
  readonly #at: { readonly owner: string; readonly repo: string };

  constructor(client: HostingClient, slug: RepoSlug) {
    this.client = client;
    this.slug = slug;
    this.#at = { ...slug };
  }

  /** Throws a TrackerError. */
  async request<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<Answer<T>> {
    try {
      return await this.client.request(route, { ...this.#at, ...parameters }, schema, signal);
    } catch (error) {
      throw await this.explainMove(error, signal);
    }
  }

  /** The same, conditional: null when nothing changed since the answer that had this `etag`. */
  async requestIfChanged<T>(
    route: string,
    parameters: Parameters,
    schema: z.ZodType<T>,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<Answer<T> | null> {
    try {
      return await this.client.requestIfChanged(route, { ...this.#at, ...parameters }, schema, etag, signal);
    } catch (error) {
      throw await this.explainMove(error, signal);
    }
  }

  /** The address that the service answers with; null: it answers with something else. */
  async locate(route: string, parameters: Parameters, signal: AbortSignal): Promise<string | null> {
    try {
      return await this.client.locate(route, { ...this.#at, ...parameters }, signal);
    } catch (error) {
      throw await this.explainMove(error, signal);
    }
  }

  /** A redirect of one path means that this thing is gone from here; one of the repository, that all of them are. */
  async explainMove(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof MovedError)) return error;
    try {
      await readRepository(this.client, this.slug, signal);
    } catch (renamed) {
      return renamed;
    }
    const what = refusal(GITHUB_CODES.issue_moved, { repository: formatSlug(this.slug), said: error.message });
    return new TrackerError('refused', what, { cause: error, status: 410 });
  }
}
