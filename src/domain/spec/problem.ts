// What is wrong with a SPEC document, and where.

export type DocumentName = 'spec.md' | 'plan.md' | 'acceptance.md';

export type SpecProblem = {
  readonly file: DocumentName;
  /** From 1. */
  readonly line: number;
  readonly words: string;
};

/** What a document holds, as far as it can be read, with where each thing stands. */
export type ReadDocument<Data> = {
  readonly data: Data;
  /** By id (`R1`), and by id and field (`T1 files`). */
  readonly lines: ReadonlyMap<string, number>;
  readonly problems: readonly SpecProblem[];
};

export function byLine(problems: readonly SpecProblem[]): readonly SpecProblem[] {
  return [...problems].sort((a, b) => a.line - b.line);
}
