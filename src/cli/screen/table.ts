// Lines and tables that fit a terminal: columns shrink, or are left out, before a line gets too wide.

import { breakColumns, clipColumns, displayWidth, padColumns } from '../../base/display-width.ts';

export type Paint = (text: string) => string;
/** A piece of a line in one colour. Its text holds no control characters. */
export type Span = { readonly text: string; readonly paint?: Paint };
export type Line = readonly Span[];

export type Column = {
  /** It never takes more than this, nor, when the line is too wide, less than `min` (default: what it needs). */
  readonly max?: number;
  readonly min?: number;
  /** It takes the space that is left. */
  readonly grow?: true;
  /** Left out when the line is too wide even so; the lowest number first. */
  readonly drop?: number;
  readonly align?: 'right';
};

const GAP = 2;

type Sized = { readonly column: Column; readonly index: number; width: number };

function total(columns: readonly Sized[]): number {
  return columns.reduce((sum, { width }) => sum + width, 0) + GAP * Math.max(0, columns.length - 1);
}

function leastOf({ column, width }: Sized): number {
  return Math.min(width, column.min ?? width);
}

/** A growing column holds the words that matter: it stays so many times as wide as others. */
const GROWN = 3;

/** Takes from the widest that may shrink, column by column, until the line fits. */
function shrink(columns: readonly Sized[], width: number): void {
  for (let over = total(columns) - width; over > 0; over = total(columns) - width) {
    const able = columns.filter((one) => one.width > leastOf(one));
    const share = ({ column, width: taken }: Sized) => (column.grow === true ? taken / GROWN : taken);
    const [widest] = able.sort((one, other) => share(other) - share(one));
    if (widest === undefined) return;
    widest.width -= 1;
  }
}

/** The columns that are shown, with their widths. */
function sized(rows: readonly Line[], columns: readonly Column[], width: number): readonly Sized[] {
  let shown: readonly Sized[] = columns.flatMap((column, index) => {
    const needed = Math.max(0, ...rows.map((row) => displayWidth(row[index]?.text ?? '')));
    return needed === 0 && column.grow !== true
      ? []
      : [{ column, index, width: Math.min(needed, column.max ?? needed) }];
  });
  const least = (all: readonly Sized[]) => total(all.map((one) => ({ ...one, width: leastOf(one) })));
  while (least(shown) > width) {
    const [out] = shown
      .filter(({ column }) => column.drop !== undefined)
      .sort((one, other) => (one.column.drop ?? 0) - (other.column.drop ?? 0));
    if (out === undefined) break;
    shown = shown.filter((one) => one !== out);
  }
  shrink(shown, width);
  const growing = shown.find(({ column }) => column.grow === true);
  if (growing !== undefined) growing.width += Math.max(0, width - total(shown));
  return shown;
}

/** Rows of one span a column as lines of at most `width` columns. */
export function tableLines(rows: readonly Line[], columns: readonly Column[], width: number): readonly Line[] {
  const shown = sized(rows, columns, width);
  return rows.map((row) =>
    shown.flatMap(({ column, index, width: room }, place) => {
      const { text = '', paint } = row[index] ?? {};
      const cell = padColumns(clipColumns(text, room), room, column.align === 'right' ? 'left' : 'right');
      const span = paint === undefined ? { text: cell } : { text: cell, paint };
      return place === 0 ? [span] : [{ text: ' '.repeat(GAP) }, span];
    }),
  );
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** `left`, and `right` at the right edge where there is room for it. */
export function spread(left: Line, right: Line, width: number): Line {
  const room = width - lineWidth(left) - lineWidth(right);
  return room < 1 ? left : [...left, { text: ' '.repeat(room) }, ...right];
}

/** The spans one after the other behind `head`, in further lines where one is full. */
export function flow(head: Span, spans: readonly Span[], width: number): readonly Line[] {
  const lines: Span[][] = [[head]];
  for (const span of spans) {
    const last = lines.at(-1) ?? [];
    const isFull = lineWidth(last) + GAP + displayWidth(span.text) > width;
    if (isFull && last.length > 1) lines.push([{ text: ' '.repeat(GAP) }, span]);
    else last.push({ text: ' '.repeat(GAP) }, span);
  }
  return lines;
}

/** The words in lines of at most `width` columns; a word that is longer is broken. */
export function wrap(text: string, width: number): readonly string[] {
  // Not wrap-ansi: it normalizes text, so a file name in a printed command would name no file.
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(...breakColumns(word, width));
  }
  return lines;
}

/** As it is printed: cut to `width` columns, painted, without spaces at its end. */
export function printed(line: Line, width: number): string {
  let room = width;
  const spans = line.map(({ text, paint }) => {
    const cut = clipColumns(text, room);
    // Nothing follows an ellipsis, even where a wide character left a column free.
    room = cut === text ? room - displayWidth(cut) : 0;
    return { text: cut, paint };
  });
  while (spans.at(-1)?.text.trimEnd() === '') spans.pop();
  return spans
    .map(({ text, paint }, index) => {
      const end = index === spans.length - 1 ? text.trimEnd() : text;
      return paint?.(end) ?? end;
    })
    .join('');
}
