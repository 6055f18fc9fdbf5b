// perl: which files it edits, and the small part of its code that surely does nothing but change and print lines.

import type { Call, Program } from '../reader.ts';
import { type Field, isText } from '../values.ts';
import { checkFile } from './code.ts';

/** Signs that end a part of `s/…/…/`; brackets that pair are left out. */
const DELIMITERS = '/|,!#:;@%=~+';

/** Reads from an opening delimiter to the next of its kind; null when it does not end. */
function part(code: string, from: number, delimiter: string): { readonly text: string; readonly end: number } | null {
  for (let at = from; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === delimiter) return { text: code.slice(from, at), end: at + 1 };
  }
  return null;
}

/** No code in the expression, and nothing interpolated: `$` stands at an end only. */
function isPlainExpression(text: string): boolean {
  return (
    !text.includes('(?{') &&
    !text.includes('(??') &&
    !text.includes('(*') &&
    !text.includes('@') &&
    !/\$(?!$|\)|\|)/.test(text)
  );
}

/** Texts and what was found, nothing that Perl looks up or runs. */
function isPlainReplacement(text: string): boolean {
  return !text.includes('@') && !/\$(?![\d&])/.test(text) && !/\$[\d&]+[[{]/.test(text) && !/\$[\d&]+->/.test(text);
}

/** `s/a/b/`, `tr/a/b/`, `y/a/b/` from its first letter; where it ends, or null. */
function substitution(code: string, start: number): number | null {
  const name = /^(s|tr|y)(?=[^\w\s])/.exec(code.slice(start))?.[0];
  if (name === undefined) return null;
  const delimiter = code[start + name.length] ?? '';
  if (!DELIMITERS.includes(delimiter)) return null;
  const first = part(code, start + name.length + 1, delimiter);
  const second = first === null ? null : part(code, first.end, delimiter);
  if (first === null || second === null) return null;
  const flags = /^[a-z]*/.exec(code.slice(second.end))?.[0] ?? '';
  const isPlain = name !== 's' || (isPlainExpression(first.text) && isPlainReplacement(second.text));
  if (!isPlain || !/^[gimsxacdr]*$/.test(flags)) return null;
  return second.end + flags.length;
}

/** `print if /…/`, `print unless /…/` from its first letter; where it ends, or null. */
function print(code: string, start: number): number | null {
  const name = /^print( (if|unless) \/)?/.exec(code.slice(start))?.[0];
  if (name === undefined) return null;
  if (!name.endsWith('/')) return start + name.length;
  const expression = part(code, start + name.length, '/');
  if (expression === null || !isPlainExpression(expression.text)) return null;
  return expression.end + (/^[imsx]*/.exec(code.slice(expression.end))?.[0].length ?? 0);
}

/** Whether the code is substitutions and prints alone, one after the other. */
function isPerlHarmless(code: string): boolean {
  let at = 0;
  while (at < code.length) {
    const blank = /^[\s;]*/.exec(code.slice(at))?.[0].length ?? 0;
    at += blank;
    if (at >= code.length) return true;
    const end = substitution(code, at) ?? print(code, at);
    if (end === null) return false;
    at = end;
    if (at < code.length && !/^\s*(;|$)/.test(code.slice(at))) return false;
  }
  return true;
}

/** Options in one word: plain ones, then `-i` with its ending or `-e` with its code. */
const CLUSTER =
  /^-(?:[anpwWsStTuUXcv]|l[0-7]*(?![0-7])|0x[\da-fA-F]+(?![\da-fA-F])|0[0-7]*(?![0-7x]))*(?:(i)(.*)|([eE])(.*))?$/s;

type PerlWords = {
  readonly code: readonly Field[];
  readonly suffix: string | null;
  readonly operands: readonly Field[];
  readonly isRead: boolean;
};

/** Reads perl's words up to the first that is no option. */
function readWords(args: readonly Field[]): PerlWords {
  const code: Field[] = [];
  let suffix: string | null = null;
  let isRead = true;
  let index = 0;
  for (; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!isText(arg)) {
      isRead &&= code.length > 0;
      break;
    }
    if (!arg.startsWith('-') || arg === '-') break;
    if (arg === '--') {
      index += 1;
      break;
    }
    const match = CLUSTER.exec(arg);
    if (match === null) isRead = false;
    if (match?.[1] !== undefined) suffix = match[2] ?? '';
    if (match?.[3] === undefined) continue;
    if (match[4] !== '') code.push(match[4] ?? '');
    else {
      index += 1;
      code.push(args[index] ?? '');
    }
  }
  return { code, suffix, operands: args.slice(index), isRead };
}

export const perl: Program = (call) => {
  const { args, reader, shell, name } = call;
  if (args.length === 1 && ['--version', '-v', '-V', '--help', '-h'].some((flag) => args[0] === flag)) return undefined;
  const { code, suffix, operands, isRead } = readWords(args);
  if (!isRead) reader.unresolved(`${name} is given options that may be code`);
  const hasCode = code.length > 0;
  if (suffix !== null) writeInPlace(call, suffix, hasCode ? operands : operands.slice(1));
  if (!hasCode) {
    checkFile(call, operands[0]);
    if (isText(operands[0])) reader.executed(shell, operands[0], name);
    return undefined;
  }
  // a name with `|` or `>` in it is opened as a command or for writing
  const isOdd = operands.some((operand) => !isText(operand) || /^[\s+]|[|<>&]/.test(operand));
  const isHarmless = code.every(isText) && isPerlHarmless(code.join('\n'));
  if (isOdd || !isHarmless) reader.unresolved(`${name} -e: its code may write files`);
  return undefined;
};

function writeInPlace(call: Call, suffix: string, operands: readonly Field[]): void {
  for (const operand of operands) {
    call.reader.write(call.shell, operand, `${call.name} -i`);
    if (suffix === '') continue;
    if (!isText(operand) || suffix.includes('*') || suffix.includes('/')) {
      call.reader.unresolved(`${call.name} -i keeps a copy under a name that is not worked out`);
    } else call.reader.write(call.shell, operand + suffix, `${call.name} -i`);
  }
}
