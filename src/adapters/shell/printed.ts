// What `$(…)` prints, for the few commands whose answer is known before they run.

import type { ParsedScript } from 'unbash';
import { parentOf } from './paths.ts';
import type { Holder, Reader } from './reader.ts';
import { forgetAll, onlyDirectory, type Shell } from './state.ts';
import { type Field, isText, UNKNOWN, UNKNOWN_NUMBER } from './values.ts';
import { lookUp } from './variables.ts';

/** Runs a command substitution. Bash 5.3's `${ …; }` runs in the shell itself. */
export function printed(script: ParsedScript, isInShell: boolean, holder: Holder, reader: Reader): Field {
  const before = holder.shell;
  reader.runScript(script, before);
  if (isInShell) holder.shell = forgetAll(before);
  const [statement] = script.commands;
  if (script.commands.length !== 1 || statement === undefined) return UNKNOWN;
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

/** A word of letters, without any quotes or signs of the shell. */
function isPlain(text: string): boolean {
  return /^[\w./+%-]+$/.test(text);
}

function answerOf(name: string, args: readonly string[], isAlone: boolean, shell: Shell, reader: Reader): Field {
  if (name === 'wc' && args.length === 1 && /^-[lwcmL]$/.test(args[0] ?? '')) return UNKNOWN_NUMBER;
  if (name === 'nproc' && args.length === 0) return UNKNOWN_NUMBER;
  if (name === 'date' && args.length === 1 && args[0] === '+%s') return UNKNOWN_NUMBER;
  if (!isAlone) return UNKNOWN;
  if (name === 'pwd' && args.length === 0) return onlyDirectory(shell);
  if (name === 'mktemp' && args.every((arg) => arg === '-d' || arg === '-q')) return temporary(shell, reader);
  if (name === 'git' && args.join(' ') === 'rev-parse --show-toplevel') return topLevel(shell, reader);
  return UNKNOWN;
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
