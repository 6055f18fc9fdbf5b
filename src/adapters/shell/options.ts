// The options and the other words of a program's command line, as getopt reads them.

import { type Field, isText, mayBeOption, UNKNOWN } from './values.ts';

export type OptionsSpec = {
  /** Letters that take a text: `'o'`; a text that may only be attached: `'i?'`. */
  readonly short?: readonly string[];
  /** Names of long options: `'output='` takes a text, `'in-place?'` may have one attached, `'force'` has none. */
  readonly long?: readonly string[];
  /** Options end at the first word that is none. */
  readonly stopsAtOperand?: boolean;
  /** The beginning of a long option's name does not stand for it. */
  readonly isExact?: boolean;
  /** Long options begin with one `-`. */
  readonly singleDash?: boolean;
  /** A next word that begins with `-` is no text of an option, whose text may be left out. */
  readonly mayLackText?: boolean;
};

export type Options = {
  /** Each option with its texts, in order; the text of a plain flag is ''. */
  readonly given: ReadonlyMap<string, readonly Field[]>;
  readonly operands: readonly Field[];
  /** A word that is not known may be an option. */
  readonly isUncertain: boolean;
  has(...names: readonly string[]): boolean;
  /** The last text given to any of the names. */
  last(...names: readonly string[]): Field | undefined;
  all(...names: readonly string[]): readonly Field[];
};

type Found = { readonly given: Map<string, Field[]>; readonly operands: Field[]; isUncertain: boolean };

export function readOptions(args: readonly Field[], spec: OptionsSpec = {}): Options {
  const found: Found = { given: new Map(), operands: [], isUncertain: false };
  const long = (spec.long ?? []).map((name) => ({ name: name.replace(/[=?]$/, ''), takes: name.at(-1) ?? '' }));
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    const following = args[index + 1];
    const next = spec.mayLackText === true && isText(following) && /^-./.test(following) ? undefined : following;
    const open = isText(arg) ? null : /^--?([^=]+)=/.exec(arg.lead);
    if (!isText(arg) && open?.[1] !== undefined && (arg.lead.startsWith('--') || spec.singleDash === true)) {
      // the text of the option is not known, but the option is
      const name = open[1];
      const options = long.filter((option) => option.name === name || option.name.startsWith(name));
      const text = { ...UNKNOWN, lead: arg.lead.slice(open[0].length) };
      for (const option of options.length === 0 ? [{ name }] : options) give(found, option.name, text);
      found.isUncertain ||= arg.many;
    } else if (!isText(arg)) {
      found.isUncertain ||= mayBeOption(arg);
      found.operands.push(arg);
      if (spec.stopsAtOperand === true) return resultOf(found, args.slice(index + 1));
    } else if (arg === '--') {
      return resultOf(found, args.slice(index + 1));
    } else if (!arg.startsWith('-') || arg === '-') {
      found.operands.push(arg);
      if (spec.stopsAtOperand === true) return resultOf(found, args.slice(index + 1));
    } else if (arg.startsWith('--') || spec.singleDash === true) {
      const isShort = spec.isExact !== true;
      if (readLong(arg.replace(/^--?/, ''), long, next, found, isShort)) index += 1;
    } else if (readCluster(arg.slice(1), spec.short ?? [], next, found)) {
      index += 1;
    }
  }
  return resultOf(found, []);
}

function give(found: Found, name: string, text: Field): void {
  const texts = found.given.get(name) ?? [];
  found.given.set(name, [...texts, text]);
}

/** Answers whether the next word was its text. */
function readLong(
  text: string,
  long: readonly { readonly name: string; readonly takes: string }[],
  next: Field | undefined,
  found: Found,
  isShort: boolean,
): boolean {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  const exact = long.filter((option) => option.name === name);
  // a beginning of a name stands for it; when it stands for several, for each of them; or else it is a flag that is not known
  const options = exact.length > 0 || !isShort ? exact : long.filter((option) => option.name.startsWith(name));
  if (options.length === 0) give(found, name, at === -1 ? '' : text.slice(at + 1));
  const isOption = exact.length === 0 && isText(next) && /^-./.test(next);
  const takesNext = at === -1 && !isOption && options.some(({ takes }) => takes === '=');
  for (const option of options)
    give(found, option.name, at === -1 ? (takesNext ? (next ?? '') : '') : text.slice(at + 1));
  return takesNext && next !== undefined;
}

function readCluster(letters: string, short: readonly string[], next: Field | undefined, found: Found): boolean {
  for (let index = 0; index < letters.length; index += 1) {
    const letter = letters[index] ?? '';
    const rest = letters.slice(index + 1);
    if (short.includes(`${letter}?`)) {
      give(found, letter, rest);
      return false;
    }
    if (short.includes(letter)) {
      give(found, letter, rest === '' ? (next ?? '') : rest);
      return rest === '' && next !== undefined;
    }
    give(found, letter, '');
  }
  return false;
}

function resultOf(found: Found, rest: readonly Field[]): Options {
  const { given } = found;
  const all = (...names: readonly string[]) => names.flatMap((name) => given.get(name) ?? []);
  return {
    given,
    operands: [...found.operands, ...rest],
    isUncertain: found.isUncertain,
    has: (...names) => names.some((name) => given.has(name)),
    last: (...names) => all(...names).at(-1),
    all,
  };
}

/** Whether a flag was given, and no text with it, or beside it, takes that back: `--flag=false`, `--no-flag`. */
export function isOn(options: Options, ...names: readonly string[]): boolean {
  return names.some((name) => {
    const texts = options.all(name);
    return texts.length > 0 && texts.every((text) => text === '' || text === 'true') && !options.has(`no-${name}`);
  });
}

/** The names that were given and are none of these. */
export function otherOptions(options: Options, known: readonly string[]): readonly string[] {
  return [...options.given.keys()].filter((name) => !known.includes(name));
}

/** A text after a known beginning, as in `of=FILE`. */
export function after(field: Field, beginning: string): Field | undefined {
  if (isText(field)) return field.startsWith(beginning) ? field.slice(beginning.length) : undefined;
  return field.lead.startsWith(beginning) ? { ...UNKNOWN, lead: field.lead.slice(beginning.length) } : undefined;
}
