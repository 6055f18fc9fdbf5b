// Summary of a team that works as one agent: its lead reports it, the daemon records and shows it.

export type TeamSummary = {
  readonly team: string;
  /** Where it stands: `working`, `gate`, `fallback`, … */
  readonly state: string;
  readonly pattern: string | null;
  readonly subject: string;
  /** Why its tasks go on one at a time; null: they do not. */
  readonly fallback: string | null;
  readonly members: readonly {
    readonly name: string;
    readonly phase: string;
    /** The id of what it works on. */
    readonly task: string | null;
    readonly cost_usd: number;
  }[];
  readonly task_counts: Readonly<Record<ShownStatus, number>>;
  readonly tasks: readonly {
    readonly id: string;
    readonly subject: string;
    readonly status: ShownStatus;
    readonly owner: string | null;
    /** That nothing was changed under it, with its owner's words; null: something was, or it is not known. */
    readonly note: string | null;
    readonly started_at: string | null;
    /** From its start to its end; null: it has not ended. */
    readonly seconds: number | null;
    readonly cost_usd: number;
  }[];
  readonly messages: {
    readonly count: number;
    /** The last ones, the oldest first. */
    readonly last: readonly {
      readonly at: string;
      readonly from: string;
      readonly to: string;
      readonly type: string;
      readonly content: string;
    }[];
  };
  /** What was measured last. */
  readonly gate: {
    readonly ok: boolean;
    readonly coverage: number | null;
    readonly checks: readonly { readonly check: string; readonly outcome: string; readonly figure: string | null }[];
    /** TRUST 5, where it was measured: from 0 to 5, null without a tool. */
    readonly scores: readonly { readonly dimension: string; readonly score: number | null; readonly state: string }[];
  } | null;
  /** Completions and writes that were not accepted. */
  readonly rejections: number;
  readonly cost_usd: number;
};

/** How a task is shown. */
export type ShownStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'blocked';
