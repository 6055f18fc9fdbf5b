// Options of the commands that measure: the files that their coverage is about.

import type { WrittenWord } from '../commands-in.ts';
import { isOption, type Line, nameOf, programsOf, type Scripts, type Words } from './script-programs.ts';

/** Words of one place: patterns, that the report names all that counts, or what cannot be read from outside. */
export type Said = {
  readonly where: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly namesAll?: boolean;
  readonly isUnread?: boolean;
  /** The file that says it, in place of those that have its name. */
  readonly config?: { readonly family: Family; readonly path: string };
};

/** Programs that measure coverage, or run what does. */
export type Family = 'c8' | 'node' | 'vitest' | 'jest' | 'pytest' | 'coverage.py';
type Call = {
  readonly family: Family;
  readonly words: Words;
  readonly where: string;
  /** It has all of the source looked at by itself. */
  readonly namesAll: boolean;
};

export function familyOf(words: Words): Family | null {
  const name = nameOf(words);
  switch (name) {
    case 'c8':
    case 'nyc':
      return 'c8';
    case 'node':
    case 'tsx':
      return words.some(({ text }) => text === '--test') ? 'node' : null;
    case 'vitest':
    case 'jest':
      return name;
    case 'react-scripts':
      return words[1]?.text === 'test' ? 'jest' : null;
    case 'pytest':
    case 'py.test':
      return 'pytest';
    case 'coverage':
    case 'coverage3':
      return 'coverage.py';
    default:
      return null;
  }
}

/** Programs that measure coverage, or run what does; others are left out. */
function callsOf(line: Line, scripts: Scripts): readonly Call[] {
  return programsOf(line, scripts).flatMap(({ words, where }) => {
    const family = familyOf(words);
    if (family === null) return [];
    return [{ family, words: words.slice(1), where, namesAll: nameOf(words) === 'react-scripts' }];
  });
}

/** Options of programs that run another one, and have no word of their own behind them. */
const ALONE: Readonly<Partial<Record<Family, RegExp>>> = {
  c8: /^(?:-[ash]|--(?:no-.+|all|100|check-coverage|per-file|clean|silent|eager|cache|instrument|source-map|allow[eE]xternal|skip-(?:full|empty)|exclude-(?:after-remap|node-modules)|omit-relative|merge-async|hook-.+|use-spawn-wrap|babel-cache|compact|es-modules|in-place|complete-copy|delete|show-process-tree|produce-source-map|preserve-comments))$/,
  'coverage.py':
    /^(?:-[apLqi]|--(?:append|branch|data-file=.*|parallel-mode|pylib|timid|quiet|ignore-errors|skip-\w+))$/,
};
/** These make the report of what was measured, and have options of their own behind them. */
const REPORTERS = ['report', 'check-coverage', 'xml', 'lcov', 'json', 'html', 'run'];

/** The options of a program with their values; of one that runs another, those before that begins. */
function optionsOf({ family, words }: Call): readonly (readonly [string, WrittenWord])[] {
  const alone = ALONE[family];
  const options: (readonly [string, WrittenWord])[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const [, name, own] = /^(--?[\w.-]+)(?:=(.*))?$/s.exec(word.text) ?? [];
    if (name === undefined) {
      if (alone === undefined || (at === 0 && REPORTERS.includes(word.text))) continue;
      break;
    }
    // A module that is run is what is measured.
    if (family === 'coverage.py' && name === '-m') break;
    const next = words[at + 1];
    const hasNext = own === undefined && next !== undefined && !isOption(next.text) && alone?.test(word.text) !== true;
    options.push([name, { ...word, text: own ?? '' }]);
    if (hasNext) options.splice(-1, 1, [name, next]);
    // Of others, the next word may be a file as well: it says nothing by itself.
    if (hasNext && alone !== undefined) at += 1;
  }
  return options;
}

function listed(value: string): readonly string[] {
  return value.split(',').filter((part) => part !== '');
}

function saidBy(call: Call): readonly Said[] {
  const { family, where, namesAll } = call;
  const options = optionsOf(call).map(([name, { text: value, isKnown }]): Said => {
    const patterns = (key: 'include' | 'exclude', all: readonly string[]) =>
      isKnown ? { where, [key]: all } : { where, isUnread: true };
    // The root says no more than that the report names what it has loaded, and what it takes for packages.
    const all = { where, namesAll: !['', '.', './'].includes(value) };
    switch (`${family} ${name}`) {
      case 'c8 -n':
      case 'c8 --include':
        return patterns('include', [value]);
      case 'c8 -x':
      case 'c8 --exclude':
        return patterns('exclude', [value]);
      case 'node --test-coverage-include':
        return patterns('include', [value]);
      case 'node --test-coverage-exclude':
      case 'vitest --coverage.exclude':
        return patterns('exclude', [value]);
      case 'coverage.py --include':
        return patterns('include', listed(value));
      case 'coverage.py --omit':
        return patterns('exclude', listed(value));
      case 'c8 --all':
        return { where, namesAll: value !== 'false' };
      case 'vitest --coverage.include':
      case 'jest --collectCoverageFrom':
      case 'pytest --cov':
      case 'coverage.py --source':
        return all;
      case 'c8 -c':
      case 'c8 --config':
      case 'c8 --nycrc-path':
      case 'jest --coveragePathIgnorePatterns':
      case 'pytest --cov-config':
      case 'coverage.py --rcfile':
        return { where, isUnread: true };
      case 'jest -c':
      case 'jest --config':
      case 'vitest -c':
      case 'vitest --config':
        return isKnown ? { where, config: { family, path: value } } : { where, isUnread: true };
      default:
        return { where };
    }
  });
  return [{ where, namesAll }, ...options];
}

export type Spoken = {
  readonly javascript: readonly Said[];
  readonly python: readonly Said[];
  /** Whether one of these programs is run, or none that is known: what its own files say counts then. */
  readonly runs: (family: Family) => boolean;
};

/** @param lines what is run to measure the coverage */
export function spokenBy(lines: readonly Line[], scripts: Scripts): Spoken {
  const calls = lines.flatMap((line) => callsOf(line, scripts));
  const isPython = ({ family }: Call) => family === 'pytest' || family === 'coverage.py';
  return {
    javascript: calls.filter((call) => !isPython(call)).flatMap(saidBy),
    python: calls.filter(isPython).flatMap(saidBy),
    runs: (family) => calls.length === 0 || calls.some((call) => call.family === family),
  };
}

/** Options that pytest is always given. */
export function saidByPytest(options: string, where: string): readonly Said[] {
  return callsOf({ text: `pytest ${options}`, where }, () => null).flatMap(saidBy);
}
