// The page of the lists that a request asks for.

import { refusal } from '../base/rules/codes.ts';
import { HTTP_CODES } from '../daemon/rules/codes/http-codes.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, type Page, parseCursor } from '../daemon/view-page.ts';
import type { Refused } from './access-control.ts';
import type { OutputAsked } from './source.ts';
import { COLUMNS } from './text-table.ts';

function bad(parameter: string, expected: string, got: string): Refused {
  return { status: 400, why: refusal(HTTP_CODES.bad_request, { parameter, expected, got }) };
}

/** Reads `?limit` and `?after`; a refusal when one of them is none. */
export function pageOf(url: string | undefined, limit: number): Page | Refused {
  const query = new URL(url ?? '/', 'http://here').searchParams;
  const wanted = query.get('limit');
  if (wanted !== null && (!/^[1-9]\d{0,3}$/.test(wanted) || Number(wanted) > LIMIT_MAX))
    return bad('limit', `a whole number from 1 to ${LIMIT_MAX}`, wanted);
  const cursor = query.get('after');
  const after = cursor === null ? null : parseCursor(cursor);
  if (after === undefined) return bad('after', 'a cursor of "next" in /api/v1/state', cursor ?? '');
  return { limit: wanted === null ? limit : Number(wanted), after };
}

const COLUMNS_MIN = 40;
const COLUMNS_MAX = 1000;

/** Reads `?columns`, the width of the terminal that asks; a refusal when it is none. */
export function columnsOf(url: string | undefined): number | Refused {
  const wanted = new URL(url ?? '/', 'http://here').searchParams.get('columns');
  if (wanted === null) return COLUMNS;
  const columns = /^\d{1,4}$/.test(wanted) ? Number(wanted) : 0;
  if (columns < COLUMNS_MIN || columns > COLUMNS_MAX)
    return bad('columns', `a whole number from ${COLUMNS_MIN} to ${COLUMNS_MAX}`, wanted);
  return columns;
}

/** Whether events keep it fresh. */
export function isFirstPage({ limit, after }: Page): boolean {
  return limit === LIMIT_DEFAULT && after === null;
}

/** Reads `?of` and `?from` of an output; a refusal when one of them is none. */
export function outputOf(url: string | undefined): OutputAsked | Refused {
  const query = new URL(url ?? '/', 'http://here').searchParams;
  const [of, from] = [query.get('of') ?? undefined, query.get('from') ?? undefined];
  if (of !== undefined && !/^\d{1,9}-\d{1,9}$/.test(of)) return bad('of', 'an attempt as <life>-<attempt>', of);
  if (from !== undefined && !/^\d{1,12}$/.test(from)) return bad('from', 'a number of bytes', from);
  return { of, from: from === undefined ? undefined : Number(from) };
}
