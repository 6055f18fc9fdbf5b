// Unified diffs of changed files.

const CONTEXT = 3;
/** Larger files are reported by their size: nobody reads a bundle line by line. */
const MAX_BYTES = 100_000;
const MAX_LINE = 2_000;

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Diff by the table of longest common subsequences; short enough, since the equal beginning and end are cut off. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (old !== undefined && old === fresh) {
      lines.push({ sign: ' ', text: old });
      i += 1;
      j += 1;
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: '-', text: old });
      i += 1;
    } else {
      lines.push({ sign: '+', text: fresh ?? '' });
      j += 1;
    }
  }
  return lines;
}

function allLines(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const same = (text: string): Line => ({ sign: ' ', text });
  return [
    ...before.slice(0, head).map(same),
    ...compare(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

function hunk(lines: readonly Line[], from: number, to: number): string {
  const start = (sign: '-' | '+') => {
    const before = lines.slice(0, from).filter((line) => line.sign === ' ' || line.sign === sign).length;
    const count = lines.slice(from, to).filter((line) => line.sign === ' ' || line.sign === sign).length;
    return `${sign}${count === 0 ? before : before + 1},${count}`;
  };
  const body = lines.slice(from, to).map(({ sign, text }) => {
    const whole = text.endsWith('\n') ? text : `${text}\n\\ No newline at end of file\n`;
    return `${sign}${whole}`;
  });
  return `@@ ${start('-')} ${start('+')} @@\n${body.join('')}`;
}

function hunks(lines: readonly Line[]): string {
  const touched = lines.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  let result = '';
  for (let index = 0; index < touched.length; ) {
    const first = touched[index] ?? 0;
    let last = first;
    for (; index < touched.length && (touched[index] ?? 0) <= last + 2 * CONTEXT; index++)
      last = touched[index] ?? last;
    result += hunk(lines, Math.max(0, first - CONTEXT), Math.min(lines.length, last + CONTEXT + 1));
  }
  return result;
}

/** Whether it can be read line by line. */
function isReadable(text: string): boolean {
  return !text.includes('\0') && text.length <= MAX_BYTES && linesOf(text).every((line) => line.length <= MAX_LINE);
}

/** Length of a file in lines; in bytes when it cannot be read line by line. */
export function lengthOf(content: Buffer): string {
  const text = content.toString('utf8');
  if (!isReadable(text)) return `${content.length} bytes`;
  const { length } = linesOf(text);
  return `${length} ${length === 1 ? 'line' : 'lines'}`;
}

/** @param before null: no file; `after` null: none afterwards */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const head = `--- ${before === null ? '/dev/null' : `a/${path}`}\n+++ ${after === null ? '/dev/null' : `b/${path}`}\n`;
  const texts = [before ?? '', after ?? ''];
  if (!texts.every(isReadable)) return `${head}(${texts.map((text) => Buffer.byteLength(text)).join(' → ')} bytes)\n`;
  return `${head}${hunks(allLines(linesOf(before ?? ''), linesOf(after ?? '')))}`;
}
