// The pieces of a word put together: split at blanks, matched against files.

import { checkWordCount, isTooMany } from './braces.ts';
import type { Reader } from './reader.ts';
import type { Shell } from './state.ts';
import { concat, type Field, isText, LONGEST_TEXT, type Places, UNKNOWN_WORDS } from './values.ts';

export type Piece = {
  readonly text: Field;
  /** It is neither split nor matched. */
  readonly quoted: boolean;
  /** It stands in the word as a pattern. */
  readonly pattern?: string;
  /** A command printed it. */
  readonly printed?: boolean;
  /** A word ends behind it, as between the parts of `"$@"`. */
  readonly ends?: boolean;
};

const LONGEST_PATTERN = 4_000;
const SPECIAL = /[\\*?[\]]/;
const MAGIC = /[*?[]/;

/** The pieces as one text; a pattern stays as it is written. */
export function joinPieces(pieces: readonly Piece[]): Field {
  let text: Field = '';
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    const next: Field = piece.ends === true && !isLast ? concat(piece.text, ' ') : piece.text;
    text = index === 0 ? next : concat(text, next);
  }
  return isText(text) || !text.many ? text : { ...text, many: false };
}

type Draft = { text: Field; pattern: string; isPattern: boolean; isStarted: boolean };

function newDraft(): Draft {
  return { text: '', pattern: '', isPattern: false, isStarted: false };
}

/** The words that the pieces become where several may stand. */
export function fieldsOf(pieces: readonly Piece[], shell: Shell, reader: Reader): readonly Field[] {
  const fields: Field[] = [];
  let draft = newDraft();
  const end = () => {
    if (draft.isStarted) fields.push(...matched(draft, shell, reader));
    checkWordCount(fields.length);
    draft = newDraft();
  };
  const add = (text: Field, isActive: boolean, pattern?: string) => {
    draft.text = draft.isStarted || draft.text !== '' ? concat(draft.text, text) : text;
    draft.isStarted = true;
    if (!isText(text)) return;
    if (draft.pattern.length < LONGEST_TEXT) draft.pattern += pattern ?? (isActive ? text : quotedPattern(text));
    draft.isPattern ||= pattern !== undefined || (isActive && MAGIC.test(text));
  };
  for (const piece of pieces) {
    if (piece.quoted || piece.pattern !== undefined) add(piece.text, false, piece.pattern);
    else if (!isText(piece.text)) add(unquoted(piece.text, shell), true);
    // zsh takes the text of a variable for one word, and none for a pattern
    else if (shell.zsh && (piece.printed === true ? MAGIC : /[\s*?[]/).test(piece.text)) add(UNKNOWN_WORDS, true);
    else addSplit(piece.text, shell, add, end);
    if (piece.ends === true) end();
  }
  end();
  return fields;
}

/** Without quotes a text that is not known may be several words; an integer is one, unless blanks mean something else. */
function unquoted(text: Exclude<Field, string>, shell: Shell): Field {
  if (text.number) return text;
  // with other separators a path is cut into other paths
  const within = shell.opaque || shell.vars.has('IFS') ? null : text.within;
  return within === null ? { ...text, within, many: true } : text;
}

function addSplit(text: string, shell: Shell, add: (text: Field, isActive: boolean) => void, end: () => void): void {
  const isUsual = !shell.opaque && !shell.vars.has('IFS');
  if (!isUsual) {
    // with other separators the words are not worked out; only a text without any sign is surely one
    if (text !== '') add(/^[\w/.-]*$/.test(text) && !hasSeparator(text, shell) ? text : UNKNOWN_WORDS, true);
    return;
  }
  const words = text.split(/[ \t\n]+/);
  for (const [index, word] of words.entries()) {
    if (index > 0) end();
    if (word !== '') add(word, true);
  }
}

function hasSeparator(text: string, shell: Shell): boolean {
  const separators = shell.opaque ? undefined : shell.vars.get('IFS');
  if (typeof separators !== 'string') return separators !== null;
  return [...separators].some((sign) => text.includes(sign));
}

function quotedPattern(text: string): string {
  return text.replace(/[\\*?[\]]/g, (sign) => `\\${sign}`);
}

const UNSURE: readonly string[] = ['dotglob', 'nocaseglob', 'extglob', 'failglob', 'nullglob'];

function matched(draft: Draft, shell: Shell, reader: Reader): readonly Field[] {
  const { text } = draft;
  if (!isText(text)) return [unmatched(draft)];
  if (!draft.isPattern) return [text];
  if (text.length > LONGEST_PATTERN) return [UNKNOWN_WORDS];
  const { glob } = reader.context;
  if (glob === undefined || UNSURE.some((name) => shell.options.has(name)) || shell.vars.has('GLOBIGNORE')) {
    return [{ ...UNKNOWN_WORDS, lead: leadOf(text) }];
  }
  const lead = leadOf(text);
  if (!text.startsWith('/') && shell.cwds === null) return [{ ...UNKNOWN_WORDS, lead }];
  const isDeep = isDeepPattern(draft.pattern);
  if (isDeep) reader.metDeep();
  // zsh follows links there
  if (isDeep && shell.zsh && draft.pattern.includes('***')) return [{ ...UNKNOWN_WORDS, lead }];
  const patterns = isDeep ? patternsOf(draft.pattern, shell) : [flat(draft.pattern)];
  const states = patterns.map((pattern) => reader.stirredBy(shell, pattern.replace(/\/+$/, '').split('/')));
  const within = states.includes('links') ? null : withinOf(lead, text, shell, reader);
  if (states.some((stirred) => stirred !== 'nothing')) return [{ ...UNKNOWN_WORDS, lead, within }];
  const starts = text.startsWith('/') ? ['/'] : (shell.cwds ?? []);
  const ways: (readonly string[])[] = [];
  for (const pattern of patterns) {
    for (const cwd of starts) {
      const paths = glob(pattern, cwd);
      // `**` may stand for a great deal where the command means little
      if (paths === null || (isDeep && isTooMany(paths.length))) return [{ ...UNKNOWN_WORDS, lead, within }];
      ways.push(paths);
    }
  }
  // whether patterns are off is known of some ways only
  if (shell.options.has('noglob')) ways.push([]);
  const found = ways.map((paths) => (paths.length === 0 ? [text] : paths));
  for (const paths of found) checkWordCount(paths.length);
  const [first = [], ...others] = found;
  // another word, or one more, would stand where something else is meant
  const isSame = others.every((paths) => paths.join('\0') === first.join('\0'));
  return isSame ? first : [{ ...UNKNOWN_WORDS, lead, within }];
}

/** Whether what it matches depends on what `**` is to the shell. */
function isDeepPattern(pattern: string): boolean {
  return pattern.split('/').some((segment) => segment === '**' || segment === '***');
}

/** Where `**` is no more than `*`. */
function flat(pattern: string): string {
  return pattern.replace(/\*{2,}/g, '*');
}

/** A pattern as the shell may take it; at its end zsh takes `**` for `*`. */
function patternsOf(pattern: string, { deep, zsh }: Shell): readonly string[] {
  const starred = zsh ? pattern.replace(/\*\*$/, '*') : pattern;
  if (deep === null) return [flat(pattern), starred];
  return [deep ? starred : flat(pattern)];
}

/** The directory in which everything lies that a pattern may stand for; null when that is not known. */
function withinOf(lead: string, text: string, shell: Shell, reader: Reader): Places | null {
  const directory = lead.slice(0, lead.lastIndexOf('/') + 1);
  const leavesIt = text.slice(directory.length).split('/').includes('..');
  const directories = directory === '' || leavesIt ? null : reader.places(shell, directory);
  return directories === null ? null : { directories, cwds: text.startsWith('/') ? null : shell.cwds };
}

function unmatched(draft: Draft): Field {
  const { text } = draft;
  return draft.isPattern && !isText(text) ? { ...text, many: true, within: null } : text;
}

/** What stands before the first sign of a pattern. */
function leadOf(text: string): string {
  const at = text.search(SPECIAL);
  return at === -1 ? text : text.slice(0, at);
}
