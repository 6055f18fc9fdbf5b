// The change between two commits: files with the lines that were added, in all and by each commit.

import { randomUUID } from 'node:crypto';
import { failure } from '../../base/rules/errors.ts';
import { git } from '../../git/git.ts';
import { environmentAt } from '../../git/team-environment.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';

export type AddedLine = { readonly line: number; readonly text: string };

/** `path`: as it is called after the change. */
export type ChangedFile = { readonly path: string; readonly added: readonly AddedLine[] };

/** `commit`: short; null: the difference between the two ends. */
export type Diff = {
  readonly commit: string | null;
  readonly files: readonly ChangedFile[];
  /** The lines that are gone, of files that are gone too. */
  readonly removed: string;
};

/** Where git is asked. */
export type GitSource = {
  readonly root: string;
  readonly signal: AbortSignal;
  /** Where the two ends are trees and no commits: the environment in which git finds them. */
  readonly trees?: Readonly<Record<string, string>>;
};

export type Range = GitSource & { readonly base: string; readonly head: string };

/** How git is run there. */
function optionsOf({ root, signal, trees }: GitSource) {
  return { cwd: root, signal, env: { ...environmentAt(root), ...trees } };
}

/** More is not looked through. */
const MAX_BYTES = 64 * 1024 * 1024;
const LEFT_OUT = /^\[\d+ bytes left out\]$/m;

/** Nothing that the repository itself configures decides what is shown. */
const PLAIN = [
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-renames',
  '--relative',
  '--unified=0',
  '--text',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v' };

/** A path as git writes it: in quotes, with escapes, where it holds what has a meaning. */
export function unquotePath(path: string): string {
  const inner = /^"(.*)"$/.exec(path)?.[1];
  if (inner === undefined) return path.replace(/\t$/, '');
  return inner.replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
    /^\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
}

/** Reads what git prints without context: only lines that a hunk counts are lines. */
export function parseDiff(text: string): Pick<Diff, 'files' | 'removed'> {
  const files: { path: string; added: AddedLine[] }[] = [];
  const gone: string[] = [];
  let line = 0;
  let added = 0;
  let removed = 0;
  for (const row of text.split('\n')) {
    if (added > 0 && row.startsWith('+')) {
      files.at(-1)?.added.push({ line, text: row.slice(1) });
      line += 1;
      added -= 1;
    } else if (removed > 0 && row.startsWith('-')) {
      gone.push(row.slice(1));
      removed -= 1;
    } else if (row.startsWith('+++ ')) {
      const path = unquotePath(row.slice(4));
      if (path.startsWith('b/')) files.push({ path: path.slice(2), added: [] });
    } else {
      const [, before = '1', start, after = '1'] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
      if (start !== undefined) {
        line = Number(start);
        added = Number(after);
        removed = Number(before);
      }
    }
  }
  return { files, removed: gone.join('\n') };
}

/** What git prints of these commits; throws when it is more than is looked through. */
export async function readGit(at: GitSource, args: readonly string[]): Promise<string> {
  const text = await git(['-c', 'core.quotePath=false', ...args], { ...optionsOf(at), maxBytes: MAX_BYTES });
  if (text.length >= MAX_BYTES / 4 && LEFT_OUT.test(text)) throw failure(GATE_CODES.change_too_large, {});
  return text;
}

/** The difference between the two ends: what is there now, and stays. */
export async function readDiff(range: Range): Promise<Diff> {
  const text = await readGit(range, ['diff', ...PLAIN, range.base, range.head, '--']);
  return { commit: null, ...parseDiff(text) };
}

/**
 * What each commit in between added, merges left out, the oldest first: it stays in the history, even when a later one removes
 * it. Between trees there are none.
 */
export async function readCommitDiffs(range: Range): Promise<readonly Diff[]> {
  return range.trees === undefined ? readLog(range, ['--no-merges', '--reverse', `${range.base}..${range.head}`]) : [];
}

/** What each of these commits added; of a merge, what none of its sides has. */
export function readEach(at: GitSource, commits: readonly string[]): Promise<readonly Diff[]> {
  return readLog(at, ['--diff-merges=remerge', '--no-walk=unsorted', ...commits]);
}

async function readLog(at: GitSource, which: readonly string[]): Promise<readonly Diff[]> {
  const mark = `commit-${randomUUID()}`;
  const text = await readGit(at, ['log', `--format=${mark} %h`, '-p', ...PLAIN, ...which, '--']);
  return text
    .split(`${mark} `)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { commit: part.slice(0, end), ...parseDiff(part.slice(end + 1)) };
    });
}
