// Keys: what tells who calls, where a call itself carries nothing.

import { lateCrypto } from './lazy-crypto.ts';
import type { Keys } from './ports.ts';

export const systemKeys: Keys = {
  create: () => {
    const key = lateCrypto().randomBytes(18).toString('base64url');
    return { key, hash: hashOf(key) };
  },
  hash: hashOf,
};

export function hashOf(key: string): string {
  return lateCrypto().createHash('sha256').update(key).digest('hex');
}
