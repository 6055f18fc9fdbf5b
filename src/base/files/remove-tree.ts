// Removes directory trees, whatever permissions programs gave them.

import { existsSync } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Batcher } from '../batcher.ts';
import { runProgram } from '../processes/program.ts';

/** A program may still be writing while its directory goes. */
const RETRIES = { recursive: true, force: true, maxRetries: 3, retryDelay: 50 } as const;

/** Removes a tree, also where a program made directories that cannot be written to. Links are removed, not followed. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, RETRIES);
  } catch {
    await makeWritable(path);
    await rm(path, RETRIES);
  }
}

/** Number of files whose removal costs as much as starting a process. */
const FEW = 100;

/** As `removeTree`, in another process when the tree holds many files. */
export async function removeLargeTree(path: string): Promise<void> {
  if (!(await holdsFew(path))) await removeElsewhere([path]);
  // What it left, and why, shows here.
  await removeTree(path);
}

/** Whether there is little in a directory, at any depth. */
async function holdsFew(path: string): Promise<boolean> {
  try {
    let count = 0;
    const open = [path];
    for (let at = open.pop(); at !== undefined && count <= FEW; at = open.pop())
      for (const entry of await readdir(at, { withFileTypes: true })) {
        count += 1;
        if (entry.isDirectory()) open.push(join(at, entry.name));
      }
    return count <= FEW;
  } catch {
    return false;
  }
}

/** Creates a function that removes trees; calls at the same time share one process. It rejects if a tree is left. */
export function createTreeRemover(): (path: string) => Promise<void> {
  const removals = new Batcher(removeElsewhere);
  return async (path) => {
    if (existsSync(path)) await removals.add(path);
    // What it left, and why, shows here.
    await removeTree(path);
  };
}

/** Another process removes what it can of these. */
async function removeElsewhere(paths: readonly string[]): Promise<void> {
  const options = { cwd: '/', env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' } };
  const there = paths.filter((path) => existsSync(path));
  if (there.length > 0) await runProgram('rm', ['-rf', '--', ...there], options).catch(() => undefined);
}

/** What cannot be made writable, or is gone meanwhile, is for the removal after it to find. */
async function makeWritable(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isDirectory()) return;
    await chmod(path, 0o700);
    for (const name of await readdir(path)) await makeWritable(join(path, name));
  } catch {
    return;
  }
}
