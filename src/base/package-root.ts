// Root directory and version of this package, from the sources or from the bundle.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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

/** Defined by the build: a bundle may be installed without a package around it. */
declare const TOOL_VERSION: string | undefined;

let root: string | undefined;

/** The package's own directory. */
export function packageRoot(): string {
  root ??= findRoot();
  return root;
}

/**
 * Holds the package at `root` and the packages that it loads: npm puts these into it or beside it, pnpm further away below
 * the same `node_modules`. Whoever may write there writes the program.
 */
export function programPlace(root: string = packageRoot()): string {
  const loaded = createRequire(join(root, 'package.json')).resolve('zod');
  const outermost = /^.*?\/node_modules(?=\/)/.exec(root)?.[0];
  return loaded.startsWith(`${root}/`) || outermost === undefined ? root : outermost;
}

export function packageVersion(): string {
  if (typeof TOOL_VERSION === 'string') return TOOL_VERSION;
  const value: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  return typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'string'
    ? value.version
    : '0.0.0';
}
