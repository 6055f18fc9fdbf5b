// Programs that write the paths of their arguments, as far as that is certain.

import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

/** A text, in which private characters stand for wildcards; null: it is unknown. */
export type Argument = string | null;

export type ObviousWrite = {
  /** Absolute. */
  readonly path: string;
  /** All below it as well. */
  readonly tree: boolean;
  /** Nothing but a directory is made there. */
  readonly directory?: boolean;
};

/** The absolute paths that an argument stands for. */
export type Paths = (argument: Argument) => readonly string[];

type Call = {
  readonly has: (...options: readonly string[]) => boolean;
  readonly value: (...options: readonly string[]) => Argument | undefined;
  readonly operands: readonly Argument[];
  readonly paths: Paths;
};

type Program = {
  /** Options that take a value: letters and long names. */
  readonly valued: readonly string[];
  readonly writes: (call: Call) => readonly ObviousWrite[];
};

/** @param name of a program, or `git` and its subcommand */
export function writesOfProgram(name: string, args: readonly Argument[], paths: Paths): readonly ObviousWrite[] {
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (program === undefined) return [];
  const call = callOf(args, program.valued, paths);
  return call.has('help', 'version', 'dry-run') ? [] : program.writes(call);
}

/** Stands for an argument that is unknown. */
const UNKNOWN = '\ue002';

function callOf(args: readonly Argument[], valued: readonly string[], paths: Paths): Call {
  const { values, positionals } = parseArgs({
    args: args.map((one) => one ?? UNKNOWN),
    options: Object.fromEntries(
      valued.map((name) => [name, { type: 'string', ...(name.length === 1 ? { short: name } : {}) } as const]),
    ),
    strict: false,
  });
  const known = (text: string): Argument => (text === UNKNOWN ? null : text);
  return {
    has: (...options) => options.some((one) => values[one] !== undefined),
    value: (...options) => {
      const value = options.map((one) => values[one]).find((one) => one !== undefined);
      return typeof value === 'string' ? known(value) : undefined;
    },
    operands: positionals.map(known),
    paths,
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function plain(path: string): ObviousWrite {
  return { path, tree: false };
}

function whole(path: string): ObviousWrite {
  return { path, tree: true };
}

function made(path: string): ObviousWrite {
  return { path, tree: false, directory: true };
}

function each({ operands, paths }: Call): readonly ObviousWrite[] {
  return operands.flatMap(paths).map(plain);
}

/** Writes the operands behind the first one, which is a mode or an owner. */
function withMode({ has, operands, paths }: Call): readonly ObviousWrite[] {
  // `chmod -w file`: the mode is read as options.
  const isOption = has('reference', ...'rwxXstugo');
  const files = isOption ? operands : operands.slice(1);
  return files.flatMap(paths).map(has('R', 'recursive') ? whole : plain);
}

/** Writes files of their own names into a directory, or one file to another path. */
function copied(call: Call, isTree: boolean, isFile = call.has('T', 'no-target-directory')): readonly ObviousWrite[] {
  const { operands, paths } = call;
  const into = call.value('t', 'target-directory');
  const last = operands.at(-1) ?? null;
  const sources = into === undefined ? operands.slice(0, -1) : operands;
  const [place, ...more] = paths(into ?? last);
  if (place === undefined || more.length > 0 || sources.length === 0) return [];
  const isInto = into !== undefined || sources.length > 1 || last?.endsWith('/') === true || isDirectory(place);
  // Of a directory that exists, only files of the same names change.
  const write = (path: string) => ({ path, tree: isTree && !existsSync(path) });
  if (isFile || !isInto) return [write(place)];
  // `dir/.` copies what is in it, under names that are not seen here.
  const named = sources.filter((one) => one !== null && !/(?:^|\/)\.{1,2}\/*$/.test(one));
  return named.flatMap(paths).map((source) => write(join(place, basename(source))));
}

function moved(call: Call): readonly ObviousWrite[] {
  const sources = call.value('t', 'target-directory') === undefined ? call.operands.slice(0, -1) : call.operands;
  return [...sources.flatMap(call.paths).map(whole), ...copied(call, true)];
}

function linked(call: Call): readonly ObviousWrite[] {
  const [target = null, ...more] = call.operands;
  if (more.length > 0 || call.has('t', 'target-directory'))
    return copied(call, false, call.has('T', 'no-target-directory', 'n', 'no-dereference'));
  return target === null ? [] : call.paths(basename(target)).map(plain);
}

/** Files that are edited in place; without a script in an option, the first operand is one. */
function edited({ operands, paths }: Call, isScriptFirst: boolean): readonly ObviousWrite[] {
  // BSD's sed has the ending of its backups behind `-i`, which may be an empty word.
  const words = operands.filter((one) => one !== '');
  const files = (isScriptFirst ? words.slice(1) : words).flatMap(paths);
  return files.filter((path) => existsSync(path)).map(plain);
}

const COPIED = ['t', 'S', 'target-directory', 'suffix'];

const PROGRAMS: Readonly<Record<string, Program>> = {
  tee: { valued: [], writes: (call) => each({ ...call, operands: call.operands.filter((one) => one !== '-') }) },
  touch: { valued: ['d', 'r', 't', 'date', 'reference', 'time'], writes: each },
  truncate: { valued: ['s', 'r', 'size', 'reference'], writes: each },
  rmdir: { valued: [], writes: each },
  unlink: { valued: [], writes: each },
  rm: {
    valued: [],
    writes: (call) => call.operands.flatMap(call.paths).map(call.has('r', 'R', 'recursive') ? whole : plain),
  },
  mkdir: { valued: ['m', 'mode'], writes: ({ operands, paths }) => operands.flatMap(paths).map(made) },
  chmod: { valued: [], writes: withMode },
  chown: { valued: [], writes: withMode },
  chgrp: { valued: [], writes: withMode },
  cp: {
    valued: COPIED,
    writes: (call) => (call.has('parents') ? [] : copied(call, call.has('r', 'R', 'a', 'recursive', 'archive'))),
  },
  mv: { valued: COPIED, writes: moved },
  ln: { valued: COPIED, writes: linked },
  install: {
    valued: [...COPIED, 'm', 'o', 'g', 'mode', 'owner', 'group'],
    writes: (call) => (call.has('d', 'directory') ? call.operands.flatMap(call.paths).map(made) : copied(call, false)),
  },
  dd: {
    valued: [],
    writes: ({ operands, paths }) =>
      operands.flatMap((one) => (one?.startsWith('of=') === true ? paths(one.slice(3)) : [])).map(plain),
  },
  sed: {
    valued: ['e', 'f', 'l', 'expression', 'file', 'line-length'],
    writes: (call) => (call.has('i', 'in-place') ? edited(call, !call.has('e', 'f', 'expression', 'file')) : []),
  },
  perl: {
    valued: ['e', 'E', 'I', 'M', 'm', 'F'],
    writes: (call) => (call.has('i') && call.has('e', 'E') ? edited(call, false) : []),
  },
  'git rm': {
    valued: ['pathspec-from-file'],
    writes: (call) => (call.has('n', 'cached') ? [] : call.operands.flatMap(call.paths).map(whole)),
  },
  'git mv': { valued: [], writes: (call) => (call.has('n') ? [] : moved(call)) },
  'git checkout': { valued: [], writes: each },
  'git restore': {
    valued: ['s', 'source', 'pathspec-from-file'],
    writes: (call) => (call.has('S', 'staged') && !call.has('W', 'worktree') ? [] : each(call)),
  },
};
