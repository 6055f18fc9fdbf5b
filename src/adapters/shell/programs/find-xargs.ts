// find and xargs: programs that run others on paths they find or read.

import { hasOddNames } from '../odd-names.ts';
import { readOptions } from '../options.ts';
import { parentOf } from '../paths.ts';
import type { Call, Program } from '../reader.ts';
import { linksBelow, listing } from '../sink.ts';
import type { Input } from '../state.ts';
import { type Field, isText, meansSame, type Places, UNKNOWN, UNKNOWN_WORDS, type Unknown } from '../values.ts';

/** Tests of find that take one word. */
const WITH_WORD: ReadonlySet<string> = new Set(
  [
    ...'name iname path ipath wholename iwholename regex iregex lname ilname type xtype size perm user group uid gid newer anewer cnewer mtime atime ctime mmin amin cmin maxdepth mindepth samefile inum links fstype used context regextype printf files0-from'.split(
      ' ',
    ),
  ].map((name) => `-${name}`),
);
const WRITING: ReadonlySet<string> = new Set(['-fprint', '-fprint0', '-fls', '-fprintf']);
const RUNNING: ReadonlySet<string> = new Set(['-exec', '-ok', '-execdir', '-okdir']);
const LEADING: ReadonlySet<string> = new Set(['-H', '-L', '-P', '-O1', '-O2', '-O3', '-O0']);

/** Where that lies which is printed below start directories; null when one of them is not known. */
export function startsOf(starts: readonly Field[], call: Call): Places | null {
  const directories: string[] = [];
  const { cwds } = call.shell;
  let isAbsolute = starts.length > 0;
  for (const start of starts.length === 0 ? ['.'] : starts) {
    if (!isText(start)) {
      if (start.within === null || !meansSame(start.within, cwds)) return null;
      directories.push(...start.within.directories);
      isAbsolute &&= start.within.cwds === null;
      continue;
    }
    const places = call.reader.places(call.shell, start);
    if (places === null) return null;
    directories.push(...places);
    isAbsolute &&= start.startsWith('/');
  }
  return { directories, cwds: isAbsolute ? null : cwds };
}

export const find: Program = (call) => {
  const { args, reader, shell } = call;
  let index = 0;
  while (index < args.length && isText(args[index]) && (LEADING.has(`${args[index]}`) || args[index] === '-D'))
    index += args[index] === '-D' ? 2 : 1;
  const starts: Field[] = [];
  for (; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (
      isText(arg) ? /^[-(!]/.test(arg) : arg.within === null && (arg.many || arg.lead === '' || /^[-(!]/.test(arg.lead))
    )
      break;
    starts.push(arg);
  }
  const rest = args.slice(index);
  // where they are read from a file, they may be any
  const within = rest.includes('-files0-from') ? null : startsOf(starts, call);
  // with links followed, what is found may lie anywhere
  const follows =
    args.some((arg) => arg === '-L' || arg === '-follow') &&
    (within?.directories ?? []).some((start) => hasLinksOut(start, call));
  const found: Unknown = within === null || follows ? UNKNOWN_WORDS : { ...UNKNOWN_WORDS, within };
  const isFile =
    rest.some((arg, at) => arg === '-type' && rest[at + 1] === 'f') &&
    !rest.some((arg) => arg === '-o' || arg === '-or' || arg === ',' || arg === '!' || arg === '-not');
  for (let at = 0; at < rest.length; at += 1) {
    const arg = rest[at] ?? '';
    if (!isText(arg)) {
      reader.unresolved('find is given a word that is known only when it runs');
    } else if (arg === '-delete') {
      reader.write(shell, found, 'find -delete', { entry: true, removes: true });
    } else if (WRITING.has(arg)) {
      reader.write(shell, rest[at + 1] ?? UNKNOWN, `find ${arg}`);
      at += arg === '-fprintf' ? 2 : 1;
    } else if (RUNNING.has(arg)) {
      const end = rest.findIndex(
        (word, place) => place > at && (word === ';' || (word === '+' && rest[place - 1] === '{}')),
      );
      const words = rest.slice(at + 1, end === -1 ? undefined : end);
      if (arg.endsWith('dir')) runBeside(words, found, isFile, call);
      else runFound(words, found, isFile, call);
      if (end === -1) break;
      at = end;
    } else if (WITH_WORD.has(arg)) at += 1;
  }
  const prints = rest.some((arg) => arg === '-printf' || (isText(arg) && RUNNING.has(arg)) || arg === '-ls');
  if (found.within === null || prints) return undefined;
  return { kind: 'paths', within: found.within, nul: rest.includes('-print0') };
};

export function hasLinksOut(start: string, call: Call): boolean {
  return linksBelow(start, call.reader.context).length > 0;
}

/** Runs the words of `-exec` with what is found in the place of `{}`. */
function runFound(words: readonly Field[], found: Unknown, isFile: boolean, call: Call): void {
  const filled = words.map((word): Field => {
    if (!isText(word) || !word.includes('{}')) return word;
    if (word === '{}') return { ...found, many: words.at(-1) === '{}' };
    // `{}.bak` stays beside a file that lies below the start
    const isBeside = isFile && word.startsWith('{}') && !word.slice(2).includes('/') && !word.slice(2).includes('{}');
    const starts = found.within?.directories ?? [];
    const isBelow = starts.length > 0 && starts.every((start) => call.reader.context.kindOf(start) === 'directory');
    return isBeside && isBelow ? { ...found, many: false } : UNKNOWN;
  });
  call.reader.runWords(filled, call.shell, { kind: 'none' }, 'program');
}

/** As `-execdir` runs it: in each directory in which something is found, and that is named anew there. */
function runBeside(words: readonly Field[], found: Unknown, isFile: boolean, call: Call): void {
  const cwds = found.within === null ? null : directoriesOf(found.within.directories, isFile, call);
  const shell = { ...call.shell, cwds };
  const given =
    found.within === null || cwds === null ? UNKNOWN_WORDS : { ...found, within: { ...found.within, cwds } };
  runFound(words, given, isFile, { ...call, shell });
}

/** Those in which something at or below the paths lies; null when they are too many, or may be others by then. */
function directoriesOf(starts: readonly string[], isFile: boolean, { reader, shell }: Call): readonly string[] | null {
  const { context } = reader;
  if (reader.stirredBy(shell, null) !== 'nothing') return null;
  const isDirectory = (path: string) => context.kindOf(path) === 'directory' && context.linkTo(path) === null;
  const found = new Set(starts.flatMap((path) => (isFile && isDirectory(path) ? [] : parentOf(path))));
  const waiting = starts.filter(isDirectory);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    found.add(next);
    if (found.size > MOST_DIRECTORIES) return null;
    waiting.push(...listing(next, context).filter(isDirectory));
  }
  return [...found];
}

const MOST_DIRECTORIES = 200;

const XARGS_LONGS = [
  'arg-file=',
  'delimiter=',
  'eof?',
  'replace?',
  'max-lines?',
  'max-args=',
  'max-procs=',
  'max-chars=',
  'process-slot-var=',
  'null',
  'interactive',
  'no-run-if-empty',
  'verbose',
  'exit',
  'open-tty',
  'show-limits',
];

export const xargs: Program = (call) => {
  const options = readOptions(call.args, {
    short: ['a', 'd', 'E', 'e?', 'I', 'i?', 'L', 'l?', 'n', 'P', 's', 'J', 'R', 'S'],
    long: XARGS_LONGS,
    stopsAtOperand: true,
  });
  const { reader, shell } = call;
  if (options.isUncertain) reader.unresolved('xargs runs what is known only when it runs');
  const words = options.operands.length === 0 ? ['echo'] : options.operands;
  const given = options.has('a', 'arg-file')
    ? null
    : itemsOf(call.stdin, options.has('0', 'null'), options.last('d', 'delimiter'), call);
  const replace = options.last('I', 'replace', 'i', 'J');
  const input: Input = { kind: 'none' };
  if (replace === undefined) {
    const count = options.last('n', 'max-args');
    // how many words go to one run is worked out for -n alone
    const isOtherwise = options.has('L', 'l', 'max-lines', 's', 'max-chars');
    const items = given === null || isOtherwise ? [UNKNOWN_WORDS] : given;
    const runs = items.every(isText) && count !== undefined && items.length > 0 ? chunks(items, count) : [items];
    let last: Input | undefined;
    for (const run of runs) last = reader.runWords([...words, ...run], shell, input, 'program').out;
    return runs.length === 1 ? last : undefined;
  }
  const sign = isText(replace) ? (replace === '' ? '{}' : replace) : null;
  const lines =
    call.stdin.kind === 'text' && given !== null
      ? linesOf(call.stdin.text, options.has('0', 'null'), options.last('d', 'delimiter'))
      : (given ?? [UNKNOWN]);
  for (const item of lines)
    reader.runWords(
      words.map((word) => replaced(word, sign, item)),
      shell,
      input,
      'program',
    );
  return undefined;
};

function chunks(items: readonly string[], count: Field): readonly (readonly Field[])[] {
  const size = isText(count) && /^[1-9]\d{0,5}$/.test(count) ? Number(count) : null;
  if (size === null) return [[UNKNOWN_WORDS]];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

function replaced(word: Field, sign: string | null, item: Field): Field {
  if (!isText(word) || sign === null) return UNKNOWN;
  if (!word.includes(sign)) return word;
  if (word === sign) return isText(item) ? item : { ...item, many: false };
  return isText(item) ? word.replaceAll(sign, () => item) : { ...UNKNOWN, lead: word.slice(0, word.indexOf(sign)) };
}

/** The words that xargs reads; null when they are not known. */
function itemsOf(input: Input, isNul: boolean, delimiter: Field | undefined, call: Call): readonly Field[] | null {
  if (input.kind === 'paths') {
    return (isNul && input.nul) || !hasOddNames(input.within, call.shell, call.reader)
      ? [{ ...UNKNOWN_WORDS, within: input.within }]
      : null;
  }
  if (input.kind !== 'text') return null;
  if (isNul || delimiter !== undefined) return linesOf(input.text, isNul, delimiter);
  const words: string[] = [];
  for (const match of input.text.matchAll(/(?:'[^'\n]*'|"[^"\n]*"|\\[\s\S]|[^\s'"\\])+|['"\\]/g)) {
    if (/^['"\\]$/.test(match[0])) return null;
    words.push(
      match[0].replace(
        /'([^'\n]*)'|"([^"\n]*)"|\\([\s\S])/g,
        (_, a?: string, b?: string, c?: string) => a ?? b ?? c ?? '',
      ),
    );
  }
  return words;
}

function linesOf(text: string, isNul: boolean, delimiter: Field | undefined): readonly Field[] {
  const sign = isNul
    ? '\0'
    : delimiter === undefined || delimiter === '\\n'
      ? '\n'
      : isText(delimiter) && delimiter.length === 1
        ? delimiter
        : null;
  if (sign === null) return [UNKNOWN];
  const lines = text.split(sign);
  if (lines.at(-1) === '') lines.pop();
  if (isNul || delimiter !== undefined) return lines;
  // quotes and blanks at the ends mean something to xargs
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => (/['"\\]/.test(line) ? UNKNOWN : line.replace(/^\s+/, '')));
}
