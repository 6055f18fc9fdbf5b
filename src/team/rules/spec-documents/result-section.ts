// The section of spec.md in which a sync says what is met: the next one replaces it.

import { codeAfter } from './markdown.ts';

export const RESULT_HEADING = 'Result of the sync';

/** Where the section begins and ends among the lines; null: there is none. */
function placeOf(lines: readonly string[]): { readonly from: number; readonly to: number } | null {
  let from: number | null = null;
  let code: string | null = null;
  for (const [index, line] of lines.entries()) {
    code = codeAfter(code, line);
    if (code !== null) continue;
    if (from === null && line.trim() === `## ${RESULT_HEADING}`) from = index;
    else if (from !== null && /^ {0,3}#{1,2}\s/.test(line)) return { from, to: index };
  }
  return from === null ? null : { from, to: lines.length };
}

/** The text without the section. */
export function withoutResult(text: string): string {
  const lines = text.split('\n');
  const place = placeOf(lines);
  if (place === null) return text;
  const before = lines.slice(0, place.from).join('\n').trimEnd();
  const after = lines.slice(place.to).join('\n');
  return after.trim() === '' ? `${before}\n` : `${before}\n\n${after}`;
}

/** The text with these lines as its section, in the place of the one before, else at its end. */
export function withResult(text: string, result: readonly string[]): string {
  const lines = text.split('\n');
  const section = [`## ${RESULT_HEADING}`, '', ...result, ''];
  const place = placeOf(lines);
  if (place === null) return `${text.trimEnd()}\n\n${section.join('\n')}`;
  const after = lines.slice(place.to);
  const isLast = after.every((line) => line.trim() === '');
  return [...lines.slice(0, place.from), ...section, ...(isLast ? [] : after)].join('\n');
}
