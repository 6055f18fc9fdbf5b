// `$name` and `${name…}`: what they stand for.

import type { ParameterExpansionPart, ParameterOperation, SimpleExpansionPart, Word, WordPart } from 'unbash';
import { checkArithmeticText } from './arithmetic.ts';
import { checkAssigned } from './assigned.ts';
import { matcher } from './patterns.ts';
import type { Piece } from './pieces.ts';
import type { Holder, Reader } from './reader.ts';
import { forgetAll, join, setVariable } from './state.ts';
import { type Field, isList, isText, UNKNOWN, UNKNOWN_NUMBER, UNKNOWN_WORDS, type Value } from './values.ts';
import { asField, lookUp } from './variables.ts';

/** A pattern is tried at every place of a text. */
const LONGEST_MATCHED = 400;

type Pieces = (part: WordPart, holder: Holder, reader: Reader, quoted: boolean) => readonly Piece[];

type Part = SimpleExpansionPart | ParameterExpansionPart;

export function expandParameter(
  part: Part,
  holder: Holder,
  reader: Reader,
  quoted: boolean,
  piecesOfPart: Pieces,
): readonly Piece[] {
  if (part.type === 'SimpleExpansion') {
    const name = part.text.slice(1);
    if (name === '@' || name === '*') return listPieces(holder.shell.positional, name, quoted, holder);
    return [oneOf(lookUp(name, holder.shell, reader.context), quoted, holder)];
  }
  const { parameter, index, prefix, operation } = part;
  // where the pattern ends is read wrongly when a command in it holds a slash
  if (operation?.type === 'Replace' && /[`(]/.test(part.text)) {
    reader.unresolved('commands in the pattern of a replacement are not read');
  }
  const isAll = index?.value === '@' || index?.value === '*' || parameter === '@' || parameter === '*';
  if (index !== undefined && !isAll) checkIndex(index, holder, reader);
  if (operation?.type === 'Names') return [{ text: UNKNOWN_WORDS, quoted: false }];
  if (prefix === '#') return [{ text: UNKNOWN_NUMBER, quoted }];
  if (prefix === '!') {
    return [{ text: indirect(part, isAll, holder, reader, piecesOfPart), quoted: quoted && !isAll }];
  }
  if (isAll) {
    const list = parameter === '@' || parameter === '*' ? holder.shell.positional : listOf(parameter, holder, reader);
    if (operation === undefined) return listPieces(list, index?.value ?? parameter, quoted, holder);
    operate(operation, UNKNOWN, parameter, holder, reader, piecesOfPart);
    return [{ text: UNKNOWN_WORDS, quoted: false }];
  }
  const value = valueAt(parameter, index, holder, reader);
  if (operation === undefined) return [oneOf(value, quoted, holder)];
  return [{ text: operate(operation, value, parameter, holder, reader, piecesOfPart), quoted }];
}

/** Of a list bash takes the first text, and zsh all. */
function oneOf(value: Value | undefined, quoted: boolean, { shell }: Holder): Piece {
  const isAll = shell.zsh && value !== undefined && value !== null && isList(value);
  return { text: isAll ? (quoted ? UNKNOWN : UNKNOWN_WORDS) : asField(value), quoted };
}

/** The subscript of a list is arithmetic, and may run commands. */
export function checkIndex(index: Word, holder: Holder, reader: Reader): Field {
  const place = checkArithmeticText(reader.expandText(index, holder), holder, reader);
  if (!isText(place) || Number(place) < 0) reader.mayStop(holder.shell);
  return place;
}

function listOf(name: string, holder: Holder, reader: Reader): readonly Field[] | null {
  const value = lookUp(name, holder.shell, reader.context);
  if (value === null) return [];
  if (value === undefined) return null;
  if (isList(value)) return value;
  return isText(value) ? [value] : null;
}

function valueAt(name: string, index: Word | undefined, holder: Holder, reader: Reader): Value | undefined {
  const value = lookUp(name, holder.shell, reader.context);
  if (index === undefined || value === undefined || value === null) return value;
  // zsh counts from 1
  if (holder.shell.zsh) return UNKNOWN;
  if (!isList(value)) return index.value === '0' ? value : UNKNOWN;
  if (!/^\d+$/.test(index.value)) return UNKNOWN;
  const place = Number(index.value);
  // a word before it that may be several moves it
  return value.slice(0, place).every((field) => isText(field) || !field.many) ? (value[place] ?? UNKNOWN) : UNKNOWN;
}

function listPieces(list: readonly Field[] | null, sign: string, quoted: boolean, holder: Holder): readonly Piece[] {
  if (list === null) return [{ text: UNKNOWN_WORDS, quoted: false }];
  if (list.length === 0) return [{ text: '', quoted: false }];
  if (quoted && sign === '*') {
    const known = list.every(isText) && !holder.shell.opaque && !holder.shell.vars.has('IFS');
    return [{ text: known ? list.join(' ') : UNKNOWN, quoted: true }];
  }
  return list.map((text, index) => ({ text, quoted, ends: index < list.length - 1 }));
}

/** `${!name}` reads the variable whose name is in `name`; a name with a subscript may run commands. */
function indirect(
  part: ParameterExpansionPart,
  isAll: boolean,
  holder: Holder,
  reader: Reader,
  piecesOfPart: Pieces,
): Field {
  const { operation } = part;
  if (isAll && part.index !== undefined) {
    if (operation !== undefined) operate(operation, UNKNOWN, part.parameter, holder, reader, piecesOfPart);
    return UNKNOWN_WORDS;
  }
  const name = asField(valueAt(part.parameter, part.index, holder, reader));
  const isKnown = isText(name) && /^\w+$/.test(name);
  if (!isKnown && name !== '') {
    reader.unresolved('a variable is read whose name is known only when it runs, which may hold commands');
  }
  const value = isKnown ? lookUp(name, holder.shell, reader.context) : UNKNOWN;
  if (operation === undefined) return asField(value);
  const text = operate(operation, value, isKnown ? name : part.parameter, holder, reader, piecesOfPart);
  if (!isKnown && operation.type === 'Default') holder.shell = forgetAll(holder.shell);
  return text;
}

function operate(
  operation: ParameterOperation,
  value: Value | undefined,
  name: string,
  holder: Holder,
  reader: Reader,
  piecesOfPart: Pieces,
): Field {
  const isNone = value === null || (value !== undefined && isList(value) && value.length === 0);
  const text = value === undefined ? undefined : isNone ? null : asField(value);
  switch (operation.type) {
    case 'Default':
      return operateDefault(operation, text, name, holder, reader);
    case 'Remove': {
      const pattern = patternOf(operation.operand, holder, reader, piecesOfPart);
      return isText(text ?? undefined) && pattern !== null
        ? removed(asField(text), operation.operator, pattern)
        : UNKNOWN;
    }
    case 'Replace': {
      const pattern = patternOf(operation.pattern, holder, reader, piecesOfPart);
      const by = reader.expandText(operation.replacement, holder);
      // `&` in the replacement may stand for what was found
      if (pattern === null || !isText(by) || by.includes('&') || by.includes('\\')) return UNKNOWN;
      return replaced(asField(text), operation.operator, pattern, by);
    }
    case 'Slice': {
      const from = checkIndex(operation.offset, holder, reader);
      const length = operation.length === undefined ? null : checkIndex(operation.length, holder, reader);
      // `${x:h}` is the directory of a path to zsh
      if (holder.shell.zsh && !/^\s*\d+$/.test(operation.offset.text)) return UNKNOWN;
      return slice(asField(text), from, length);
    }
    case 'CaseModification':
      if (operation.operand !== undefined) {
        reader.expandText(operation.operand, holder);
        return UNKNOWN;
      }
      return changedCase(asField(text), operation.operator);
    case 'Transform':
      // `${x@P}` runs the commands in the text of x
      reader.expandText(operation.operand, holder);
      if (operation.operand.value === 'P' && (!isText(text ?? undefined) || /[\\$`]/.test(`${asField(text)}`))) {
        reader.unresolved(`\${${name}@P} runs commands in a text`);
      }
      return UNKNOWN;
    case 'Names':
      return UNKNOWN_WORDS;
    case 'Unknown':
      reader.unresolved(`\${${name}${operation.operator}…} is not understood`);
      return UNKNOWN;
  }
}

function operateDefault(
  operation: Extract<ParameterOperation, { type: 'Default' }>,
  text: Field | null | undefined,
  name: string,
  holder: Holder,
  reader: Reader,
): Field {
  const before = holder.shell;
  const operand = reader.expandText(operation.operand, holder);
  const after = holder.shell;
  const other: Field =
    isText(operand) && operation.operand.text !== operation.operand.value && /\s/.test(operand)
      ? UNKNOWN_WORDS
      : operand;
  const empty = operation.operator.startsWith(':');
  const isKnown = text === null || isText(text);
  const isSet = text !== null && !(empty && text === '');
  // the operand is expanded only where it is used
  if (!isKnown) holder.shell = join(before, after) ?? after;
  else if (isSet !== operation.operator.endsWith('+')) holder.shell = before;
  switch (operation.operator) {
    case ':=':
    case '=':
      if (!isKnown || !isSet) {
        checkAssigned(name, other, holder.shell, reader);
        holder.shell = setVariable(holder.shell, name, isKnown ? other : UNKNOWN);
      }
      return isKnown ? (isSet ? (text ?? '') : other) : UNKNOWN;
    case ':+':
    case '+':
      if (!isKnown) return isText(other) && other === '' ? '' : UNKNOWN;
      return isSet ? other : '';
    case ':?':
    case '?':
      return asField(text);
    default:
      if (!isKnown) return UNKNOWN;
      return isSet ? (text ?? '') : other;
  }
}

/** The operand as a pattern; null when it is not known. */
function patternOf(word: Word, holder: Holder, reader: Reader, piecesOfPart: Pieces): string | null {
  if (word.parts === undefined) {
    return word.text === word.value ? word.value.replace(/[\\*?[\]]/g, (sign) => `\\${sign}`) : null;
  }
  let pattern: string | null = '';
  for (const part of word.parts) {
    for (const piece of piecesOfPart(part, holder, reader, false)) {
      if (!isText(piece.text)) pattern = null;
      if (pattern === null || !isText(piece.text)) continue;
      pattern += piece.pattern ?? piece.text.replace(/[\\*?[\]]/g, (sign) => `\\${sign}`);
    }
  }
  return pattern;
}

function removed(text: Field, operator: string, pattern: string): Field {
  const matches = matcher(pattern);
  if (!isText(text) || text.length > LONGEST_MATCHED) return UNKNOWN;
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index);
  if (operator === '##' || operator === '%%') lengths.reverse();
  for (const length of lengths) {
    const part = operator.startsWith('#') ? text.slice(0, length) : text.slice(text.length - length);
    if (matches(part)) return operator.startsWith('#') ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}

/** Replaces where the pattern is a plain text; others are not worked out. */
function replaced(text: Field, operator: string, pattern: string, by: string): Field {
  if (!isText(text) || pattern === '' || /[\\*?[]/.test(pattern)) return UNKNOWN;
  if (operator === '//')
    return text.length * (by.length + 1) > 1_000_000 ? UNKNOWN : text.replaceAll(pattern, () => by);
  if (operator === '/') return text.replace(pattern, () => by);
  if (operator === '/#') return text.startsWith(pattern) ? by + text.slice(pattern.length) : text;
  return text.endsWith(pattern) ? text.slice(0, text.length - pattern.length) + by : text;
}

function slice(text: Field, from: Field, length: Field | null): Field {
  if (!isText(text) || !isText(from) || (length !== null && !isText(length))) return UNKNOWN;
  const start = Number(from);
  const count = length === null ? text.length : Number(length);
  return start < 0 || count < 0 ? UNKNOWN : text.slice(start, start + count);
}

function changedCase(text: Field, operator: string): Field {
  if (!isText(text) || /[^\x20-\x7e]/.test(text)) return UNKNOWN;
  const change = (part: string) => (operator.startsWith('^') ? part.toUpperCase() : part.toLowerCase());
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
}
