// What a test leaves behind goes with it, the last thing first: the daemon before its directory.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of a test's context that cleans up; `{ after }` of node:test for what a whole file shares. */
export type Cleanup = { readonly after: (action: () => unknown) => void };

const stacks = new WeakMap<Cleanup, (() => unknown)[]>();

/** Has something done at the end of the test, before what was asked for earlier; a failure keeps none of the others from being done. */
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
