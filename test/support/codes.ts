// Assertions about refusals by their codes and values, so that their words stay free.

import assert from 'node:assert/strict';
import { type Code, type Refusal, refusal, type Values, type ValuesOf } from '../../src/base/rules/codes.ts';
import { type ErrorKind, ToolError } from '../../src/base/rules/errors.ts';

/** A refusal of a kind with any words. */
export function saying(kind: ErrorKind, said: string): Refusal {
  const of = { code: 'any_words', kind, message: '{said}', values: { said: 'text' } } as const;
  return refusal(of, { said });
}

function holds(one: Refusal | null | undefined, of: Code, values: Values): void {
  assert.equal(one?.of.code, of.code);
  for (const [name, value] of Object.entries(values)) assert.deepEqual(one?.values[name], value, `${of.code}: ${name}`);
}

/** For `assert.throws` and `assert.rejects`: an error of that code; each given value is equal. */
export function isOf<C extends Code>(of: C, values: Partial<ValuesOf<C>> = {}): (error: unknown) => true {
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
  values: Partial<ValuesOf<C>> = {},
): Promise<void> {
  await assert.rejects(async () => (typeof work === 'function' ? work() : work), isOf(of, values));
}

/** A returned refusal has that code; each given value is equal. */
export function isRefusal<C extends Code>(
  one: Refusal | null | undefined,
  of: C,
  values: Partial<ValuesOf<C>> = {},
): void {
  holds(one, of, values as Values);
}

/** The code at the end of a line of a process, a hook or a log; null: none has one. */
export function codeIn(text: string): string | null {
  return /\(([a-z][a-z0-9_]*)\)$/m.exec(text)?.[1] ?? null;
}
