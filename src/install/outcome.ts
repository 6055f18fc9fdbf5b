// What happens to each file, in the words in which it is told.

import { createHash } from 'node:crypto';

export type Did = 'created' | 'changed' | 'unchanged' | 'kept' | 'removed';

export type Outcome = {
  readonly path: string;
  readonly did: Did;
  /** What a person should know of it besides. */
  readonly note?: string;
};

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
