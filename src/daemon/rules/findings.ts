// Findings of a reviewer, read from its last words.

import { clip, visibleLines } from '../../base/rules/text.ts';

export type Finding = {
  /** Path in the repository; null: it is about no file. */
  readonly file: string | null;
  readonly line: number | null;
  readonly severity: string | null;
  readonly text: string;
};

/** So many findings are kept, and so much of each. */
const MAX_FINDINGS = 50;
const MAX_TEXT = 2_000;
const MAX_NAME = 300;
/** So much is kept of words that are no list. */
const MAX_WORDS = 10_000;

function bare(text: string): Finding {
  return { file: null, line: null, severity: null, text };
}

/** The object that begins at `start`, by its braces outside of texts; null: it does not end. */
function objectAt(text: string, start: number): string | null {
  let depth = 0;
  let isText = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isText) {
      if (char === '\\') at += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return text.slice(start, at + 1);
    }
  }
  return null;
}

/** `cut`: the list does not end. `rest`: what follows it. */
type Found = 'cut' | { readonly findings: readonly unknown[]; readonly rest: string };

/** The last list of findings in a text; null: it has none. An earlier one may be an example or a first thought. */
function lastList(text: string): Found | null {
  const start = [...text.matchAll(/\{\s*"findings"\s*:/g)].at(-1)?.index;
  if (start === undefined) return null;
  const object = objectAt(text, start);
  if (object === null) return 'cut';
  try {
    const value: unknown = JSON.parse(object);
    if (typeof value === 'object' && value !== null && 'findings' in value && Array.isArray(value.findings))
      return { findings: value.findings, rest: text.slice(start + object.length) };
  } catch {
    // It is no list of ours.
  }
  return null;
}

/** Space and the end of a fence. */
const CLOSING = /^[\s`]*$/;

/** The list of the last words. Where these show a part of it alone, it is read from all that was said. */
function listOf(words: string, said: string): readonly unknown[] | null {
  const own = lastList(words);
  if (own !== null && own !== 'cut') return own.findings;
  const isEnd = own === null && !words.includes('"findings"') && /\}[\s`]*$/.test(words);
  if (own === null && !isEnd) return null;
  const whole = lastList(said);
  if (whole === null || whole === 'cut') return null;
  return own === 'cut' || CLOSING.test(whole.rest) ? whole.findings : null;
}

function word(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = clip(visibleLines(value).replaceAll('\n', ' ').trim(), MAX_NAME);
  return text === '' ? null : text;
}

function findingOf(value: unknown): readonly Finding[] {
  const row: Readonly<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : { text: value };
  const said = typeof row.text === 'string' ? row.text : JSON.stringify(value);
  const text = clip(visibleLines(clip(said.trim(), MAX_TEXT)), MAX_TEXT);
  const { line } = row;
  const isLine = typeof line === 'number' && Number.isSafeInteger(line) && line > 0;
  return text === '' ? [] : [{ file: word(row.file), line: isLine ? line : null, severity: word(row.severity), text }];
}

/**
 * What a reviewer found. Words that are no list are one finding, whole; null: it said nothing.
 * @param words its last words, which may be cut
 * @param said all that it said
 */
export function findingsIn(words: string, said: string): readonly Finding[] | null {
  const list = listOf(words, said);
  if (list !== null) {
    const all = list.flatMap(findingOf);
    const more = all.length - MAX_FINDINGS;
    return more > 0 ? [...all.slice(0, MAX_FINDINGS), bare(`${more} more findings are left out.`)] : all;
  }
  const text = clip(visibleLines(clip(words.trim(), MAX_WORDS)), MAX_WORDS);
  if (text === '') return null;
  return /^\W*no findings\W*$/i.test(text) ? [] : [bare(text)];
}
