// Size of a commit's files, read from its trees before anything is checked out.

import { readGit } from './git.ts';

/** `bytes`: of contents and of paths. */
export type TreeSize = { readonly files: number; readonly bytes: number };

/** Names that git gives to no file of a tree. */
const NO_NAME = /^(?:\.git|\.{0,2})$/i;

/**
 * Null: it is more than that, and the rest was not read. Throws where git cannot read it, and for paths that a checkout would
 * refuse or take for others: before version 2.46, git checks no object of a bundle.
 */
export async function treeSizeUpTo(
  commit: string,
  most: TreeSize,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<TreeSize | null> {
  let [files, bytes, rest] = [0, 0, ''];
  const directories = new Set(['']);
  const odd: string[] = [];
  const take = (record: string) => {
    const [, mode = '', type = '', size = '', path = ''] = /^(\d+) (\w+) \S+ +(\S+)\t(.*)$/s.exec(record) ?? [];
    const at = path.lastIndexOf('/');
    const name = path.slice(at + 1);
    const isLinked = mode === '120000' && name.toLowerCase() === '.gitmodules';
    if (NO_NAME.test(name) || isLinked || !directories.has(path.slice(0, Math.max(0, at)))) odd.push(path);
    if (type === 'tree') directories.add(path);
    else files += 1;
    bytes += Number(size) || 0;
  };
  const isWhole = await readGit(['ls-tree', '-r', '-t', '-l', '-z', commit], options, (text) => {
    // A record without an end counts as well.
    bytes += text.length;
    const records = `${rest}${text}`.split('\0');
    rest = records.pop() ?? '';
    for (const record of records) take(record);
    return odd.length === 0 && files <= most.files && bytes <= most.bytes;
  });
  if (odd[0] !== undefined) throw new Error(`the path ${JSON.stringify(odd[0])} is not one of a file`);
  return isWhole ? { files, bytes } : null;
}
