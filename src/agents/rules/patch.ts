// Unified diffs in the text of an issue, for the runtime `patch`.

const OPENING = /^( {0,8}|\s*(?:[-*+]|\d+[.)])\s+)(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/;
const DIFF_LANGUAGES = ['diff', 'patch', 'udiff'];

/** Whether a block without a language is a diff all the same. */
function looksLikeDiff(text: string): boolean {
  return /^diff --git /m.test(text) || /^--- \S.*\n\+\+\+ \S/m.test(text);
}

/**
 * The contents of all fenced code blocks that hold a unified diff, in order, each ending with a newline: blocks marked
 * `diff`, `patch` or `udiff`, and unmarked ones that look like one. Line ends are LF; a fence's indentation is taken off.
 */
export function findDiffs(markdown: string): string[] {
  const found: string[] = [];
  let block:
    | { readonly fence: string; readonly indent: number; readonly language: string; readonly lines: string[] }
    | undefined;
  for (const line of markdown.replace(/\r\n?/g, '\n').split('\n')) {
    if (block === undefined) {
      const match = OPENING.exec(line);
      if (match !== null)
        block = {
          indent: (match[1] ?? '').length,
          fence: match[2] ?? '',
          language: (match[3] ?? '').toLowerCase(),
          lines: [],
        };
      continue;
    }
    const closing = /^\s*(`{3,}|~{3,})\s*$/.exec(line)?.[1];
    if (closing !== undefined && closing[0] === block.fence[0] && closing.length >= block.fence.length) {
      const text = `${block.lines.join('\n')}\n`;
      if (DIFF_LANGUAGES.includes(block.language) || (block.language === '' && looksLikeDiff(text))) found.push(text);
      block = undefined;
      continue;
    }
    const strip = Math.min(block.indent, line.length - line.trimStart().length);
    block.lines.push(line.slice(strip));
  }
  return found.filter((text) => text.trim() !== '');
}

const OLD_FILE = /^--- a\/([^\t]+)/;

/** The files that a diff changes, by their old names; those that it makes are left out. */
export function changedFiles(diff: string): string[] {
  return diff.split('\n').flatMap((line) => OLD_FILE.exec(line)?.[1] ?? []);
}

/** The diff with CR LF at the ends of the lines of those files: the text of an issue has lost it. */
export function withCrlf(diff: string, files: ReadonlySet<string>): string {
  let wanted = false;
  let inHunk = false;
  const lines = diff.split('\n');
  return lines
    .map((line, index) => {
      const next = lines[index + 1];
      if (line.startsWith('diff --git ') || (line.startsWith('--- ') && next?.startsWith('+++ ') === true)) {
        inHunk = false;
        wanted = files.has(OLD_FILE.exec(line)?.[1] ?? '');
      } else if (line.startsWith('@@ ')) inHunk = true;
      else if (wanted && inHunk && next !== undefined && !next.startsWith('\\')) {
        if (line === '') return ' \r';
        if (/^[ +-]/.test(line)) return `${line}\r`;
      }
      return line;
    })
    .join('\n');
}
