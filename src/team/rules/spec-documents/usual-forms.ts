// Forms in which models usually write a planner's result, line for line in the one form of docs/spec.md. docs/spec.md lists
// them; every other form stays, and goes back with its line.

import { codeAfter } from './markdown.ts';

const BOLD = String.raw`(?:\*\*|__)?`;
const BULLET = String.raw`(?:[-*+]\s+|\d+[.)]\s+)`;
/** `**R1**: words`, `- **A1 (R1):** words`, `1. R1: words`; a plain `- R1: words` is in form already. */
const ITEM = new RegExp(
  String.raw`^\s*(?:${BULLET})?${BOLD}([RA]\d+)${BOLD}(\s*\([^)]*\))?${BOLD}\s*:\s*${BOLD}\s*(.+?)${BOLD}\s*$`,
);
const MARKED = new RegExp(String.raw`^\s*(?:${BULLET}|\*\*|__)`);
const ROW = /^\s*\|(.*)\|\s*$/;
const RULE = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
const NESTED = /^\s{2,}[-*+]\s+(.+)$/;

function isRequirement(line: string): boolean {
  return /^- R\d+:/.test(line);
}

function plainCell(cell: string): string {
  return cell.trim().replaceAll(/^(?:\*\*|__)|(?:\*\*|__)$/g, '');
}

/** A row of a table as an item: `| R1 | words |`, `| A1 | R1 | words |`; null: it is another row. */
function rowItem(line: string): string | null {
  const [id = '', ...cells] = (ROW.exec(line)?.[1] ?? '').split('|').map(plainCell);
  const [first = '', second, ...more] = cells;
  if (/^R\d+$/.test(id) && first !== '' && second === undefined) return `- ${id}: ${first}`;
  const isScenario = /^A\d+$/.test(id) && /^R\d+(?:, *R\d+)*$/.test(first) && more.length === 0;
  return isScenario && second !== undefined ? `- ${id} (${first}): ${second}` : null;
}

/** Lines outside of code, each with what it becomes; the number of lines stays. */
function mapped(lines: readonly string[], change: (line: string, at: number, done: string[]) => string): string[] {
  const done: string[] = [];
  let code: string | null = null;
  for (const [at, line] of lines.entries()) {
    const isCode = code !== null;
    code = codeAfter(code, line);
    done.push(isCode || code !== null ? line : change(line, at, done));
  }
  return done;
}

/** A bullet below an item is a part of it: joined to the last line that is not empty, where that is such an item. */
function joined(
  words: string | undefined,
  done: string[],
  isItem: (line: string) => boolean,
  separator: string,
): boolean {
  const last = done.findLastIndex((one) => one !== '');
  const item = done[last];
  if (words === undefined || item === undefined || !isItem(item)) return false;
  done[last] = `${item}${/:\s*$/.test(item) ? ' ' : separator}${words}`;
  return true;
}

function nestedWords(line: string): string | undefined {
  return NESTED.exec(line)?.[1];
}

const ANY_HEADING = /^\s{0,3}#{1,6}\s+(.*)$/;

/** The letter of the items that a section of an analyst's result holds; null: it holds none. */
function letterOf(heading: string): 'R' | 'A' | null {
  if (/^requirements\b/i.test(heading)) return 'R';
  return /^(?:acceptance|scenarios)\b/i.test(heading) ? 'A' : null;
}

/** An analyst's result. */
export function usualRequirements(lines: readonly string[]): readonly string[] {
  let letter: 'R' | 'A' | null = null;
  const hasRows = lines.some((line) => rowItem(line) !== null);
  return mapped(lines, (line, at, done) => {
    const [, heading] = ANY_HEADING.exec(line) ?? [];
    if (heading !== undefined) letter = letterOf(heading);
    if (heading !== undefined || letter === null) return line;
    const [, id, about = '', words = ''] = MARKED.test(line) ? (ITEM.exec(line) ?? []) : [];
    const item = id === undefined ? rowItem(line) : `- ${id}${about}: ${words}`;
    if (item === null) {
      // The head of such a table, and the rule below it, say nothing.
      if (hasRows && (RULE.test(line) || RULE.test(lines[at + 1] ?? ''))) return '';
      return letter === 'R' && joined(nestedWords(line), done, isRequirement, '; ') ? '' : line;
    }
    if (!item.startsWith(`- ${letter}`)) return line;
    return letter === 'R' && !/\bshall\b/i.test(item) ? item.replace(/\bmust\b/i, 'shall') : item;
  });
}

const HEADING = new RegExp(
  String.raw`^(\s{0,3}#{1,6})\s+${BOLD}(?:T|task\s+)(\d+)${BOLD}\s*(?:[:–—-]|\.(?=\s))\s*${BOLD}\s*(\S.*?)${BOLD}\s*$`,
  'i',
);
/** As a bullet, in bold, or both: words that only begin so are words. */
const FIELD = new RegExp(
  String.raw`^\s*(?:[-*+]\s+${BOLD}|\*\*|__)(files|domain|owner|depends on|requirements)${BOLD}\s*:\s*${BOLD}\s*(.*)$`,
  'i',
);
const DOMAINS: Readonly<Record<string, string>> = { api: 'backend' };

/** What may stand one bullet each below such a field. */
const PARTS: readonly [field: RegExp, part: RegExp][] = [
  [/^- files:/, /^`[^`]+`$/],
  [/^- depends on:/, /^T\d+$/],
  [/^- requirements:/, /^R\d+$/],
];

function fieldValue(name: string, value: string): string {
  const plain = value.trim();
  if (name === 'owner') return plain.replaceAll(/[`*_]/g, '').replace(/^team-/, '');
  if (name === 'domain') return DOMAINS[plain.toLowerCase()] ?? plain;
  return name === 'depends on' ? plain.replaceAll(/\s*\([^)]*\)/g, '') : plain;
}

/** An architect's result. */
export function usualPlan(lines: readonly string[]): readonly string[] {
  let isTask = false;
  return mapped(lines, (line, _, done) => {
    const [, marks, number = '', subject = ''] = HEADING.exec(line) ?? [];
    if (marks !== undefined) {
      isTask = true;
      return `${marks} T${number}: ${subject}`;
    }
    if (ANY_HEADING.test(line)) isTask = false;
    if (!isTask) return line;
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    if (name !== undefined) return `- ${name.toLowerCase()}: ${fieldValue(name.toLowerCase(), value)}`;
    const words = nestedWords(line);
    const isPart = (item: string) => PARTS.some(([field, part]) => field.test(item) && part.test(words ?? ''));
    return joined(words, done, isPart, ', ') ? '' : line;
  });
}
