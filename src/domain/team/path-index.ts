// A repository's paths by the words in them, each weighed by how rare it is there.

import { type Area, areasOf, isSettled } from './areas.ts';
import { type Terms, termsOfPart } from './words.ts';

export type Entry = {
  readonly path: string;
  readonly area: Area;
  readonly isSettled: boolean;
  /** The folder that names what the file is about; null where folders only sort by kind. */
  readonly module: string | null;
};

export type PathIndex = {
  readonly entries: readonly Entry[];
  readonly areas: ReadonlySet<Area>;
  /** By a word: the places of the entries that have it, each with how close to the file's name it stands, above 0 to 1.1. */
  readonly places: ReadonlyMap<string, ReadonlyMap<number, number>>;
};

// Folders that say what kind of files they hold; a folder of any other name is taken for a module.
const KINDS =
  /^(?:\.|src$|lib$|libs$|apps?$|packages?$|pkg$|internal$|cmd$|main$|java$|python$|core$|common$|shared$|utils?$|helpers?$|api$|server$|backend$|client$|frontend$|web$|ui$|services?$|controllers?$|routes?$|routers?$|handlers?$|middlewares?$|resolvers?$|graphql$|repositories$|models?$|entities$|db$|database$|migrations?$|prisma$|seeds?$|components$|containers$|pages$|screens$|layouts$|widgets$|hooks$|stores?$|styles$|scss$|css$|js$|mod$|static$|public$|assets$|templates$|templatetags$|includes?$|email$|settings$|config$|conf$|fixtures$|management$|commands$|machines$|types$|tests?$|__tests__$|specs?$|e2e$|cypress$|playwright$|examples?$|scripts?$|build$|design$|tokens$|themes?$|locale$|urls$)/;

function moduleOf(path: string): string | null {
  const folders = path.split('/').slice(0, -1).reverse();
  return folders.find((folder) => !KINDS.test(folder.toLowerCase())) ?? null;
}

const NAME = 1;
/** A name of one word is that word's place more than a name that has it among others. */
const NAME_ALONE = 1.1;
const NEAREST_FOLDER = 0.6;
const FOLDER = 0.4;

export function indexPaths(files: readonly string[]): PathIndex {
  const sorted = [...new Set(files)].sort();
  const areas = areasOf(sorted);
  const entries = sorted.map((path) => ({
    path,
    area: areas.get(path) ?? 'core',
    isSettled: isSettled(path),
    module: moduleOf(path),
  }));
  const places = new Map<string, Map<number, number>>();
  for (const [id, { path }] of entries.entries()) {
    const parts = path.split('/').reverse();
    for (const [depth, part] of parts.entries()) {
      const { words, pairs } = termsOfPart(part);
      const name = words.length === 1 ? NAME_ALONE : NAME;
      const place = depth === 0 ? name : depth === 1 ? NEAREST_FOLDER : FOLDER;
      for (const word of [...words, ...pairs.map((pair) => pair.joined)]) {
        const there = places.get(word) ?? new Map<number, number>();
        there.set(id, Math.max(place, there.get(id) ?? 0));
        places.set(word, there);
      }
    }
  }
  return { entries, areas: new Set(entries.map((one) => one.area)), places };
}

/** Two words that a text and a path have side by side say more than each for itself. */
const PAIR = 1.3;
/** A word in more of a repository's paths than this says nothing of any. */
const TOO_COMMON = 0.35;
const FEW_FILES = 12;

/** 0 for a word in every path, towards 1 for one in a single path. */
export function rarity(word: string, index: PathIndex): number {
  const count = index.places.get(word)?.size ?? 0;
  const all = index.entries.length;
  if (count === 0 || (all >= FEW_FILES && count / all > TOO_COMMON)) return 0;
  return Math.log((all + 1) / count) / Math.log(all + 1);
}

/** A word, or a pair of words, of a text that the repository's paths have too. */
export type Concept = {
  readonly word: string;
  readonly shown: string;
  readonly isPair: boolean;
  /** How rare it is here. */
  readonly weight: number;
  /** The weight, less the farther the word stands from the file's name. */
  readonly files: ReadonlyMap<number, number>;
};

/** What of a text is found in the repository, each with the score it gives to each file. A pair takes the place of its words. */
export function conceptsOf(terms: Terms, index: PathIndex): readonly Concept[] {
  const paired = new Map<string, Set<number>>();
  const concepts: Concept[] = [];
  const add = (word: string, shown: string, factor: number) => {
    const weight = rarity(word, index) * factor;
    const covered = paired.get(word);
    const files = new Map<number, number>();
    for (const [id, place] of index.places.get(word) ?? [])
      if (covered?.has(id) !== true) files.set(id, weight * place);
    if (weight > 0 && files.size > 0) concepts.push({ word, shown, isPair: factor > 1, weight, files });
  };
  for (const { joined, words } of terms.pairs) {
    add(joined, words.join(' '), PAIR);
    for (const id of index.places.get(joined)?.keys() ?? [])
      for (const word of words) paired.set(word, (paired.get(word) ?? new Set()).add(id));
  }
  for (const word of terms.words) add(word, word, 1);
  return concepts;
}
