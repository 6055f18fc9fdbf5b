// What `find` would find of what is there, by the names that its expression asks for.

import { parentOf } from '../paths.ts';
import { matcher } from '../patterns.ts';
import type { Call } from '../reader.ts';
import { listing } from '../sink.ts';
import { type Field, isText } from '../values.ts';

/** Tests of find that take one word. */
export const WITH_WORD: ReadonlySet<string> = new Set(
  [
    ...'name iname path ipath wholename iwholename regex iregex lname ilname type xtype size perm user group uid gid newer anewer cnewer mtime atime ctime mmin amin cmin maxdepth mindepth samefile inum links fstype used context regextype printf files0-from'.split(
      ' ',
    ),
  ].map((name) => `-${name}`),
);
export const WRITING: ReadonlySet<string> = new Set(['-fprint', '-fprint0', '-fls', '-fprintf']);
export const RUNNING: ReadonlySet<string> = new Set(['-exec', '-ok', '-execdir', '-okdir']);
const ALONE: ReadonlySet<string> = new Set(
  'a and daystart d depth mount xdev noleaf nowarn warn empty executable false true nogroup nouser readable writable print print0 delete ls prune quit'
    .split(' ')
    .map((name) => `-${name}`),
);

/** Letters, `*`, `?` and sets of letters: what they match does not depend on the language that is set. */
const PLAIN = /^(?:[\w.~@%+,=:/ -]|[*?]|\[[A-Za-z0-9]+\])+$/;
const MOST_ENTRIES = 50_000;
const MOST_MATCHES = 500;

export type NameTest = {
  readonly at: number;
  readonly matches: (shown: string) => boolean;
  /** As `stirredBy` takes it. */
  readonly segments: readonly string[];
};

/** The end of the words of `-exec`; -1: there is none. */
export function endOfRun(rest: readonly Field[], at: number): number {
  return rest.findIndex((word, place) => place > at && (word === ';' || (word === '+' && rest[place - 1] === '{}')));
}

/**
 * The tests of names that all have to hold behind them, where tests stand one after the other; null when they do not, or when
 * something stands there that is not known. What is denied narrows too, and is passed over.
 */
export function nameTests(rest: readonly Field[]): readonly NameTest[] | null {
  const tests: NameTest[] = [];
  let isDenied = false;
  for (let at = 0; at < rest.length; at += 1) {
    const arg = rest[at];
    if (!isText(arg) || arg === '-files0-from') return null;
    if (arg === '!' || arg === '-not') {
      isDenied = !isDenied;
      continue;
    }
    if (RUNNING.has(arg)) {
      const end = endOfRun(rest, at);
      if (end === -1) break;
      at = end;
    } else if (WRITING.has(arg)) at += arg === '-fprintf' ? 2 : 1;
    else if (WITH_WORD.has(arg) || /^-newer[aBcm][aBcmt]$/.test(arg)) {
      const word = rest[at + 1];
      if (!isText(word)) return null;
      const test = isDenied ? null : testOf(arg, word, at);
      if (test !== null) tests.push(test);
      at += 1;
    } else if (!ALONE.has(arg)) return null;
    isDenied = false;
  }
  return tests;
}

function testOf(name: string, pattern: string, at: number): NameTest | null {
  const [, isAnyCase, kind] = /^-(i?)(name|path|wholename)$/.exec(name) ?? [];
  if (kind === undefined || !PLAIN.test(pattern)) return null;
  // one sign may be several letters
  const wide = pattern.replaceAll('?', '*');
  const matches = matcher(isAnyCase === 'i' ? wide.toLowerCase() : wide);
  const isFor = (text: string) => matches(isAnyCase === 'i' ? text.toLowerCase() : text);
  return kind === 'name'
    ? {
        at,
        matches: (shown) => isFor(shown.replace(/(?<=.)\/+$/, '').replace(/^.*\/(?=.)/s, '')),
        segments: ['**', isAnyCase === 'i' ? '*' : wide],
      }
    : { at, matches: isFor, segments: ['**', '*'] };
}

/**
 * What is there at and below the starts and passes the tests, or lies in a directory that does; null when that may be
 * something else by then, or is too much.
 */
export function matchesOf(
  starts: readonly Field[],
  tests: readonly NameTest[],
  { reader, shell, args }: Call,
): readonly string[] | null {
  const { context } = reader;
  if (tests.length === 0 || context.glob === undefined || args.some((arg) => arg === '-L' || arg === '-follow'))
    return null;
  // what the command itself makes is found as well, unless one of the tests leaves it out
  const stirred = tests.map(({ segments }) => reader.stirredBy(shell, segments));
  if (stirred.includes('links') || !stirred.includes('nothing')) return null;
  const waiting: { readonly path: string; readonly shown: string }[] = [];
  for (const start of starts.length === 0 ? ['.'] : starts) {
    const places = isText(start) ? reader.places(shell, start) : null;
    if (places === null || !isText(start)) return null;
    waiting.push(...places.map((path) => ({ path, shown: start })));
  }
  const found: string[] = [];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, shown } = next;
    count += 1;
    if (count > MOST_ENTRIES || found.length > MOST_MATCHES) return null;
    if (tests.every(({ matches }) => matches(shown))) found.push(path);
    else if (context.kindOf(path) === 'directory' && context.linkTo(path) === null) {
      const before = shown.endsWith('/') ? shown : `${shown}/`;
      for (const one of listing(path, context))
        waiting.push({ path: one, shown: before + one.slice(path === parentOf(path) ? 1 : path.length + 1) });
    }
  }
  return found;
}
