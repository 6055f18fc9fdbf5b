// The section `queue` of WORKFLOW.md: its shape, and the settings that it makes.

import * as z from 'zod';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';
import {
  EXPECTED_QUEUE_URL,
  gotInQueueUrl,
  isPlainHttp,
  isWorkerLabel,
  LEAST_KEY,
  MOST_LABELS,
  type QueueSettings,
  queueUrlProblem,
  shownQueueUrl,
} from '../rules/queue-settings.ts';

const VARIABLE = /^\$[A-Za-z_][A-Za-z0-9_]*$/;
const MEGABYTE = 1024 * 1024;

export const workerLabels = z
  .array(z.string().refine(isWorkerLabel, { message: 'labels like gpu: lower case, no spaces' }))
  .max(MOST_LABELS)
  .default([])
  .describe(
    'With queue.url: labels that a worker must have. A label worker:<label> of an issue adds one. Default: none.',
  );

export const queue = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Redis or PostgreSQL that hands attempts to workers on other machines: redis://host:6379, rediss://host:6379, postgres://host:5432/database?sslmode=verify-full, or $NAME of the environment variable that holds the address. Default: none, and agents run on this machine.',
      ),
    key: z
      .string()
      .regex(VARIABLE, {
        message: 'the name of an environment variable, like $FLEET_KEY (a key itself must not stand in a file)',
      })
      .optional()
      .describe(
        `$NAME of the environment variable with the key of the fleet, at least ${LEAST_KEY} characters. Workers have the same key in TOOL_FLEET_KEY.`,
      ),
    address: z
      .url({ protocol: /^https?$/, message: 'an http(s) address' })
      .optional()
      .describe('Where workers reach this coordinator. Default: its status server, on this machine.'),
    insecure: z
      .boolean()
      .default(false)
      .describe(
        'Let workers on other machines use plain http for queue.address: others can read code and prompts then.',
      ),
    lease_ms: z
      .int()
      .min(1_000)
      .default(30_000)
      .describe(
        'A worker that was silent for so long is lost once its lock in the queue is gone, ms; its issue starts again. A coordinator that was away for so long loses its repositories to another one.',
      ),
    max_bundle_mb: z
      .int()
      .min(1)
      .max(100_000)
      .default(1_024)
      .describe('Largest bundle of commits that is taken from a worker, MB.'),
  })
  .prefault({});

type QueueInput = z.output<typeof queue>;

/** The value of the variable that the file names; null: it is not set, which is a problem. */
function variableValue(key: string, variable: string, env: Environment, problems: Refusal[]): string | null {
  const value = env[variable.slice(1)];
  if (value !== undefined && value !== '') return value;
  problems.push(refusal(CONFIG_CODES.variable_unset, { key, variable }));
  return null;
}

function checkUrl(url: string, problems: Refusal[]): void {
  const problem = queueUrlProblem(url);
  if (problem === null) return;
  const got = gotInQueueUrl(problem, url);
  problems.push(refusal(BASE_CODES.config_value, { key: 'queue.url', expected: EXPECTED_QUEUE_URL, got }));
}

/** Null: there is no queue. @param others of the file that a queue does not go with, each with its value */
export function resolveQueue(
  input: QueueInput,
  env: Environment,
  others: { readonly port: number; readonly hooksFromRepository: boolean; readonly cloneDepth: number | null },
  problems: Refusal[],
): QueueSettings | null {
  const { url: written, key: keyVariable, address = null, insecure, lease_ms: leaseMs, max_bundle_mb: most } = input;
  const wrong = (key: string, expected: string, got: string) =>
    problems.push(refusal(BASE_CODES.config_value, { key, expected, got }));
  if (written === undefined) {
    if (keyVariable !== undefined) wrong('queue.url', 'the address of the queue of queue.key', 'nothing');
    return null;
  }
  const isNamed = VARIABLE.test(written);
  if (!isNamed && shownQueueUrl(written) !== written)
    wrong(
      'queue.url',
      '$NAME of an environment variable, since a password must not stand in a file',
      'a user or password',
    );
  const url = isNamed ? variableValue('queue.url', written, env, problems) : written;
  if (url !== null) checkUrl(url, problems);
  if (keyVariable === undefined)
    wrong('queue.key', '$NAME of the environment variable with the key of the fleet', 'nothing');
  const key = keyVariable === undefined ? null : variableValue('queue.key', keyVariable, env, problems);
  if (key !== null && key.length < LEAST_KEY)
    wrong('queue.key', `a key of at least ${LEAST_KEY} characters`, `${key.length} characters`);
  if (address !== null && isPlainHttp(address) && !insecure)
    wrong('queue.address', 'https, or queue.insecure: true beside it', address);
  if (others.port === 0) wrong('server.port', 'the port of a status server, which queue.url needs', '0');
  if (others.hooksFromRepository) wrong('hooks.from_repository', 'false beside queue.url', 'true');
  if (others.cloneDepth !== null) wrong('workspace.clone_depth', 'null beside queue.url', String(others.cloneDepth));
  const variables = [...(isNamed ? [written] : []), ...(keyVariable === undefined ? [] : [keyVariable])];
  return {
    url: url ?? '',
    key: key ?? '',
    variables: variables.map((one) => one.slice(1)),
    ...{ address: address?.replace(/\/+$/, '') ?? null, insecure, leaseMs, maxBundleBytes: most * MEGABYTE },
  };
}
