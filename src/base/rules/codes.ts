// Codes of refusals, failures, problems and warnings: the form of the error table, and one entry with its values. Each room has its
// part of the table in `rules/`; docs/errors.md shows all of it.

import { problemsInLine, visible, visibleLines } from './text.ts';

/** Kinds of codes, with the exit code of a command that ends by one: 1 failed, 2 usage or configuration, 0 does not end it. */
export const KINDS = {
  usage: 2,
  config: 2,
  credential: 2,
  port_in_use: 2,
  state_in_use: 2,
  state_unusable: 2,
  workspace_root: 2,
  prerequisite: 2,
  tracker: 1,
  git: 1,
  hook: 1,
  agent: 1,
  daemon_unreachable: 1,
  refused: 1,
  internal: 1,
  /** One of several in the `problems` of another code. */
  problem: 2,
  warning: 0,
} as const satisfies Record<string, 0 | 1 | 2>;

export type Kind = keyof typeof KINDS;

/** Types of values. A list of words: one of these words. `time`: ms since 1970. */
type Shape = 'text' | 'number' | 'flag' | 'time' | 'list' | 'problems' | readonly string[];
type Shapes = Readonly<Record<string, Shape>>;

type Of<S extends Shape> = S extends 'text'
  ? string
  : S extends 'number' | 'time'
    ? number
    : S extends 'flag'
      ? boolean
      : S extends 'list'
        ? readonly string[]
        : S extends 'problems'
          ? readonly Refusal[]
          : S extends readonly (infer Word)[]
            ? Word
            : never;

/** An entry of the table. */
export type Entry = {
  readonly kind: Kind;
  /** Template: `{name}` is a value; `[…]` is left out while an optional value in it is missing. */
  readonly message: string;
  /** What to do, as a template. */
  readonly help?: string;
  /** Types of the values that every refusal has. */
  readonly values?: Shapes;
  /** Types of the optional values. */
  readonly may?: Shapes;
};

export type Code = Entry & { readonly code: string };

type Required<C> = C extends { readonly values: infer V extends Shapes }
  ? { readonly [K in keyof V]: Of<V[K]> }
  : unknown;
type Optional<C> = C extends { readonly may: infer M extends Shapes }
  ? { readonly [K in keyof M]?: Of<M[K]> }
  : unknown;
export type ValuesOf<C> = Required<C> & Optional<C>;

/** Values by name, where the code is not known. */
export type Values = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly Refusal[] | undefined>
>;

/** One refusal, failure, problem or warning. */
export type Refusal = { readonly of: Code; readonly values: Values };

/** A part of the table: each entry with its own code. */
export function codes<const T extends Readonly<Record<string, Entry>>>(
  table: T,
): { readonly [K in keyof T & string]: T[K] & { readonly code: K } } {
  const entries = Object.entries(table).map(([code, entry]) => [code, { ...entry, code }]);
  return Object.fromEntries(entries);
}

export function refusal<C extends Code>(of: C, values: ValuesOf<C>): Refusal {
  return { of, values: values as Values };
}

const MOST_ITEMS = 20;

function shown(value: Values[string], shape: Shape | undefined): string {
  if (typeof value === 'number') return shape === 'time' ? new Date(value).toISOString() : String(value);
  if (!Array.isArray(value)) return visibleLines(String(value));
  if (shape === 'problems') return value.map((one: Refusal) => `  ${textOf(one).replaceAll('\n', '\n  ')}`).join('\n');
  const more = value.length - MOST_ITEMS;
  return `${value.slice(0, MOST_ITEMS).map(visible).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function filled(template: string, { of, values }: Refusal): string {
  const fill = (text: string) =>
    text.replaceAll(/\{([a-z_]+)\}(\.?)/g, (all, name: string, stop: string) => {
      if (values[name] === undefined) return all;
      const value = shown(values[name], of.values?.[name] ?? of.may?.[name]);
      // A sentence of somebody else brings its own full stop.
      return /[.!?…]$/.test(value) ? value : `${value}${stop}`;
    });
  const isMissing = (part: string) =>
    [...part.matchAll(/\{([a-z_]+)\}/g)].some(
      ([, name = '']) => of.may?.[name] !== undefined && values[name] === undefined,
    );
  return template
    .split(/(\[[^[\]]*\{[a-z_]+\}[^[\]]*\])/)
    .map((part, index) => (index % 2 === 0 ? fill(part) : isMissing(part) ? '' : fill(part.slice(1, -1))))
    .join('');
}

/** Message of a refusal, without what to do. */
export function messageIn(one: Refusal): string {
  const near = typeof one.values.near === 'string' ? ` Did you mean ${visible(one.values.near)}?` : '';
  return `${filled(one.of.message, one)}${near}`;
}

/** What to do; null: nothing helps, or it is in the message. */
export function helpIn(one: Refusal): string | null {
  return one.of.help === undefined ? null : filled(one.of.help, one);
}

/** Message and what to do, which stands in a line of its own behind a message of several lines. */
export function textOf(one: Refusal): string {
  const message = messageIn(one);
  const help = helpIn(one);
  if (help === null) return message;
  const stop = /[.!?:…]$/.test(message) ? ' ' : '. ';
  return `${message}${message.includes('\n') ? '\n' : stop}${help}`;
}

/** The same with words before it, such as the issue that it is about. */
export function prefixed(prefix: string, { of, values }: Refusal): Refusal {
  return { of: { ...of, message: `${prefix}${of.message}` }, values };
}

/** A refusal as outputs and records have it. */
type Datum = string | number | boolean | readonly (string | RefusalData)[];
export type RefusalData = {
  readonly code: string;
  readonly message: string;
  readonly values: Readonly<Record<string, Datum>>;
  readonly help: string | null;
};

function datumOf(value: Exclude<Values[string], undefined>): Datum {
  if (typeof value !== 'object') return value;
  return value.map((item: string | Refusal) => (typeof item === 'string' ? item : asData(item)));
}

export function asData(one: Refusal): RefusalData {
  const values: Record<string, Datum> = {};
  for (const [name, value] of Object.entries(one.values)) if (value !== undefined) values[name] = datumOf(value);
  return { code: one.of.code, message: messageIn(one), values, help: helpIn(one) };
}

/** A list of problems in one line, with its code. */
export function lineWithCode(one: Refusal): string {
  return `${problemsInLine(textOf(one))} (${one.of.code})`;
}

/** The text with its code at the end of the first line, for people and models. */
export function withCode(one: Refusal): string {
  const [first = '', ...rest] = textOf(one).split('\n');
  return [`${first} (${one.of.code})`, ...rest].join('\n');
}
