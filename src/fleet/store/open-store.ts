// Opens the store that an address names.

import { failure } from '../../base/rules/errors.ts';
import {
  EXPECTED_QUEUE_URL,
  gotInQueueUrl,
  isPostgresUrl,
  queueUrlProblem,
  shownQueueUrl,
} from '../../daemon/rules/queue-settings.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { PostgresStore } from './postgres-store.ts';
import { RedisStore } from './redis-store.ts';
import type { Store } from './store.ts';

/**
 * Connects, and tries what a queue needs. Throws a ToolError.
 * @param command that npx runs, for the advice where packages are missing
 * @param isMaker makes and migrates tables, where the store has any: a coordinator
 */
export async function openStore(url: string, command: string, isMaker = false): Promise<Store> {
  const problem = queueUrlProblem(url);
  if (problem !== null) {
    const got = gotInQueueUrl(problem, url);
    throw failure(FLEET_CODES.queue_store_unknown, { address: shownQueueUrl(url), expected: EXPECTED_QUEUE_URL, got });
  }
  return isPostgresUrl(url) ? PostgresStore.open(url, command, isMaker) : RedisStore.open(url, command);
}
