// Turns what zod found wrong into lines a person can act on: path, what was expected, what came, the nearest known key.

import type * as z from 'zod';
import { BASE_CODES } from '../rules/base-codes.ts';
import { type Refusal, refusal } from '../rules/codes.ts';
import { nearest } from '../rules/nearest.ts';
import { clip, got, visible } from '../rules/text.ts';

type Issue = z.core.$ZodIssue;

/** What stands at a path in decoded YAML; undefined where there is nothing. */
export function valueAtPath(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

type Parts = { readonly shape: Readonly<Record<string, unknown>>; readonly each: unknown };

/** What a schema says of the keys below it, whatever it is wrapped in: those it names, and the schema of every other. */
function partsOf(schema: unknown): Parts {
  let inner = schema;
  for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth++) {
    const shape: unknown = Reflect.get(inner, 'shape');
    if (typeof shape === 'object' && shape !== null)
      return { shape: Object.fromEntries(Object.entries(shape)), each: undefined };
    const definition: unknown = Reflect.get(inner, 'def');
    if (typeof definition !== 'object' || definition === null) break;
    const each: unknown = Reflect.get(definition, 'valueType') ?? Reflect.get(definition, 'element');
    if (each !== undefined) return { shape: {}, each };
    inner = Reflect.get(definition, 'innerType') ?? Reflect.get(definition, 'in');
  }
  return { shape: {}, each: undefined };
}

function schemaAt(schema: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => {
    const { shape, each } = partsOf(at);
    return shape[String(key)] ?? each;
  }, schema);
}

/** Where below `schema` a key of that name stands nearest to it; undefined when nowhere, or in several places. */
function placeBelow(schema: unknown, key: string): string | undefined {
  let level: readonly (readonly [string, unknown])[] = [['', schema]];
  for (let depth = 0; depth < 8 && level.length > 0; depth++) {
    const next = level.flatMap(([path, at]) =>
      Object.entries(partsOf(at).shape).map(
        ([name, inner]) => [path === '' ? name : `${path}.${name}`, inner] as const,
      ),
    );
    const found = next.filter(([path]) => path === key || path.endsWith(`.${key}`));
    if (found.length > 0) return found.length === 1 ? found[0]?.[0] : undefined;
    level = next;
  }
  return undefined;
}

/** Keys that were replaced, by their whole path. */
const REPLACED: Readonly<Record<string, string>> = {
  'quality.trust5.not_measured':
    'Use quality.required: it names the parts that have to be measured, and all others may go unmeasured.',
  'quality.trust5.max_complexity':
    'Use quality.commands.complexity: a command that fails when code is too complex, for example one of the linter.',
};

/** A key that nobody knows at `path`, with a near name beside it, else its own name further down. */
function unknownKey(name: string, schema: unknown, path: readonly PropertyKey[], prefix: string): Refusal {
  const key = `${prefix}${pathOf([name])}`;
  const instead = REPLACED[`${prefix}${name}`];
  if (instead !== undefined) return refusal(BASE_CODES.config_key_replaced, { key, instead });
  const at = schemaAt(schema, path);
  const known = Object.keys(partsOf(at).shape);
  const below = placeBelow(at, name);
  if (below === name) return refusal(BASE_CODES.config_key_dotted, { key });
  const close = nearest(name, known) ?? below;
  return refusal(
    BASE_CODES.config_unknown_key,
    close === undefined ? { key, known } : { key, near: `${prefix}${close}` },
  );
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of keys',
};

function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.length === 1
        ? got(issue.values[0])
        : `one of ${issue.values.map((value) => String(value)).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'something, not an empty one'
        : `${TYPES[issue.origin] ?? 'a number'} of ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `at most ${issue.maximum} characters`
        : `${TYPES[issue.origin] ?? 'a number'} of at most ${issue.maximum}`;
    case 'invalid_union':
      return [...new Set(issue.errors.flat().map(expected))].join(' or ');
    default:
      return issue.message;
  }
}

/** A place in the file as a person reads it: the keys with dots between them, in one line, and quotes around one that would not be seen. */
export function pathOf(path: readonly PropertyKey[]): string {
  const names = path.map((key) => clip(visible(String(key)), 80));
  return names.map((name) => (/^\S(.*\S)?$/.test(name) ? name : JSON.stringify(name))).join('.');
}

/** As `got`, and what JSON has no word for by its own name. */
function came(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : got(value);
}

/**
 * The problems in the order of the file's schema, each with the value `key`.
 * @param whole what the whole input is called
 */
export function describeProblems(error: z.ZodError, schema: z.core.$ZodType, input: unknown, whole: string): Refusal[] {
  return error.issues.flatMap((issue) => {
    const path = pathOf(issue.path);
    const name = path === '' ? whole : path;
    if (issue.code === 'unrecognized_keys') {
      const prefix = path === '' ? '' : `${path}.`;
      return issue.keys.map((key) => unknownKey(key, schema, issue.path, prefix));
    }
    const wrong = (expected: string, got: string, near?: string) =>
      refusal(BASE_CODES.config_value, { key: name, expected, got, ...(near === undefined ? {} : { near }) });
    if (issue.code === 'invalid_key') return [wrong(issue.issues.map(expected).join(' and '), got(issue.path.at(-1)))];
    const value = valueAtPath(input, issue.path);
    const close =
      issue.code === 'invalid_value' && typeof value === 'string'
        ? nearest(value, issue.values.map(String))
        : undefined;
    return [wrong(expected(issue), came(value), close)];
  });
}
