// The parts of a repository that a piece of work touches: its files, its domains, and whether it is critical.

import { type Area, areaOf } from './areas.ts';
import type { Evidence } from './evidence.ts';
import type { NamedPath } from './named-path.ts';
import type { PathIndex } from './path-index.ts';
import type { Match } from './sibling-tests.ts';
import {
  type CriticalFeature,
  criticalHintsOf,
  type DomainName,
  type Hints,
  isOfFeature,
  isOfSecurity,
} from './vocabulary.ts';

export type Domain = { readonly name: DomainName; readonly why: string; readonly files: readonly string[] };

export type Critical = { readonly feature: CriticalFeature; readonly why: string } | null;

const SOURCES_MAX = 40;
const SHOWN = 3;
/** Of tests, at least so many, and for a source so many; for a text that asks for tests so many times that. */
export const TESTS = { least: 2, perSource: 0.5, askedFor: 3 } as const;

/** Whether files of an area are what a program consists of. */
export function isCode(area: Area): boolean {
  return area !== 'tests' && area !== 'documentation' && area !== 'infrastructure';
}

export type Touched = Match & { readonly isNamed: boolean };

/** What is named, what the evidence leads to, and tests of it; each bounded. By path. */
export function filesToChange(
  named: readonly NamedPath[],
  evidence: Evidence,
  index: PathIndex,
  hints: Hints,
): readonly Touched[] {
  const all = new Map<string, Touched>();
  const areas = new Map(index.entries.map(({ path, area }) => [path, area]));
  const paths = [...areas.keys()];
  for (const { named: word, files } of named)
    for (const path of files)
      all.set(path, { path, area: areas.get(path) ?? areaOf(path, paths), words: [word], isNamed: true });
  for (const match of evidence.sources.slice(0, SOURCES_MAX))
    if (!all.has(match.path)) all.set(match.path, { ...match, isNamed: false });
  const most = Math.max(TESTS.least, Math.ceil(all.size * TESTS.perSource)) * (hints.has('tests') ? TESTS.askedFor : 1);
  const tests = evidence.sources.length === 0 ? [] : evidence.tests.slice(0, most);
  for (const match of tests) if (!all.has(match.path)) all.set(match.path, { ...match, isNamed: false });
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

const DOMAINS: readonly DomainName[] = [
  'backend',
  'frontend',
  'database',
  'security',
  'tests',
  'design',
  'infrastructure',
  'documentation',
  'core',
];

/** An area of its own accord: what its files say is enough. Tests and pages follow code, so they are a domain when asked for. */
function countsByFiles(name: DomainName): boolean {
  return name !== 'tests' && name !== 'documentation' && name !== 'security';
}

/** A hint alone is none: it takes files, or a second hint for an area that is there. */
export function domainsOf(
  touched: readonly Touched[],
  { settled }: Evidence,
  hints: Hints,
  index: PathIndex,
): readonly Domain[] {
  return DOMAINS.flatMap((name): readonly Domain[] => {
    const own = touched.filter((one) => (name === 'security' ? isOfSecurity(one.path) : one.area === name));
    const files = own.map((one) => one.path);
    const hinted = hints.get(name) ?? [];
    const namedFiles = own.filter((one) => one.isNamed && name !== 'security').map((one) => one.path);
    if (namedFiles.length > 0) return [{ name, files, why: `named: ${some(namedFiles)}` }];
    const hint = hinted.map((one) => `"${one}"`).join(', ');
    if (files.length > 0 && (countsByFiles(name) || hinted.length > 0))
      return [{ name, files, why: `${hint === '' ? '' : `${hint} and `}${some(files)}` }];
    const passed = name === 'security' ? undefined : settled.get(name);
    if (passed !== undefined && countsByFiles(name))
      return [{ name, files, why: `"${passed}" in what it holds already` }];
    const isThere = name === 'security' ? index.entries.some((one) => isOfSecurity(one.path)) : index.areas.has(name);
    const isNew = index.entries.every((one) => !isCode(one.area));
    if (hinted.length >= 2 && (isThere || isNew)) return [{ name, files, why: `${hint}, two hints at once` }];
    return [];
  });
}

/** The first few of a list, in words. */
export function some(files: readonly string[]): string {
  const shown = files.slice(0, SHOWN).join(', ');
  return files.length > SHOWN ? `${shown} and ${files.length - SHOWN} more` : shown;
}

const FEATURES: readonly CriticalFeature[] = ['payment', 'authentication', 'user data'];

/** A word for it with a file that is called so, or two words: a feature that is new has no files that are called so. */
export function criticalOf(text: string, files: readonly string[]): Critical {
  const hints = criticalHintsOf(text);
  for (const feature of FEATURES) {
    const words = hints.get(feature) ?? [];
    if (words.length === 0) continue;
    const shown = words.map((one) => `"${one}"`).join(', ');
    const file = files.find((one) => isOfFeature(one, feature));
    if (file !== undefined) return { feature, why: `${shown} and ${file}` };
    if (words.length >= 2) return { feature, why: `${shown}, two hints at once` };
  }
  return null;
}
