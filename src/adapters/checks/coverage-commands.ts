// What the commands that measure say by their options of which files their coverage is about.

import { commandsIn, type WrittenWord } from '../shell/commands-in.ts';

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

/** A command as it is run, and where it is written. */
export type Line = { readonly text: string; readonly where: string };

type Words = readonly WrittenWord[];
/** Programs that measure coverage, or run what does. */
export type Family = 'c8' | 'node' | 'vitest' | 'jest' | 'pytest' | 'coverage.py';
type Call = {
  readonly family: Family;
  readonly words: Words;
  readonly where: string;
  /** It has all of the source looked at by itself. */
  readonly namesAll: boolean;
};

/** Scripts of package.json; null: there is no such one. */
export type Scripts = (name: string) => string | null;

const MANIFEST = 'package.json';
const DEEPEST = 8;

function nameOf(words: Words): string {
  const word = words[0]?.text ?? '';
  return word.slice(word.lastIndexOf('/') + 1).replace(/\.[cm]?js$/, '');
}

function withoutFirst(words: Words, isLeft: (text: string) => boolean): Words {
  const from = words.findIndex(({ text }) => !isLeft(text));
  return from === -1 ? [] : words.slice(from);
}

const isOption = (text: string) => text.startsWith('-');

/** What a word behind it belongs to. */
const TAKES_DIRECTORY = /^(?:--prefix|-C|--dir|--cwd|--filter|-F|--workspaces?|-ws?|-r|--recursive)(?:=|$)/;

function quoted(words: Words): string {
  return words.map(({ text }) => ` '${text.replaceAll("'", "'\\''")}'`).join('');
}

/** A script of the project's with those that stand around it, and what is handed on to it. */
function scriptLine(name: string, rest: Words, scripts: Scripts): string | null {
  const own = scripts(name);
  if (own === null) return null;
  const handed = rest[0]?.text === '--' ? rest.slice(1) : rest;
  return [scripts(`pre${name}`), `${own}${quoted(handed)}`, scripts(`post${name}`)].filter(Boolean).join('\n');
}

type Step = { readonly words: Words } | { readonly text: string } | null;

/** A package manager's word: a script, a program of a package, or neither. */
function managed(manager: string, words: Words, scripts: Scripts): Step {
  const rest = withoutFirst(words.slice(1), (text) => isOption(text) && !TAKES_DIRECTORY.test(text));
  const [first, ...others] = rest;
  const word = first?.text ?? '';
  if (word === '' || isOption(word)) return null;
  if (['exec', 'dlx', 'x'].includes(word)) return { words: withoutFirst(others, isOption) };
  const isRun = word === 'run' || word === 'run-script';
  const [name, behind] = isRun ? [others[0]?.text ?? '', others.slice(1)] : [word, others];
  const script = ['t', 'tst'].includes(name) && !isRun ? 'test' : name;
  const isScript = isRun || script === 'test' || (manager !== 'npm' && scripts(script) !== null);
  const text = isScript ? scriptLine(script, behind, scripts) : null;
  if (text !== null) return { text };
  return manager === 'yarn' && !isRun ? { words: rest } : null;
}

const INSTALLED = /(?:^|\/)node_modules\//;

/** What a program runs that runs another one; undefined: it is none of these. */
function inner(words: Words, scripts: Scripts): Step | undefined {
  const name = nameOf(words);
  const rest = words.slice(1);
  if (['npx', 'bunx', 'time', 'exec', 'command', 'nice'].includes(name)) return { words: withoutFirst(rest, isOption) };
  if (['env', 'cross-env'].includes(name)) return { words: withoutFirst(rest, (text) => /^-|=/.test(text)) };
  if (['npm', 'pnpm', 'yarn', 'bun'].includes(name)) return managed(name, words, scripts);
  if (['poetry', 'uv', 'pipenv', 'pdm', 'rye', 'hatch'].includes(name))
    return rest[0]?.text === 'run' ? { words: withoutFirst(rest.slice(1), isOption) } : null;
  if (name === 'node' && !rest.some(({ text }) => text === '--test')) {
    const at = rest.findIndex(({ text }) => !isOption(text) && INSTALLED.test(text));
    return at === -1 ? undefined : { words: rest.slice(at) };
  }
  if (/^python[\d.]*$/.test(name)) {
    const at = rest.findIndex(({ text }) => text === '-m');
    return at === -1 ? null : { words: rest.slice(at + 1) };
  }
  if (['sh', 'bash'].includes(name)) {
    const [option, script] = rest;
    return option !== undefined && /^-\w*c$/.test(option.text) ? { text: script?.text ?? '' } : null;
  }
  return undefined;
}

function familyOf(words: Words): Family | null {
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

/** The programs that are run, as far as that is told by words alone. */
function callsOf({ text, where }: Line, scripts: Scripts, depth = 0): readonly Call[] {
  if (depth > DEEPEST) return [];
  return commandsIn(text).flatMap((command): readonly Call[] => {
    let words: Words = command;
    for (let steps = 0; steps < DEEPEST; steps++) {
      const step = inner(words, scripts);
      if (step === null) return [];
      if (step === undefined) break;
      if ('text' in step)
        return callsOf({ text: step.text, where: isScripts(words) ? MANIFEST : where }, scripts, depth + 1);
      words = step.words;
    }
    const family = familyOf(words);
    if (family === null) return [];
    return [{ family, words: words.slice(1), where, namesAll: nameOf(words) === 'react-scripts' }];
  });
}

function isScripts(words: Words): boolean {
  return ['npm', 'pnpm', 'yarn', 'bun'].includes(nameOf(words));
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
