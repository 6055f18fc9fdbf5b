// Random keys that identify a caller when the call itself does not.

import { lazyCrypto } from './lazy-crypto.ts';
import type { Keys } from './ports.ts';

export const systemKeys: Keys = {
  create: () => {
    const key = lazyCrypto().randomBytes(18).toString('base64url');
    return { key, hash: hashOf(key) };
  },
  hash: hashOf,
};

export function hashOf(key: string): string {
  return lazyCrypto().createHash('sha256').update(key).digest('hex');
}
