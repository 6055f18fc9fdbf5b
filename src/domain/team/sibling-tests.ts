// The tests that change with a source: those that are called like it, in its part of the repository.

import { type Area, subjectOf } from './areas.ts';
import type { Entry, PathIndex } from './path-index.ts';

/** A file with the words that led to it. */
export type Match = { readonly path: string; readonly area: Area; readonly words: readonly string[] };

/** Tests of the sources first, those nearer to the root before others; then what else the text's words lead to. */
export function withSiblings(sources: readonly Match[], tests: readonly Match[], index: PathIndex): readonly Match[] {
  const bySubject = new Map<string, Entry[]>();
  for (const entry of index.entries)
    if (entry.area === 'tests' && !entry.isSettled) {
      const subject = subjectOf(entry.path);
      bySubject.set(subject, [...(bySubject.get(subject) ?? []), entry]);
    }
  const modules = new Map(index.entries.map((entry) => [entry.path, entry.module]));
  const siblings = new Map<string, Match>();
  for (const { path, words } of sources) {
    const module = modules.get(path) ?? null;
    const general = module === null ? [] : (bySubject.get('tests') ?? []);
    for (const test of [...(bySubject.get(subjectOf(path)) ?? []), ...general])
      if (test.module === null || module === null ? isBeside(test.path, path) : test.module === module)
        siblings.set(test.path, { path: test.path, area: test.area, words });
  }
  const depth = ({ path }: Match) => path.split('/').length;
  const nearest = [...siblings.values()].sort((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1));
  const here = new Set([null, ...sources.map(({ path }) => modules.get(path) ?? null)]);
  const others = tests.filter((one) => !siblings.has(one.path) && here.has(modules.get(one.path) ?? null));
  return [...nearest, ...others].sort((a, b) => Number(isData(a.path)) - Number(isData(b.path)));
}

/** In the same part of the repository, or in a folder of tests for all of it. */
function isBeside(test: string, source: string): boolean {
  const [folder = ''] = test.split('/');
  return folder === source.split('/')[0] || /^(?:tests?|__tests__|specs?|cypress|playwright|e2e)$/.test(folder);
}

function isData(path: string): boolean {
  return /\.(?:json|ya?ml|csv|txt|md)$/.test(path);
}
