// Tables and words as lines of text that are no wider than a terminal.

import { clipColumns, displayWidth, padColumns } from '../base/display-width.ts';
import { asLine } from '../base/rules/text.ts';

/** So wide a line may be where nobody says how wide the terminal is. */
export const COLUMNS = 80;
const INDENT = '  ';
const GAP = '  ';

export type Column = {
  readonly title: string;
  readonly max: number;
  /** Where the line is too wide it shrinks, the widest first, to no less than this; without one it never shrinks. */
  readonly min?: number;
  /** Left out where the line is too wide even so; the lowest number first. */
  readonly drop?: number;
};

type Sized = { readonly column: Column; readonly index: number; width: number };

function total(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, INDENT.length - GAP.length);
}

function leastOf({ column, width }: Sized): number {
  return Math.min(width, column.min ?? width);
}

/** The columns that are shown, with their widths. */
function sized(columns: readonly Column[], rows: readonly (readonly string[])[], room: number): readonly Sized[] {
  const all = columns.map((column, index) => {
    const needed = Math.max(displayWidth(column.title), ...rows.map((row) => displayWidth(row[index] ?? '')));
    return { column, index, width: Math.min(needed, column.max) };
  });
  const droppable = all
    .filter(({ column }) => column.drop !== undefined)
    .sort((one, other) => (one.column.drop ?? 0) - (other.column.drop ?? 0));
  const dropped = new Set<Sized>();
  const shown = () => all.filter((one) => !dropped.has(one));
  for (const one of droppable) if (total(shown().map((kept) => ({ width: leastOf(kept) }))) > room) dropped.add(one);
  const kept = shown();
  for (let over = total(kept) - room; over > 0; over--) {
    const [widest] = kept.filter((one) => one.width > leastOf(one)).sort((one, other) => other.width - one.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return kept;
}

/** A table with columns as wide as they need to be and as `room`, if there is a bound, allows; what is longer is cut. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room = Number.POSITIVE_INFINITY,
): readonly string[] {
  const cells = rows.map((row) => columns.map((_, index) => asLine(row[index] ?? '')));
  const shown = sized(columns, cells, room);
  return [columns.map(({ title }) => title), ...cells].map((row) => {
    const texts = shown.map(({ index, width }) => padColumns(clipColumns(row[index] ?? '', width), width));
    return clipColumns(`${INDENT}${texts.join(GAP)}`.trimEnd(), room);
  });
}

/** The words in lines of at most `room` columns; those behind the first begin further in. */
export function wrapped(text: string, room: number, indent = ''): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const start = lines.length === 0 ? indent : `${indent}${INDENT}`;
    const longer = line === '' ? `${start}${word}` : `${line} ${word}`;
    if (line === '' || displayWidth(longer) <= room) {
      line = longer;
      continue;
    }
    lines.push(clipColumns(line, room));
    line = `${indent}${INDENT}${word}`;
  }
  return [...lines, clipColumns(line, room)];
}
