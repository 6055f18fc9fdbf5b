// What a repository shows of a text: for each of its lines, the files that it is about.

import { type Area, subjectOf } from './areas.ts';
import { type Concept, conceptsOf, type Entry, type PathIndex } from './path-index.ts';
import { type Match, withSiblings } from './sibling-tests.ts';
import { hintedBy, hintsOf, isOfSecurity } from './vocabulary.ts';
import { stem, termsOfPart, termsOfText, weightOf } from './words.ts';

export type Evidence = {
  /** Files to change, tests left out; by path. */
  readonly sources: readonly Match[];
  /** Tests beside them, and tests that the text is about. */
  readonly tests: readonly Match[];
  /** Areas that are shown by what itself stays as it is, like migrations: a word of theirs. */
  readonly settled: ReadonlyMap<Area, string>;
  /** The folder that most of the text is about. */
  readonly module: string | null;
  /** The files of each line, in the order of the lines. */
  readonly byLine: readonly (readonly string[])[];
};

/** Of the best file for a word, others count that come this close. */
const CLOSE = 0.8;
const LEAST = 0.25;
/** A word with more files than this in it names a part of the repository, no files. */
const BROAD = 8;
/** What the title says counts for each line, half. */
const CONTEXT = 0.5;
/** One line of a text changes at most so many sources: the best. */
export const LINE_MAX = 6;
const OTHER_MODULE = 0.5;
/** A file with less than this share of the words that the best file of a line has is there by chance. */
const BY_CHANCE = 0.5;
/** A word in a file's name and one in its folder. */
const TWO_WORDS = 1.6;
/** So much of the text is about one folder that it counts as the place of the change. */
const MODULE_SHARE = 0.5;

type Line = {
  readonly concepts: readonly Concept[];
  readonly hinted: ReadonlySet<Area>;
  readonly scores: ReadonlyMap<number, number>;
  /** How many of the words each file has, rare or not. */
  readonly counts: ReadonlyMap<number, number>;
  /** Words about who may do what. */
  readonly isGuarded: boolean;
};

type Place = {
  readonly index: PathIndex;
  readonly module: string | null;
  readonly isMeant: (entry: Entry) => boolean;
  /** Files that guard something. */
  readonly guards: readonly number[];
};

function isCode({ area }: Entry): boolean {
  return area !== 'tests' && area !== 'documentation';
}

/** @param title what is said of the whole; it gives each line its context */
export function findEvidence(title: string, lines: readonly string[], index: PathIndex): Evidence {
  const titleConcepts = conceptsOf(termsOfText(title), index);
  const text = [title, ...lines].join('\n');
  const module = mainModule(text, index);
  const hints = hintsOf(text);
  // Pages and scripts have the words of the code that they are about; they change when they are asked for.
  const isMeant = ({ area }: Entry) => (area !== 'documentation' && area !== 'infrastructure') || hints.has(area);
  const isGuard = (entry: Entry) => isCode(entry) && !entry.isSettled && isOfSecurity(entry.path);
  const guards = hints.has('security')
    ? [...index.entries.entries()].filter(([, entry]) => isGuard(entry)).map(([id]) => id)
    : [];
  const place = { index, module, isMeant, guards };
  const words = new Map<number, Set<string>>();
  const settled = new Map<Area, string>();
  const byLine: (readonly string[])[] = [];
  for (const line of lines) {
    const read = readLine(line, titleConcepts, place);
    const kept = filesOf(read, place);
    const paths: string[] = [];
    for (const [id, shown] of kept) {
      const entry = index.entries[id];
      if (entry === undefined) continue;
      if (entry.isSettled) {
        // One word may be the name of all that stands around it; two side by side are about the same thing.
        const isHinted = read.hinted.size === 0 || read.hinted.has(entry.area);
        if (isCode(entry) && isHinted && shown.includes(' ')) settled.set(entry.area, settled.get(entry.area) ?? shown);
        continue;
      }
      words.set(id, (words.get(id) ?? new Set()).add(shown));
      paths.push(entry.path);
    }
    byLine.push(paths.sort());
  }
  if (module !== null)
    for (const [id, entry] of index.entries.entries())
      if (isHub(entry, module) && settled.has(entry.area) && !words.has(id)) words.set(id, new Set([module]));
  const matches = [...words]
    .sort(([a], [b]) => a - b)
    .flatMap(([id, shown]) => {
      const entry = index.entries[id];
      return entry === undefined ? [] : [{ path: entry.path, area: entry.area, words: [...shown].sort() }];
    });
  const sources = matches.filter((one) => one.area !== 'tests');
  const tests = matches.filter((one) => one.area === 'tests');
  return { sources, tests: withSiblings(sources, tests, index), settled, module, byLine };
}

/** The module that the text names, or else the one that has most of what its words are found in; null when none has half of it. */
function mainModule(text: string, index: PathIndex): string | null {
  const said = new Set(termsOfText(text).words);
  const modules = new Set(
    index.entries.flatMap((entry) => (isCode(entry) && entry.module !== null ? [entry.module] : [])),
  );
  const named = [...modules].filter((module) => {
    const { words } = termsOfPart(module);
    return words.length > 0 && words.every((word) => said.has(word));
  });
  if (named.length > 0) return named.length === 1 ? (named[0] ?? null) : null;
  const shares = new Map<string, number>();
  let all = 0;
  for (const { files } of conceptsOf(termsOfText(text), index)) {
    const code = [...files].filter(([id]) => {
      const entry = index.entries[id];
      return entry !== undefined && isCode(entry);
    });
    const weight = Math.max(0, ...code.map(([, score]) => score));
    if (code.length > 0) all += weight;
    for (const [id] of code) {
      const module = index.entries[id]?.module ?? null;
      if (module !== null) shares.set(module, (shares.get(module) ?? 0) + weight / code.length);
    }
  }
  const [best] = [...shares].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  return best !== undefined && best[1] >= MODULE_SHARE * all ? best[0] : null;
}

function readLine(line: string, title: readonly Concept[], { index, module }: Place): Line {
  const concepts = conceptsOf(termsOfText(line), index);
  const own = new Set(concepts.map((one) => one.word));
  const scores = new Map<number, number>();
  const counts = new Map<number, number>();
  const add = (all: readonly Concept[], factor: number) => {
    for (const { files, weight, isPair } of all)
      for (const [id, score] of files) {
        scores.set(id, (scores.get(id) ?? 0) + score * factor);
        counts.set(id, (counts.get(id) ?? 0) + (score / weight) * (isPair ? 2 : 1) * factor);
      }
  };
  add(concepts, 1);
  add(
    title.filter((one) => !own.has(one.word)),
    CONTEXT,
  );
  if (module !== null)
    for (const [id, score] of scores) {
      const other = index.entries[id]?.module ?? null;
      if (other === null || other === module) continue;
      scores.set(id, score * OTHER_MODULE);
      counts.set(id, (counts.get(id) ?? 0) * OTHER_MODULE);
    }
  const hinted = new Set<Area>();
  const hints = hintsOf(line);
  for (const area of hints.keys())
    if (area !== 'security' && area !== 'tests' && area !== 'documentation' && index.areas.has(area)) hinted.add(area);
  return { concepts, hinted, scores, counts, isGuarded: hints.has('security') };
}

/** The files that a line is about, each with the word that led to it: for each word the best and those close to it. */
function filesOf({ concepts, hinted, scores, counts, isGuarded }: Line, place: Place): ReadonlyMap<number, string> {
  const { index, module } = place;
  const kept = new Map<number, string>();
  const scoreOf = (id: number) => scores.get(id) ?? 0;
  for (const isTest of [false, true]) {
    const isOfKind = (id: number) => (index.entries[id]?.area === 'tests') === isTest;
    const highest = Math.max(0, ...[...counts].map(([id, count]) => (isOfKind(id) ? count : 0)));
    const fewest = BY_CHANCE * highest;
    // The file that has the most of the words is meant wherever it is.
    const isMost = (id: number) => highest >= TWO_WORDS && (counts.get(id) ?? 0) >= highest;
    const isEnough = (id: number) => scoreOf(id) >= LEAST && (counts.get(id) ?? 0) >= fewest;
    for (const concept of concepts) {
      const ofKind = [...concept.files.keys()].filter(
        (id) => isOfKind(id) && isEnough(id) && leadsTo(concept, id, hinted, place),
      );
      const candidates = ofKind.filter(
        (id) => isTest || hinted.size === 0 || isIn(hinted, index.entries[id]) || isMost(id),
      );
      // Each part that is hinted at has a best file of its own.
      const partOf = (id: number) => (hinted.size === 0 ? undefined : index.entries[id]?.area);
      const most = new Map<Area | undefined, number>();
      for (const id of candidates) most.set(partOf(id), Math.max(most.get(partOf(id)) ?? 0, scoreOf(id)));
      const close = candidates.filter((id) => scoreOf(id) >= CLOSE * (most.get(partOf(id)) ?? 0));
      if (close.filter((id) => index.entries[id]?.isSettled === false).length > BROAD) continue;
      for (const id of close) if (!kept.has(id)) kept.set(id, concept.shown);
    }
  }
  const shown = new Set([...kept.keys()].flatMap((id) => inModule(index.entries[id], module)));
  const silent = new Set([...hinted].filter((area) => !shown.has(area)));
  for (const [id, word] of [...hubsOf(silent, module, index), ...(isGuarded ? guardsOf(hinted, place) : [])])
    if (!kept.has(id)) kept.set(id, word);
  return best(kept, scoreOf, index);
}

function best(
  kept: ReadonlyMap<number, string>,
  scoreOf: (id: number) => number,
  index: PathIndex,
): ReadonlyMap<number, string> {
  const sorted = [...kept].sort(([a], [b]) => scoreOf(b) - scoreOf(a) || a - b);
  const isFree = (id: number) => index.entries[id]?.area === 'tests' || index.entries[id]?.isSettled === true;
  const sources = sorted.filter(([id]) => !isFree(id)).slice(0, LINE_MAX);
  return new Map([...sources, ...sorted.filter(([id]) => isFree(id))]);
}

/** A word of every program leads to files of just that name, and in the folder that all is about; one that says where, there alone. */
function leadsTo(
  { word, isPair }: Concept,
  id: number,
  hinted: ReadonlySet<Area>,
  { index, module, isMeant }: Place,
): boolean {
  const entry = index.entries[id];
  if (entry === undefined || !isMeant(entry)) return false;
  if (isPair) return true;
  const domain = hintedBy(word);
  const isWhere =
    domain !== undefined && domain !== 'security' && domain !== 'infrastructure' && index.areas.has(domain);
  const weight = weightOf(word);
  // Whoever does something is nobody's file, but what is kept of them is.
  if (weight === 'none' && !(entry.area === 'database' && hinted.has('database'))) return false;
  if (weight === 'full' && !isWhere) return true;
  return module === null ? stem(subjectOf(entry.path)) === word : entry.module === module;
}

function inModule(entry: Entry | undefined, module: string | null): readonly Area[] {
  return entry === undefined || entry.isSettled || module === null || entry.module !== module ? [] : [entry.area];
}

/** Where the text is about one folder and hints at a part of it that none of its words are found in: its usual files. */
function hubsOf(
  hinted: ReadonlySet<Area>,
  module: string | null,
  index: PathIndex,
): readonly (readonly [number, string])[] {
  if (module === null) return [];
  return [...index.entries.entries()].flatMap(([id, entry]) =>
    isHub(entry, module) && hinted.has(entry.area) ? [[id, module] as const] : [],
  );
}

/** Where it is said who may do what, files that guard something are meant, unless there are many of them. */
function guardsOf(hinted: ReadonlySet<Area>, { guards, index }: Place): readonly (readonly [number, string])[] {
  const here = guards.filter((id) => hinted.size === 0 || isIn(hinted, index.entries[id]));
  return here.length > BROAD ? [] : here.map((id) => [id, 'security'] as const);
}

function isIn(areas: ReadonlySet<Area>, entry: Entry | undefined): boolean {
  return entry !== undefined && areas.has(entry.area);
}

// Where a module's parts come together, by the usual names.
const HUB = /^(?:models?|views|forms|urls|routes?|controllers?|handlers?|services?|schema|index)\.\w+$/;

function isHub({ path, module, isSettled }: Entry, wanted: string): boolean {
  const parts = path.split('/');
  return !isSettled && module === wanted && parts.at(-2) === wanted && HUB.test(parts.at(-1) ?? '');
}
