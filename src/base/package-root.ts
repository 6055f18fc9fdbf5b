// Root directory of this package, from the sources or from the bundle.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BASE_CODES } from './rules/base-codes.ts';
import { failure } from './rules/errors.ts';

function findRoot(): string {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    if (existsSync(join(directory, 'package.json')) && existsSync(join(directory, 'schemas', 'team.schema.json')))
      return directory;
    if (directory === dirname(directory))
      throw failure(BASE_CODES.package_incomplete, {
        path: 'schemas/team.schema.json',
        directory: dirname(fileURLToPath(import.meta.url)),
      });
  }
}

let root: string | undefined;

/** The package's own directory. */
export function packageRoot(): string {
  root ??= findRoot();
  return root;
}

/**
 * Holds the package at `root` and those that it loads: npm puts these into it or beside it, pnpm further away below the same
 * `node_modules`, and optional ones are always beside it. Whoever may write there writes the program.
 */
export function programPlace(root: string = packageRoot()): string {
  return /^.*?\/node_modules(?=\/)/.exec(root)?.[0] ?? root;
}
