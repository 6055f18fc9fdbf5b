// A program of the tests' own as one file that starts as fast as it can: through tsx it takes many times as long.

import { join } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * @param name of a program in test/support/programs, without its ending
 * @param directory where the file is put; it is there
 * @returns the file's path
 */
export function compiled(name: string, directory: string): string {
  const outfile = join(directory, `${name}.mjs`);
  buildSync({
    entryPoints: [join('test', 'support', 'programs', `${name}.ts`)],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
    // Packages of the older kind ask for Node's modules by name.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}
