// A secret that a change adds.

export type HeldSecret = {
  /** Short; null: the secret is there between two trees. */
  readonly commit: string | null;
  readonly path: string;
  readonly line: number;
  /** For example `GitHub Token`. */
  readonly kind: string;
};
