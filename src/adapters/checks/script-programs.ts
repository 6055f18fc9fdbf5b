// The programs that a command comes to, behind package managers, scripts and whatever only starts another program.

import { commandsIn, type WrittenWord } from '../commands-in.ts';

/** A command as it is run, and where it is written. */
export type Line = { readonly text: string; readonly where: string };

export type Words = readonly WrittenWord[];
/** A program with its words, behind all that only starts it; no words: it cannot be told what is run. */
export type Program = { readonly words: Words; readonly where: string };

/** Scripts of package.json; null: there is no such one. */
export type Scripts = (name: string) => string | null;

const MANIFEST = 'package.json';
const DEEPEST = 8;

/** Of a program, without where it is. */
export function nameOf(words: Words): string {
  const word = words[0]?.text ?? '';
  return word.slice(word.lastIndexOf('/') + 1).replace(/\.[cm]?js$/, '');
}

function withoutFirst(words: Words, isLeft: (text: string) => boolean): Words {
  const from = words.findIndex(({ text }) => !isLeft(text));
  return from === -1 ? [] : words.slice(from);
}

export const isOption = (text: string) => text.startsWith('-');

/** What a word behind it belongs to. */
const TAKES_DIRECTORY = /^(?:--prefix|-C|--dir|--cwd|--filter|-F|--workspaces?|-ws?|-r|--recursive)(?:=|$)/;
const OF_WORKSPACES = /^(?:--workspaces?|-ws?)(?:=|$)/;

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
  const end = behind.findIndex(({ text }) => text === '--');
  const own = end === -1 ? behind : behind.slice(0, end);
  // npm takes these for its own behind the name as well: the script is one of the packages.
  if (manager === 'npm' && own.some(({ text }) => OF_WORKSPACES.test(text))) return null;
  const isScript = isRun || script === 'test' || (manager !== 'npm' && scripts(script) !== null);
  const text = isScript ? scriptLine(script, behind, scripts) : null;
  if (text !== null) return { text };
  return ['yarn', 'pnpm'].includes(manager) && !isRun ? { words: rest } : null;
}

const INSTALLED = /(?:^|\/)node_modules\//;

/** What stands behind the files of variables that a program reads for another one. */
function behindVariables(words: Words): Words {
  const at = words.findIndex(({ text }) => text === '--');
  if (at !== -1) return words.slice(at + 1);
  const [first, , ...others] = words;
  return first !== undefined && isOption(first.text) ? behindVariables(others) : words;
}

/** What a program runs that runs another one; undefined: it is none of these. */
export function inner(words: Words, scripts: Scripts): Step | undefined {
  const name = nameOf(words);
  const rest = words.slice(1);
  if (['npx', 'bunx', 'time', 'exec', 'command', 'nice'].includes(name)) return { words: withoutFirst(rest, isOption) };
  if (['env', 'cross-env'].includes(name)) return { words: withoutFirst(rest, (text) => /^-|=/.test(text)) };
  if (['dotenv', 'dotenvx', 'env-cmd'].includes(name)) return { words: behindVariables(rest) };
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

/** The programs that are run, as far as that is told by words alone. */
export function programsOf({ text, where }: Line, scripts: Scripts, depth = 0): readonly Program[] {
  if (depth > DEEPEST) return [{ words: [], where }];
  return commandsIn(text).flatMap((command): readonly Program[] => {
    let words: Words = command;
    for (let steps = 0; steps < DEEPEST; steps++) {
      const step = inner(words, scripts);
      if (step === null) return [{ words: [], where }];
      if (step === undefined) break;
      if ('text' in step)
        return programsOf({ text: step.text, where: isManager(words) ? MANIFEST : where }, scripts, depth + 1);
      words = step.words;
    }
    return [{ words, where }];
  });
}

/** What runs scripts of package.json. */
export function isManager(words: Words): boolean {
  return ['npm', 'pnpm', 'yarn', 'bun'].includes(nameOf(words));
}
