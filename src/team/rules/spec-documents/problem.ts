// Problems of a SPEC document, each with its file and line.

export type DocumentName = 'spec.md' | 'plan.md' | 'acceptance.md';

export type SpecProblem = {
  readonly file: DocumentName;
  /** Counted from 1. */
  readonly line: number;
  readonly words: string;
};

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
