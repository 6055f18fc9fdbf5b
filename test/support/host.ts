// The real host program, in the versions it is tried with, from the npm registry, kept under .cache.

import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { fromRegistry, Unavailable } from './from-registry.ts';

export const HOST_VERSIONS = ['2.1.33', '2.1.100', '2.1.177', '2.1.331'] as const;
export type HostVersion = (typeof HOST_VERSIONS)[number];

const CACHE = join(process.cwd(), '.cache', 'hosts');

function fetched(version: HostVersion): string {
  const directory = join(CACHE, version);
  fromRegistry(directory, `@anthropic-ai/claude-code@${version}`, `Claude Code ${version}`);
  return directory;
}

/** Those of these versions that can be had; what is left out is a skipped test, and is said aloud. */
export function availableHosts<T extends HostVersion>(wanted: readonly T[]): readonly T[] {
  return wanted.filter((version) => {
    try {
      fetched(version);
      return true;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      process.stderr.write(`\n=== SKIPPED, NOT TRIED WITH Claude Code ${version}: ${error.message}\n`);
      test(`Claude Code ${version}`, { skip: error.message }, () => undefined);
      return false;
    }
  });
}

const programs = new Map<HostVersion, string>();

/** The program of that version, which is asked for it once. Throws when it cannot be had. */
export function hostProgram(version: HostVersion): string {
  const known = programs.get(version);
  if (known !== undefined) return known;
  const path = join(fetched(version), 'node_modules', '.bin', 'claude');
  const { stdout } = execaSync(path, ['--version'], { env: { HOME: '/nonexistent' } });
  if (!stdout.startsWith(version))
    throw new Error(`Claude Code ${version} says that its version is ${stdout || 'nothing'}`);
  programs.set(version, path);
  return path;
}
