// What is known of a shell at one point of a command: its variables, directories, functions and options.

import type { CommandNode, CompoundList } from 'unbash';
import { eitherValue, type Field, maybeGiven, type Places, UNKNOWN, type Value } from './values.ts';

/** What a command finds on its standard input. */
export type Input =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paths'; readonly within: Places; readonly nul: boolean };

export const NO_INPUT: Input = { kind: 'none' };
export const UNKNOWN_INPUT: Input = { kind: 'unknown' };

/** What each of several commands finds of one input: another may have read a part of it. */
export function sharedInput(input: Input): Input {
  return input.kind === 'none' || (input.kind === 'text' && input.text === '') ? input : UNKNOWN_INPUT;
}

export type FunctionBody = CommandNode | CompoundList;

export type ShellFunction = {
  readonly bodies: readonly FunctionBody[];
  /** Whether the name surely stands for one of them. */
  readonly certain: boolean;
};

export type Shell = {
  /** Variables that were given or lost a value here; the others are as in the environment. */
  readonly vars: ReadonlyMap<string, Value>;
  readonly exported: ReadonlySet<string>;
  /** Variables that keep what they hold, or make something else of a text: it cannot be told after it is tried. */
  readonly fixed: ReadonlySet<string>;
  /** No variable can be told any more. */
  readonly opaque: boolean;
  /** The directories of which one is the working directory, with links as they were walked; null: not known. */
  readonly cwds: readonly string[] | null;
  /** Below the working directory on the stack of `pushd`. */
  readonly stack: readonly (readonly string[] | null)[];
  readonly functions: ReadonlyMap<string, ShellFunction>;
  readonly aliases: ReadonlySet<string>;
  /** `$1` and on; null: not known. */
  readonly positional: readonly Field[] | null;
  readonly options: ReadonlySet<string>;
  /** Whether `**` stands for directories of any depth; null: not known. */
  readonly deep: boolean | null;
  /** It is zsh, or may be. */
  readonly zsh: boolean;
  /** Variables that end with the function that runs; null outside of functions. */
  readonly locals: ReadonlySet<string> | null;
  /** Variables that a function also changed, or may have, where they lie behind one of the same name. */
  readonly spilled: ReadonlySet<string>;
  /** What is on standard input where no redirection of the command itself says so. */
  readonly stdin: Input;
};

const MOST_DIRECTORIES = 8;

function keysOf<K>(...maps: readonly { keys(): Iterable<K> }[]): Set<K> {
  const all = new Set<K>();
  for (const map of maps) for (const key of map.keys()) all.add(key);
  return all;
}

function joinVars(a: Shell, b: Shell): ReadonlyMap<string, Value> {
  if (a.vars === b.vars) return a.vars;
  const joined = new Map<string, Value>();
  for (const name of keysOf(a.vars, b.vars)) {
    const left = a.vars.get(name);
    const right = b.vars.get(name);
    joined.set(name, left === undefined || right === undefined ? maybeGiven(left ?? right) : eitherValue(left, right));
  }
  return joined;
}

function joinFunctions(a: Shell, b: Shell): ReadonlyMap<string, ShellFunction> {
  if (a.functions === b.functions) return a.functions;
  const joined = new Map<string, ShellFunction>();
  for (const name of keysOf(a.functions, b.functions)) {
    const left = a.functions.get(name);
    const right = b.functions.get(name);
    const bodies = [...new Set([...(left?.bodies ?? []), ...(right?.bodies ?? [])])];
    joined.set(name, { bodies, certain: left?.certain === true && right?.certain === true });
  }
  return joined;
}

export function joinDirectories(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === b) return a;
  if (a === null || b === null) return null;
  const all = [...new Set([...a, ...b])].sort();
  return all.length > MOST_DIRECTORIES ? null : all;
}

function joinStacks(a: Shell, b: Shell): Shell['stack'] {
  if (a.stack === b.stack) return a.stack;
  const length = Math.max(a.stack.length, b.stack.length);
  return Array.from({ length }, (_, index) => {
    const left = a.stack[index];
    const right = b.stack[index];
    return left === undefined || right === undefined ? null : joinDirectories(left, right);
  });
}

function samePositional(a: Shell, b: Shell): boolean {
  if (a.positional === b.positional) return true;
  if (a.positional === null || b.positional === null || a.positional.length !== b.positional.length) return false;
  return a.positional.every((field, index) => field === b.positional?.[index]);
}

function union<T>(a: ReadonlySet<T>, b: ReadonlySet<T>): ReadonlySet<T> {
  return a === b ? a : new Set([...a, ...b]);
}

/** What is known when either of two ways was gone; null is a way that ends here. */
export function join(a: Shell | null, b: Shell | null): Shell | null {
  if (a === null || a === b) return b;
  if (b === null) return a;
  return {
    vars: joinVars(a, b),
    exported: union(a.exported, b.exported),
    fixed: union(a.fixed, b.fixed),
    spilled: union(a.spilled, b.spilled),
    opaque: a.opaque || b.opaque,
    cwds: joinDirectories(a.cwds, b.cwds),
    stack: joinStacks(a, b),
    functions: joinFunctions(a, b),
    aliases: union(a.aliases, b.aliases),
    positional: samePositional(a, b) ? a.positional : null,
    options: union(a.options, b.options),
    deep: a.deep === b.deep ? a.deep : null,
    zsh: a.zsh || b.zsh,
    locals: a.locals === null ? b.locals : b.locals === null ? a.locals : union(a.locals, b.locals),
    stdin: a.stdin === b.stdin ? a.stdin : UNKNOWN_INPUT,
  };
}

export function joinAll(shells: readonly (Shell | null)[]): Shell | null {
  return shells.reduce((joined, shell) => join(joined, shell), null);
}

export function setVariable(shell: Shell, name: string, value: Value): Shell {
  const before = shell.vars.get(name);
  const held = shell.fixed.has(name) && before !== undefined ? eitherValue(before, value) : value;
  return { ...shell, vars: new Map(shell.vars).set(name, held) };
}

/** In a function what lies behind a variable of the same name may change with it. */
export function spill(shell: Shell, name: string): Shell {
  return shell.locals === null ? shell : { ...shell, spilled: new Set([...shell.spilled, name]) };
}

/** Gives variables back what they held before a command for which they stood aside. */
export function putBack(shell: Shell, names: Iterable<string>, before: Shell): Shell {
  const vars = new Map(shell.vars);
  for (const name of names) {
    const value = before.vars.get(name);
    if (shell.spilled.has(name)) vars.set(name, UNKNOWN);
    else if (value === undefined) vars.delete(name);
    else vars.set(name, value);
  }
  return { ...shell, vars };
}

/** Nothing that was assigned can be told, nor where the shell is. */
export function forgetAll(shell: Shell): Shell {
  return { ...shell, opaque: true, cwds: null, stack: [], positional: null };
}

/** The text of the working directory where there is one only. */
export function onlyDirectory(shell: Shell): Field {
  return shell.cwds?.length === 1 ? (shell.cwds[0] ?? UNKNOWN) : UNKNOWN;
}

/** Two states that tell the same, so that a loop may end. */
export function sameState(a: Shell, b: Shell): boolean {
  if (a.opaque !== b.opaque || a.cwds?.join('\0') !== b.cwds?.join('\0') || a.stack.length !== b.stack.length)
    return false;
  if (a.vars.size !== b.vars.size || a.functions.size !== b.functions.size || a.options.size !== b.options.size)
    return false;
  if (a.deep !== b.deep || a.aliases.size !== b.aliases.size || !samePositional(a, b)) return false;
  for (const [name, { bodies }] of a.functions) {
    if (b.functions.get(name)?.bodies.length !== bodies.length) return false;
  }
  for (const [name, value] of a.vars) {
    const other = b.vars.get(name);
    if (other === undefined || !isSame(value, other)) return false;
  }
  return true;
}

function isSame(a: Value, b: Value): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
