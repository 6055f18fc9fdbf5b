// A simple command: its assignments, its words, its redirections, and who answers to its name.

import type { Assignment, Command } from 'unbash';
import { checkArithmeticText } from './arithmetic.ts';
import { checkAssigned } from './assigned.ts';
import { checkIndex } from './parameters.ts';
import type { Holder, Outcome, Reader } from './reader.ts';
import { redirect } from './redirects.ts';
import { type Input, join, NO_INPUT, putBack, type Shell, setVariable } from './state.ts';
import { concat, type Field, isText, UNKNOWN, type Value } from './values.ts';
import { assign } from './variables.ts';

export function runSimple(node: Command, shell: Shell, reader: Reader, stdin: Input | null): Outcome {
  const holder: Holder = { shell };
  checkWhole(node, reader);
  const words: Field[] = node.name === undefined ? [] : [...reader.expandWord(node.name, holder)];
  const lists = new Map<string, Value>();
  const { options } = holder.shell;
  const isUnmatched = shell.zsh && node.name?.text === 'noglob';
  if (isUnmatched) holder.shell = { ...holder.shell, options: new Set([...options, 'noglob']) };
  for (const arg of node.args) {
    if (arg.type === 'Word') words.push(...reader.expandWord(arg, holder));
    else words.push(argumentOf(arg, lists, holder, reader));
  }
  if (isUnmatched) holder.shell = { ...holder.shell, options };
  const expanded = holder.shell;
  if (reader.exits.traps.length > 0) reader.exits.moments = join(reader.exits.moments, expanded);
  const names = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : []));
  let isQuiet = true;
  for (const part of node.prefix) {
    if (part.type !== 'Assignment') continue;
    const isPlain = assignOne(part, holder, reader, words.length > 0);
    isQuiet &&= isPlain;
  }
  // bash assigns before it opens files where there is no command, others behind it
  if (names.length > 0 && (words.length === 0 || !isQuiet)) redirect(node.redirects, { shell: expanded }, reader);
  if (words.length === 0) {
    const { mayFail } = redirect(node.redirects, holder, reader);
    return { ok: holder.shell, fail: mayFail ? join(holder.shell, expanded) : holder.shell, out: NO_INPUT };
  }
  const aside: Holder = { shell: isQuiet ? expanded : forgetNames(holder.shell, names) };
  const { stdin: input, isPrinted, mayFail } = redirect(node.redirects, aside, reader);
  holder.shell = assignedOver(aside.shell, names, holder.shell);
  const hasTemporary = names.length > 0;
  if (hasTemporary && RUNS_HERE.has(`${words[0]}`)) {
    // the command may take away what stands before it, and what lies behind is seen again
    holder.shell = forgetNames(holder.shell, names);
    holder.shell = { ...holder.shell, fixed: new Set([...holder.shell.fixed, ...names]) };
  }
  const ran = reader.runWords(words, holder.shell, input ?? stdin ?? shell.stdin);
  const outcome = mayFail ? { ...ran, fail: join(ran.fail, holder.shell) } : ran;
  const restored = hasTemporary ? withoutTemporary(node, outcome, expanded) : outcome;
  const after = lists.size === 0 ? restored : withLists(restored, lists);
  return isPrinted ? after : { ...after, out: NO_INPUT };
}

/** Words without a blank between them are one that was cut in two by mistake, as `a=<(b)` is. */
function checkWhole({ prefix, name, suffix }: Command, reader: Reader): void {
  const all = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
  if (all.some((word, index) => index > 0 && all[index - 1]?.end === word.pos))
    reader.unresolved('it cannot be read: a word is cut in two');
}

function forgetNames(shell: Shell, names: readonly string[]): Shell {
  return names.reduce((now, name) => setVariable(now, name, UNKNOWN), shell);
}

/** The shell with some variables as they are in another. */
function assignedOver(shell: Shell, names: readonly string[], from: Shell): Shell {
  if (names.length === 0) return shell;
  const vars = new Map(shell.vars);
  for (const name of names) vars.set(name, from.vars.get(name) ?? UNKNOWN);
  return { ...shell, vars, exported: from.exported };
}

/** `export a=b` as the word it is; a list is kept aside. */
function argumentOf(arg: Assignment, lists: Map<string, Value>, holder: Holder, reader: Reader): Field {
  if (arg.index !== undefined) checkIndex(arg.index, holder, reader);
  const value = assignedValue(arg, holder, reader);
  const sign = arg.append === true ? '+=' : '=';
  if (value === null || Array.isArray(value) || arg.index !== undefined) {
    lists.set(arg.name, arg.append === true || arg.index !== undefined ? UNKNOWN : value);
    return `${arg.name}=`;
  }
  return concat(`${arg.name}${sign}`, isText(arg.text) ? (isField(value) ? value : UNKNOWN) : UNKNOWN);
}

function isField(value: Value): value is Field {
  return value !== null && !Array.isArray(value);
}

function assignedValue(assignment: Assignment, holder: Holder, reader: Reader): Value {
  const { value } = assignment;
  if (value.type === 'Word') return reader.expandText(value, holder);
  return value.elements.flatMap((element) => {
    // `[i]=x` in a list: the subscript is arithmetic
    const fields = reader.expandWord(element, holder);
    const isPlaced = fields.some((field) => !isText(field) || field.startsWith('['));
    for (const field of fields) {
      const index = isText(field) ? /^\[(.*?)\]\+?=/s.exec(field)?.[1] : undefined;
      if (index !== undefined) checkArithmeticText(index, holder, reader);
    }
    return isPlaced ? [UNKNOWN, ...fields.map(() => UNKNOWN)] : fields;
  });
}

/** Answers whether its words change nothing themselves. */
function assignOne(assignment: Assignment, holder: Holder, reader: Reader, isExported: boolean): boolean {
  const { name, index } = assignment;
  const before = holder.shell;
  if (index !== undefined) checkIndex(index, holder, reader);
  const value = assignedValue(assignment, holder, reader);
  const isQuiet = holder.shell === before;
  checkAssigned(name, value, holder.shell, reader);
  holder.shell =
    index === undefined
      ? assign(holder.shell, name, value, assignment.append === true, reader.context)
      : setVariable(holder.shell, name, UNKNOWN);
  if (isExported) holder.shell = { ...holder.shell, exported: new Set([...holder.shell.exported, name]) };
  return isQuiet;
}

/** What stood before the command is so again, where the command did not change it itself. */
function withoutTemporary(node: Command, outcome: Outcome, before: Shell): Outcome {
  const names = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : []));
  const isSpecial = SPECIAL.has(node.name?.value ?? '');
  const restored = (shell: Shell | null): Shell | null => {
    if (shell === null) return null;
    // some commands that are built in keep the value
    const back = isSpecial ? forgetNames({ ...shell, fixed: before.fixed }, names) : putBack(shell, names, before);
    const fixed = new Set([...before.fixed, ...[...shell.fixed].filter((name) => !names.includes(name))]);
    return { ...back, exported: before.exported, fixed };
  };
  return { ok: restored(outcome.ok), fail: restored(outcome.fail), out: outcome.out };
}

/** Commands of the shell that run texts in it. */
const RUNS_HERE: ReadonlySet<string> = new Set(['eval', '.', 'source', 'command', 'builtin', 'unset']);

const SPECIAL: ReadonlySet<string> = new Set([
  'eval',
  '.',
  'source',
  'export',
  'readonly',
  'set',
  'exec',
  'trap',
  'unset',
  ':',
]);

function withLists(outcome: Outcome, lists: ReadonlyMap<string, Value>): Outcome {
  const set = (shell: Shell | null): Shell | null =>
    shell === null ? null : [...lists].reduce((now, [name, value]) => setVariable(now, name, value), shell);
  return { ok: set(outcome.ok), fail: set(outcome.fail), out: outcome.out };
}
