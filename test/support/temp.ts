// Temporary directories that go with their test.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** The part of a test's context that cleans up. */
export type Cleanup = Pick<TestContext, 'after'>;

export function tempDir(t: Cleanup): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-test-')));
  t.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return path;
}
