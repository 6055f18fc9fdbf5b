// A simple command: its assignments, its words, its redirections, and who answers to its name.

import type { Assignment, Command } from 'unbash';
import { checkArithmeticText } from './arithmetic.ts';
import { checkIndex } from './parameters.ts';
import { both, type Holder, type Outcome, type Reader } from './reader.ts';
import { redirect } from './redirects.ts';
import { type Input, join, NO_INPUT, type Shell, setVariable } from './state.ts';
import { concat, type Field, isText, UNKNOWN, type Value } from './values.ts';
import { assign, meaningOf } from './variables.ts';

export function runSimple(node: Command, shell: Shell, reader: Reader, stdin: Input | null): Outcome {
  const holder: Holder = { shell };
  const words: Field[] = node.name === undefined ? [] : [...reader.expandWord(node.name, holder)];
  const lists = new Map<string, Value>();
  for (const arg of node.args) {
    if (arg.type === 'Word') words.push(...reader.expandWord(arg, holder));
    else words.push(argumentOf(arg, lists, holder, reader));
  }
  const expanded = holder.shell;
  if (reader.exits.traps.length > 0) reader.exits.moments = join(reader.exits.moments, expanded);
  const { stdin: input, isPrinted, mayFail } = redirect(node.redirects, holder, reader);
  for (const part of node.prefix) if (part.type === 'Assignment') assignOne(part, holder, reader, words.length > 0);
  if (words.length === 0) return both(holder.shell, NO_INPUT);
  const hasTemporary = node.prefix.some((part) => part.type === 'Assignment');
  if (node.prefix.some((part) => part.type === 'Assignment') && RUNS_HERE.has(`${words[0]}`)) {
    // the command may take away what stands before it, and what lies behind is seen again
    const names = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : []));
    for (const name of names) holder.shell = setVariable(holder.shell, name, UNKNOWN);
    holder.shell = { ...holder.shell, fixed: new Set([...holder.shell.fixed, ...names]) };
  }
  const ran = reader.runWords(words, holder.shell, input ?? stdin ?? shell.stdin);
  const outcome = mayFail ? { ...ran, fail: join(ran.fail, holder.shell) } : ran;
  const restored = hasTemporary ? withoutTemporary(node, outcome, expanded) : outcome;
  const after = lists.size === 0 ? restored : withLists(restored, lists);
  return isPrinted ? after : { ...after, out: NO_INPUT };
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

function assignOne(assignment: Assignment, holder: Holder, reader: Reader, isExported: boolean): void {
  const { name, index } = assignment;
  if (index !== undefined) checkIndex(index, holder, reader);
  const value = assignedValue(assignment, holder, reader);
  checkAssigned(name, value, holder.shell, reader);
  holder.shell =
    index === undefined
      ? assign(holder.shell, name, value, assignment.append === true, reader.context)
      : setVariable(holder.shell, name, UNKNOWN);
  if (isExported) holder.shell = { ...holder.shell, exported: new Set([...holder.shell.exported, name]) };
}

/** Looks at what a variable makes other programs do. */
export function checkAssigned(name: string, value: Value, shell: Shell, reader: Reader): void {
  const meaning = meaningOf(name);
  if (meaning === 'text') return;
  if (meaning === 'path') {
    reader.otherPrograms();
    return;
  }
  if (meaning === 'options') {
    if (!isField(value) || !isText(value) || value.includes('data:')) reader.unresolved(`${name} may hold code`);
    return;
  }
  if (meaning === 'hidden') {
    if (
      value !== '' &&
      !(name === 'PS1' || (name === 'PS4' && typeof value === 'string' && !/[$`]/.test(`${value}`)))
    ) {
      reader.unresolved(`${name} makes other programs do what cannot be told`);
    }
    return;
  }
  const texts = value === null ? [] : Array.isArray(value) ? value : [value];
  for (const text of texts) {
    // the program is given further words that are not known
    if (isText(text)) reader.deeper(() => reader.runText(text === '' ? '' : `${text} "$_"`, shell), shell);
    else reader.unresolved(`${name} is a command that is known only when it runs`);
  }
}

/** What stood before the command is so again, where the command did not change it itself. */
function withoutTemporary(node: Command, outcome: Outcome, before: Shell): Outcome {
  const restored = (shell: Shell | null): Shell | null => {
    if (shell === null) return null;
    const vars = new Map(shell.vars);
    for (const part of node.prefix) {
      if (part.type !== 'Assignment') continue;
      const value = before.vars.get(part.name);
      // some commands that are built in keep the value
      if (value === undefined && !SPECIAL.has(node.name?.value ?? '')) vars.delete(part.name);
      else vars.set(part.name, SPECIAL.has(node.name?.value ?? '') ? UNKNOWN : (value ?? UNKNOWN));
    }
    return { ...shell, vars, exported: before.exported, fixed: before.fixed };
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
    shell === null ? null : { ...shell, vars: new Map([...shell.vars, ...lists]) };
  return { ok: set(outcome.ok), fail: set(outcome.fail), out: outcome.out };
}
