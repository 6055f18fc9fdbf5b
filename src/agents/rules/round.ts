// Round of work on an issue (types only).

/** A round of work: the first one is for the issue; each later one for what came after the work was handed in. */
export type Round = {
  /** From 1, within a life. */
  readonly number: number;
  /** What came since the last round; null: nothing. */
  readonly words: string | null;
  /** The branch conflicts with its base, which is to be merged into it. */
  readonly isMerge: boolean;
};
