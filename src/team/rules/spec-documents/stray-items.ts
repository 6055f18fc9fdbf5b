// Lines that look like an item of a document without being one in its form: read over, they would be lost without a word.

import type { Refusal } from '../../../base/rules/codes.ts';
import { got } from '../../../base/rules/text.ts';
import { earsForm } from './ears.ts';
import type { Block } from './markdown.ts';
import { wrongForm } from './problem.ts';

type Kind = {
  /** The letter of its ids. */
  readonly letter: 'R' | 'T' | 'A';
  /** What other documents write in place of the letter. */
  readonly others: readonly string[];
  readonly word: string;
  readonly form: string;
  /** Whether words are those of an item, whatever stands before them. */
  readonly isItem: (words: string) => boolean;
};

export const REQUIREMENT: Kind = {
  letter: 'R',
  others: ['REQ', 'FR', 'NFR'],
  word: 'requirement',
  form: 'a requirement like "- R1: The system shall <response>"',
  isItem: (words) => earsForm(words) !== null,
};
export const TASK: Kind = {
  letter: 'T',
  others: [],
  word: 'task',
  form: 'a task like "## T1: Store the owner"',
  isItem: () => false,
};
export const SCENARIO: Kind = {
  letter: 'A',
  others: [],
  word: 'scenario',
  form: 'a scenario like "- A1 (R1): Given …, when …, then …"',
  isItem: (words) => /^given\b/i.test(words),
};

/** A line that is no item of the document. */
export type OtherLine = {
  readonly text: string;
  readonly line: number;
  readonly isHeading: boolean;
  /** What only an item has stands below it. */
  readonly hasFields?: boolean;
};

/** The lines of a block that are no item by themselves; a quotation says words. */
export function othersOf(block: Block): readonly OtherLine[] {
  const { kind, text, line } = block;
  if (kind === 'heading') return [{ text: `${'#'.repeat(block.level)} ${text}`, line, isHeading: true }];
  if (kind === 'prose') return [{ text, line, isHeading: false }];
  return kind === 'item' ? block.lines.slice(1).map((one) => ({ ...one, isHeading: false })) : [];
}

/** What may stand before the number: of a list, of a table, of emphasis. */
const MARKS = String.raw`^(?:\d+[.)]\s+|[-*+•]\s+|\|\s*|#+\s+)?(?:\[[ x]\]\s+)?[*_\x60[(]*`;
const NUMBER = String.raw`0*(\d+(?:\.\d+)*)(?!\w)[*_\x60\])]*`;
const ABOUT = String.raw`\s*(?:\([^)]*\))?[*_\x60]*`;
const END = String.raw`(?::|[.)|](?=[\s*_]|$)|\s*[–—]|\s-(?=\s))[*_\x60]*\s*`;

/** The id and the words of a line that begins like an item; null: it begins otherwise. */
function begins({ letter, others, word, isItem }: Kind, { text, isHeading }: OtherLine) {
  const start = `${MARKS}(?:(${[letter, ...others].join('|')})[-_]?|${word}\\s*#?)${NUMBER}${ABOUT}`;
  const separated = new RegExp(`${start}${END}(.*)$`, 'is').exec(text);
  const [, own = letter, number = '', words = ''] =
    separated ?? new RegExp(`${start}(?:\\s+(.*))?$`, 'is').exec(text) ?? [];
  if (number === '') return null;
  if (!isHeading && (separated === null ? !isItem(words) : words === '')) return null;
  return { id: `${own.toUpperCase()}${number}`, words };
}

/** Whether a line has both the number and the words of an item. */
export function isNumberedItem(kind: Kind, line: OtherLine): boolean {
  const found = begins(kind, line);
  return found !== null && kind.isItem(found.words);
}

export function looksLike(kind: Kind, heading: string): boolean {
  return begins(kind, { text: heading, line: 1, isHeading: true }) !== null;
}

/** The lines that look like an item; one that speaks of an item that there is says something about that. */
export function strayItems(kind: Kind, lines: readonly OtherLine[], known: ReadonlySet<string>): readonly OtherLine[] {
  return lines.filter((line) => {
    const found = begins(kind, line);
    return found !== null && (!known.has(found.id) || line.hasFields === true || kind.isItem(found.words));
  });
}

export function strayItem({ form }: Kind, { text }: OtherLine): Refusal {
  return wrongForm(form, got(text));
}
