// Display width of text in terminal columns: wide characters take two, combining marks none.

import { createRequire } from 'node:module';
import type stringWidth from 'string-width';

/** Letters that string-width counts as part of the letter before them. Terminals give each a column. */
const JOINED_LETTER = /[\u0e33\u0eb3]|(?<=[\p{M}\u200d])\p{L}/gu;

const load = createRequire(import.meta.url);

/** Characters of one column that join no other: Latin, and signs of our screens. What the others need takes 60 ms to load. */
export const PLAIN = /^[ -~\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02ff‐-―‘-‟•…‹›←-↓─-▟▲▶▸▼◀●○✓✔✖✗]*$/;

function graphemesOf(text: string): Intl.Segments {
  return new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text);
}

function measure(text: string): number {
  const { default: widthOf }: { readonly default: typeof stringWidth } = load('string-width');
  return widthOf(text);
}

/** Columns that the text takes. It must hold no control characters: call `visible` first. */
export function displayWidth(text: string): number {
  return PLAIN.test(text) ? text.length : measure(text.replace(JOINED_LETTER, '\u200b$&'));
}

/** The longest start of the text that fits `max` columns and ends between two characters. */
function startOf(text: string, max: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, max));
  let width = 0;
  for (const { segment, index } of graphemesOf(text)) {
    width += displayWidth(segment);
    if (width > max) return text.slice(0, index);
  }
  return text;
}

/** Cuts to at most `max` columns, never through a character; an ellipsis replaces the rest. */
export function clipColumns(text: string, max: number): string {
  // Not cli-truncate: when the cut falls on a wide character, its result is a column too wide.
  if (max <= 0) return '';
  return displayWidth(text) <= max ? text : `${startOf(text, max - 1)}…`;
}

/** Splits into pieces of at most `max` columns, never through a character. Empty text gives one empty piece. */
export function breakColumns(text: string, max: number): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  do {
    const [first] = graphemesOf(rest);
    const piece = startOf(rest, max) || (first?.segment ?? '');
    pieces.push(piece);
    rest = rest.slice(piece.length);
  } while (rest !== '');
  return pieces;
}

/** Pads with spaces to `width` columns, on the right or on the left. */
export function padColumns(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const fill = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'left' ? `${fill}${text}` : `${text}${fill}`;
}
