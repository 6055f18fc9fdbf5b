// The page of the lists that a request asks for.

import { visible } from '../domain/text.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, type Page, parseCursor } from '../engine/daemon/view-page.ts';
import type { Refusal } from './guards.ts';

function refusal(message: string): Refusal {
  return { status: 400, code: 'bad_request', message };
}

/** Reads `?limit` and `?after`; a refusal when one of them is none. */
export function pageOf(url: string | undefined, limit: number): Page | Refusal {
  const query = new URL(url ?? '/', 'http://here').searchParams;
  const wanted = query.get('limit');
  if (wanted !== null && (!/^[1-9]\d{0,3}$/.test(wanted) || Number(wanted) > LIMIT_MAX))
    return refusal(`limit: expected a whole number from 1 to ${LIMIT_MAX}, got ${visible(wanted)}`);
  const cursor = query.get('after');
  const after = cursor === null ? null : parseCursor(cursor);
  if (after === undefined)
    return refusal(`after: expected a cursor of "next" in /api/v1/state, got ${visible(cursor ?? '')}`);
  return { limit: wanted === null ? limit : Number(wanted), after };
}

/** Whether events keep it fresh. */
export function isFirstPage({ limit, after }: Page): boolean {
  return limit === LIMIT_DEFAULT && after === null;
}
