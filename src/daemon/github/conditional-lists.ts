// Lists of several pages, each read by a conditional request: what did not change costs no quota.

import type * as z from 'zod';
import { AnswerCache, etagOf } from './answer-cache.ts';
import type { RepositoryClient } from './repository-client.ts';

const PER_PAGE = 100;
const MOST_PAGES = 10;
/** So many pages are kept. */
const KEPT_PAGES = 500;

export type Listed<T> = {
  readonly rows: readonly T[];
  /** The same as long as no page was read anew. */
  readonly version: string;
};

type Page<T> = { readonly rows: readonly T[]; readonly version: number };

export class ConditionalLists<T> {
  readonly #repository: RepositoryClient;
  readonly #route: string;
  readonly #schema: z.ZodType<readonly T[]>;
  readonly #pages = new AnswerCache<Page<T>>(KEPT_PAGES);
  #read = 0;

  /** @param schema decodes one page */
  constructor(repository: RepositoryClient, route: string, schema: z.ZodType<readonly T[]>) {
    this.#repository = repository;
    this.#route = route;
    this.#schema = schema;
  }

  /** At most 1,000 rows. */
  async read(parameters: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Listed<T>> {
    const pages: Page<T>[] = [];
    // A further page leaves the page before it as it is, so a full page is followed by another request.
    for (let page = 1, isFull = true; isFull && page <= MOST_PAGES; page++) {
      const next = await this.#page({ ...parameters, per_page: PER_PAGE, page }, signal);
      pages.push(next);
      isFull = next.rows.length >= PER_PAGE;
    }
    return { rows: pages.flatMap(({ rows }) => rows), version: pages.map(({ version }) => version).join(' ') };
  }

  async #page(parameters: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Page<T>> {
    const key = JSON.stringify(parameters);
    const known = this.#pages.get(key);
    const answer = await this.#repository.requestIfChanged(this.#route, parameters, this.#schema, known?.etag, signal);
    if (answer === null) return known?.value ?? { rows: [], version: 0 };
    this.#read += 1;
    const value = { rows: answer.data, version: this.#read };
    this.#pages.set(key, { etag: etagOf(answer.headers), value });
    return value;
  }
}
