// In which directory a command starts what measures the coverage, as far as its words say: paths of a report may begin there.

import { join, normalize } from 'node:path/posix';
import { placedCommandsIn } from '../commands-in.ts';
import { familyOf } from './coverage-commands.ts';
import { inside, readText } from './project.ts';
import { inner, isManager, nameOf, type Scripts, type Words } from './script-programs.ts';

/** From the root, which is `.`; null: it cannot be told. */
type Place = string | null;

const DEEPEST = 8;
/** Of package managers: where they are run. */
const MANAGED_IN = /^(?:--prefix|--dir|--cwd|-C)(?:=(.*))?$/;
/** Of runners: what their paths begin at. */
const ROOT_OF = { vitest: /^(?:--root|-r)(?:=(.*))?$/, jest: /^--rootDir(?:=(.*))?$/ };

function below(from: Place, word: Words[number] | undefined): Place {
  if (from === null || word === undefined || !word.isKnown || /^(?:$|[-/~])/.test(word.text)) return null;
  return normalize(join(from, word.text)).replace(/(?<=.)\/$/, '');
}

/** The place that an option names, and the words without it. */
function taken(from: Place, words: Words, option: RegExp): { readonly place: Place; readonly words: Words } {
  const end = words.findIndex(({ text }) => text === '--');
  const at = words.findIndex(({ text }, index) => option.test(text) && (end === -1 || index < end));
  const word = words[at];
  if (word === undefined) return { place: from, words };
  const own = option.exec(word.text)?.[1];
  return {
    place: below(from, own === undefined ? words[at + 1] : { ...word, text: own }),
    words: [...words.slice(0, at), ...words.slice(at + (own === undefined ? 2 : 1))],
  };
}

function scriptsIn(root: string, place: Place): Scripts {
  let manifest: unknown;
  try {
    manifest = place === null ? null : JSON.parse(readText(join(root, place), 'package.json') ?? 'null');
  } catch {
    // Its own package manager says what is wrong with it.
  }
  return (name) => {
    const script = inside(manifest, 'scripts', name);
    return typeof script === 'string' ? script : null;
  };
}

/** Where a command starts programs that measure. */
function startsOf(command: Words, from: Place, root: string, depth: number): readonly Place[] {
  let [words, place] = [command, from];
  for (let steps = 0; steps < DEEPEST; steps++) {
    const isOfScripts = isManager(words);
    if (isOfScripts) ({ words, place } = taken(place, words, MANAGED_IN));
    const step = inner(words, scriptsIn(root, place));
    if (step === null) return [];
    if (step === undefined) break;
    if ('text' in step) {
      const { text } = step;
      // Each script has a shell of its own.
      return (isOfScripts ? text.split('\n') : [text]).flatMap((one) => startsIn(one, place, root, depth + 1));
    }
    words = step.words;
  }
  const family = familyOf(words);
  if (family === null) return [];
  return [family === 'vitest' || family === 'jest' ? taken(place, words, ROOT_OF[family]).place : place];
}

function startsIn(text: string, from: Place, root: string, depth: number): readonly Place[] {
  if (depth > DEEPEST) return [null];
  /** Of each shell; one that has not been in it yet is where the one around it is. */
  const places = new Map<string, Place>();
  return placedCommandsIn(text).flatMap(({ words, shells }) => {
    const key = shells.join(' ');
    const around = shells.map((_, index) => shells.slice(0, index).join(' ')).reverse();
    const known = [key, ...around].find((one) => places.has(one));
    const place = known === undefined ? from : (places.get(known) ?? null);
    const name = nameOf(words);
    if (['cd', 'pushd', 'popd'].includes(name)) {
      places.set(key, name === 'popd' ? null : below(place, words[1]));
      return [];
    }
    places.set(key, place);
    return startsOf(words, place, root, depth);
  });
}

/** The one directory below the root that all that measures is started in; null: there is none, or it is not said. */
export function startedIn(root: string, scripts: readonly string[]): string | null {
  const [first = null, ...others] = new Set(scripts.flatMap((script) => startsIn(script, '.', root, 0)));
  return others.length > 0 || first === '.' || first?.startsWith('..') === true ? null : first;
}
