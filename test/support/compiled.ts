// The tests' own TypeScript as files that Node starts as fast as it can: through tsx it takes many times as long.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';

/** Where scripts/test.ts has put what it compiled: what stands at x/y.ts is there as x/y.js. */
export const COMPILED_VARIABLE = 'TOOLCREW_COMPILED';

/** To be run from the project's root, below which the files have to stand: packages that are no part of them are found there. */
export const COMPILING = {
  bundle: true,
  // Packages that bring programs or files of their own, which they look for beside their code.
  external: [
    '@opentelemetry/*',
    'bullmq',
    'dependency-cruiser',
    'emulate',
    'ioredis',
    'esbuild',
    // Of another form of modules, which is not followed.
    'jsonc-parser',
    'monocart-coverage-reports',
    'pg',
    'playwright-core',
    'typescript',
  ],
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  keepNames: true,
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  // Packages of the older kind ask for Node's modules by name.
  banner: {
    js: "import { createRequire as compiledRequire } from 'node:module'; const require = compiledRequire(import.meta.filename);",
  },
} as const satisfies BuildOptions;

let own: string | undefined;

/** Of this process, where nothing was compiled before it. */
function ownDirectory(): string {
  if (own === undefined) {
    mkdirSync('.cache', { recursive: true });
    const made = mkdtempSync(join(process.cwd(), '.cache', 'compiled-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    own = made;
  }
  return own;
}

/**
 * @param name of a program in test/support/programs, without its ending
 * @returns the path of the compiled file
 */
export function programFile(name: string): string {
  const source = join('test', 'support', 'programs', name);
  const before = process.env[COMPILED_VARIABLE];
  if (before !== undefined) return join(before, `${source}.js`);
  const outfile = join(ownDirectory(), `${name}.js`);
  if (!existsSync(outfile)) buildSync({ ...COMPILING, entryPoints: [`${source}.ts`], outfile });
  return outfile;
}

let scripts = 0;

/**
 * @param text of a program in TypeScript, with imports from the project's root: `./src/…`; its arguments begin at `process.argv[2]`
 * @returns the path of the compiled file
 */
export function scriptFile(text: string): string {
  scripts += 1;
  const outfile = join(process.env[COMPILED_VARIABLE] ?? ownDirectory(), `script-${process.pid}-${scripts}.js`);
  buildSync({ ...COMPILING, stdin: { contents: text, loader: 'ts', resolveDir: process.cwd() }, outfile });
  return outfile;
}
