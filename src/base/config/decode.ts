// Decodes what a file says and holds it against the rules between its keys: one error that names every problem.

import type * as z from 'zod';
import { BASE_CODES } from '../rules/base-codes.ts';
import { type Refusal, refusal } from '../rules/codes.ts';
import { failure } from '../rules/errors.ts';
import { describeProblems } from './problems.ts';

/** A file in errors: where it is, what its data as a whole is called, and the lines of its keys, where they are told. */
export type About = {
  readonly path: string;
  readonly whole: string;
  readonly lines?: () => ReadonlyMap<string, number>;
};

/** A problem in words, which begin with the key. */
function asRefusal(problem: string | Refusal): Refusal {
  if (typeof problem !== 'string') return problem;
  const end = problem.indexOf(': ');
  return refusal(BASE_CODES.config_problem, { key: problem.slice(0, end), said: problem.slice(end + 2) });
}

export function failWithProblems(path: string, problems: readonly (string | Refusal)[]): never {
  const amount = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  throw failure(BASE_CODES.settings_invalid, { path, amount, problems: problems.map(asRefusal) });
}

function failAt({ path, lines }: About, problems: readonly Refusal[]): never {
  const known = lines?.();
  const placed = problems.map((problem) => {
    const line = known?.get(keyOf(problem));
    return line === undefined ? problem : { of: problem.of, values: { ...problem.values, line } };
  });
  failWithProblems(path, placed);
}

/**
 * Decodes `data` and makes it into what the program works with, frozen.
 * @param rules makes a decoded input into the result; what does not hold together is added to `problems`, each with the
 * value `key`, or as `<key>: <words>`
 */
export function decode<Input, Result, Problem extends string | Refusal = string>(
  schema: z.ZodType<Input>,
  data: unknown,
  about: About,
  rules: (input: Input, problems: Problem[]) => Result,
): Readonly<Result> {
  const { whole } = about;
  const decoded = schema.safeParse(data);
  const more: Problem[] = [];
  if (decoded.success) {
    const result = rules(decoded.data, more);
    if (more.length > 0) failAt(about, more.map(asRefusal));
    return Object.freeze(result);
  }
  const problems = describeProblems(decoded.error, schema, data, whole);
  const named = new Set(problems.map(keyOf));
  if (named.has(whole)) failAt(about, problems);
  // What is sound is held against the rules as well, so that one run names every problem.
  rules(withoutFaults(schema, data, decoded.error), more);
  failAt(about, [...problems, ...more.map(asRefusal).filter((problem) => !named.has(keyOf(problem)))]);
}

function keyOf({ values }: Refusal): string {
  return String(values.key);
}

/** The same input without what does not decode. */
function withoutFaults<Input>(schema: z.ZodType<Input>, data: unknown, error: z.ZodError): Input {
  const clone: unknown = structuredClone(data);
  let { issues } = error;
  // What lacks a required key goes in a second round, what holds only such in a third.
  for (let round = 0; round < 8; round++) {
    const gone: (readonly PropertyKey[])[] = [];
    for (const issue of issues) {
      const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      // What went with another fault must not take along what is around it.
      for (const path of paths) if (!gone.some((one) => isBelow(path, one))) gone.push(takeOut(clone, path));
    }
    const again = schema.safeParse(clone);
    if (again.success) return again.data;
    issues = again.error.issues;
  }
  return schema.parse({});
}

function isBelow(path: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return other.length > 0 && other.every((key, index) => path[index] === key);
}

/** Takes out what stands at the path, or what lacks it; of a bad item in a list, the whole list. Gives the path of what it took. */
function takeOut(root: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  let parent: unknown = root;
  let found: { readonly parent: object; readonly key: string } | undefined;
  let depth = 0;
  for (const key of path) {
    if (typeof key !== 'string' || typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) break;
    found = { parent, key };
    depth++;
    parent = Reflect.get(parent, key);
  }
  if (found !== undefined) Reflect.deleteProperty(found.parent, found.key);
  return path.slice(0, depth);
}
