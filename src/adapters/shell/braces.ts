// `{a,b}` and `{1..3}` of a word, as raw text before anything else is expanded.

import { TooMuch } from './reader.ts';

const MOST_WORDS = 2_000;

/** The end of a quoted span that starts at `at`, or `at` when none does. */
function skipQuoted(text: string, at: number): number {
  const first = text[at];
  if (first === '\\') return Math.min(at + 2, text.length);
  if (first === "'") return endOf(text, at + 1, "'");
  if (first !== '"') return at;
  for (let index = at + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '"') return index + 1;
  }
  return text.length;
}

function endOf(text: string, from: number, quote: string): number {
  const index = text.indexOf(quote, from);
  return index === -1 ? text.length : index + 1;
}

/** What stands between the commas of `{…}` at its own level. */
function alternatives(inner: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < inner.length; ) {
    const after = skipQuoted(inner, index);
    if (after > index) {
      index = after;
      continue;
    }
    const sign = inner[index];
    if (sign === '{') depth += 1;
    else if (sign === '}') depth -= 1;
    else if (sign === ',' && depth === 0) {
      found.push(inner.slice(start, index));
      start = index + 1;
    }
    index += 1;
  }
  return [...found, inner.slice(start)];
}

const NUMBERS = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/;
const LETTERS = /^([A-Za-z])\.\.([A-Za-z])$/;

function numbers(inner: string): readonly string[] | null {
  const match = NUMBERS.exec(inner);
  if (match === null) return null;
  const [, first = '', last = '', by] = match;
  const [from, to] = [Number(first), Number(last)];
  const step = Math.abs(Number(by ?? 1)) || 1;
  if (Math.abs(to - from) / step > MOST_WORDS) throw new TooMuch(`{${inner}} is more than ${MOST_WORDS} words`);
  const isPadded = [first, last].some((text) => /^-?0\d/.test(text));
  const width = isPadded ? Math.max(first.length, last.length) : 0;
  const found: string[] = [];
  for (let at = from; from <= to ? at <= to : at >= to; at += from <= to ? step : -step) {
    const digits = String(Math.abs(at)).padStart(width - (at < 0 ? 1 : 0), '0');
    found.push(at < 0 ? `-${digits}` : digits);
  }
  return found;
}

function letters(inner: string): readonly string[] | null {
  const match = LETTERS.exec(inner);
  const from = match?.[1]?.charCodeAt(0);
  const to = match?.[2]?.charCodeAt(0);
  if (from === undefined || to === undefined) return null;
  const count = Math.abs(to - from) + 1;
  return Array.from({ length: count }, (_, index) => String.fromCharCode(from + (from <= to ? index : -index)));
}

/**
 * The raw texts that a `{…}` stands for; null when that cannot be told from its text.
 * @param text from the opening to the closing brace
 */
export function braceAlternatives(text: string): readonly string[] | null {
  const inner = text.slice(1, -1);
  if (!text.startsWith('{') || !text.endsWith('}') || /[$`(]/.test(inner)) return null;
  const parts = alternatives(inner);
  if (parts.length > 1) return parts;
  return numbers(inner) ?? letters(inner);
}

/** Ends the reading when braces make too many words. */
export function isTooMany(count: number): boolean {
  return count > MOST_WORDS;
}

export function checkWordCount(count: number): void {
  if (isTooMany(count)) throw new TooMuch(`a word becomes more than ${MOST_WORDS} words`);
}
