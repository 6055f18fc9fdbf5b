// Words of a text and of a path, made comparable: identifiers taken apart, endings taken off.

/** Longer ones are no words but data: a hash, a picture. */
const WORD_MAX = 40;

// What is said of every piece of work, and of none in particular.
const STOP = new Set(
  `a about above accept add after again all allow already also always an and any are as at away be because been before below
  beside besides between both but by can change could date-time do does done down each either else end ever every expose few
  first fix for from further gets get give given go had has have he her here him his how i if implement improve in instead
  into is it its just keep kept know last later let like-so long longer longest make many may me mean more most much must my
  never new no none nor not now of off old on once one only or other others our out over own per please put quite rather
  replace same set shall she should show shown so some stand still stay such support take takes than that the their them
  then there these they thing this those three through to too two under until up update upon us use used user-facing using
  very want was way we well were what when where whether which while who whom whose why will with within without work works
  would yet you your`.split(/\s+/),
);

// Who a text speaks of, and nouns of every program: they lend weight to what stands beside them and lead to little alone.
const ACTORS = new Set(
  'user people person visitor customer editor reader team developer client owner member'.split(' ').map(stem),
);
const COMMON = new Set(
  'list item error request response option value data file name type id state number field message date day time detail view result title text line key mode document'
    .split(' ')
    .map(stem),
);

/** `none`: leads to no file alone · `name`: to files of just that name · `full`: to all that have it. */
export type Weight = 'none' | 'name' | 'full';

export function weightOf(word: string): Weight {
  if (ACTORS.has(word)) return 'none';
  return COMMON.has(word) ? 'name' : 'full';
}

// Parts of paths that say nothing of what is behind them.
const GENERIC = new Set(
  'src lib libs app apps pkg packages source sources index main init util utils helper helpers common shared misc core test tests spec specs cy tst e2e js ts jsx tsx mjs cjs py go rb html css scss json yml yaml md txt d'.split(
    ' ',
  ),
);

/** A word without its usual English ending, lower case; the same for all forms of most words. */
export function stem(word: string): string {
  let rest = word.toLowerCase();
  if (rest.length > WORD_MAX) return rest;
  if (rest.length > 4 && rest.endsWith('ies')) rest = `${rest.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x)es$/.test(rest)) rest = rest.slice(0, -2);
  else if (rest.length > 3 && /[^sui]s$/.test(rest)) rest = rest.slice(0, -1);
  rest = rest.replace(/at(?:or|ion)$/, 'at');
  const shorter = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(rest)?.[1];
  if (shorter !== undefined && shorter.length > 2) rest = shorter.replace(/([^aeiousl])\1$|(?<=.{4})(l)l$/, '$1$2');
  if (rest.length > 4) rest = rest.replace(/ie$/, 'y').replace(/e$/, '');
  return rest;
}

/** An identifier's parts: `TransactionItem`, `bank-account`, `OAuth2` → transaction item, bank account, oauth2. */
function partsOf(identifier: string): readonly string[] {
  const parts =
    identifier.match(/\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{N}]+|[\p{Lu}\p{N}]+|[\p{Lo}\p{Lm}]+/gu) ?? [];
  const joined: string[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last !== undefined && last.length === 1) joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

function identifiersOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** What a text or a path is about: single words, and pairs of neighbours as one, since `bank account` may be written `bankaccount`. */
export type Terms = { readonly words: readonly string[]; readonly pairs: readonly Pair[] };

export type Pair = { readonly joined: string; readonly words: readonly [string, string] };

function pairsOf(words: readonly (string | null)[]): readonly Pair[] {
  return words.flatMap((word, index) => {
    const next = words[index + 1];
    return word === null || next === undefined || next === null ? [] : [{ joined: word + next, words: [word, next] }];
  });
}

function distinct<T>(all: readonly T[], key: (one: T) => string): readonly T[] {
  return [...new Map(all.map((one) => [key(one), one])).values()];
}

/** The words of a text that could say which part of a repository is meant. */
export function termsOfText(text: string): Terms {
  const raw = identifiersOf(text).flatMap(partsOf);
  const words = raw.map((word) => (STOP.has(word.toLowerCase()) || word.length < 2 ? null : stem(word)));
  return {
    words: [...new Set(words.filter((word) => word !== null))],
    pairs: distinct(pairsOf(words), (pair) => pair.joined),
  };
}

/** The words of one part of a path, its extension among them unless it is a usual one. */
export function termsOfPart(part: string): Terms {
  const raw = identifiersOf(part).flatMap(partsOf);
  const words = raw
    .filter((word) => !GENERIC.has(word.toLowerCase()) && !/^\d+$/.test(word))
    .map((word) => stem(word.replace(/^(docker|make)file$/i, '$1')));
  return { words: [...new Set(words)], pairs: distinct(pairsOf(words), (pair) => pair.joined) };
}

/** All stems of a text in their order, those of no weight included: for phrases. */
export function stemsOf(text: string): readonly string[] {
  return identifiersOf(text).flatMap(partsOf).map(stem);
}
