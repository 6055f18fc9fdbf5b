// Outcome of an installation for each file, and the hash of a file's content.

import { createHash } from 'node:crypto';

export type FileChange = 'created' | 'changed' | 'unchanged' | 'kept' | 'removed';

export type Outcome = {
  readonly path: string;
  readonly did: FileChange;
  /** Additional information for the user. */
  readonly note?: string;
};

export function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
