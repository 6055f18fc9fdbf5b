// Settings of the queue that hands attempts to workers on other machines, and the addresses that these may use.

/** `key` and `url` may be secrets. */
export type QueueSettings = {
  readonly url: string;
  /** Proves to a coordinator and a worker that both belong to this fleet. */
  readonly key: string;
  /** Environment variables that the file names for the two. */
  readonly variables: readonly string[];
  /** Where workers reach the coordinator; null: at its status server. */
  readonly address: string | null;
  /** Workers may reach the coordinator by plain HTTP from other machines. */
  readonly insecure: boolean;
  /** A worker that was silent for so long is lost, once its lock in the queue is gone. */
  readonly leaseMs: number;
  /** Most bytes of the commits that a worker hands in at once. */
  readonly maxBundleBytes: number;
};

export const LEAST_KEY = 16;
const LABEL = /^[a-z0-9][a-z0-9._-]{0,31}$/;
/** A worker looks at every queue whose labels it has. */
export const MOST_LABELS = 8;

export function isWorkerLabel(text: string): boolean {
  return LABEL.test(text);
}

/** The label of an issue that asks for a worker with the label behind it. */
const WORKER_PREFIX = 'worker:';

/** Labels that a worker needs for an issue, each once, in order. */
export function neededLabels(always: readonly string[], labels: readonly string[]): readonly string[] {
  const asked = labels.flatMap((label) => {
    const lower = label.toLowerCase();
    const name = lower.startsWith(WORKER_PREFIX) ? lower.slice(WORKER_PREFIX.length).trim() : '';
    return isWorkerLabel(name) ? [name] : [];
  });
  return [...new Set([...always, ...asked])].sort().slice(0, MOST_LABELS);
}

export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

export type QueueUrlProblem = 'not_url' | 'postgres' | 'scheme' | 'host';

/** Why it is no address of a store that can be used; null: it is one. */
export function queueUrlProblem(text: string): QueueUrlProblem | null {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'not_url';
  if (scheme === 'postgres' || scheme === 'postgresql') return 'postgres';
  if (scheme !== 'redis' && scheme !== 'rediss') return 'scheme';
  return /^[a-z]+:\/\/(?:[^@/]*@)?(?:\[[0-9a-f:]+\]|[^:/?#\s]+)(?::\d{1,5})?(?:\/\d*)?$/i.test(text) ? null : 'host';
}

/** The address without user and password. */
export function shownQueueUrl(text: string): string {
  return text.replace(/^([a-z]+:\/\/)[^@/]*@/i, '$1');
}

/** Whether what is sent there could be read on the way. */
export function isPlainHttp(address: string): boolean {
  const [, scheme = '', host = ''] = /^(https?):\/\/(\[[^\]]*\]|[^:/]*)/i.exec(address) ?? [];
  return scheme.toLowerCase() === 'http' && !isLoopbackName(host.toLowerCase());
}
