// What zsh does otherwise than bash: the host runs a command in the shell of the person, which may be either.

import type { WordPart } from 'unbash';
import type { ShellContext } from './effects.ts';
import { runUntilStable } from './loops.ts';
import { type Builtin, both } from './reader.ts';
import { forgetAll, join, NO_INPUT } from './state.ts';
import { type Field, isText } from './values.ts';

/** Where Claude Code looks for a shell besides the PATH. */
const PLACES = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'];

/** Claude Code takes the shell that a variable names, when it is bash or zsh; else zsh before bash. */
export function mayBeZsh({ env, kindOf }: Pick<ShellContext, 'env' | 'kindOf'>): boolean {
  const named = [env.CLAUDE_CODE_SHELL, env.SHELL].find((path) => path !== undefined && /bash|zsh/.test(path));
  if (named !== undefined) return named.includes('zsh');
  return [...(env.PATH ?? '').split(':'), ...PLACES].some((place) => place !== '' && kindOf(`${place}/zsh`) === 'file');
}

/** Whether what is written before that part goes on in it: `$x[1]`, `$x:h`, `$10`. */
export function goesOn(part: WordPart, next: WordPart | undefined): boolean {
  if (part.type !== 'SimpleExpansion' || next === undefined) return false;
  const isNumber = /^\$\d$/.test(part.text);
  return isNumber ? /^[[:\d]/.test(next.text) : /^(\[|:[aAcefFghlpPqQrstuwWxX&])/.test(next.text);
}

/** Whether a text that bash takes as it is written stands for another: `=ls`, `$~x`. */
export function isOther(raw: string, isFirst: boolean): boolean {
  return (isFirst && /^=./s.test(raw)) || /(^|[^\\])\$[=~^+]/.test(raw);
}

/** Commands by which the words behind them run in another way. */
const precommand: Builtin = (call) =>
  call.args.length === 0 ? both(call.shell) : call.reader.runWords(call.args, call.shell, call.stdin);

const repeat: Builtin = (call) => {
  const [, ...words] = call.args;
  if (words.length === 0) return both(call.shell);
  if (words[0] === '{') call.reader.unresolved('repeat runs a block, which is not read');
  return runUntilStable(call.shell, call.reader, (now) => {
    const after = call.reader.runWords(words, now, call.stdin);
    return { next: join(after.ok, after.fail), out: now };
  });
};

/** Options that leave alone which files a command writes. */
const QUIET: ReadonlySet<string> = new Set('nomatch errexit nounset pipefail xtrace verbose noclobber'.split(' '));

function isQuiet(arg: Field): boolean {
  if (!isText(arg)) return false;
  const name = arg.toLowerCase().replaceAll('_', '');
  return QUIET.has(name) || (name.startsWith('no') && QUIET.has(name.slice(2)));
}

const setopt: Builtin = (call) => {
  if (call.args.every(isQuiet)) return both(call.shell, NO_INPUT);
  call.reader.unresolved('an option of the shell changes how its words are read');
  return both(forgetAll(call.shell));
};

/** What changes the shell in ways that are not followed. */
const refused: Builtin = ({ reader, shell, name }) => {
  reader.unresolved(`${name} changes the shell in ways that are not followed`);
  return both(forgetAll(shell));
};

const REFUSED =
  'emulate zmodload autoload zstyle sched zle zcompile zpty ztcp zsocket sysopen unfunction functions integer float vared ' +
  'getln zparseopts pushln disable bindkey compdef zmv zcp zln';

/** @see zshmisc(1) on precommand modifiers and complex commands, zshbuiltins(1) */
export const ZSH_BUILTINS: ReadonlyMap<string, Builtin> = new Map([
  ...['noglob', 'nocorrect', '-'].map((name): readonly [string, Builtin] => [name, precommand]),
  ['repeat', repeat],
  ...['setopt', 'unsetopt'].map((name): readonly [string, Builtin] => [name, setopt]),
  ...REFUSED.split(' ').map((name): readonly [string, Builtin] => [name, refused]),
]);

/** Functions that zsh calls by itself. */
export const ZSH_HOOKS =
  /^(TRAP[A-Z0-9]+|chpwd|precmd|preexec|periodic|zshexit|zshaddhistory|command_not_found_handler)$/;
