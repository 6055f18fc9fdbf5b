// Settings of the queue that hands attempts to workers on other machines, and the addresses that these may use.

import { assertNever } from '../../base/rules/errors.ts';

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

export type QueueUrlProblem = 'not_url' | 'scheme' | 'user' | 'port' | 'host' | 'parameter';

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** Parameters of an address of PostgreSQL: others may hold a password, or change what a store relies on. */
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
}

export function isPostgresUrl(text: string): boolean {
  return ['postgres', 'postgresql'].includes(schemeOf(text) ?? '');
}

/** The parameters of an address, each with its value as it is written. */
function parametersOf(text: string): readonly (readonly [string, string])[] {
  const [, query = ''] = /\?([^#]*)/.exec(text) ?? [];
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => [part.replace(/=.*/s, ''), part.includes('=') ? part.slice(part.indexOf('=') + 1) : ''] as const);
}

/** How an address of PostgreSQL asks for TLS, by the words of `sslmode`. Without it: not at all. */
export function sslModeOf(text: string): string {
  return parametersOf(text).findLast(([name]) => name === 'sslmode')?.[1] ?? 'disable';
}

/** Whether user and password are written as an address needs them: its own characters as `%` and two digits. */
function isUserReadable(text: string): boolean {
  const user = text.includes('@') ? text.replace(/^[a-z]+:\/\//i, '').replace(/@[^@]*$/, '') : '';
  // One behind the path is none of it.
  if (/^[^@]*\/[^@]*\?/.test(user)) return true;
  return !/[@/?#\s]|%(?![0-9a-f]{2})/i.test(user);
}

/** Why it is no address of a store that can be used; null: it is one. */
export function queueUrlProblem(text: string): QueueUrlProblem | null {
  const scheme = schemeOf(text);
  if (scheme === undefined) return 'not_url';
  if (scheme !== 'redis' && scheme !== 'rediss' && !isPostgresUrl(text)) return 'scheme';
  if (!isUserReadable(text)) return 'user';
  const host = '(?:\\[[0-9a-f:]+\\]|[^:/?#\\s@]+)(?::\\d{1,5})?';
  const [, port = ''] = /^[a-z]+:\/\/(?:[^@]*@)?(?:\[[^\]]*\]|[^:/?#@]*):(\d+)(?:[/?#]|$)/i.exec(text) ?? [];
  if (Number(port) > 65_535) return 'port';
  if (isPostgresUrl(text)) {
    if (!new RegExp(`^[a-z]+://(?:[^@/?#]*@)?${host}(?:/[^/?#\\s]*)?(?:\\?[^#\\s]*)?$`, 'i').test(text)) return 'host';
    const isKnown = parametersOf(text).every(([name]) => PARAMETERS.includes(name));
    return isKnown && SSL_MODES.includes(sslModeOf(text)) ? null : 'parameter';
  }
  return new RegExp(`^[a-z]+://(?:[^@/]*@)?${host}(?:/\\d*)?$`, 'i').test(text) ? null : 'host';
}

export const EXPECTED_QUEUE_URL = 'an address like redis://host:6379 or postgres://host:5432/database';

/** The address may hold a password: no message repeats what cannot be read as one. */
export function gotInQueueUrl(problem: QueueUrlProblem, url: string): string {
  switch (problem) {
    case 'scheme':
      return `the scheme ${url.slice(0, url.indexOf(':'))}`;
    case 'not_url':
      return 'a text without a scheme';
    case 'user':
      return 'a user or password with one of @ / ? # %, each of which must be written like %40';
    case 'port':
      return 'a port beyond 65535';
    case 'host':
      return 'an address without a host, or with more than a host, a port and a number or the name of a database';
    case 'parameter':
      return 'other parameters than sslmode=disable, require, verify-ca or verify-full, sslrootcert, sslcert and sslkey';
    default:
      return assertNever(problem);
  }
}

/** The address without user, password, and parameters that are none of it. */
export function shownQueueUrl(text: string): string {
  // A password that is not written as it must be may hold any character.
  const rest = text.replace(/^([a-z]+:\/\/).*@/is, '$1');
  const bare = rest.replace(/[?#].*$/s, '');
  const shown = parametersOf(rest).filter(([name]) => PARAMETERS.includes(name));
  return shown.length === 0 ? bare : `${bare}?${shown.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

/** Whether what is sent there could be read on the way. */
export function isPlainHttp(address: string): boolean {
  const [, scheme = '', host = ''] = /^(https?):\/\/(\[[^\]]*\]|[^:/]*)/i.exec(address) ?? [];
  return scheme.toLowerCase() === 'http' && !isLoopbackName(host.toLowerCase());
}
