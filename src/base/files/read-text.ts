// Reads a file that may be missing.

import { readFileSync } from 'node:fs';

/** The text of a file; null: it cannot be read. */
export function tryReadText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
