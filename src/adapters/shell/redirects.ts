// Redirections: the files they open for writing, and what they put on standard input.

import type { HereDoc, Redirect, RedirectDescriptor, Redirection } from 'unbash';
import { type Holder, PIPE_IN, type Reader } from './reader.ts';
import { type Input, setVariable, UNKNOWN_INPUT } from './state.ts';
import { concat, type Field, isText, UNKNOWN_NUMBER } from './values.ts';
import { expandQuoted } from './words.ts';

export type Redirected = {
  /** What standard input is then; null when nothing is said of it. */
  readonly stdin: Input | null;
  /** Its output goes on to where it would go without. */
  readonly isPrinted: boolean;
  /** A file may not open, and then the command does not run. */
  readonly mayFail: boolean;
};

/** Opens what the redirections name, in their order. */
export function redirect(redirects: readonly Redirection[], holder: Holder, reader: Reader): Redirected {
  let stdin: Input | null = null;
  let isPrinted = true;
  let mayFail = false;
  for (const one of redirects) {
    const descriptor = descriptorOf(one.descriptor, holder, reader);
    if (one.type === 'Redirect') {
      const fields = one.target === undefined ? [] : reader.expandWord(one.target, holder);
      // `>!` is zsh's for `>|`
      if (holder.shell.zsh && one.target?.text.startsWith('!') === true)
        reader.unresolved('a redirection to a name with ! before it');
      const input = openFile(one, fields, descriptor, holder, reader);
      mayFail ||= one.operator === '<' ? input?.kind !== 'text' : !isSafe(one.operator, fields);
      if (input !== null && (descriptor ?? 0) === 0) stdin = input;
      if (one.operator !== '<' && one.operator !== '<&' && descriptor !== 2) isPrinted = false;
      continue;
    }
    const text = one.type === 'HereDoc' ? bodyOf(one, holder, reader) : hereString(one.target, holder, reader);
    if (descriptor === undefined || descriptor === 0) stdin = textInput(text);
    else reader.oddDescriptor();
  }
  return { stdin, isPrinted, mayFail };
}

function textInput(text: Field): Input {
  return isText(text) ? { kind: 'text', text } : UNKNOWN_INPUT;
}

function hereString(target: Redirect['target'], holder: Holder, reader: Reader): Field {
  return target === undefined ? '' : concat(reader.expandText(target, holder), '\n');
}

/** It opens whatever the files are. */
function isSafe(operator: Redirect['operator'], fields: readonly Field[]): boolean {
  const [target] = fields;
  if (fields.length !== 1 || !isText(target)) return false;
  if (operator === '>&' || operator === '<&') return ['0', '1', '2', '-'].includes(target);
  return target === '/dev/null';
}

function descriptorOf(descriptor: RedirectDescriptor | undefined, holder: Holder, reader: Reader): number | undefined {
  if (descriptor?.type !== 'FileDescriptorVariable') return descriptor?.value;
  if (!/^\w+(\[\d+\])?$/.test(descriptor.name))
    reader.unresolved('a descriptor is kept under a name that may hold commands');
  holder.shell = setVariable(holder.shell, descriptor.name.split('[')[0] ?? '', { ...UNKNOWN_NUMBER, lead: '1' });
  return 10;
}

/** Opens one file; answers with what standard input is when it is opened for reading. */
function openFile(
  one: Redirect,
  fields: readonly Field[],
  descriptor: number | undefined,
  holder: Holder,
  reader: Reader,
): Input | null {
  if (one.target === undefined) return UNKNOWN_INPUT;
  const [target] = fields;
  if (one.operator === '<') {
    if ((descriptor ?? 0) > 0) reader.oddDescriptor();
    return target === undefined || fields.length > 1 ? UNKNOWN_INPUT : fileInput(target, holder, reader);
  }
  const isCopy = one.operator === '<&' || one.operator === '>&';
  if (isCopy && fields.length === 1 && target !== undefined && isDescriptor(target)) {
    if (turnsRound(target, descriptor ?? (one.operator === '<&' ? 0 : 1))) reader.oddDescriptor();
    return one.operator === '<&' ? UNKNOWN_INPUT : null;
  }
  if (one.operator === '<&') {
    // bash takes a name here for a file that is read
    reader.oddDescriptor();
    return UNKNOWN_INPUT;
  }
  for (const field of fields) reader.write(holder.shell, field, one.operator);
  if (one.operator === '<>' && descriptor !== undefined && descriptor > 0) reader.oddDescriptor();
  return one.operator === '<>' && descriptor === undefined ? UNKNOWN_INPUT : null;
}

function isDescriptor(target: Field): boolean {
  // a number that is worked out may be negative, and then names a file
  return isText(target) ? /^(\d+-?|-)$/.test(target) : target.number && /^\d/.test(target.lead);
}

/** Whether standard output or errors become something that was opened for something else. */
function turnsRound(target: Field, descriptor: number): boolean {
  if (descriptor !== 1 && descriptor !== 2) return false;
  return target !== '1' && target !== '2' && target !== '-';
}

function fileInput(target: Field, holder: Holder, reader: Reader): Input {
  if (!isText(target) || target === PIPE_IN) return UNKNOWN_INPUT;
  if (target === '/dev/null') return { kind: 'text', text: '' };
  return fileText(target, holder, reader);
}

/** What a file holds at that moment; not known when the command itself may have changed it. */
export function fileText(path: string, holder: Holder, reader: Reader): Input {
  const places = reader.places(holder.shell, path);
  const place = places?.[0];
  if (place === undefined || places?.length !== 1 || reader.kindAt(holder.shell, path) !== 'file') return UNKNOWN_INPUT;
  const text = reader.context.readText?.(place) ?? null;
  return text === null ? UNKNOWN_INPUT : { kind: 'text', text };
}

function bodyOf(one: HereDoc, holder: Holder, reader: Reader): Field {
  const { text, parts } = one.body;
  if (one.delimiter?.quoted === true) return withoutTabs(one, text);
  if (parts === undefined)
    return withoutTabs(
      one,
      text.replace(/\\([\\$`\n])/g, (_, sign: string) => (sign === '\n' ? '' : sign)),
    );
  const body = expandQuoted(parts, holder, reader);
  return isText(body) ? withoutTabs(one, body) : body;
}

function withoutTabs(one: HereDoc, text: string): string {
  return one.operator === '<<-' ? text.replace(/^\t+/gm, '') : text;
}
