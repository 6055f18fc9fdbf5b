// Patterns that could match a path, told by how they begin: to compile one takes longer than most hooks have time for.

import type { Ownership } from './ownership.ts';

/** What of a pattern stands for itself, from its beginning. */
function literalBeginning(pattern: string): string {
  // `./` before a path means nothing.
  return pattern.startsWith('./') ? '' : (/^[^*?[\](){}!+@|\\]*/.exec(pattern)?.[0] ?? '');
}

function couldMatch(path: string, pattern: string): boolean {
  const beginning = literalBeginning(pattern);
  // `src/**` is `src` as well.
  return path.startsWith(beginning) || `${path}/` === beginning;
}

/** The same ownership, as far as it can have a say about that path. */
export function nearPatterns(path: string, ownership: readonly Ownership[]): readonly Ownership[] {
  return ownership.map(({ owner, patterns }) => ({
    owner,
    patterns: patterns.filter((pattern) => couldMatch(path, pattern)),
  }));
}
