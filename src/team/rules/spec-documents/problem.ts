// Problems of a SPEC document, each with its file and line.

import { type Refusal, refusal, textOf } from '../../../base/rules/codes.ts';
import { SPEC_CODES } from '../codes/spec-codes.ts';

export type DocumentName = 'spec.md' | 'plan.md' | 'acceptance.md';

export type SpecProblem = {
  readonly file: DocumentName;
  /** Counted from 1. */
  readonly line: number;
  readonly words: string;
  readonly refusal?: Refusal;
};

export function problemAt(file: DocumentName, line: number, one: Refusal): SpecProblem {
  return { file, line, words: textOf(one), refusal: one };
}

/** The item, such as R1, and a name that may have been meant. */
type About = { readonly id?: string; readonly meant?: string | undefined };

function known({ id, meant }: About): { readonly id?: string; readonly meant?: string } {
  return { ...(id === undefined ? {} : { id }), ...(meant === undefined ? {} : { meant }) };
}

export function wrongForm(expected: string, got: string, about: About = {}): Refusal {
  return refusal(SPEC_CODES.spec_form_invalid, { expected, got, ...known(about) });
}

export function wrongField(field: string, expected: string, got: string, about: About = {}): Refusal {
  return refusal(SPEC_CODES.spec_field_invalid, { field, expected, got, ...known(about) });
}

/** @param first line of the item that has the id already */
export function repeatedItem(id: string, first: number | undefined): Refusal {
  return refusal(SPEC_CODES.spec_item_repeated, first === undefined ? { id } : { id, first });
}

/** Parsed document: the data that could be read, the line of each item, and the problems. */
export type ReadDocument<Data> = {
  readonly data: Data;
  /** Line numbers by id (`R1`), and by id and field (`T1 files`). */
  readonly lines: ReadonlyMap<string, number>;
  readonly problems: readonly SpecProblem[];
};

export function byLine(problems: readonly SpecProblem[]): readonly SpecProblem[] {
  return [...problems].sort((a, b) => a.line - b.line);
}
