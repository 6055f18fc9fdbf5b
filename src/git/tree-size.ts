// Size of a commit's files, read from its trees before anything is checked out.

import { readGit } from './git.ts';

/** `bytes`: of contents and of paths. */
export type TreeSize = { readonly files: number; readonly bytes: number };

/** Null: it is more than that, and the rest was not read. Throws where git cannot read it. */
export async function treeSizeUpTo(
  commit: string,
  most: TreeSize,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<TreeSize | null> {
  let [files, bytes, rest] = [0, 0, ''];
  const isWhole = await readGit(['ls-tree', '-r', '-l', '-z', commit], options, (text) => {
    // A record without an end counts as well.
    bytes += text.length;
    const records = `${rest}${text}`.split('\0');
    rest = records.pop() ?? '';
    files += records.length;
    for (const record of records) bytes += Number(/^\S+ \S+ \S+ +(\d+)\t/.exec(record)?.[1] ?? 0);
    return files <= most.files && bytes <= most.bytes;
  });
  return isWhole ? { files, bytes } : null;
}
