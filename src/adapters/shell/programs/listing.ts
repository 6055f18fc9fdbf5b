// Programs that print paths, or some of the lines they read, for others to take up.

import { otherOptions, readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import type { Input } from '../state.ts';
import { type Field, isText, UNKNOWN, UNKNOWN_WORDS } from '../values.ts';
import { hasLinksOut, startsOf } from './find-xargs.ts';
import { inDirectory } from './wrappers.ts';

/** Paths that a program prints one to a line, when they surely lie in the directories it is given. */
function printedPaths(directories: readonly Field[], isNul: boolean, call: Call): Input | undefined {
  const within = startsOf(directories, call);
  return within === null ? undefined : { kind: 'paths', within, nul: isNul };
}

/** `ls` prints the names of files as they are given, one to a line where that is read. */
export const ls: Program = ({ args, reader, shell }) => {
  const names = args.filter((arg) => arg !== '-1');
  const isKnown = (name: Field) => isText(name) && /^[\w./@+-]+$/.test(name) && !name.startsWith('-');
  if (
    names.length === 0 ||
    !names.every((name) => isKnown(name) && isText(name) && reader.kindAt(shell, name) === 'file')
  )
    return undefined;
  return { kind: 'text', text: names.map((name) => `${name}\n`).join('') };
};

/** Long options of grep that take a text. */
const GREP_TEXTS =
  'regexp file include exclude exclude-from exclude-dir max-count context after-context before-context label ' +
  'binary-files devices directories group-separator';

/** `grep -rl` and `git grep -l` print paths and nothing else. */
export const grep: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'eABCfmdD'],
    long: [...GREP_TEXTS.split(' ').map((name) => `${name}=`), 'color?', 'colour?'],
  });
  const listsOnly = options.has('l', 'L', 'files-with-matches', 'files-without-match');
  const operands = options.has('e', 'f', 'regexp', 'file') ? options.operands : options.operands.slice(1);
  if (
    call.stdin.kind === 'paths' &&
    operands.length === 0 &&
    [...options.given.keys()].every((name) => FILTERING.has(name))
  )
    return call.stdin;
  if (!listsOnly || options.isUncertain || (operands.length === 0 && !options.has('r', 'R', 'recursive')))
    return undefined;
  if (
    options.has('R', 'dereference-recursive') &&
    (startsOf(operands, call)?.directories ?? []).some((start) => hasLinksOut(start, call))
  )
    return undefined;
  return printedPaths(operands, options.has('Z', 'null'), call);
};

/** Long options of ripgrep that take a text. */
const RG_TEXTS =
  'regexp file glob iglob type type-not type-add type-clear max-count max-depth maxdepth context after-context before-context ' +
  'pre pre-glob sort sortr threads encoding engine ignore-file max-columns max-filesize color colors dfa-size-limit regex-size-limit';

/** Those that take none, and leave the paths as they are. */
const RG_FLAGS =
  'files files-with-matches files-without-match null hidden no-hidden ignore-case smart-case case-sensitive fixed-strings ' +
  'word-regexp line-regexp invert-match multiline multiline-dotall pcre2 text binary search-zip crlf unicode no-unicode ' +
  'no-messages no-ignore no-ignore-vcs no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-parent ' +
  'no-ignore-messages no-config no-follow no-require-git one-file-system unrestricted glob-case-insensitive ' +
  'heading no-heading line-number no-line-number column no-column with-filename no-filename only-matching sort-files trim quiet';

/** `rg -l`, `rg --files`. */
export const ripgrep: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'eABCfmgtTjEMrd'],
    long: [...RG_TEXTS.split(' ').map((name) => `${name}=`), ...RG_FLAGS.split(' ')],
    isExact: true,
  });
  if (options.has('pre')) call.reader.unresolved('rg --pre runs another program');
  const isFiles = options.has('files');
  if (!isFiles && !options.has('l', 'files-with-matches', 'files-without-match')) return undefined;
  // of another option it is not known whether the word behind it is its text
  const others = otherOptions(options, `${RG_TEXTS} ${RG_FLAGS}`.split(' ')).filter((name) => name.length > 1);
  const hasPattern = isFiles || options.has('e', 'f', 'regexp', 'file');
  if (options.isUncertain || options.has('L', 'c') || others.length > 0) return undefined;
  return printedPaths(hasPattern ? options.operands : options.operands.slice(1), options.has('0', 'null'), call);
};

/** Options of grep that leave the lines as they are. */
const FILTERING: ReadonlySet<string> = new Set([
  'v',
  'i',
  'E',
  'F',
  'P',
  'w',
  'x',
  'e',
  'm',
  'invert-match',
  'ignore-case',
  'extended-regexp',
  'fixed-strings',
  'perl-regexp',
  'regexp',
]);

/** `head` and `tail` give some of the lines they read. */
export const filter: Program = (call) => {
  const isLines = call.args.every((arg) => isText(arg) && /^-n?\d*$|^\d+$/.test(arg));
  return isLines && call.stdin.kind === 'paths' ? call.stdin : undefined;
};

/** `fd -x` runs a program for what it finds. */
export const fd: Program = (call) => {
  if (call.args.some((arg) => arg === '-x' || arg === '-X' || arg === '--exec' || arg === '--exec-batch')) {
    const at = call.args.findIndex((arg) => arg === '-x' || arg === '-X' || arg === '--exec' || arg === '--exec-batch');
    const words = call.args.slice(at + 1).map((word) => (isText(word) && /\{[./]*\}/.test(word) ? UNKNOWN : word));
    call.reader.runWords(
      [...words, UNKNOWN_WORDS],
      inDirectory(undefined, call.shell, call),
      { kind: 'none' },
      'program',
    );
  }
  return undefined;
};
