// Settings and state of the review of finished work by a second agent.

import type { Finding } from './findings.ts';

export type ReviewSettings = {
  /** Name of the agent that reviews; null: none does. */
  readonly agent: string | null;
};

export type ReviewState = {
  readonly agent: string;
  /** The commit that is reviewed. */
  readonly commit: string;
  /** Tries that failed. */
  readonly failures: number;
  /** `open`: another try follows · `sent`: the findings wait for the author · `heard`: the author has them · `over`. */
  readonly stage: 'open' | 'sent' | 'heard' | 'over';
  readonly findings: readonly Finding[];
  /** Why nothing was reviewed; with findings, why the author did not get them. Null: neither. */
  readonly reason: string | null;
  /** What the author says of the findings. */
  readonly answer: { readonly ok: boolean; readonly text: string } | null;
};

/** Whether the attempt that is next or under way is there for the findings. */
export function isAnswering(review: ReviewState | null): review is ReviewState {
  return review?.stage === 'sent' || review?.stage === 'heard';
}
