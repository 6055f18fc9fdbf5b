// A job of the queue: one attempt at an issue, by its identity alone. It holds no secret and no prompt.

export type AttemptIdentity = {
  /** `<host>/<owner>/<repo>`. */
  readonly repository: string;
  readonly issue: number;
  readonly life: number;
  readonly attempt: number;
  /** Number of the lease under which the coordinator acts. */
  readonly fence: number;
  /** Counts, under this lease, how often a worker was asked to measure finished work; left out: an agent is to work. */
  readonly measurement?: number | undefined;
};

export type FleetJob = AttemptIdentity & {
  /** Address of the coordinator whose attempt it is. */
  readonly coordinator: string;
  /** Plain HTTP to another machine is allowed. */
  readonly insecure: boolean;
  readonly labels: readonly string[];
  /** Version of the program that a worker must have. */
  readonly version: string;
  readonly lease_ms: number;
};

/** Two names may differ in nothing but what an id cannot hold: each such char is there by its number. */
function repositoryPart(repository: string): string {
  return repository.toLowerCase().replace(/[^a-z0-9.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}_`);
}

export function isOfRepository(id: string, repository: string): boolean {
  const part = `${repositoryPart(repository)}_`;
  return id.startsWith(part) && /^\d+_/.test(id.slice(part.length));
}

/** The same for the same attempt, so that a job that is added twice is there once. A queue allows no `:` in it. */
export function attemptId({ repository, issue, life, attempt, fence, measurement }: AttemptIdentity): string {
  const id = `${repositoryPart(repository)}_${issue}_${life}_${attempt}_${fence}`;
  return measurement === undefined ? id : `${id}_m${measurement}`;
}

/** `1 of <host>/<owner>/<repo>#7` for an id of `attemptId`; any other text as it is. */
export function attemptName(id: string): string {
  const [, part, issue, attempt] = /^(.+)_(\d+)_\d+_(\d+)_\d+(?:_m\d+)?$/.exec(id) ?? [];
  const repository = part?.replace(/_([0-9a-f]+)_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return repository === undefined ? id : `${attempt} of ${repository}#${issue}`;
}

const QUEUE = 'attempts';

/** One queue for each set of labels. @param labels in order */
export function queueName(labels: readonly string[]): string {
  return [QUEUE, ...labels].join('+');
}

/** Labels of a queue; null: it is none of ours. */
export function labelsOfQueue(name: string): readonly string[] | null {
  const [first, ...labels] = name.split('+');
  return first === QUEUE ? labels : null;
}

/** The queues that a worker takes jobs from: those that ask for most come first, since fewer workers serve them. */
export function queuesFor(names: readonly string[], labels: readonly string[]): readonly string[] {
  const has = new Set(labels);
  return names
    .flatMap((name) => {
      const needed = labelsOfQueue(name);
      return needed?.every((label) => has.has(label)) === true ? [{ name, count: needed.length }] : [];
    })
    .sort((a, b) => b.count - a.count || a.name.localeCompare(b.name))
    .map(({ name }) => name);
}

/** From 1, the most urgent. @param order labels from the most urgent one on */
export function priorityOf(order: readonly string[], labels: readonly string[]): number {
  const own = labels.map((label) => label.toLowerCase());
  const at = order.findIndex((label) => own.includes(label.toLowerCase()));
  return (at === -1 ? order.length : at) + 1;
}

/** The text of a job that a coordinator signs: all of it, in a fixed order. */
export function signedText(job: FleetJob): string {
  const { coordinator, insecure, repository, issue, life, attempt, fence, measurement, labels, version, lease_ms } =
    job;
  const identity = [repository, issue, life, attempt, fence, measurement ?? null];
  return JSON.stringify(['job', coordinator, insecure, ...identity, labels, version, lease_ms]);
}

/** Three in a row may fail before the lease ends. */
export function renewalMs(leaseMs: number): number {
  return Math.max(250, Math.floor(leaseMs / 4));
}

/**
 * Whether the worker of an attempt is lost. A lock that is renewed for long without a request is that of a worker that
 * cannot reach the coordinator.
 * @param silentMs since its last request
 * @param isLocked whether its lock is in the queue; null: the queue gives no answer
 */
export function isLost(silentMs: number, leaseMs: number, isLocked: boolean | null): boolean {
  if (silentMs > 10 * leaseMs) return true;
  if (isLocked === null) return silentMs > 4 * leaseMs;
  return silentMs > leaseMs && !isLocked;
}
