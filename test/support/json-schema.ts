// Holds a JSON Schema of ours to what an editor needs of it.

import assert from 'node:assert/strict';
import * as z from 'zod';

const node = z.strictObject({
  $schema: z.literal('https://json-schema.org/draft/2020-12/schema').optional(),
  title: z.string().optional(),
  description: z.string().min(10).optional(),
  default: z.unknown().optional(),
  type: z
    .union([
      z.enum(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null']),
      z.tuple([z.literal('string'), z.literal('null')]),
    ])
    .optional(),
  enum: z.array(z.string()).min(1).optional(),
  anyOf: z.array(z.unknown()).min(2).optional(),
  properties: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/), z.unknown()).optional(),
  propertyNames: z.unknown().optional(),
  additionalProperties: z.union([z.literal(false), z.looseObject({})]).optional(),
  required: z.array(z.string()).optional(),
  deprecated: z.literal(true).optional(),
  items: z.unknown().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  pattern: z
    .string()
    .refine((text) => new RegExp(text, 'u'))
    .optional(),
  format: z.literal('uri').optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
});

type Node = z.infer<typeof node>;

function checkDefault(schema: Node, path: string): void {
  if (schema.default === undefined) return;
  const { $schema: _, ...own } = schema;
  const accepted = z.fromJSONSchema(z.custom<z.core.JSONSchema.JSONSchema>().parse(own)).safeParse(schema.default);
  assert.ok(accepted.success, `${path}: its default ${JSON.stringify(schema.default)}`);
}

/** Known keywords, every key explained, no key beside those, every default one that is accepted. */
export function checkSchema(value: unknown, path = ''): void {
  const parsed = node.safeParse(value);
  assert.ok(parsed.success, `${path}: ${parsed.error}`);
  const schema = parsed.data;
  assert.ok(schema.type !== undefined || schema.anyOf !== undefined, path);
  checkDefault(schema, path);
  const more = schema.additionalProperties;
  if (schema.type === 'object') assert.ok(more === false || schema.propertyNames !== undefined, path);
  if (typeof more === 'object') checkSchema(more, `${path}.*`);
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    checkSchema(inner, `${path}.${key}`);
    const { type, description } = node.parse(inner);
    assert.ok(type === 'object' || description !== undefined, `${path}.${key} is not explained`);
  }
  if (schema.type === 'array') checkSchema(schema.items, `${path}[]`);
  for (const option of schema.anyOf ?? []) checkSchema(option, `${path}|`);
}

/** The names of all keys, each with those below it; a map's and a list's are its items'. */
export function keysOfSchema(value: unknown): unknown[] {
  const { properties, items, additionalProperties } = node.parse(value);
  if (properties !== undefined) return Object.entries(properties).map(([key, inner]) => [key, keysOfSchema(inner)]);
  const each = items ?? additionalProperties;
  return typeof each === 'object' ? keysOfSchema(each) : [];
}

/** Where a text must have a form, and the schema has no words of its own for it: people would read the library's. */
export function formsWithoutWords(value: unknown, path = ''): string[] {
  if (!(value instanceof z.core.$ZodType)) {
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) => formsWithoutWords(inner, `${path}.${key}`));
  }
  const { def } = value._zod;
  const { checks = [], ...parts } = def;
  const forms = [...checks.map((check) => check._zod.def), ...('format' in def && 'check' in def ? [def] : [])];
  const silent = forms.filter((one) => 'format' in one && one.type !== 'number' && one.error === undefined);
  return [...silent.map(() => path), ...formsWithoutWords(parts, path)];
}
