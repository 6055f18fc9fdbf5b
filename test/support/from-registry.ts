// A package from the npm registry, kept in a directory under .cache; whole or not at all, since several test files fetch at once.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { execaSync } from 'execa';

/** What the registry does not give, or nobody who asks reaches. */
export class Unavailable extends Error {}

/** Installs it where it is not there yet. Throws when it cannot be had. */
export function fromRegistry(directory: string, spec: string, what: string): void {
  if (existsSync(directory)) return;
  mkdirSync(dirname(directory), { recursive: true });
  const half = mkdtempSync(`${directory}.half-`);
  try {
    // Tests start it as other users too.
    chmodSync(half, 0o755);
    writeFileSync(`${half}/package.json`, '{"private":true}\n');
    const args = ['install', '--no-save', '--no-audit', '--no-fund', '--no-engine-strict', spec];
    const { failed, stderr } = execaSync({ cwd: half, reject: false })`npm ${args}`;
    if (failed) throw new Unavailable(`${what} cannot be had: ${stderr.split('\n').slice(0, 2).join(' ')}`);
    try {
      renameSync(half, directory);
    } catch (error) {
      // Another test file was faster.
      if (!existsSync(directory)) throw error;
    }
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}
