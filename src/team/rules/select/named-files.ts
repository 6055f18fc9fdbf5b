// The parts of a repository that a text names: files and directories that exist, and critical features.

import { type Area, areasOf, type DomainName } from '../../../guard/rules/areas.ts';
import { insideProject } from '../../../guard/rules/ownership.ts';

export type Named = {
  /** Files that exist; by path. */
  readonly files: readonly string[];
  /** Directories that exist; by path, without a slash at the end. */
  readonly directories: readonly string[];
  /** Paths of files that do not exist, each with a directory and an extension; by path. */
  readonly absent: readonly string[];
};

const CODE_SPAN = /`([^`\n]+)`/g;
const WORD = /[\p{L}\p{N}_@.+~$()[\]/-]+/gu;
/** `update_index`, `OrderList`: an ordinary word has neither an underscore nor a capital inside. */
const IDENTIFIER = /^[\p{L}\p{N}_]*(?:_|\p{Ll}\p{Lu})[\p{L}\p{N}_]*$/u;
/** Longer words are data, not paths. */
const WORD_MAX = 300;

/** Everything in a text that could be a path; the repository decides. */
function candidatesOf(text: string, exists: (word: string) => boolean): ReadonlySet<string> {
  const spans = [...text.matchAll(CODE_SPAN)].map(([, inside = '']) => inside.trim());
  const words = (text.match(WORD) ?? []).flatMap((found) => {
    const word = found.replace(/\.+$/, '');
    // `app/(shop)/[id]/page.tsx` is one path; `[src/a.ts](…)` holds one.
    return exists(word) ? [word] : [word, ...word.split(/[()[\]]+/)];
  });
  return new Set([...spans, ...words].filter((word) => word.length <= WORD_MAX && !word.includes('//')));
}

function directoriesOf(files: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>();
  for (const file of files)
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) all.add(file.slice(0, at));
  return all;
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Files by their name and, for an identifier, by their name without its extension. */
function filesByName(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  for (const file of files) {
    const name = fileName(file);
    const stem = name.replace(/\.\w+$/, '');
    for (const key of stem !== name && IDENTIFIER.test(stem) ? [name, stem] : [name]) {
      const there = all.get(key);
      if (there === undefined) all.set(key, [file]);
      else there.push(file);
    }
  }
  return all;
}

/** The paths and file names of a text. The end of a path, a file name or an identifier counts where only one file has it. */
export function namedIn(text: string, files: readonly string[]): Named {
  const known = new Set(files);
  const folders = directoriesOf(files);
  const byName = filesByName([...known]);
  const found = new Set<string>();
  const directories = new Set<string>();
  const absent = new Set<string>();
  const exists = (word: string) => {
    const path = insideProject(word) ?? '';
    return known.has(path) || folders.has(path);
  };
  for (const word of candidatesOf(text, exists)) {
    const path = insideProject(word);
    if (path === null) continue;
    const isPath = path.includes('/') || path.includes('.');
    const ends = (byName.get(fileName(path)) ?? []).filter((file) => file === path || file.endsWith(`/${path}`));
    const [only] = isPath ? ends : IDENTIFIER.test(path) ? (byName.get(path) ?? []) : [];
    const count = isPath ? ends.length : (byName.get(path)?.length ?? 0);
    if (known.has(path)) found.add(path);
    else if (folders.has(path)) {
      if (word.includes('/')) directories.add(path);
    } else if (only !== undefined && count === 1) found.add(only);
    else if (count === 0 && /\/[^/]+\.\w+$/.test(path)) absent.add(path);
  }
  return { files: [...found].sort(), directories: [...directories].sort(), absent: [...absent].sort() };
}

const FENCE = /^\s*(?:```|~~~)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const OUT_OF_SCOPE = /\b(?:out of scope|not in scope|non-?goals?)\b/i;

/** A text without its front matter, its code fences and its sections on what is out of scope: they ask for no change. */
export function askedOf(text: string): string {
  const lines = text.split(/\r\n?|\n/);
  const end = lines[0]?.trim() === '---' ? lines.findIndex((line, at) => at > 0 && line.trim() === '---') : -1;
  let isFenced = false;
  /** The level of the heading that left the section out. */
  let left: number | null = null;
  const kept = lines.slice(end + 1).filter((line) => {
    const isFence = FENCE.test(line);
    if (isFence) isFenced = !isFenced;
    if (isFenced || isFence) return false;
    const [, level, heading = ''] = HEADING.exec(line) ?? [];
    if (level !== undefined && (left === null || level.length <= left))
      // The title of a whole text leaves nothing out, whatever its words are.
      left = level.length > 1 && OUT_OF_SCOPE.test(heading) ? level.length : null;
    return left === null;
  });
  return kept.join('\n').trim();
}

/** The first line of what is asked for, without the marks of a heading or a list. */
export function titleOf(text: string): string {
  const [line = ''] = askedOf(text).split('\n');
  return line.replace(/^\s*(?:#{1,6}|[-*+•]|\d{1,3}[.)])\s+/, '').trim();
}

/** The areas of the named files, and of each named directory whose files are all of one area, tests aside. */
export function areasIn({ files, directories }: Named, all: readonly string[]): readonly DomainName[] {
  const areas = areasOf(all);
  const found = new Set<Area>();
  for (const file of files) found.add(areas.get(file) ?? 'core');
  for (const directory of directories) {
    const inside = [...areas].filter(([path]) => path.startsWith(`${directory}/`)).map(([, area]) => area);
    const code = new Set(inside.filter((area) => area !== 'tests'));
    const [only = 'tests'] = code;
    if (code.size <= 1) found.add(only);
  }
  return [...found];
}

export type CriticalFeature = 'payment' | 'authentication' | 'user data';

/** `source`: the words and the file that show it. */
export type Critical = { readonly feature: CriticalFeature; readonly source: string } | null;

type FeatureWords = {
  readonly feature: CriticalFeature;
  readonly words: readonly string[];
  /** Further words in the paths of its files. */
  readonly paths: readonly string[];
};

const FEATURES: readonly FeatureWords[] = [
  {
    feature: 'payment',
    words: [
      ...['payment', 'pay', 'checkout', 'refund', 'invoice', 'billing', 'credit card', 'direct debit', 'payout'],
      ...['stripe', 'paypal'],
    ],
    paths: ['donation'],
  },
  {
    feature: 'authentication',
    words: [
      ...['authentication', 'authenticate', 'login', 'log in', 'sign in', 'sign up', 'password', 'oauth', 'session'],
      ...['sso', 'two-factor', 'credential', 'passkey'],
    ],
    paths: ['auth', 'signin', 'signup', 'hasher'],
  },
  {
    feature: 'user data',
    words: [
      ...['personal data', 'user data', 'gdpr', 'privacy', 'user account', 'delete account', 'date of birth'],
      ...['email address', 'e-mail address', 'data export', 'consent'],
    ],
    paths: ['account', 'user', 'profile'],
  },
];

/** Whether a text has a word, in the usual forms; the parts of a path are no words. */
function has(text: string, word: string): boolean {
  const forms = `${word.replace(/ /g, '[\\s-]')}(?:s|es|d|ed|ing)?`;
  return new RegExp(`(?<![\\w/.-])${forms}(?![\\w/-]|\\.\\w)`, 'i').test(text);
}

/** `src/api/SignInForm.tsx` → src api Sign In Form tsx */
function wordsOfPath(path: string): string {
  return path.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' ');
}

/** The first critical feature that shows twice: by a word of the text and the path of a file, or by two words. No word decides alone. */
export function criticalIn(text: string, files: readonly string[]): Critical {
  for (const { feature, words, paths } of FEATURES) {
    const said = words.filter((word) => has(text, word));
    if (said.length === 0) continue;
    const shown = said.map((word) => `"${word}"`).join(', ');
    const file = files.find((path) => [...words, ...paths].some((word) => has(wordsOfPath(path), word)));
    if (file !== undefined) return { feature, source: `${shown} and ${file}` };
    if (said.length >= 2) return { feature, source: shown };
  }
  return null;
}
