// Paths and globs that a text names, found in a repository or among what its members own.

import picomatch from 'picomatch';
import { insideProject, type Ownership, ownerOf } from './ownership.ts';

export type NamedPath = {
  /** As the text has it. */
  readonly named: string;
  /** What it means: files that are there, or the one that would be made. */
  readonly files: readonly string[];
  readonly isThere: boolean;
};

// A glob from a text becomes a regular expression: longer ones, or ones with more wildcards, are nobody's honest path.
const GLOB_MAX = 200;
const WILDCARDS_MAX = 6;

function isGlob(word: string): boolean {
  return /[*?{[]/.test(word);
}

function candidatesOf(text: string): readonly string[] {
  const words = (text.match(/[\w@.*?{},[\]()$+~/-]+/g) ?? []).filter((word) => /[./]/.test(word));
  const plain = words.map((word) => word.replace(/^[(]+|[).,:;!?]+$/g, '').replace(/^\.\//, ''));
  // A name that no prose has: `update_index`, `TransactionList`.
  const names = text.match(/\b(?:\w+_\w+|\p{Lu}?\p{Ll}+(?:\p{Lu}\p{Ll}+)+)\b/gu) ?? [];
  return [
    ...new Set([...plain.filter((word) => /[\w*]/.test(word) && /[./]/.test(word) && !word.includes('//')), ...names]),
  ].sort();
}

/** @param mentioned further paths that are meant, however the text words it */
export function namedPaths(
  text: string,
  files: readonly string[],
  ownership: readonly Ownership[],
  mentioned: readonly string[] = [],
): readonly NamedPath[] {
  const known = new Set(files);
  return [...new Set([...mentioned, ...candidatesOf(text)])].flatMap((named): readonly NamedPath[] => {
    const there = matching(named, files, known);
    if (there.length > 0) return [{ named, files: there, isThere: true }];
    const inside = insideProject(named);
    const isNew =
      inside !== null &&
      !isGlob(named) &&
      /\/[\w.-]+\.\w+$/.test(named) &&
      (ownerOf(inside, ownership).owner !== null || hasFolder(inside, files));
    return isNew ? [{ named, files: [inside], isThere: false }] : [];
  });
}

function hasFolder(path: string, files: readonly string[]): boolean {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return files.some((file) => file.startsWith(folder));
}

function matching(named: string, files: readonly string[], known: ReadonlySet<string>): readonly string[] {
  if (known.has(named)) return [named];
  if (isGlob(named)) {
    const wildcards = named.match(/[*?[{]/g)?.length ?? 0;
    if (!/[/.]/.test(named) || !/\w/.test(named) || named.length > GLOB_MAX || wildcards > WILDCARDS_MAX) return [];
    const isMatch = picomatch(named, { dot: true, noextglob: true });
    return files.filter((file) => isMatch(file));
  }
  const folder = named.endsWith('/') ? named : `${named}/`;
  if (named.includes('/')) {
    const inside = files.filter((file) => file.startsWith(folder));
    if (inside.length > 0) return inside;
  }
  const ends = files.filter((file) =>
    /\.\w+$/.test(named)
      ? file.endsWith(`/${named}`)
      : file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, '') === named,
  );
  return ends.length === 1 ? ends : [];
}
