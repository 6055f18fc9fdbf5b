// Assertions about refusals by their codes and values, so that their words stay free.

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type Code, messageIn, type Refusal, refusal, type Values, type ValuesOf } from '../../src/base/rules/codes.ts';
import { type ErrorKind, ToolError } from '../../src/base/rules/errors.ts';

/** A refusal of a kind with any words. */
export function saying(kind: ErrorKind, said: string): Refusal {
  const of = { code: 'any_words', kind, message: '{said}', values: { said: 'text' } } as const;
  return refusal(of, { said });
}

/** Values that are compared; undefined: the refusal has none of that name. */
type Given<C> = { readonly [K in keyof ValuesOf<C>]?: ValuesOf<C>[K] | undefined };

function holds(one: Refusal | null | undefined, of: Code, values: Values): void {
  assert.equal(one?.of.code, of.code);
  for (const [name, value] of Object.entries(values)) assert.deepEqual(one?.values[name], value, `${of.code}: ${name}`);
}

/** For `assert.throws` and `assert.rejects`: an error of that code; each given value is equal. */
export function isOf<C extends Code>(of: C, values: Given<C> = {}): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ToolError, String(error));
    holds(error.refusal, of, values as Values);
    return true;
  };
}

/** The work fails with that code; each given value is equal. */
export async function failsWith<C extends Code>(
  work: Promise<unknown> | (() => unknown),
  of: C,
  values: Given<C> = {},
): Promise<void> {
  await assert.rejects(async () => (typeof work === 'function' ? work() : work), isOf(of, values));
}

/** For `assert.throws`: an error that lists problems, of which one has that code; each given value is equal. */
export function hasProblem<C extends Code>(of: C, values: Given<C> = {}): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ToolError, String(error));
    const { problems } = error.values;
    assert.ok(Array.isArray(problems), `${error.code} lists no problems`);
    const isMeant = (one: Refusal) =>
      one.of.code === of.code &&
      Object.entries(values).every(([name, value]) => isDeepStrictEqual(one.values[name], value));
    assert.ok(problems.some(isMeant), `expected ${of.code} ${JSON.stringify(values)}, got: ${error.message}`);
    return true;
  };
}

/** A returned refusal has that code; each given value is equal. */
export function isRefusal<C extends Code>(one: Refusal | null | undefined, of: C, values: Given<C> = {}): void {
  holds(one, of, values as Values);
}

/** The code at the end of a line of a process, a hook or a log; null: none has one. */
export function codeIn(text: string): string | null {
  return /\(([a-z][a-z0-9_]*)\)$/m.exec(text)?.[1] ?? null;
}

/** The message of that code, for outputs that show it whole and without its code. */
export function wordsOf<C extends Code>(of: C, values: ValuesOf<C>): string {
  return messageIn(refusal(of, values));
}

/** Values of a pattern: equal ones, or patterns of text. */
export type Told<C> = { readonly [K in keyof ValuesOf<C>]?: ValuesOf<C>[K] | RegExp };

const OPTIONAL = /(\[[^[\]]*\{[a-z_]+\}[^[\]]*\])/;

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function patternOf(of: Code, values: Readonly<Record<string, unknown>>): string {
  const filled = (text: string) =>
    text
      .split(/(\{[a-z_]+\}\.?)/)
      .map((part) => {
        const name = /^\{([a-z_]+)\}/.exec(part)?.[1];
        if (name === undefined) return escaped(part);
        const value = values[name];
        // A value that ends as a sentence does takes the full stop of the template with it.
        if (value === undefined || value instanceof RegExp)
          return `${value instanceof RegExp ? `(?:${value.source})` : '.*?'}${part.endsWith('.') ? '\\.?' : ''}`;
        return escaped(messageIn({ of: { ...of, message: part }, values: { [name]: value } as Values }));
      })
      .join('');
  return of.message
    .split(OPTIONAL)
    .map((part, index) => {
      if (index % 2 === 0) return filled(part);
      const isTold = [...part.matchAll(/\{([a-z_]+)\}/g)].every(([, name = '']) => values[name] !== undefined);
      return isTold ? filled(part.slice(1, -1)) : `(?:${filled(part.slice(1, -1))})?`;
    })
    .join('');
}

/** The message of that code somewhere in an output without codes; each given value is equal or fits, any other is of one line. */
export function wordsLike<C extends Code>(of: C, values: Told<C> = {}): RegExp {
  return new RegExp(patternOf(of, values), 'm');
}

/** The same in an output that ends the first line of a message with its code. */
export function lineLike<C extends Code>(of: C, values: Told<C> = {}): RegExp {
  const [first = '', ...rest] = patternOf(of, values).split('\n');
  return new RegExp([`${first}.* \\(${of.code}\\)$`, ...rest].join('\n'), 'm');
}

/** The same with what to do behind the message, in an output without codes. */
export function textLike<C extends Code>(of: C, values: Told<C> = {}): RegExp {
  return wordsLike({ ...of, message: [of.message, of.help].filter((part) => part !== undefined).join(' ') }, values);
}

/** The beginning and the end of a text, for `joined`. */
export const START = /(?<![\s\S])/;
export const END = /(?![\s\S])/;

/** Parts that follow one another: strings as they are, patterns as patterns. */
export function joined(...parts: readonly (string | RegExp)[]): RegExp {
  const sources = parts.map((part) => (typeof part === 'string' ? escaped(part) : `(?:${part.source})`));
  return new RegExp(sources.join(''), 'm');
}

/** The whole line of that code as hooks and the program of the write guard print it. */
export function ownLine<C extends Code>(of: C, values: ValuesOf<C>): string {
  return `toolcrew: ${wordsOf(of, values)} (${of.code})`;
}
