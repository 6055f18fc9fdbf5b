// Version of this package, from the sources or from the bundle. Hooks load it, and not how the package's root is found.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

/** Defined by the build: a bundle may be installed without a package around it. */
declare const TOOL_VERSION: string | undefined;

function versionOfSources(): string {
  const value: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  return typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'string'
    ? value.version
    : '0.0.0';
}

export function packageVersion(): string {
  return typeof TOOL_VERSION === 'string' ? TOOL_VERSION : versionOfSources();
}
