// What `$(…)` prints, for the few commands whose answer is known before they run.

import type { ParsedScript } from 'unbash';
import { hasOddNames } from './odd-names.ts';
import { parentOf } from './paths.ts';
import type { Holder, Reader } from './reader.ts';
import { forgetAll, type Input, onlyDirectory, type Shell } from './state.ts';
import { type Field, isText, UNKNOWN, UNKNOWN_NUMBER, UNKNOWN_WORDS } from './values.ts';
import { lookUp } from './variables.ts';

const MOST_NUMBERS = 1_000;

/** Runs a command substitution. Bash 5.3's `${ …; }` runs in the shell itself. */
export function printed(script: ParsedScript, isInShell: boolean, holder: Holder, reader: Reader): Field {
  const before = holder.shell;
  const { out } = reader.runScript(script, before);
  if (isInShell) holder.shell = forgetAll(before);
  const [statement] = script.commands;
  if (script.commands.length !== 1 || statement === undefined) return UNKNOWN;
  if (out.kind === 'paths' && isCut(out, before, reader)) return { ...UNKNOWN_WORDS, within: out.within };
  const command = statement.command.type === 'Pipeline' ? statement.command.commands.at(-1) : statement.command;
  if (command?.type !== 'Command' || command.name === undefined || command.prefix.length > 0) return UNKNOWN;
  const words = [command.name, ...command.args].map((word) =>
    word.type === 'Word' && isPlain(word.text) ? word.text : '',
  );
  const [name = '', ...args] = words;
  if (before.functions.has(name) || before.aliases.has(name)) return UNKNOWN;
  const isAlone = statement.command.type === 'Command' && command.redirects.length === 0;
  return answerOf(name, args, isAlone, before, reader);
}

/** Without quotes round it every word is one of the paths: the shell cuts at blanks alone, and no name holds one. */
function isCut(out: Extract<Input, { kind: 'paths' }>, shell: Shell, reader: Reader): boolean {
  return !out.nul && !shell.opaque && !shell.vars.has('IFS') && !hasOddNames(out.within, shell, reader);
}

/** A word of letters, without any quotes or signs of the shell. */
function isPlain(text: string): boolean {
  return /^[\w./+%-]+$/.test(text);
}

function answerOf(name: string, args: readonly string[], isAlone: boolean, shell: Shell, reader: Reader): Field {
  if (name === 'wc' && args.length === 1 && /^-[lwcmL]$/.test(args[0] ?? '')) return UNKNOWN_NUMBER;
  if (name === 'nproc' && args.length === 0) return UNKNOWN_NUMBER;
  if (name === 'date' && args.length === 1 && args[0] === '+%s') return UNKNOWN_NUMBER;
  if (!isAlone) return UNKNOWN;
  if (name === 'seq') return sequence(args);
  if (name === 'pwd' && args.length === 0) return onlyDirectory(shell);
  if (name === 'mktemp' && args.every((arg) => arg === '-d' || arg === '-q')) return temporary(shell, reader);
  if (name === 'git' && args.join(' ') === 'rev-parse --show-toplevel') return topLevel(shell, reader);
  return UNKNOWN;
}

/** `seq 3`, `seq 1 3`, `seq 1 2 9`. */
function sequence(args: readonly string[]): Field {
  if (args.length === 0 || args.length > 3 || !args.every((arg) => /^-?\d{1,6}$/.test(arg))) return UNKNOWN;
  const numbers = args.map(Number);
  const [first = 1, step = 1, last = first] =
    args.length === 3 ? numbers : args.length === 2 ? [numbers[0], 1, numbers[1]] : [1, 1, numbers[0]];
  const count = step === 0 ? 0 : Math.floor((last - first) / step) + 1;
  if (count < 1 || count > MOST_NUMBERS) return UNKNOWN;
  return Array.from({ length: count }, (_, index) => first + index * step).join('\n');
}

/** A new path that nothing else uses; its last part is not known, and stands as the template does. */
function temporary(shell: Shell, reader: Reader): Field {
  const directory = lookUp('TMPDIR', shell, reader.context) ?? '/tmp';
  return typeof directory === 'string' && directory.startsWith('/') ? `${directory}/tmp.XXXXXXXXXX` : UNKNOWN;
}

function topLevel(shell: Shell, reader: Reader): Field {
  const cwd = onlyDirectory(shell);
  if (!isText(cwd) || ['GIT_DIR', 'GIT_WORK_TREE'].some((name) => lookUp(name, shell, reader.context) !== undefined)) {
    return UNKNOWN;
  }
  const place = reader.places(shell, '.')?.[0];
  return place === undefined ? UNKNOWN : (repositoryRoot(place, reader) ?? UNKNOWN);
}

/** The directory with `.git` at or above a place. */
export function repositoryRoot(place: string, reader: Reader): string | null {
  for (let directory = place; ; directory = parentOf(directory)) {
    if (reader.context.kindOf(`${directory}/.git`) !== 'none') return directory;
    if (directory === '/') return null;
  }
}
