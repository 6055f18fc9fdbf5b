// Workers as the coordinator sees them now and then: attempts that none of them takes, and names that two of them have.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { FLEET_CODES } from './fleet-codes.ts';

type Seen = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly draining: boolean;
  readonly started_at: number;
};

/** Attempts of one set of labels that are without a worker. */
type Waiting = { readonly labels: readonly string[]; readonly waiting: number };

/** A worker that starts together with the coordinator is there after so many looks. */
const PATIENCE_LOOKS = 5;
const MOST_NAMED = 5;

function labelsOf(labels: readonly string[]): string {
  return labels.length === 0 ? 'no labels' : labels.join(', ');
}

function shown(workers: readonly Seen[]): string {
  if (workers.length === 0) return 'no worker at all';
  const named = workers.slice(0, MOST_NAMED).map(({ name, labels }) => `${name} (${labelsOf(labels)})`);
  const more = workers.length - named.length;
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

export class WorkerSight {
  /** Looks in a row that found no worker, by the labels. */
  readonly #lacking = new Map<string, number>();
  /** Starts of workers by their names: the one that was seen last, and those before it. */
  readonly #starts = new Map<string, { readonly last: number; readonly before: readonly number[] }>();
  readonly #doubled = new Set<string>();

  /** What is to be said after one more look: once, until it is otherwise. */
  look(queues: readonly Waiting[], workers: readonly Seen[]): readonly Refusal[] {
    return [...this.#lackingIn(queues, workers), ...this.#doubledIn(workers)];
  }

  #lackingIn(queues: readonly Waiting[], workers: readonly Seen[]): readonly Refusal[] {
    const active = workers.filter(({ draining }) => !draining);
    return queues.flatMap(({ labels, waiting }) => {
      const key = labels.join();
      const isServed = active.some((one) => labels.every((label) => one.labels.includes(label)));
      const looks = waiting === 0 || isServed ? 0 : (this.#lacking.get(key) ?? 0) + 1;
      this.#lacking.set(key, looks);
      if (looks !== PATIENCE_LOOKS) return [];
      const expected = labels.length === 0 ? 'any worker' : `a worker with ${labels.join(', ')}`;
      return [refusal(FLEET_CODES.worker_missing, { waiting, expected, got: shown(active) })];
    });
  }

  #doubledIn(workers: readonly Seen[]): readonly Refusal[] {
    const names = new Set(workers.map(({ name }) => name));
    for (const name of this.#starts.keys()) if (!names.has(name) || this.#doubled.has(name)) this.#starts.delete(name);
    return workers.flatMap(({ name, started_at: start }) => {
      if (this.#doubled.has(name)) return [];
      const { last = start, before = [] } = this.#starts.get(name) ?? {};
      this.#starts.set(name, last === start ? { last, before } : { last: start, before: [...before, last] });
      // One that was started again does not come back as it was.
      if (!before.includes(start)) return [];
      this.#doubled.add(name);
      return [refusal(FLEET_CODES.worker_name_twice, { name })];
    });
  }
}
