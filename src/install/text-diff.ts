// Unified diffs of changed files.

import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';

/** Larger files are reported by their size: nobody reads a bundle line by line. */
const MAX_BYTES = 100_000;
const MAX_LINE = 2_000;
/** Lines removed and added together; the time of a comparison grows with the square of it. */
const MAX_EDITS = 2_000;

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Whether it can be read line by line. */
function isReadable(text: string): boolean {
  return !text.includes('\0') && text.length <= MAX_BYTES && linesOf(text).every((line) => line.length <= MAX_LINE);
}

/** Length of a file in lines; in bytes when it cannot be read line by line. */
export function lengthText(content: Buffer): string {
  const text = content.toString('utf8');
  if (!isReadable(text)) return `${content.length} bytes`;
  const { length } = linesOf(text);
  return `${length} ${length === 1 ? 'line' : 'lines'}`;
}

/** @param before null: no file; `after` null: none afterwards */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const names = [before === null ? '/dev/null' : `a/${path}`, after === null ? '/dev/null' : `b/${path}`] as const;
  const texts = [before ?? '', after ?? ''] as const;
  const isOneSided = before === null || after === null;
  const compare = (old: string, fresh: string) =>
    createTwoFilesPatch(...names, old, fresh, undefined, undefined, {
      context: 3,
      headerOptions: FILE_HEADERS_ONLY,
      maxEditLength: isOneSided ? Number.POSITIVE_INFINITY : MAX_EDITS,
    });
  const patch = texts.every(isReadable) ? compare(...texts) : undefined;
  return patch ?? `${compare('', '')}(${texts.map((text) => Buffer.byteLength(text)).join(' → ')} bytes)\n`;
}
