// Shared code of the benchmarks: result rows, cleanup, and statistics over several rounds.

import type { Cleanup } from '../test/support/temp.ts';

export type Row = {
  readonly what: string;
  readonly figure: string;
  /** Cost of the unavoidable part, measured on the same machine in the same run. */
  readonly floor: string;
  readonly target: string;
  readonly met: boolean;
};

/** Runs `act`, then the cleanup actions that it registered, last one first. */
export async function withCleanup<T>(act: (t: Cleanup) => Promise<T>): Promise<T> {
  const actions: (() => unknown)[] = [];
  const t: Cleanup = {
    after: (action?: unknown) => {
      if (typeof action === 'function') actions.push(() => action());
    },
  };
  try {
    return await act(t);
  } finally {
    for (const action of actions.reverse()) await action();
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Ratio of each value to the floor of its own round: other load on the machine affects both alike. */
export function ratiosOf(values: readonly number[], floors: readonly number[]): number[] {
  return values.map((value, index) => value / (floors[index] ?? Number.NaN));
}

/** `1.08 × (23 ms (21–25))`: the ratio to the floor, with the measured times. */
export function ratioOf(ratio: number, times: string): string {
  return `${ratio.toFixed(2)} × (${times})`;
}

/** `412 ms (398–455)`: median, least and most. */
export function spread(values: readonly number[], unit: string, digits = 0): string {
  const say = (value: number) => value.toFixed(digits);
  return `${say(median(values))} ${unit} (${say(Math.min(...values))}–${say(Math.max(...values))})`;
}
