// The end of a run of a teammate, as the lead learns it.

/** `quiet`: it ended because nothing is left for it, or it was asked to. */
export type MemberSessionEnd =
  | { readonly kind: 'quiet' }
  | {
      readonly kind: 'failed';
      readonly words: string;
      /** It did not reach its model. */
      readonly isNetwork?: boolean;
      /** It ran, and began none of its work. */
      readonly isIdle?: true;
      /** The quota of its runtime is used up; when it is there again, ms since the epoch. */
      readonly quotaAt?: number;
    };
