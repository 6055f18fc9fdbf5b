// The files of tests of a run: those that are named, or those of a suite.

import { readdirSync } from 'node:fs';
import { join, normalize } from 'node:path';

export function isSlow(file: string): boolean {
  return /^test\/(?:slow|hosts)\//.test(file);
}

/**
 * @param named files, or folders of them, below the root; none: the fast suite, or that of integration beside it
 * @throws where nothing has that name
 */
export function testFiles(root: string, named: readonly string[], integration: boolean): readonly string[] {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
    .sort();
  if (named.length === 0)
    return all.filter((file) => !isSlow(file) && file.endsWith('.integration.test.ts') === integration);
  const found = named.map((one) => {
    const files = all.filter((file) => `${file}/`.startsWith(`${normalize(one).replace(/\/$/, '')}/`));
    if (files.length === 0) throw new Error(`${one}: expected a file of tests, or a folder with some`);
    return files;
  });
  return [...new Set(found.flat())];
}
