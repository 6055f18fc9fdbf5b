// Settings of following: how far the daemon sees a pull request after it was opened.

/** `open`: it is opened, no more · `green`: until its checks pass · `approved`: until it is approved as well. */
export const FOLLOW_MODES = ['open', 'green', 'approved'] as const;
export type FollowMode = (typeof FOLLOW_MODES)[number];

export type FollowSettings = {
  readonly until: FollowMode;
  /** So often what happens on the pull request goes back to the agent. */
  readonly maxRounds: number;
  /** So long an issue waits for the answer to a question; 0: for ever. */
  readonly answerTimeoutMs: number;
};
