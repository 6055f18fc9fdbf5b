// Pages of the state's lists: a limit, the cursor to go on from, and the cursor of the next page.

export const LISTS = ['running', 'retrying', 'asking', 'following', 'queued', 'completed'] as const;
export type ListName = (typeof LISTS)[number];

export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 1_000;

/** Rows stand by their place, the higher one first; two rows of a list never share one. */
export type RowPosition = readonly [number, number];

export type Page = {
  /** At most so many rows of each list. */
  readonly limit: number;
  /** Only rows of this list, and only those below the place; null: the first page of every list. */
  readonly after: { readonly list: ListName; readonly place: RowPosition } | null;
};

export const FIRST_PAGE: Page = { limit: LIMIT_DEFAULT, after: null };
export const EVERYTHING: Page = { limit: Number.POSITIVE_INFINITY, after: null };

/** undefined when it is no cursor. */
export function parseCursor(text: string): NonNullable<Page['after']> | undefined {
  const [, name, first, second] = /^([a-z]+):(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  const list = LISTS.find((one) => one === name);
  return list === undefined ? undefined : { list, place: [Number(first), Number(second)] };
}

function below(one: RowPosition, other: RowPosition): number {
  return other[0] - one[0] || other[1] - one[1];
}

export type Cut<T> = {
  readonly rows: readonly T[];
  /** The cursor of the next page; null: there is none. */
  readonly next: string | null;
  /** How many rows come after these. */
  readonly more: number;
};

/** The rows of one page of a list. A cursor names a place, so no row is shown twice when others come or go. */
export function cut<T>(
  list: ListName,
  all: readonly T[],
  positionOf: (row: T) => RowPosition,
  { limit, after }: Page,
): Cut<T> {
  if (after !== null && after.list !== list) return { rows: [], next: null, more: 0 };
  const placed = all.map((row) => ({ row, place: positionOf(row) }));
  const open = after === null ? placed : placed.filter(({ place }) => below(after.place, place) < 0);
  const rows = open.sort((one, other) => below(one.place, other.place)).slice(0, limit);
  const more = open.length - rows.length;
  return { rows: rows.map(({ row }) => row), next: nextOf(list, more, rows.at(-1)?.place), more };
}

/** The cursor of the page after a row; null: nothing comes after it. */
export function nextOf(list: ListName, more: number, last: RowPosition | undefined): string | null {
  return more === 0 || last === undefined ? null : `${list}:${last.join('-')}`;
}
