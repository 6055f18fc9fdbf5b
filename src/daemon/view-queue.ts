// Queue, workers and other coordinators as other programs see them: JSON with snake_case names, times in ISO 8601.

import { iso } from './view-rows.ts';
import type { ProcessView, QueueSight } from './view-source.ts';

export type QueueRow = {
  readonly waiting: number;
  readonly active: number;
  readonly problem: string | null;
};

/** Another coordinator, whose repositories are shown here as well. */
export type CoordinatorRow = {
  readonly address: string;
  /** `<owner>/<repo>` */
  readonly repositories: readonly string[];
  /** Why it cannot be asked; null: it answers. */
  readonly problem: string | null;
};

/** So many repositories are named. */
const NAMED = 3;

/** A sentence for each, as pages show it. */
export function coordinatorLines(
  rows: readonly CoordinatorRow[] = [],
): readonly { readonly words: string; readonly isProblem: boolean }[] {
  return rows.map(({ address, repositories, problem }) => {
    const more = repositories.length > NAMED ? ` and ${repositories.length - NAMED} more` : '';
    const what = `${repositories.slice(0, NAMED).join(', ')}${more}`;
    return problem === null
      ? { words: `The coordinator at ${address} acts for ${what}.`, isProblem: false }
      : { words: `The coordinator at ${address} acts for ${what}. It cannot be asked: ${problem}`, isProblem: true };
  });
}

export type WorkerRow = Omit<QueueSight['workers'][number], 'started_at' | 'sent_at' | 'seenMs'> & {
  readonly started_at: string;
  readonly last_heartbeat_at: string;
};

/** Of the clocks of two machines, in whole minutes: what a heartbeat needs on its way must change nothing. */
function clockDifference(ms: number): number {
  return 60_000 * Math.round(ms / 60_000);
}

/** Nothing where agents run on this machine. */
export function queueView({ now, queue }: ProcessView): {
  readonly queue?: QueueRow;
  readonly workers?: readonly WorkerRow[];
} {
  if (queue === undefined) return {};
  const { waiting, active, problem, workers } = queue;
  return {
    queue: { waiting, active, problem },
    workers: workers.map(({ seenMs, started_at, sent_at, ...row }) => ({
      ...row,
      started_at: iso(started_at + clockDifference(now - seenMs - sent_at)),
      last_heartbeat_at: iso(now - seenMs),
    })),
  };
}
