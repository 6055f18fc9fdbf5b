// The writes that a shell command surely makes, where the kernel guard is missing or cannot name the call. All else passes: variables, code,
// unknown programs, and what cannot be parsed.

import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  type AndOr,
  type Command,
  forEachChild,
  parse,
  type Redirect,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { type GitRow, refusalOf } from './rules/git-calls.ts';
import { type Argument, type ObviousWrite, writesOfProgram } from './writing-programs.ts';

/** Absolute; null: it is unknown. */
type Directory = string | null;

export type CommandContext = {
  /** Absolute, without links, as is `root`. */
  readonly cwd: string;
  readonly home: string;
  /** Of the project: calls of git elsewhere are nobody's business. */
  readonly root: string;
  /** Calls of git that are refused. */
  readonly rows: readonly GitRow[];
};

export type ObviousWrites = {
  readonly writes: readonly ObviousWrite[];
  /** The first call of git that is refused, with its advice. */
  readonly git: string | null;
};

type Reading = {
  readonly place: CommandContext;
  readonly writes: ObviousWrite[];
  git: string | null;
  /** The text of `bash -c` is read, one of `bash -c` in it is not. */
  readonly isInner: boolean;
};

export function obviousWrites(command: string, place: CommandContext): ObviousWrites {
  const reading: Reading = { place, writes: [], git: null, isInner: false };
  read(command, place.cwd, reading);
  return { writes: reading.writes, git: reading.git };
}

function read(text: string, cwd: Directory, reading: Reading): void {
  const script = parse(text);
  if (script.errors === undefined || script.errors.length === 0) walk(script, cwd, reading);
}

/** Gives the working directory after a node; null: it is unknown. A `cd` to a literal directory counts as done. */
function walk(node: SyntaxNode, cwd: Directory, reading: Reading): Directory {
  switch (node.type) {
    case 'Script':
    case 'CompoundList':
      return node.commands.reduce<Directory>((at, one) => walk(one, at, reading), cwd);
    case 'Statement': {
      const after = walk(node.command, cwd, reading);
      return node.background === true ? cwd : after;
    }
    case 'AndOr':
      return walkAndOr(node, cwd, reading);
    case 'Pipeline': {
      const [only, ...more] = node.commands;
      if (only !== undefined && more.length === 0) return walk(only, cwd, reading);
      for (const one of node.commands) walk(one, cwd, reading);
      return cwd;
    }
    case 'BraceGroup':
      return walk(node.body, cwd, reading);
    case 'Redirected':
      for (const one of node.redirects) walk(one, cwd, reading);
      return walk(node.command, cwd, reading);
    case 'Command':
      return walkCommand(node, cwd, reading);
    case 'Redirect':
      walkRedirect(node, cwd, reading);
      return cwd;
    case 'Subshell':
      walk(node.body, cwd, reading);
      return cwd;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (node.script !== undefined) walk(node.script, cwd, reading);
      return cwd;
    // It runs where and when it is called.
    case 'Function':
      return cwd;
    default:
      return walkBranches(node, cwd, reading);
  }
}

/** Parts of which each may run or not. */
function walkBranches(node: SyntaxNode, cwd: Directory, reading: Reading): Directory {
  let at = cwd;
  forEachChild(node, (child) => {
    if (walk(child, at, reading) !== at) at = null;
  });
  return at;
}

function walkAndOr({ commands, operators }: AndOr, cwd: Directory, reading: Reading): Directory {
  let at = cwd;
  for (const [index, one] of commands.entries()) {
    const isAlternative = operators[index - 1] === '||';
    // The `cd` before `||` may be what has failed.
    const before = isAlternative && at !== cwd ? null : at;
    const after = walk(one, before, reading);
    if (!isAlternative) at = after;
    else if (after !== before) at = null;
  }
  return at;
}

function walkCommand(command: Command, cwd: Directory, reading: Reading): Directory {
  forEachChild(command, (child) => {
    walk(child, cwd, reading);
  });
  const words = [command.name, ...command.args].map((word) =>
    word?.type === 'Word' ? textOf(word, reading.place.home) : null,
  );
  return run(words, cwd, reading);
}

const WRITING: readonly Redirect['operator'][] = ['>', '>>', '>|', '&>', '&>>', '<>', '>&'];

function walkRedirect(redirect: Redirect, cwd: Directory, reading: Reading): void {
  const { operator, target } = redirect;
  walkBranches(redirect, cwd, reading);
  const text = target === undefined ? null : textOf(target, reading.place.home);
  const isDescriptor = operator === '>&' && /^(?:\d*-?)$/.test(text ?? '');
  if (!WRITING.includes(operator) || isDescriptor) return;
  const paths = pathsOf(text, cwd);
  // The shell does not write to several.
  if (paths.length === 1)
    add(
      paths.map((path) => ({ path, tree: false })),
      reading,
    );
}

function add(writes: readonly ObviousWrite[], reading: Reading): void {
  reading.writes.push(...writes.filter(({ path }) => !/^\/(?:dev|proc)\//.test(path)));
}

// ---------------------------------------------------------------- words

/** Stand for wildcards in a text, in which a quoted `*` is a letter. */
const [MANY, ONE] = ['\ue000', '\ue001'] as const;
const WILD = new RegExp(`[${MANY}${ONE}]`);

/** The text that a word stands for; null: it is known only when it runs. */
function textOf({ parts, text, value }: Word, home: string): Argument {
  const known = parts === undefined ? value : joined(parts);
  if (known === null || !text.startsWith('~')) return known;
  return known === '~' || known.startsWith('~/') ? `${home}${known.slice(1)}` : null;
}

function joined(parts: readonly WordPart[]): Argument {
  const texts = parts.map(textOfPart);
  return texts.includes(null) ? null : texts.join('');
}

function textOfPart(part: WordPart): Argument {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    case 'DoubleQuoted':
      return joined(part.parts);
    case 'Glob':
      if (part.text === '*') return MANY;
      return part.text === '?' ? ONE : null;
    default:
      return null;
  }
}

/** The absolute paths that a text stands for. With wildcards: those that exist. */
function pathsOf(text: Argument, cwd: Directory): readonly string[] {
  if (text === null || text === '' || (cwd === null && !text.startsWith('/'))) return [];
  const path = resolve(cwd ?? '/', text);
  if (!WILD.test(path)) return [path];
  const step = (places: readonly string[], part: string) =>
    places.flatMap((place) => (WILD.test(part) ? namesIn(place, part) : [part]).map((name) => join(place, name)));
  return path.split('/').reduce(step, ['/']).filter(existsSync);
}

function namesIn(directory: string, pattern: string): readonly string[] {
  const escaped = pattern
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(MANY, '.*')
    .replaceAll(ONE, '.');
  const fits = new RegExp(`^${escaped}$`, 's');
  try {
    return readdirSync(directory).filter(
      (name) => fits.test(name) && (!name.startsWith('.') || pattern.startsWith('.')),
    );
  } catch {
    return [];
  }
}

// ---------------------------------------------------------------- commands

/** Letters of options that do not change which command runs, without a value and with one; arguments before the command. */
type Wrapper = { readonly flags: string; readonly valued: string; readonly operands?: number };

/** Programs that run the command behind them. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: { flags: 'nEHSkb', valued: 'ug' },
  env: { flags: 'i', valued: 'u' },
  command: { flags: 'p', valued: '' },
  builtin: { flags: '', valued: '' },
  exec: { flags: 'cl', valued: 'a' },
  nohup: { flags: '', valued: '' },
  time: { flags: 'pv', valued: 'f' },
  nice: { flags: '', valued: 'n' },
  timeout: { flags: 'v', valued: 'ks', operands: 1 },
};

const SHELLS = ['sh', 'bash', 'dash', 'zsh'];

function run([first, ...args]: readonly Argument[], cwd: Directory, reading: Reading): Directory {
  const name = first?.replace(/^\/(?:usr\/)?(?:local\/)?s?bin\//, '') ?? '';
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper !== undefined) return run(wrapped(args, wrapper), cwd, reading);
  if (name === 'cd' || name === 'pushd') return entered(args, cwd, reading.place.home);
  if (name === 'popd') return null;
  if (SHELLS.includes(name)) readInner(args, cwd, reading);
  else if (name === 'git') runGit(args, cwd, reading);
  else
    add(
      writesOfProgram(name, args, (text) => pathsOf(text, cwd)),
      reading,
    );
  return cwd;
}

/** The command behind a wrapper; none where an option is unknown. */
function wrapped(args: readonly Argument[], { flags, valued, operands = 0 }: Wrapper): readonly Argument[] {
  let at = 0;
  for (; args[at]?.startsWith('-') === true; at += 1) {
    const option = args[at] ?? '';
    if (option === '--') {
      at += 1;
      break;
    }
    const letter = [...option.slice(1)].find((one) => !flags.includes(one));
    if (letter === undefined) continue;
    if (!valued.includes(letter)) return [];
    if (option.endsWith(letter)) at += 1;
  }
  at += operands;
  while (/^[A-Za-z_]\w*=/.test(args[at] ?? '')) at += 1;
  return args.slice(at);
}

function entered(args: readonly Argument[], cwd: Directory, home: string): Directory {
  const [to = home, ...more] = args.filter((one) => one === null || !/^-[LPe]+$/.test(one));
  if (to === null || to.startsWith('-') || WILD.test(to) || more.length > 0) return null;
  return pathsOf(to, cwd)[0] ?? null;
}

/** Reads the text of `bash -c`. */
function readInner(args: readonly Argument[], cwd: Directory, reading: Reading): void {
  if (reading.isInner) return;
  let at = 0;
  for (; args[at]?.startsWith('-'); at += 1) {
    const option = args[at] ?? '';
    if (/^-[a-z]*c$/.test(option)) {
      const text = args[at + 1] ?? null;
      const inner: Reading = { ...reading, isInner: true };
      if (text !== null && !WILD.test(text)) read(text, cwd, inner);
      reading.git = inner.git;
      return;
    }
    if (/^-[a-z]*o$/i.test(option)) at += 1;
  }
}

// ---------------------------------------------------------------- git

/** Options of git after which it is not known which repository it works on. */
const ELSEWHERE = /^--(?:git-dir|work-tree|namespace)(?:=|$)/;

function runGit(args: readonly Argument[], cwd: Directory, reading: Reading): void {
  const { root, rows } = reading.place;
  let directory = cwd;
  let at = 0;
  for (; args[at]?.startsWith('-'); at += 1) {
    const option = args[at] ?? '';
    if (ELSEWHERE.test(option)) return;
    if (option === '-C') directory = pathsOf(args[at + 1] ?? null, directory)[0] ?? null;
    if (option === '-C' || option === '-c' || option === '--config-env') at += 1;
  }
  const [subcommand, ...rest] = args.slice(at);
  if (typeof subcommand !== 'string') return;
  if (isOfProject(directory, root)) {
    // An unknown argument is taken for a path or a message.
    const refusal = refusalOf([subcommand, ...rest.map((one) => one ?? '$')], rows);
    if (refusal !== null) reading.git ??= `git ${subcommand}: ${refusal}`;
  }
  const paths = subcommand === 'checkout' ? fromDashes(rest) : rest;
  const writes = writesOfProgram(`git ${subcommand}`, paths, (text) =>
    text?.startsWith(':') === true ? [] : pathsOf(text, directory),
  );
  // The rows decide about the whole tree.
  add(
    writes.filter(({ path }) => !`${root}/`.startsWith(path === '/' ? path : `${path}/`)),
    reading,
  );
}

/** Without `--`, the first argument of `git checkout` may be a branch. */
function fromDashes(args: readonly Argument[]): readonly Argument[] {
  const at = args.indexOf('--');
  return at === -1 ? [] : args.slice(at);
}

/** Whether a directory lies in the project, and not in another repository inside it. */
function isOfProject(directory: Directory, root: string): boolean {
  let at = directory;
  while (at?.startsWith(`${root}/`) === true && !existsSync(join(at, '.git'))) at = dirname(at);
  return at === root;
}
