// Programs that run recipes of a project by name: what these surely write is told, as of scripts of a manifest.

import { type Options, readOptions } from '../options.ts';
import { baseOf, parentOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import type { Shell } from '../state.ts';
import { type Field, isText } from '../values.ts';
import { lookUp } from '../variables.ts';
import { linesOfJust } from './justfiles.ts';
import { linesOfMake } from './makefiles.ts';
import { scriptsOf, tellWrites } from './scripts.ts';
import { anyRunner } from './snapshots.ts';
import { unknownProgram } from './unknown.ts';
import { at, packageAt, selectedBy, standing, textOf, workspacesNamed } from './workspaces.ts';
import { inDirectory } from './wrappers.ts';

type Lines = readonly { readonly goal: string; readonly line: string }[];

function tellLines(call: Call, lines: Lines, directory: string, inside: Shell): void {
  for (const { goal, line } of lines)
    tellWrites(call, { name: goal, title: `${baseOf(call.name)} ${goal}`, text: line, directory }, inside);
}

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];

/** Options with which make runs nothing, or takes variables in another way. */
const NOT_MAKING = [
  ...['n', 'just-print', 'dry-run', 'recon', 'q', 'question', 't', 'touch', 'v', 'version', 'h', 'help'],
  ...['e', 'environment-overrides'],
];

const make: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['C', 'E', 'f', 'I', 'j?', 'l?', 'o', 'O?', 'W'],
    long: [
      ...['directory=', 'eval=', 'file=', 'makefile=', 'include-dir=', 'jobs?', 'old-file=', 'what-if='],
      ...[
        'assume-old=',
        'assume-new=',
        'new-file=',
        'load-average?',
        'max-load?',
        'output-sync?',
        'debug?',
        'shuffle?',
      ],
    ],
  });
  const { reader, shell } = call;
  if (options.isUncertain) reader.unresolved('make is given a word that is known only when it runs');
  if (options.has('E', 'eval')) reader.unresolved('make --eval runs a text');
  let inside = shell;
  for (const directory of options.all('C', 'directory')) inside = inDirectory(directory, inside, call);
  const named = options.all('f', 'file', 'makefile');
  for (const file of named) {
    if (file === '-' || (isText(file) && file.startsWith('/dev/'))) reader.unresolved('make runs what it reads');
    else reader.executed(inside, file, 'make');
  }
  for (const file of MAKEFILES) reader.executed(inside, file, 'make');
  for (const operand of options.operands) {
    if (isText(operand) ? /^(SHELL|\.SHELLFLAGS)\W*=|\$\(|`|!=/.test(operand) : operand.lead === '') {
      reader.unresolved('make is given a variable that may hold commands');
    }
  }
  if (!options.has(...NOT_MAKING)) tellMade(call, named, options.operands, inside);
  return undefined;
};

function tellMade(call: Call, named: readonly Field[], words: readonly Field[], inside: Shell): void {
  const { reader } = call;
  const directory = standing(call, inside);
  if (directory === null) return;
  const texts = (named.length > 0 ? named : MAKEFILES).map((file) => {
    const [path, ...others] = isText(file) ? (reader.places(inside, file) ?? []) : [];
    return path === undefined || others.length > 0 ? null : textOf(call, path);
  });
  // of several names it takes the first that there is
  const text = named.length > 0 ? texts.join('\n') : texts.find((one) => one !== null);
  if (text === undefined || text === null) return;
  const given = new Map<string, string | null>();
  const goals: string[] = [];
  for (const word of words) {
    const [, name, value] = /^([^=:?+]+)(?:::?)?=(.*)$/s.exec(isText(word) ? word : word.lead) ?? [];
    if (name !== undefined) given.set(name, isText(word) && !word.includes('$') ? (value ?? '') : null);
    else if (isText(word)) goals.push(word);
    else return;
  }
  const isInEnvironment = (name: string) => (lookUp(name, inside, reader.context) ?? null) !== null;
  tellLines(call, linesOfMake(text, { goals, given, isInEnvironment }), directory, inside);
}

const JUSTFILES = ['justfile', 'Justfile', 'JUSTFILE', '.justfile'];

/** Options with which just runs no recipe. */
const NOT_RUNNING =
  'n dry-run l list summary s show e edit evaluate init dump fmt choose V version h help c command'.split(' ');

const just: Program = (call) => {
  // a variable and its text are two words
  const args = call.args.filter((_, index, all) => all[index - 1] !== '--set');
  const options = readOptions(args, {
    short: [...'fdsc'],
    long: 'justfile= working-directory= set= shell= shell-arg= show= dotenv-path= dotenv-filename= color='.split(' '),
    stopsAtOperand: true,
    isExact: true,
  });
  const { reader, shell } = call;
  const file = options.last('f', 'justfile');
  const found = file === undefined ? nearest(call, JUSTFILES) : isText(file) ? reader.places(shell, file)?.[0] : null;
  const words = options.operands.filter((word) => !isText(word) || !word.includes('='));
  const isOther = options.isUncertain || options.has(...NOT_RUNNING, 'shell') || !words.every(isText);
  if (found === null || found === undefined || isOther) return unknownProgram(call);
  reader.executed(shell, found, 'just');
  const inside = inDirectory(options.last('d', 'working-directory') ?? parentOf(found), shell, call);
  const directory = standing(call, inside);
  if (directory !== null)
    tellLines(call, linesOfJust(textOf(call, found) ?? '', words.filter(isText)), directory, inside);
  return undefined;
};

/** The file of one of these names that is there, at or above where the shell stands. */
function nearest(call: Call, names: readonly string[]): string | null {
  for (let directory = standing(call, call.shell); directory !== null; directory = above(directory)) {
    const path = names.map((name) => `${directory}/${name}`).find((one) => call.reader.context.kindOf(one) === 'file');
    if (path !== undefined) return path;
  }
  return null;
}

function above(directory: string): string | null {
  return directory === '/' ? null : parentOf(directory);
}

/** Runs the scripts of these names in each package, or in those that it is told. */
const turbo: Program = (call) => {
  const end = call.args.indexOf('--');
  const options = readOptions(end === -1 ? call.args : call.args.slice(0, end), {
    short: ['F'],
    long: 'filter= concurrency= cache-dir= env-mode= output-logs= log-order= cwd= dry? graph?'.split(' '),
  });
  const [first, ...others] = options.operands;
  const tasks = (first === 'run' ? others : options.operands).filter(isText);
  const inside = inDirectory(options.last('cwd'), call.shell, call);
  if (!options.has('dry', 'dry-run', 'graph'))
    for (const directory of packagesOf(call, options, inside))
      for (const script of scriptsOf(call, at(directory, inside), tasks)) tellWrites(call, script, inside);
  return anyRunner(call);
};

/** By the lists of pnpm, or by those of the others; without any the one that the shell is in. */
function packagesOf(call: Call, options: Options, inside: Shell): readonly string[] {
  for (const name of ['pnpm', 'bun']) {
    const all = workspacesNamed({ ...call, name }, null, inside);
    if (all.length > 0) return selectedBy({ ...call, name }, options, inside) ?? all;
  }
  const here = packageAt(call, inside);
  return here === null ? [] : [here];
}

export const RECIPE_PROGRAMS: readonly (readonly [string, Program])[] = [
  ['make', make],
  ['gmake', make],
  ['just', just],
  ['turbo', turbo],
];
