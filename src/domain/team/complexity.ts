// How complex a piece of work is, 1 to 10: a published sum, explained line by line.

export type ScoreLine = { readonly points: number; readonly why: string };

/** What the sum is made of, counted. Yes and no are 1 and 0. */
export type Measures = {
  readonly domains: number;
  readonly files: number;
  /** Of screen, server and data: how many change. */
  readonly layers: number;
  readonly critical: number;
  readonly schema: number;
  readonly external: number;
  /** Requirement and acceptance lines. */
  readonly requirements: number;
  readonly shared: number;
};

export const SCORE_MIN = 1;
export const SCORE_MAX = 10;

type Rule = {
  readonly measure: keyof Measures;
  readonly what: string;
  /** Ascending; the last that is reached counts, not their sum. */
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
  { measure: 'layers', what: 'layers crossed (screen, server, data)', steps: [{ from: 3, points: 1 }] },
  { measure: 'critical', what: 'critical feature', steps: [{ from: 1, points: 2 }] },
  { measure: 'schema', what: 'data kept in another shape', steps: [{ from: 1, points: 1 }] },
  { measure: 'external', what: 'something outside of the program', steps: [{ from: 1, points: 1 }] },
  {
    measure: 'requirements',
    what: 'requirement and acceptance lines',
    steps: [
      { from: 5, points: 1 },
      { from: 10, points: 2 },
    ],
  },
  { measure: 'shared', what: 'files that several share', steps: [{ from: 1, points: 1 }] },
];

export type Score = { readonly score: number; readonly lines: readonly ScoreLine[] };

/** @param details for a measure, what was counted: a feature's name, the words that say so */
export function scoreOf(measures: Measures, details: Readonly<Partial<Record<keyof Measures, string>>> = {}): Score {
  const lines: ScoreLine[] = [{ points: SCORE_MIN, why: 'every piece of work' }];
  for (const { measure, what, steps } of FORMULA) {
    const count = measures[measure];
    const step = steps.findLast(({ from }) => count >= from);
    if (step === undefined) continue;
    const detail = details[measure];
    lines.push({ points: step.points, why: `${what}: ${detail ?? count}` });
  }
  const sum = lines.reduce((all, { points }) => all + points, 0);
  if (sum > SCORE_MAX) lines.push({ points: SCORE_MAX - sum, why: `at most ${SCORE_MAX}` });
  return { score: Math.min(SCORE_MAX, sum), lines };
}
