// The state as a frame of events: what is not a list by its name, each row by its list and its key.

import type { StateView } from '../daemon/view.ts';
import { LISTS } from '../daemon/view-page.ts';
import type { Frame } from './feed.ts';
import { type IssueId, issuePlace } from './issue-place.ts';

const ROWS: ReadonlySet<string> = new Set(['generated_at', ...LISTS]);

export function stateFrame(view: StateView): Frame {
  const keyOf = (row: IssueId) => issuePlace(row, view.repositories !== undefined).key;
  const rows: readonly (readonly [string, unknown])[] = [
    ...(['running', 'retrying', 'asking', 'following', 'queued'] as const).flatMap((list) =>
      view[list].map((row) => [`${list}/${keyOf(row)}`, row] as const),
    ),
    ...view.completed.map((row) => [`completed/${keyOf(row)}-${row.finished_at}`, row] as const),
  ];
  const others = Object.entries(view).filter(([key]) => !ROWS.has(key));
  return new Map([...others, ...rows].map(([key, value]) => [key, JSON.stringify(value)]));
}
