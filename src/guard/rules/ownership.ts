// The owners of a project's files: who may change which.

import picomatch from 'picomatch';

/** Paths that nobody changes without a lease for them. */
export const SHARED = 'shared';

/** One owner's patterns: globs over paths from the project's root, with `/` between their parts. */
export type Ownership = { readonly owner: string; readonly patterns: readonly string[] };

/** Whose a path is and by which pattern; `owner` null: nobody's; its first writer gets a lease. */
export type Owned = { readonly owner: string | null; readonly pattern: string | null };

/** A path from the project's root, `.` and `..` resolved; null when it is the root itself or leads out of it. */
export function insideProject(path: string): string | null {
  if (path.startsWith('/') || path.includes('\0')) return null;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.length === 0 ? null : parts.join('/');
}

/** How much of a pattern stands before its first wildcard. */
function literalLength(pattern: string): number {
  return picomatch.scan(pattern).base.length;
}

/** Whether the pattern says something of the file's name, and not of its place alone. */
function namesFiles(pattern: string): boolean {
  return !/(?:^|\/)\*+$/.test(pattern);
}

/** Whether the pattern may match at any depth. */
function isDeep(pattern: string): boolean {
  return pattern.includes('**');
}

/** Whether all brackets of a glob are closed. An empty glob is balanced: other checks refuse it. */
export function isBalancedGlob(glob: string): boolean {
  try {
    if (glob !== '') picomatch.makeRe(glob, { strictBrackets: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a path is a directory or lies in it. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/** Tells for many paths whether a pattern matches. Any char may be in a name, a line break too. */
export function matcherOf(pattern: string): (path: string) => boolean {
  const matches = picomatch(pattern, { dot: true, flags: 's' });
  return (path) => matches(path);
}

/** One pattern of an owner. */
type OwnedPattern = { readonly owner: string; readonly pattern: string };

/**
 * All patterns, so that the first one that matches decides: one that names files counts more than one that names a place, then
 * the one with the longer beginning without wildcards, then one without `**`, then the earlier one.
 */
export function patternsByPrecedence(ownership: readonly Ownership[]): readonly OwnedPattern[] {
  const all = ownership.flatMap(({ owner, patterns }) => patterns.map((pattern) => ({ owner, pattern })));
  return all.sort(
    ({ pattern: one }, { pattern: other }) =>
      Number(namesFiles(other)) - Number(namesFiles(one)) ||
      literalLength(other) - literalLength(one) ||
      Number(isDeep(one)) - Number(isDeep(other)),
  );
}

/** Finds the owner of a path, as `insideProject` gives it. */
export function ownerOf(path: string, ownership: readonly Ownership[]): Owned {
  // Any char may be in a name, a line break too.
  const isMatch = ({ pattern }: OwnedPattern) => picomatch.isMatch(path, pattern, { dot: true, flags: 's' });
  return patternsByPrecedence(ownership).find(isMatch) ?? { owner: null, pattern: null };
}
