// The coordinator that acts for a repository now, as the store names it.

import { addressFrom } from '../proofs.ts';
import type { Store } from '../store/store.ts';

/** `address` is proven. */
export type Successor = { readonly address: string; readonly fence: number };

/** The fence of the coordinator that acts for the repository; null: the store does not say. */
export async function fenceNow(store: Store, repository: string): Promise<number | null> {
  return store.problem === null ? store.fenceOf(repository).catch(() => null) : null;
}

/** The same coordinator with its address; null: the store does not say, or names an address without the proof of this key. */
export async function successorOf(store: Store, key: string, repository: string): Promise<Successor | null> {
  const fence = await fenceNow(store, repository);
  const written = fence === null ? null : await store.addressOf(repository).catch(() => null);
  const address = addressFrom(key, repository, written ?? '');
  return fence === null || address === null ? null : { address, fence };
}
