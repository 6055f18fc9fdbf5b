// The little Markdown that SPEC documents are made of: front matter, headings, items with the lines that go on with them, quotes.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';

export type Field = { readonly key: string; readonly value: string; readonly line: number };

export type Line = { readonly text: string; readonly line: number };

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string; readonly line: number }
  /** `lines`: without the mark of the list, the first one included. */
  | { readonly kind: 'item'; readonly text: string; readonly line: number; readonly lines: readonly Line[] }
  | { readonly kind: 'quote'; readonly text: string; readonly line: number }
  | { readonly kind: 'prose'; readonly text: string; readonly line: number };

export type Markdown = {
  /** Null: there is none, or it is not closed. */
  readonly front: readonly Field[] | null;
  /** Code is left out. */
  readonly blocks: readonly Block[];
  /** Where code begins that nothing closes; null: there is none. */
  readonly unclosed: number | null;
};

const ITEM = /^\s*[-*+]\s+(\S.*)$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const QUOTE = /^> ?(.*)$/;

/**
 * The marks of the block of code that is open behind a line; null: none is.
 * @param open those of the block that is open before it
 */
export function codeAfter(open: string | null, line: string): string | null {
  const [, marks = '', more = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (marks === '') return open;
  if (open === null) return marks.startsWith('`') && more.includes('`') ? null : marks;
  return marks.startsWith(open) && more.trim() === '' ? null : open;
}

/** What is wrong with code that nothing closes. */
export function unclosedCode(): Refusal {
  return refusal(SPEC_CODES.spec_code_block_open, {});
}

/** The value of a line of front matter: plain, or in the quotes of YAML. */
function unquoted(value: string): string {
  if (/^".*"$/s.test(value)) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value.slice(1, -1);
    }
  }
  return /^'.*'$/s.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value;
}

/** How many lines front matter takes, its marks included; 0 where there is none. */
function frontLength(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0;
  return lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---') + 1;
}

function fieldsOf(lines: readonly string[]): readonly Field[] {
  return lines.flatMap((text, index) => {
    const [found, key = '', value = ''] = /^([A-Za-z_]+):[ \t]*(.*?)[ \t]*$/.exec(text) ?? [];
    return found === undefined ? [] : [{ key, value: unquoted(value), line: index + 2 }];
  });
}

/** Reads a document; lines are counted from 1. Never throws. */
export function readMarkdown(text: string): Markdown {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n?|\n/);
  const length = frontLength(lines);
  const blocks: Block[] = [];
  let open: { readonly kind: 'item' | 'quote'; readonly at: number } | null = null;
  let code: string | null = null;
  let unclosed: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (index < length) continue;
    const number = index + 1;
    const before: string | null = code;
    code = codeAfter(before, line);
    if (before === null && code !== null) unclosed = number;
    if (before !== null || code !== null || line.trim() === '') {
      open = null;
      continue;
    }
    const [, marks = '', heading = ''] = HEADING.exec(line) ?? [];
    const item = ITEM.exec(line)?.[1]?.trim();
    const quote = QUOTE.exec(line)?.[1];
    const last = open === null ? undefined : blocks[open.at];
    if (marks !== '') {
      blocks.push({ kind: 'heading', level: marks.length, text: heading.trim(), line: number });
      open = null;
    } else if (item !== undefined) {
      blocks.push({ kind: 'item', text: item, line: number, lines: [{ text: item, line: number }] });
      open = { kind: 'item', at: blocks.length - 1 };
    } else if (open !== null && last?.kind === 'quote' && quote !== undefined) {
      blocks[open.at] = { ...last, text: `${last.text}\n${quote}` };
    } else if (open !== null && last?.kind === 'item' && /^\s/.test(line)) {
      const more = { text: line.trim(), line: number };
      blocks[open.at] = { ...last, text: `${last.text} ${more.text}`, lines: [...last.lines, more] };
    } else if (quote !== undefined) {
      blocks.push({ kind: 'quote', text: quote, line: number });
      open = { kind: 'quote', at: blocks.length - 1 };
    } else {
      blocks.push({ kind: 'prose', text: line.trim(), line: number });
      open = null;
    }
  }
  return {
    front: length === 0 ? null : fieldsOf(lines.slice(1, length - 1)),
    blocks,
    unclosed: code === null ? null : unclosed,
  };
}

/** Words in one line: what separates them is one space each, and nothing unseen breaks the line. */
export function asWords(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029\uFEFF]+/gu, ' ').trim();
}

/** Words in lines: only line feeds break them, and none stands at the begin or the end. */
export function asParagraph(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map(asWords)
    .join('\n')
    .trim();
}

/** Lines that say a paragraph and nothing else, whatever its words are; none for an empty one. */
export function quoteOf(text: string): readonly string[] {
  const clean = asParagraph(text);
  return clean === '' ? [] : [...clean.split('\n').map((line) => `> ${line}`.trimEnd()), ''];
}

/** A value for front matter: as it is, where YAML takes it for text, else in quotes. */
export function frontValue(text: string): string {
  const clean = asWords(text);
  return /^[A-Za-z][\w ,.()/-]*$/.test(clean) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(clean)
    ? clean
    : JSON.stringify(clean);
}

/** Text as code, which no backtick in it ends. */
export function codeSpan(text: string): string {
  const clean = asWords(text);
  const longest = Math.max(0, ...(clean.match(/`+/g) ?? []).map((run) => run.length));
  const ticks = '`'.repeat(longest + 1);
  const space = clean.startsWith('`') || clean.endsWith('`') ? ' ' : '';
  return `${ticks}${space}${clean}${space}${ticks}`;
}

/** Pieces of code in a line; without any, what stands between its commas. */
export function codeSpans(text: string): readonly string[] {
  const spans = [...text.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g)].map(([, , inner = '']) => inner.trim());
  const pieces = spans.length > 0 ? spans : text.split(/,(?![^{]*\})/).map((one) => one.trim());
  return pieces.filter((one) => one !== '');
}
