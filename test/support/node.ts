// Other versions of Node than the one that runs, from the npm registry, kept under .cache.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { fromRegistry } from './from-registry.ts';

/** The npm that belongs to the node on the PATH: its JavaScript, so that any node can run it. */
export function npmProgram(): string {
  const { stdout } = execaSync`npm root --global`;
  const path = join(stdout, 'npm', 'bin', 'npm-cli.js');
  return realpathSync(path);
}

/** The program of the newest node of that major. Throws when it cannot be had. */
export function nodeProgram(major: number): string {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const directory = join(process.cwd(), '.cache', 'node', String(major));
  const path = join(directory, 'node_modules', name, 'bin', 'node');
  fromRegistry(directory, `${name}@${major}`, `node ${major}`);
  const { stdout } = execaSync(path, ['--version']);
  if (stdout.startsWith(`v${major}.`)) return path;
  throw new Error(`node ${major} says that its version is ${stdout || 'nothing'}`);
}
