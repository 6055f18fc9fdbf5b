// Temporary directories and clean-up of tests, last registered first: the daemon ends before its directory.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Clean-up part of a test's context; for a whole test file, `{ after }` of node:test. */
export type Cleanup = { readonly after: (action: () => unknown) => void };

const stacks = new WeakMap<Cleanup, (() => unknown)[]>();

/** Runs an action at the end of the test, last registered first. All actions run; the first error is thrown. */
export function finallyDo(t: Cleanup, action: () => unknown): void {
  const known = stacks.get(t);
  if (known !== undefined) {
    known.push(action);
    return;
  }
  const stack = [action];
  stacks.set(t, stack);
  t.after(async () => {
    const errors: unknown[] = [];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      try {
        await next();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  });
}

export function tempDir(t: Cleanup): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrew-test-')));
  finallyDo(t, () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return path;
}
