// Text from outside, made safe to show: control characters visible, lengths bounded.

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\x1b' };

// Control characters (Cc), and the format characters (Cf) and separators that reorder or hide text on a screen. The
// zero-width joiner stays: emoji are made with it.
const UNSEEN = /(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const UNSEEN_BUT_LINES = /(?![\u200d\n\t])[\p{Cc}\p{Cf}]/gu;

function escapeChar(char: string): string {
  const named = NAMED[char];
  if (named !== undefined) return named;
  const code = char.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** Makes every control character visible, line breaks included: for one line of a log or a table. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escapeChar);
}

/** The same for text of several lines: line breaks and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSEEN_BUT_LINES, escapeChar);
}

/** Cuts to at most `max` characters, the last being an ellipsis when something was cut; never through a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = max - 1;
  const code = text.charCodeAt(end - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`;
}

/** The lines of a message as one line. A line that ends with a colon is followed by a space, each other one by "; " in place of its full stop. */
export function joinLines(text: string): string {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .reduce(
      (all, line) =>
        all === '' ? line : `${all.replace(/([^.])\.$/, '$1')}${/[:;,?!]$/.test(all) ? ' ' : '; '}${line}`,
      '',
    );
}

/** A message of several lines where there is room for one: joined, and every control character that is left visible. */
export function asLine(text: string): string {
  return visible(joinLines(text));
}

/**
 * A list of problems in one line of about `max` characters: its first line, as many of the others as fit, how many there are
 * more, and its last line.
 */
export function problemsInLine(text: string, max = 600): string {
  const [head = '', ...lines] = text.split('\n');
  const last = lines.pop() ?? '';
  let fitting = 0;
  for (let length = `${head}; ${last}`.length; fitting < lines.length; fitting += 1) {
    length += 2 + (lines[fitting]?.length ?? 0);
    if (length > max) break;
  }
  const shown = lines.slice(0, Math.max(1, fitting));
  const left = lines.length - shown.length;
  const more = left === 0 ? [] : [`and ${left} more, which \`tool doctor\` names`];
  return asLine([clip(head, max), ...shown.map((line) => clip(line, max)), ...more, last].join('\n'));
}

/** One visible line of at most `max` characters. */
export function oneLine(text: string, max = 200): string {
  return clip(visible(text.trim().replace(/\s*\n\s*/g, ' ')), max);
}

/** The same of words that may say at their end what matters: how they begin, and as much of the end as fits. */
export function headAndTail(text: string, max = 200): string {
  const line = [...oneLine(text, Number.POSITIVE_INFINITY)];
  const head = Math.floor(max / 3);
  return line.length <= max
    ? line.join('')
    : `${line.slice(0, head).join('')} … ${line.slice(head + 3 - max).join('')}`;
}

/** A text as a regular expression that matches it alone. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The last `maxLines` lines of a program's output, each visible and clipped, for an error message. */
export function lastLines(text: string, maxLines = 12, maxWidth = 400): string {
  const lines = visibleLines(text)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  return lines
    .slice(-maxLines)
    .map((line) => clip(line, maxWidth))
    .join('\n');
}

/** A Markdown code fence around `text` that `text` itself cannot close. */
export function fence(text: string, info = 'text'): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${info}\n${text.endsWith('\n') || text === '' ? text : `${text}\n`}${ticks}`;
}

/** A short word for a text, by which others of its kind are told apart (FNV-1a, 32 bits). It hides nothing. */
export function digest(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return (sum >>> 0).toString(36);
}

/** Replaces every occurrence of each secret by `[secret]`. Secrets shorter than 8 characters are left: they would blot out words. */
export function redact(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets) if (secret.length >= 8) result = result.replaceAll(secret, '[secret]');
  return result;
}

/** What came in the place of something else, as it would stand in a file: for the end of an error, at most 80 characters. */
export function got(value: unknown): string {
  if (value === undefined) return 'nothing';
  return clip(visible(JSON.stringify(value) ?? String(value)), 80);
}
