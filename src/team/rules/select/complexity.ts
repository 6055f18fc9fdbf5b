// The complexity of a piece of work, 1 to 10: a published sum over known facts, explained line by line.

export type ScoreLine = { readonly points: number; readonly why: string };

/** The facts, counted; null: not known. A critical feature is 1 or 0. */
export type Measures = {
  readonly domains: number | null;
  readonly files: number | null;
  /** How often a task of the plan depends on another. */
  readonly dependencies: number | null;
  readonly critical: number;
};

export const SCORE_MIN = 1;
export const SCORE_MAX = 10;

type Rule = {
  readonly measure: keyof Measures;
  readonly what: string;
  /** Ascending; only the last that is reached counts. */
  readonly steps: readonly { readonly from: number; readonly points: number }[];
};

/** The formula: SCORE_MIN, and for each rule the points of the highest step that is reached. */
export const FORMULA: readonly Rule[] = [
  {
    measure: 'domains',
    what: 'domains',
    steps: [
      { from: 2, points: 1 },
      { from: 3, points: 2 },
      { from: 4, points: 3 },
    ],
  },
  {
    measure: 'files',
    what: 'files to change',
    steps: [
      { from: 5, points: 1 },
      { from: 11, points: 2 },
      { from: 21, points: 3 },
    ],
  },
  {
    measure: 'dependencies',
    what: "dependencies between the plan's tasks",
    steps: [
      { from: 3, points: 1 },
      { from: 6, points: 2 },
    ],
  },
  { measure: 'critical', what: 'critical features', steps: [{ from: 1, points: 2 }] },
];

export type Score = { readonly score: number; readonly lines: readonly ScoreLine[] };

/** A measure that is not known has a line of its own and no points. */
export function scoreOf(measures: Measures): Score {
  const lines: ScoreLine[] = [{ points: SCORE_MIN, why: 'every piece of work' }];
  for (const { measure, what, steps } of FORMULA) {
    const count = measures[measure];
    const step = steps.findLast(({ from }) => count !== null && count >= from);
    if (count === null) lines.push({ points: 0, why: `${what}: unknown` });
    else if (step !== undefined) lines.push({ points: step.points, why: `${what}: ${count}` });
  }
  const sum = lines.reduce((all, { points }) => all + points, 0);
  if (sum > SCORE_MAX) lines.push({ points: SCORE_MAX - sum, why: `at most ${SCORE_MAX}` });
  return { score: Math.min(SCORE_MAX, sum), lines };
}
