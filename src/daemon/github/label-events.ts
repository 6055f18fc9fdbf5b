// Cache of the last event that put a label on an issue, kept over restarts and revalidated by ETag.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import type { LabelEvent } from '../ports.ts';
import { sameLabel } from '../rules/issue.ts';
import { AnswerCache } from './answer-cache.ts';

export const eventRow = z.object({
  id: z.number(),
  event: z.string(),
  actor: z
    .object({ login: z.string(), type: z.string().default('User') })
    .nullable()
    .optional(),
  label: z.object({ name: z.string() }).nullish(),
});

export type EventPage = {
  readonly etag: string | undefined;
  readonly rows: readonly z.output<typeof eventRow>[];
  readonly last: number;
};

/** Null: unchanged since the answer with this `etag`. */
export type ReadEvents = (
  issue: number,
  page: number,
  etag: string | undefined,
  signal: AbortSignal,
) => Promise<EventPage | null>;

const PER_PAGE = 100;
const KEPT = 1_000;

const kept = z.object({
  page: z.number().int(),
  event: z.object({ id: z.number(), actor: z.object({ login: z.string(), type: z.string() }).nullable() }).nullable(),
});
const file = z.array(z.tuple([z.string(), z.string(), kept]));

/** `page`: number of the last page; the kept ETag belongs to it. */
type Answer = z.output<typeof kept>;

export class LabelEvents {
  readonly #read: ReadEvents;
  /** Null: answers are kept in memory only. */
  readonly #path: string | null;
  readonly #answers = new AnswerCache<Answer>(KEPT);
  #writing: Promise<void> | undefined;
  #isChanged = false;

  constructor(read: ReadEvents, path: string | null) {
    this.#read = read;
    this.#path = path;
    if (path === null) return;
    try {
      const rows = file.parse(JSON.parse(readFileSync(path, 'utf8')));
      for (const [key, etag, value] of rows) this.#answers.set(key, { etag, value });
    } catch {
      // Missing or unreadable: every answer is fetched again.
    }
  }

  /** Null when the service knows no such event. */
  async latest(issue: number, label: string, signal: AbortSignal): Promise<LabelEvent | null> {
    const key = `${issue} ${label.toLowerCase()}`;
    const known = this.#answers.get(key);
    if (known !== undefined && (await this.#read(issue, known.value.page, known.etag, signal)) === null)
      return known.value.event;
    const { page, last, event } = await this.#find(issue, label, signal);
    // Never cache a full page: the next event goes to a new page and leaves this ETag unchanged.
    if (page.etag !== undefined && page.rows.length < PER_PAGE) {
      this.#answers.set(key, { etag: page.etag, value: { page: last, event } });
      this.#isChanged = true;
      this.#writing ??= this.#write();
    }
    return event;
  }

  async #find(issue: number, label: string, signal: AbortSignal) {
    const read = async (page: number): Promise<EventPage> =>
      (await this.#read(issue, page, undefined, signal)) ?? { etag: undefined, rows: [], last: 1 };
    const first = await read(1);
    const { last } = first;
    const newest = last === 1 ? first : await read(last);
    for (let number = last; number >= 1; number--) {
      const page = number === last ? newest : number === 1 ? first : await read(number);
      const row = page.rows.findLast(
        (one) => one.event === 'labeled' && one.label != null && sameLabel(one.label.name, label),
      );
      if (row !== undefined) return { page: newest, last, event: { id: row.id, actor: row.actor ?? null } };
    }
    return { page: newest, last, event: null };
  }

  /** Ignores write errors: the file only saves requests. */
  async #write(): Promise<void> {
    while (this.#isChanged && this.#path !== null) {
      this.#isChanged = false;
      const rows = [...this.#answers.entries()].map(([key, { etag, value }]) => [key, etag, value]);
      const next = `${this.#path}.new`;
      await writeFile(next, JSON.stringify(rows), { mode: 0o600 })
        .then(() => rename(next, this.#path ?? next))
        .catch(() => undefined);
    }
    this.#writing = undefined;
  }

  /** Resolves when the answers are in the file. */
  async written(): Promise<void> {
    await this.#writing;
  }
}
