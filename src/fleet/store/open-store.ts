// Opens the store that an address names.

import { RedisStore } from './redis-store.ts';
import type { Store } from './store.ts';

/**
 * Connects, and tries what a queue needs. Throws a ToolError.
 * @param command that npx runs, for the advice where packages are missing
 */
export function openStore(url: string, command: string): Promise<Store> {
  return RedisStore.open(url, command);
}
