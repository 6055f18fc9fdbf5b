// Project files that tool output names, and source files that a failing test is about.

import { areaOf, subjectOf } from '../../guard/rules/areas.ts';

export function isTestPath(path: string): boolean {
  return areaOf(path, []) === 'tests';
}

const IN_PATH = /[\w./@~+-]/;

/** Positions of a whole path in a text, not as a part of another path. */
function placesOf(path: string, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    const before = text.slice(0, at).replace(/(?<![\w./@~+-])(?:\.\/)+$/, '');
    const after = text.slice(at + path.length);
    if (!IN_PATH.test(before.slice(-1)) && !/^(?:[\w/@~+-]|\.\w)/.test(after)) places.push(at);
  }
  return places;
}

/** Whether a line number follows the path, or parentheses at the end of the text enclose it, as for a failing test. */
function isPlace(path: string, at: number, text: string): boolean {
  const after = text.slice(at + path.length);
  return /^[:(]\d/.test(after) || (text[at - 1] === '(' && /^\)\s*$/.test(after));
}

function wholePath(text: string, files: readonly string[]): string | null {
  const found = files.flatMap((path) =>
    text.includes(path) ? placesOf(path, text).map((at) => ({ path, at, isPlace: isPlace(path, at, text) })) : [],
  );
  const [first] = found.sort(
    (a, b) => Number(b.isPlace) - Number(a.isPlace) || a.at - b.at || b.path.length - a.path.length,
  );
  return first?.path ?? null;
}

/** Whether `end` is a suffix of whole path segments: `users.ts` is none of `src/old-users.ts`. */
function endsWith(path: string, end: string): boolean {
  return path === end || path.endsWith(`/${end}`);
}

/** File of a path that is relative to a package's directory (if only one file matches), or below a Go module's name. */
function partOfPath(text: string, files: readonly string[]): string | null {
  const words = text
    .split(/[\s()'"`,;:<>=|]+/)
    .map((word) => word.replace(/^(?:\.\/)+/, ''))
    .filter((word) => /\w\.\w/.test(word) && !/^[/~]|^\.\.\/|(?:^|\/)node_modules\//.test(word));
  for (const word of words) {
    const longer = files.filter((path) => endsWith(path, word));
    if (longer.length === 1) return longer[0] ?? null;
    const [shorter] = files.filter((path) => endsWith(word, path)).sort((a, b) => b.length - a.length);
    if (longer.length === 0 && shorter !== undefined) return shorter;
  }
  return null;
}

/** File that a line of tool output names, as in `shouts (test/greet.test.js:7:1)`; null: none of these. */
export function fileIn(text: string, files: readonly string[]): string | null {
  return wholePath(text, files) ?? partOfPath(text, files);
}

function foldersOf(path: string): readonly string[] {
  return path.split('/').slice(0, -1);
}

/** Length of the longest common subsequence of two folder lists. */
function sharedFolders(one: readonly string[], other: readonly string[]): number {
  let row: readonly number[] = new Array<number>(other.length + 1).fill(0);
  for (const folder of one) {
    const next = [0];
    for (const [index, name] of other.entries())
      next.push(folder === name ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Sources that a test may be about: files with its subject in their names, the most similar folders first. */
export function sourcesOf(test: string, files: readonly string[]): readonly string[] {
  const subject = subjectOf(test);
  const folders = foldersOf(test);
  const shared = (path: string) => sharedFolders(folders, foldersOf(path));
  return files
    .filter((path) => path !== test && !isTestPath(path) && subjectOf(path) === subject)
    .sort((a, b) => shared(b) - shared(a) || a.length - b.length);
}
