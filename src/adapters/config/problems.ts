// Turns what zod found wrong into lines a person can act on: path, what was expected, what came, the nearest known key.

import type * as z from 'zod';
import { nearest } from '../../domain/nearest.ts';
import { got, visible } from '../../domain/text.ts';

type Issue = z.core.$ZodIssue;

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

function keysOf(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let current: unknown = schema;
  const shapeOf = (value: unknown): Record<string, unknown> | undefined => {
    let inner = value;
    for (let depth = 0; depth < 8 && typeof inner === 'object' && inner !== null; depth++) {
      const shape: unknown = Reflect.get(inner, 'shape');
      if (typeof shape === 'object' && shape !== null) return Object.fromEntries(Object.entries(shape));
      const definition: unknown = Reflect.get(inner, 'def');
      if (typeof definition !== 'object' || definition === null) return undefined;
      inner = Reflect.get(definition, 'innerType') ?? Reflect.get(definition, 'in');
    }
    return undefined;
  };
  for (const key of path) current = shapeOf(current)?.[String(key)];
  return Object.keys(shapeOf(current) ?? {});
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
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
        : `${TYPES[issue.origin] ?? 'a number'} of at least ${issue.minimum}`;
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

/** One line per problem, in the order of the file's schema. */
export function describeProblems(error: z.ZodError, schema: z.core.$ZodType, input: unknown): string[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      const known = keysOf(schema, issue.path);
      return issue.keys.map((key) => {
        const close = nearest(key, known);
        const prefix = path === '' ? '' : `${path}.`;
        const advice = close === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${prefix}${close}?`;
        return `${prefix}${visible(key)}: unknown key; ${advice}`;
      });
    }
    const came = valueAt(input, issue.path);
    if (issue.code === 'invalid_value' && typeof came === 'string') {
      const close = nearest(came, issue.values.map(String));
      const advice = close === undefined ? '' : `; did you mean ${close}?`;
      return [`${path}: expected ${expected(issue)}, got ${got(came)}${advice}`];
    }
    return [`${path === '' ? 'front matter' : path}: expected ${expected(issue)}, got ${got(came)}`];
  });
}
