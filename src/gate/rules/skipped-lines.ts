// Lines of tests that are not run, in languages whose blocks their indentation tells: Python, Go and Rust.

/** Lines from `from` to `to`, counted from 1, both included. */
export type Lines = {
  readonly from: number;
  readonly to: number;
  /** The one among them that skips a test; missing: they are a comment. */
  readonly mark?: number;
};

type Rule = {
  readonly files: RegExp;
  /** Above what it skips, beside other such lines. */
  readonly above: RegExp | null;
  /** Inside of what it skips. */
  readonly within: RegExp;
  /** What such a line has to stand in directly: anything else makes it a matter of circumstances. */
  readonly holder: RegExp;
  /** Lines that belong to what stands below them. */
  readonly lead: RegExp;
  /** A test that was made a comment. */
  readonly comment: RegExp;
};

const RULES: readonly Rule[] = [
  {
    files: /\.py$/,
    above: /^\s*@(?:pytest\.mark\.|mark\.|unittest\.)?skip\b/,
    within: /^\s*(?:pytest\.skip|self\.skipTest)\(/,
    holder: /^\s*(?:async\s+)?def\s/,
    lead: /^\s*[@#]/,
    comment: /^\s*#\s*(?:(?:async\s+)?def\s+test|class\s+Test|@pytest\.)/,
  },
  {
    files: /\.go$/,
    above: null,
    within: /^\s*\w+\.Skip(?:Now|f)?\(/,
    holder: /\bfunc\b.*\{\s*$/,
    lead: /^\s*\/\//,
    comment: /^\s*\/\/\s*(?:func\s+Test|\w+\.Run\()/,
  },
  {
    files: /\.rs$/,
    above: /^\s*#\[ignore\b/,
    within: /^(?!)/,
    holder: /\bfn\s/,
    lead: /^\s*(?:\/\/|#\[)/,
    comment: /^\s*\/\/\s*(?:#\[test\]|(?:async\s+)?fn\s)/,
  },
];

/** All tests of a file. */
const WHOLE = /^pytestmark\s*=.*\bmark\.skip\b/;

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Where the block that begins at an index ends: before what is indented no further, which a brace closes. */
function endOf(lines: readonly string[], start: number): number {
  const indent = indentOf(lines[start] ?? '');
  const next = lines.findIndex((line, at) => at > start && line.trim() !== '' && indentOf(line) <= indent);
  if (next === -1) return lines.length - 1;
  return /^\s*[)}\]]/.test(lines[next] ?? '') ? next : next - 1;
}

/** Lines of a file that say nothing of what is shown: tests that are skipped, and such as are comments. */
export function skippedLines(path: string, text: string): readonly Lines[] {
  const rule = RULES.find(({ files }) => files.test(path));
  if (rule === undefined) return [];
  const lines = text.split(/\r?\n/);
  const whole = rule.holder === RULES[0]?.holder ? lines.findIndex((line) => WHOLE.test(line)) : -1;
  if (whole !== -1) return [{ from: 1, to: lines.length, mark: whole + 1 }];
  const found: Lines[] = [];
  for (const [at, line] of lines.entries()) {
    if (rule.comment.test(line)) found.push({ from: at + 1, to: at + 1 });
    const isAbove = rule.above?.test(line) === true;
    const start = isAbove ? below(lines, at, rule) : rule.within.test(line) ? around(lines, at) : -1;
    if (start === -1 || (!isAbove && !rule.holder.test(lines[start] ?? ''))) continue;
    let from = isAbove ? at : start;
    while (from > 0 && rule.lead.test(lines[from - 1] ?? '')) from -= 1;
    found.push({ from: from + 1, to: endOf(lines, start) + 1, mark: at + 1 });
  }
  return found;
}

/** What stands below the lines that belong to it; a call over several lines goes on where it is indented. */
function below(lines: readonly string[], at: number, { lead }: Rule): number {
  const indent = indentOf(lines[at] ?? '');
  return lines.findIndex(
    (line, index) => index > at && indentOf(line) <= indent && !lead.test(line) && !/^\s*[)\]]?\s*$/.test(line),
  );
}

function around(lines: readonly string[], at: number): number {
  const indent = indentOf(lines[at] ?? '');
  return lines.findLastIndex((line, index) => index < at && line.trim() !== '' && indentOf(line) < indent);
}
