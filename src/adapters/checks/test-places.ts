// Where the programs of a test command look for tests, as far as their words tell.

import picomatch from 'picomatch';
import { isTestFile } from '../../domain/coverage.ts';
import { familyOf } from './coverage-commands.ts';
import { nameOf, type Words } from './script-programs.ts';

/** Programs that run what their words say. */
const RUNNERS = /^(?:vitest|jest|mocha|ava|tap|tape|jasmine|go|cargo|pytest|py\.test|unittest|cd|coverage3?)$/;
/** What stands beside them in a script, and runs no test whatever it names. */
const NO_RUNNERS = /^(?:true|echo|tsc|rimraf|eslint|biome|prettier|xo|standard|vite)$/;
/** Without places of their own these look below all of the root. */
const EVERYWHERE = /^(?:vitest|jest|ava|tap)$/;

/** The word behind it is a directory, and no part of a test's path. */
const SETS_ROOT = /^(?:-r|--(?:root|roots|rootDir|dir|projects))$/;

/** Options without a value, which often stand before places. */
const ALONE = /^--?(?:test|run|coverage|watch|silent|verbose|bail|ci|passWithNoTests|experimental-[\w-]+|[siuv])$/;

const VERBS = /^(?:vitest (?:run|watch|dev|related)|react-scripts test)$/;

/** A program with its words, the one that is run where it only measures another; null: it cannot be read. */
export function readOf(words: Words): Words | null {
  const [name, family] = [nameOf(words), familyOf(words)];
  if (!words.every(({ isKnown }) => isKnown)) return null;
  if (family === 'c8') {
    const at = words.findIndex((_, index) => index > 0 && readOf(words.slice(index)) !== null);
    return at === -1 ? null : words.slice(at);
  }
  return family !== null || RUNNERS.test(name) || NO_RUNNERS.test(name) ? words : null;
}

/** What a word names, without the option that it belongs to. */
export function placeIn(text: string): string {
  return text
    .replace(/^-[\w-]*=/, '')
    .replace(/^\.\//, '')
    .replace(/\/+$/, '');
}

function isPattern(place: string): boolean {
  return /[*?{[]/.test(place);
}

/** A pattern may name a file, or a directory that it lies in. */
function isNamedBy(pattern: string, path: string): boolean {
  const isMatch = picomatch(pattern);
  const parts = path.split('/');
  return parts.some((_, index) => isMatch(parts.slice(0, index + 1).join('/')));
}

/** To these a place is a part of a test's path. */
function takesParts(words: Words): boolean {
  return ['vitest', 'jest'].includes(familyOf(words) ?? '');
}

/** @param below files of the directory, from the root */
export function names(program: Words, directory: string, below: readonly string[]): boolean {
  if (NO_RUNNERS.test(nameOf(program))) return false;
  const tests = below.filter(isTestFile);
  return program.slice(1).some(({ text }) => {
    const place = placeIn(text);
    if (place === directory || place.startsWith(`${directory}/`) || directory.startsWith(`${place}/`)) return true;
    // A pattern may as well name tests by names of the project's own.
    if (isPattern(place)) return !place.startsWith('!') && below.some((path) => isNamedBy(place, path));
    const isPart = takesParts(program) && placesOf(program, SETS_ROOT).includes(text);
    return isPart && tests.some((path) => path.includes(place));
  });
}

/** Words that may say where tests are: one behind an option may as well be its value, but behind one that says where to look. */
function placesOf(words: Words, but?: RegExp): readonly string[] {
  const [verb = '', ...others] = words.slice(1).map(({ text }) => text);
  const texts = VERBS.test(`${nameOf(words)} ${verb}`) ? others : [verb, ...others];
  return texts.filter((text, at) => {
    const before = texts[at - 1] ?? '';
    const isValue = /^-[^=]*$/.test(before) && !(SETS_ROOT.test(before) && but === undefined) && !ALONE.test(before);
    return text !== '' && !text.startsWith('-') && !isValue;
  });
}

/** Whether a runner looks for tests everywhere below the root. */
export function looksEverywhere(words: Words, files: readonly string[]): boolean {
  if (familyOf(words) !== 'node' && familyOf(words) !== 'jest' && !EVERYWHERE.test(nameOf(words))) return false;
  return !placesOf(words).some((text) => {
    const place = placeIn(text);
    if (place.startsWith('**')) return false;
    return /[/*]/.test(place) || files.some((file) => file === place || file.startsWith(`${place}/`));
  });
}
