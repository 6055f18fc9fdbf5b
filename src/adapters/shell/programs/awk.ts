// awk: whether its program does nothing but read and print.

import { readOptions } from '../options.ts';
import type { Call, Program } from '../reader.ts';
import { fileText } from '../redirects.ts';
import { type Field, isText } from '../values.ts';
import { checkOptions } from './files.ts';

const WORD = /[A-Za-z_]\w*/y;
const NUMBER = /(0[xX][\da-fA-F]+|\d+\.?\d*([eE][+-]?\d+)?|\.\d+)/y;

/** What may stand before a `/` that begins an expression; after anything else it divides. */
const BEFORE_EXPRESSION: ReadonlySet<string> = new Set([...'({},;!~&|\n', 'print', 'printf', '']);

/** After these a `/` may begin an expression as well; `)` and texts are such, too. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'if else while for do break continue next nextfile exit return delete in getline function func BEGIN END switch case default'.split(
    ' ',
  ),
);

/** A line goes on after one of these. */
const GOES_ON: ReadonlySet<string> = new Set([',', '&', '|', '?', ':', 'do', 'else']);

/** The words and signs of a program; null where a sign can be read in two ways. */
function tokensOf(text: string): readonly string[] | null {
  const tokens: string[] = [];
  let at = 0;
  while (at < text.length) {
    const sign = text[at] ?? '';
    if (sign === ' ' || sign === '\t' || sign === '\r') {
      at += 1;
    } else if (sign === '#') {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
    } else if (sign === '"') {
      const end = stringEnd(text, at, '"');
      if (end === null) return null;
      tokens.push('"');
      at = end;
    } else if (sign === '/') {
      const before = tokens.at(-1) ?? '';
      if (BEFORE_EXPRESSION.has(before)) {
        const end = stringEnd(text, at, '/');
        // a `/` in brackets ends the expression for some and not for others
        if (end === null || text.slice(at, end).includes('[')) return null;
        tokens.push('"');
        at = end;
      } else if (/^[\w\]]/.test(before) && !KEYWORDS.has(before)) {
        tokens.push('/');
        at += 1;
      } else return null;
    } else if (sign === '\\') {
      if (text[at + 1] !== '\n') return null;
      at += 2;
    } else {
      const word = match(WORD, text, at) ?? match(NUMBER, text, at);
      tokens.push(word ?? sign);
      at += word?.length ?? 1;
    }
  }
  return tokens;
}

function match(expression: RegExp, text: string, at: number): string | null {
  expression.lastIndex = at;
  return expression.exec(text)?.[0] ?? null;
}

function stringEnd(text: string, start: number, quote: string): number | null {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '\n') return null;
    else if (text[at] === quote) return at + 1;
  }
  return null;
}

/** Whether the program neither writes files nor runs anything: it has no pipe, no `system`, no redirected print. */
function isAwkHarmless(text: string): boolean {
  const tokens = tokensOf(text);
  if (tokens === null) return false;
  let isPrinting = false;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (token === '|' && next !== '|' && tokens[index - 1] !== '|') return false;
    if (token === '@' || token === 'system' || token === '`' || token === "'") return false;
    if (token === 'print' || token === 'printf') isPrinting = true;
    else if (token === '\n' && GOES_ON.has(tokens[index - 1] ?? '')) continue;
    else if (token === ';' || token === '\n' || token === '}' || token === '{') isPrinting = false;
    else if (token === '>' && isPrinting) return false;
  }
  return true;
}

export const awk: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['f', 'F', 'v', 'i', 'E', 'e', 'l', 'W', 'd?', 'o?', 'p?', 'D?', 'L?'],
    long: [
      'file=',
      'field-separator=',
      'assign=',
      'include=',
      'exec=',
      'source=',
      'load=',
      'dump-variables?',
      'pretty-print?',
      'profile?',
      'debug?',
      'lint?',
      'help',
      'version',
    ],
    stopsAtOperand: true,
  });
  checkOptions(call, options);
  const includes = options.all('i', 'include');
  const isInPlace = includes.includes('inplace') || includes.includes('inplace.awk');
  if (
    options.has('E', 'exec', 'l', 'load', 'd', 'dump-variables', 'o', 'pretty-print', 'p', 'profile', 'D', 'debug', 'W')
  ) {
    call.reader.unresolved('awk is given an option that may write a file or run code');
  }
  if (includes.some((include) => include !== 'inplace' && include !== 'inplace.awk')) {
    call.reader.unresolved('awk includes a program that is not read');
  }
  const given = [...options.all('e', 'source'), ...options.all('f', 'file').map((file) => textOf(file, call))];
  const [first, ...rest] = options.operands;
  const programs = given.length > 0 ? given : first === undefined ? [] : [first];
  const text = programs.every(isText) ? programs.join('\n') : null;
  if (text === null || !isAwkHarmless(text))
    call.reader.unresolved('awk: its program may write a file or run commands');
  if (!isInPlace) return undefined;
  if (options.all('v', 'assign').length > 0)
    call.reader.unresolved('awk -i inplace may keep a copy under a name of its own');
  for (const operand of given.length > 0 ? options.operands : rest) {
    if (!isText(operand) || !/^\w+=/.test(operand)) call.reader.write(call.shell, operand, 'awk -i inplace');
  }
  return undefined;
};

function textOf(file: Field, call: Call): Field {
  const input = isText(file) ? fileText(file, { shell: call.shell }, call.reader) : null;
  return input?.kind === 'text' ? input.text : { lead: '', many: false, number: false, within: null };
}
