// Heads of a bundle of git, read from the start of the file without git.

import { open } from 'node:fs/promises';

const MOST_BYTES = 64 * 1024;
const SIGNATURE = /^# v[23] git bundle$/;
/** A setting of the file, or a commit that whoever takes it must have. */
const PASSED = /^(@|-[0-9a-f]{40,64}( |$))/;
const HEAD = /^[0-9a-f]{40,64} \S+$/;

/** Each as git lists it, `<commit> <ref>`. Null: it is none, or one that only git can read. */
export async function readBundleHeads(path: string): Promise<readonly string[] | null> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    const end = text.indexOf('\n\n');
    const [signature = '', ...rows] = text.slice(0, Math.max(0, end)).split('\n');
    const heads = rows.filter((row) => !PASSED.test(row));
    return SIGNATURE.test(signature) && heads.every((row) => HEAD.test(row)) ? heads : null;
  } finally {
    await file.close();
  }
}
