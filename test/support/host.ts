// The real host program, in the versions it is tried with, from the npm registry, kept under .cache.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fromRegistry } from './from-registry.ts';

export const HOST_VERSIONS = ['2.1.33', '2.1.100', '2.1.177', '2.1.329'] as const;
export type HostVersion = (typeof HOST_VERSIONS)[number];

const CACHE = join(process.cwd(), '.cache', 'hosts');

/** The program of that version. Throws when it cannot be had: a suite that leaves out what it is for has not passed. */
export function hostProgram(version: HostVersion): string {
  const directory = join(CACHE, version);
  const path = join(directory, 'node_modules', '.bin', 'claude');
  fromRegistry(directory, `@anthropic-ai/claude-code@${version}`, `Claude Code ${version}`);
  const { stdout, error } = spawnSync(path, ['--version'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
  });
  if (error !== undefined) throw error;
  if (stdout.startsWith(version)) return path;
  throw new Error(`Claude Code ${version} says that its version is ${stdout.trim() || 'nothing'}`);
}
