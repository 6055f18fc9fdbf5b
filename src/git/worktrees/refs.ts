// Refs as the files that they are, told without starting git; null where the repository keeps them in another way.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { tryReadText } from '../../base/files/read-text.ts';

const SHA = /^[0-9a-f]{40,64}$/;

/** Those of the refs that exist, each with its commit. */
export function readRefs(refs: readonly string[], common: string): ReadonlyMap<string, string> | null {
  if (existsSync(join(common, 'reftable'))) return null;
  const found = new Map<string, string>();
  const packed: string[] = [];
  for (const ref of refs) {
    const text = tryReadText(join(common, ref))?.trim();
    if (text === undefined) packed.push(ref);
    // One that names another, or is being written.
    else if (!SHA.test(text)) return null;
    else found.set(ref, text);
  }
  if (packed.length === 0) return found;
  // A ref is packed before its own file goes.
  const rows = (tryReadText(join(common, 'packed-refs')) ?? '').split('\n');
  for (const ref of packed) {
    const sha = rows.find((row) => row.endsWith(` ${ref}`))?.slice(0, -1 - ref.length);
    if (sha !== undefined && SHA.test(sha)) found.set(ref, sha);
  }
  return found;
}

/** Where a branch is checked out: the Git directory of that worktree; undefined: nowhere. */
export function checkedOutIn(ref: string, common: string): string | undefined | null {
  if (existsSync(join(common, 'reftable'))) return null;
  const linked = join(common, 'worktrees');
  const admins = existsSync(linked) ? readdirSync(linked).map((name) => join(linked, name)) : [];
  return [common, ...admins].find((admin) => tryReadText(join(admin, 'HEAD'))?.trim() === `ref: ${ref}`);
}
