// A bare repository that shares its files with another one on this machine, as a local clone does. Made without git: each start of
// a program costs more than all that is written here.

import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { refusePushes } from './clone-source.ts';

/** A bare repository that nobody changes. `branch` is its default branch, at the commit `sha`, and all that is wanted of it. */
export type FixedCopy = { readonly path: string; readonly branch: string; readonly sha: string };

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

export async function linkCopy({ path, branch, sha }: FixedCopy, to: string): Promise<void> {
  const fresh = `${to}.new`;
  await rm(fresh, { recursive: true, force: true });
  await linkObjects(join(path, 'objects'), join(fresh, 'objects'));
  await mkdir(join(fresh, 'refs', 'heads'), { recursive: true });
  // The format of its objects stands in it, too.
  const config = await readFile(join(path, 'config'), 'utf8');
  await writeFile(join(fresh, 'config'), `${config.trimEnd()}\n[receive]\n\tdenyDeletes = true\n`);
  await writeFile(join(fresh, 'packed-refs'), `# pack-refs with: sorted \n${sha} refs/heads/${branch}\n`);
  await writeFile(join(fresh, 'HEAD'), `ref: refs/heads/${branch}\n`);
  await refusePushes(fresh);
  await rename(fresh, to);
}
