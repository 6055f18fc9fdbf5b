// sed: which files it edits, and what its script writes or runs.

import { type Options, readOptions } from '../options.ts';
import { baseOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { fileText } from '../redirects.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';

/** What a sed script does apart from printing; null when it is not understood. */
type SedScript = { readonly writes: readonly string[]; readonly runs: boolean };

const NO_TEXT = 'dDgGhHnNpPxzF=';
const LABELS = 'btT:';

/** Reads a script of GNU sed, one command after the other. */
function readSedScript(text: string): SedScript | null {
  const writes: string[] = [];
  let runs = false;
  let at = 0;
  const skip = (signs: string) => {
    while (at < text.length && signs.includes(text[at] ?? '')) at += 1;
  };
  const line = () => {
    const end = text.indexOf('\n', at);
    const rest = text.slice(at, end === -1 ? text.length : end);
    at = end === -1 ? text.length : end + 1;
    return rest;
  };
  /** A part that ends with its delimiter; false when it does not end. */
  const delimited = (delimiter: string, isExpression: boolean): boolean => {
    for (; at < text.length; at += 1) {
      const sign = text[at];
      if (sign === '\\') at += 1;
      else if (sign === '\n' && isExpression) return false;
      // what ends inside of brackets differs between versions
      else if (sign === '[' && isExpression) {
        const end = bracketEnd(text, at);
        if (end === null || text.slice(at, end).includes(delimiter)) return false;
        at = end - 1;
      } else if (sign === delimiter) {
        at += 1;
        return true;
      }
    }
    return false;
  };
  const address = (): boolean => {
    skip(' \t');
    const sign = text[at] ?? '';
    if (/[\d$]/.test(sign)) {
      at += 1;
      skip('0123456789~ \t');
      return true;
    }
    if (sign === '/' || sign === '\\') {
      at += sign === '/' ? 1 : 2;
      if (!delimited(sign === '/' ? '/' : (text[at - 1] ?? ''), true)) return false;
      skip('IM \t');
    }
    return true;
  };
  while (at < text.length) {
    skip(' \t\n;}');
    if (at >= text.length) break;
    if (!address()) return null;
    if (text[at] === ',') {
      at += 1;
      skip(' \t+~');
      if (!address()) return null;
    }
    skip(' \t!');
    const name = text[at] ?? '';
    at += 1;
    if (name === '#') line();
    else if (name === '{' || name === '') continue;
    else if (NO_TEXT.includes(name)) continue;
    else if (LABELS.includes(name)) {
      skip(' \t');
      while (at < text.length && !' \t\n;}'.includes(text[at] ?? '')) at += 1;
    } else if ('aic'.includes(name)) {
      for (let last = line(); goesOn(last) && at < text.length; ) last = line();
    } else if ('rR'.includes(name)) line();
    else if ('qQlL'.includes(name)) skip(' \t0123456789');
    else if ('wW'.includes(name)) writes.push(line().trim());
    else if (name === 's' || name === 'y') {
      const delimiter = text[at] ?? '';
      at += 1;
      if (delimiter === '' || delimiter === '\n' || delimiter === '\\') return null;
      if (!delimited(delimiter, name === 's') || !delimited(delimiter, false)) return null;
      if (name === 'y') continue;
      const flags = /^[gpiImM0-9]*/.exec(text.slice(at))?.[0] ?? '';
      at += flags.length;
      if (text[at] === 'e') runs = true;
      if (text[at] === 'e' || text[at] === 'w') {
        if (text[at] === 'w') writes.push(line().slice(1).trim());
        else at += 1;
      }
      skip(' \t');
      if (at < text.length && !';}\n#ew'.includes(text[at] ?? '')) return null;
      if (text[at] === 'e' || text[at] === 'w') return null;
    } else return null;
  }
  return { writes, runs };
}

/** A text goes on in the next line behind a backslash that is not quoted by another. */
function goesOn(line: string): boolean {
  let count = 0;
  while (line.at(-1 - count) === '\\') count += 1;
  return count % 2 === 1;
}

function bracketEnd(text: string, start: number): number | null {
  let at = start + 1;
  if (text[at] === '^') at += 1;
  if (text[at] === ']') at += 1;
  for (; at < text.length; at += 1) {
    if (text[at] === '\\' || text[at] === '[' || text[at] === '\n') return null;
    if (text[at] === ']') return at + 1;
  }
  return null;
}

export const sed: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['e', 'f', 'l', 'i?'],
    long: [
      'expression=',
      'file=',
      'line-length=',
      'in-place?',
      'quiet',
      'silent',
      'regexp-extended',
      'separate',
      'null-data',
      'unbuffered',
      'posix',
      'debug',
      'sandbox',
      'follow-symlinks',
      'zero-terminated',
      'help',
      'version',
    ],
  });
  checkOptions(call, options);
  const files = options.all('f', 'file');
  const expressions = options.all('e', 'expression');
  const hasScript = expressions.length > 0 || files.length > 0;
  const [first, ...rest] = withoutEnding(options, call);
  const scripts = hasScript ? expressions : first === undefined ? [] : [first];
  const operands = hasScript ? options.operands.filter((operand) => operand !== '') : rest;
  if (expressions.length > 0 && expressions.every(isText)) checkScript(expressions.join('\n'), call);
  else for (const script of scripts) checkScript(script, call);
  for (const file of files) {
    const input = isText(file) ? fileText(file, { shell: call.shell }, call.reader) : null;
    checkScript(input?.kind === 'text' ? input.text.replace(/^#!.*/, '') : undefined, call);
  }
  if (!options.has('i', 'in-place')) return undefined;
  for (const operand of operands) {
    call.reader.write(call.shell, operand, 'sed -i', { entry: !options.has('follow-symlinks') });
    for (const suffix of options.all('i', 'in-place')) if (suffix !== '') writeBackup(operand, suffix, call);
  }
  return undefined;
};

/** `-i ''` of other systems: the empty word is no script, unless a file has the script's name. */
function withoutEnding(options: Options, { reader, shell }: Call): readonly Field[] {
  const { operands } = options;
  const [first, script] = operands;
  const isEnding = first === '' && options.all('i').at(-1) === '' && isText(script);
  return isEnding && reader.kindAt(shell, script) === 'none' ? operands.slice(1) : operands;
}

/** `-i.bak` keeps what was there; a `*` in the ending is the name. */
function writeBackup(operand: Field, suffix: Field, call: Call): void {
  if (!isText(operand) || !isText(suffix)) {
    call.reader.write(call.shell, operand, 'sed -i', { tree: true });
    return;
  }
  const base = baseOf(operand);
  const directory = operand.slice(0, operand.length - base.length);
  const name = suffix.includes('*') ? suffix.replaceAll('*', base) : base + suffix;
  call.reader.write(call.shell, name.includes('/') ? name : directory + name, 'sed -i', { entry: true });
}

function checkScript(script: Field | undefined, call: Call): void {
  const found = isText(script) ? readSedScript(script) : null;
  if (found === null) {
    call.reader.unresolved('sed: what its script does is not known before it runs');
    return;
  }
  if (found.runs) call.reader.unresolved('sed: its script runs commands');
  for (const path of found.writes) call.reader.write(call.shell, path, 'sed w');
}
