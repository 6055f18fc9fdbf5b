// A bare repository that shares its files with another one on this machine, as a local clone does. Made without git: each start of
// a program costs more than all that is written here.

import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** A bare repository that nobody changes. `branch` is its default branch, at the commit `sha`, and all that is wanted of it. */
export type FixedCopy = { readonly path: string; readonly branch: string; readonly sha: string };

/** Turns away whoever pushes to a bare repository of the daemon's by its path. */
export async function refusePushes(path: string): Promise<void> {
  await mkdir(join(path, 'hooks'), { recursive: true });
  await writeFile(
    join(path, 'hooks', 'pre-receive'),
    '#!/bin/sh\necho "the daemon pushes; nobody pushes here" >&2\nexit 1\n',
    { mode: 0o755 },
  );
}

/** Files of objects are never written to. */
async function linkObjects(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const files = entries.flatMap((one) => (one.isFile() ? [relative(from, join(one.parentPath, one.name))] : []));
  for (const place of new Set(['info', 'pack', ...files.map((file) => dirname(file))]))
    await mkdir(join(to, place), { recursive: true, mode: 0o700 });
  for (const file of files) {
    const [source, target] = [join(from, file), join(to, file)];
    // Some file systems have no hard links.
    await link(source, target).catch(() => copyFile(source, target, constants.COPYFILE_FICLONE));
  }
}

/** @param from a bare repository that keeps refs as files. @param head the branch that HEAD names */
export async function shareCopy(
  from: string,
  head: string,
  refs: readonly (readonly [ref: string, sha: string])[],
  to: string,
): Promise<void> {
  const fresh = `${to}.new`;
  await rm(fresh, { recursive: true, force: true });
  await linkObjects(join(from, 'objects'), join(fresh, 'objects'));
  await mkdir(join(fresh, 'refs', 'heads'), { recursive: true });
  // The format of its objects stands in it, too.
  const config = await readFile(join(from, 'config'), 'utf8');
  await writeFile(join(fresh, 'config'), `${config.trimEnd()}\n[receive]\n\tdenyDeletes = true\n`);
  await writeFile(join(fresh, 'packed-refs'), refs.map(([ref, sha]) => `${sha} ${ref}\n`).join(''));
  await writeFile(join(fresh, 'HEAD'), `ref: refs/heads/${head}\n`);
  if (existsSync(join(from, 'shallow'))) await copyFile(join(from, 'shallow'), join(fresh, 'shallow'));
  await refusePushes(fresh);
  await rename(fresh, to);
}

export function linkCopy({ path, branch, sha }: FixedCopy, to: string): Promise<void> {
  return shareCopy(path, branch, [[`refs/heads/${branch}`, sha]], to);
}
