// The words that a word becomes: quotes, variables, braces, blanks in values, patterns.

import { parse, type Word, type WordPart } from 'unbash';
import { evaluate } from './arithmetic.ts';
import { braceAlternatives, checkWordCount } from './braces.ts';
import { expandParameter } from './parameters.ts';
import { fieldsOf, joinPieces, type Piece } from './pieces.ts';
import { printed } from './printed.ts';
import { type Holder, PIPE_IN, PIPE_OUT, type Reader } from './reader.ts';
import { type Field, UNKNOWN, UNKNOWN_NUMBER, UNKNOWN_WORDS } from './values.ts';
import { asField, lookUp } from './variables.ts';
import { goesOn, isOther } from './zsh.ts';

const LONGEST_BRACES = 4_000;

/** The words that a word stands for where several may stand. */
export function expandWord(word: Word, holder: Holder, reader: Reader): readonly Field[] {
  reader.step();
  const brace = word.parts?.find((part) => part.type === 'BraceExpansion');
  if (brace !== undefined) return expandBraces(word, brace, holder, reader);
  return fieldsOf(piecesOf(word, holder, reader), holder.shell, reader);
}

/** The text that a word stands for where it is one, as in an assignment or behind `case`. */
export function expandText(word: Word, holder: Holder, reader: Reader): Field {
  reader.step();
  return joinPieces(piecesOf(word, holder, reader));
}

/** The text of a part list that stands in double quotes, as a here-document does. */
export function expandQuoted(parts: readonly WordPart[], holder: Holder, reader: Reader): Field {
  return joinPieces(parts.flatMap((part) => piecesOfPart(part, holder, reader, true)));
}

/** Expands each alternative as a word of its own, as bash does before anything else. */
function expandBraces(word: Word, brace: WordPart, holder: Holder, reader: Reader): readonly Field[] {
  const options = braceAlternatives(brace.text);
  const parts = word.parts ?? [];
  const at = parts.indexOf(brace);
  if (options === null || word.text.length > LONGEST_BRACES) {
    runParts(parts, holder, reader);
    return [UNKNOWN_WORDS];
  }
  const before = parts.slice(0, at).map((part) => part.text);
  const after = parts.slice(at + 1).map((part) => part.text);
  const fields: Field[] = [];
  for (const option of options) {
    const text = [...before, option, ...after].join('');
    const made = text === '' ? null : wordOf(text);
    if (made === undefined) return [UNKNOWN_WORDS];
    if (made !== null) fields.push(...expandWord(made, holder, reader));
    checkWordCount(fields.length);
  }
  return fields;
}

/** The word that a raw text is; undefined when it is anything else. */
function wordOf(text: string): Word | undefined {
  const script = parse(`: ${text}`);
  const command = script.commands[0]?.command;
  if (script.errors?.length || script.commands.length !== 1 || command?.type !== 'Command') return undefined;
  const word = command.suffix[0];
  return command.suffix.length === 1 && word?.type === 'Word' && word.text === text ? word : undefined;
}

/** Runs what the parts hold when the word itself cannot be told. */
function runParts(parts: readonly WordPart[], holder: Holder, reader: Reader): void {
  for (const part of parts) {
    if (part.type === 'BraceExpansion') runParts(part.parts ?? [], holder, reader);
    else piecesOfPart(part, holder, reader, false);
  }
}

function piecesOf(word: Word, holder: Holder, reader: Reader): readonly Piece[] {
  if (word.parts === undefined) return literal(word.text, word.value, 'whole', holder, reader);
  return partsOf(word.parts, holder).flatMap((part, index) => {
    if (part === null) return [{ text: UNKNOWN_WORDS, quoted: false }];
    if (part.type === 'Literal') return literal(part.text, part.value, index === 0 ? 'first' : 'later', holder, reader);
    return piecesOfPart(part, holder, reader, false);
  });
}

/** The parts of a word; null is what zsh reads as another whole than bash does. */
function partsOf(parts: readonly WordPart[], { shell }: Holder): readonly (WordPart | null)[] {
  if (!shell.zsh) return parts;
  return parts.map((part, index) => {
    const isOtherText = part.type === 'Literal' && isOther(part.text, false);
    return isOtherText || goesOn(part, parts[index + 1]) ? null : part;
  });
}

/** A text without quotes round it; its tilde is expanded. */
function literal(
  raw: string,
  value: string,
  place: 'whole' | 'first' | 'later',
  holder: Holder,
  reader: Reader,
): readonly Piece[] {
  if (holder.shell.zsh && isOther(raw, place !== 'later')) return [{ text: UNKNOWN_WORDS, quoted: false }];
  // `a=~/b` is expanded as an assignment wherever it stands
  if (raw.includes('=~') || raw.includes(':~')) return [{ text: UNKNOWN, quoted: true }];
  // bash goes on looking for the end of the name in what follows, and takes that as it is written
  if (raw.startsWith('~') && place === 'first' && !raw.includes('/')) return [{ text: UNKNOWN, quoted: true }];
  // the name behind a tilde ends with the word or at a slash, before anything that is expanded
  const isTilde = raw.startsWith('~') && (place === 'whole' || (place === 'first' && raw.includes('/')));
  if (!isTilde) return [{ text: value, quoted: true }];
  const name = raw.slice(1).split('/')[0];
  if (name === '')
    return [
      { text: home(holder, reader), quoted: true },
      { text: value.slice(1), quoted: true },
    ];
  if (name === '+')
    return [
      { text: asField(lookUp('PWD', holder.shell, reader.context)), quoted: true },
      { text: value.slice(2), quoted: true },
    ];
  return [{ text: UNKNOWN, quoted: true }];
}

function home(holder: Holder, reader: Reader): Field {
  const value = lookUp('HOME', holder.shell, reader.context);
  return asField(value);
}

/** Names and numbers with signs between them. */
const SUM = /^\$\(\(\s*\$?\w+(\s*[-+*]\s*\$?\w+)*\s*\)\)$/;

/** How the parts that hold others begin and end. */
const ENDS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  DoubleQuoted: [['"', '"']],
  LocaleString: [['$"', '"']],
  ParameterExpansion: [['${', '}']],
  CommandExpansion: [
    ['$(', ')'],
    ['`', '`'],
    ['${', '}'],
  ],
  ArithmeticExpansion: [
    ['$((', '))'],
    ['$[', ']'],
  ],
  ProcessSubstitution: [
    ['<(', ')'],
    ['>(', ')'],
  ],
};

/** A part that was cut in two by mistake has lost its end; then nothing in it can be relied on. */
function checkEnds(part: WordPart, reader: Reader): void {
  const ends = ENDS[part.type];
  if (ends === undefined) return;
  const { text } = part;
  const isWhole = ends.some(([open, close]) => {
    return text.startsWith(open) && text.endsWith(close) && text.length >= open.length + close.length;
  });
  if (!isWhole) reader.unresolved('it cannot be read: an expansion does not end');
}

/** What one part of a word stands for. */
function piecesOfPart(part: WordPart, holder: Holder, reader: Reader, quoted: boolean): readonly Piece[] {
  checkEnds(part, reader);
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ text: part.value, quoted: true }];
    case 'DoubleQuoted':
    case 'LocaleString': {
      const inner = partsOf(part.parts, holder).flatMap((child) =>
        child === null ? [{ text: UNKNOWN, quoted: true }] : piecesOfPart(child, holder, reader, true),
      );
      return [{ text: '', quoted: true }, ...inner];
    }
    case 'Glob':
      if (part.parts !== undefined) runParts(part.parts, holder, reader);
      return [{ text: part.value, quoted: false, pattern: part.text }];
    case 'ExtendedGlob':
      if (part.parts !== undefined) runParts(part.parts, holder, reader);
      if (holder.shell.zsh) reader.unresolved(`what ${part.text} stands for is not known, and may run commands`);
      return [{ text: UNKNOWN_WORDS, quoted: false }];
    case 'BraceExpansion':
      // in an assignment or a redirection of one word it stands as it is written, or bash refuses it
      runParts(part.parts ?? [], holder, reader);
      return [{ text: part.parts === undefined ? part.text : UNKNOWN, quoted: true }];
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return expandParameter(part, holder, reader, quoted, piecesOfPart);
    case 'CommandExpansion':
      return [
        {
          text: part.script === undefined ? UNKNOWN : printed(part.script, part.text.startsWith('${'), holder, reader),
          quoted,
          printed: true,
        },
      ];
    case 'ArithmeticExpansion':
      // a mistake in it ends the line; sums are surely right
      if (!SUM.test(part.text)) reader.mayStop(holder.shell);
      return [
        { text: part.expression === undefined ? UNKNOWN_NUMBER : evaluate(part.expression, holder, reader), quoted },
      ];
    case 'ProcessSubstitution':
      if (part.script !== undefined) reader.runScript(part.script, holder.shell);
      return [{ text: part.operator === '>' ? PIPE_OUT : PIPE_IN, quoted: true }];
  }
}
