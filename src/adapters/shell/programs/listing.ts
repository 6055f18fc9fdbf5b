// Programs that print paths, or some of the lines they read, for others to take up.

import { readOptions } from '../options.ts';
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

/** `grep -rl` and `git grep -l` print paths and nothing else. */
export const grep: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'eABCfmdD'],
    long: ['regexp=', 'file=', 'include=', 'exclude=', 'exclude-dir=', 'max-count=', 'context=', 'color?'],
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

/** `rg -l`, `rg --files`. */
export const ripgrep: Program = (call) => {
  const options = readOptions(call.args, {
    short: [...'eABCfmgtTjEMrd'],
    long: ['regexp=', 'file=', 'glob=', 'iglob=', 'type=', 'type-not=', 'max-count=', 'max-depth=', 'context=', 'pre='],
  });
  if (options.has('pre')) call.reader.unresolved('rg --pre runs another program');
  const isFiles = options.has('files');
  if (!isFiles && !options.has('l', 'files-with-matches', 'files-without-match')) return undefined;
  const hasPattern = isFiles || options.has('e', 'f', 'regexp', 'file');
  if (options.isUncertain || options.has('L', 'follow', 'c', 'count', 'json', 'passthru')) return undefined;
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
