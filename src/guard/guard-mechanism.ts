// The mechanism that holds writes, chosen by platform: the kernel guard of Linux, or Seatbelt of macOS.

import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ensureFile } from '../base/files/atomic-write.ts';
import { guardProgram, PACKED_PROGRAM } from './guard-program.ts';
import { readLeases } from './lease-files.ts';
import { type Policy, policyText } from './rules/policy.ts';
import { seatbeltProfile } from './rules/seatbelt.ts';
import { GIT_DIRECTORY, GIT_SHIM, seatbeltProgram } from './rules/seatbelt-scripts.ts';
import type { WriteHolder } from './rules/writes.ts';

export type GuardMechanism = {
  readonly name: Exclude<WriteHolder, 'reader'>;
  /** What keeps a write from happening, for the row of `tool doctor`. */
  readonly how: string;
  /** Whether its program writes a log of the writes that it allowed and refused. */
  readonly takesNotes: boolean;
  /** Whether the package has its program. */
  readonly isPacked: (from: string) => boolean;
  /** Its program, `POLICY LOG -- COMMAND…`, placed in the guard home; null: the package has no whole one. */
  readonly program: (from: string, home: string) => Promise<string | null>;
  readonly policyText: (policy: Policy) => Promise<string>;
};

const KERNEL: GuardMechanism = {
  name: 'kernel',
  how: 'the kernel holds a write until it is decided',
  takesNotes: true,
  isPacked: (from) => existsSync(join(from, PACKED_PROGRAM)),
  program: (from, home) => guardProgram([from], home),
  policyText: async (policy) => policyText(policy),
};

/** Without links, as far as it exists. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), basename(path));
  }
}

/** Directories that git ignores: those that exist, and those that .gitignore names in full. */
async function ignoredDirectories(root: string): Promise<readonly string[]> {
  const { tryGit } = await import('../git/git.ts');
  const rules = existsSync(join(root, '.gitignore')) ? readFileSync(join(root, '.gitignore'), 'utf8') : '';
  const named = [...rules.matchAll(/^\/?([^\s#!*?[\]\\/][^*?[\]\\\n]*?)\/?$/gm)].map(([, path = '']) => `${path}/`);
  const [there, asked] = await Promise.all([
    tryGit(['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'], { cwd: root }),
    tryGit(['check-ignore', '-z', '--stdin'], { cwd: root, input: named.join('\0') }),
  ]);
  // At a path that it cannot judge, git ends with an error; what it has said before counts.
  const all = [there, asked].flatMap(({ stdout }) => stdout.split('\0'));
  return [...new Set(all)]
    .filter((path) => /^[^\t\n]+\/$/.test(path))
    .map((path) => path.slice(0, -1))
    .sort();
}

/** @param sandbox absolute path of sandbox-exec */
export function seatbelt(sandbox = '/usr/bin/sandbox-exec'): GuardMechanism {
  return {
    name: 'seatbelt',
    how: 'Seatbelt refuses a write by the same rules (generated and tested for equal decisions, not yet run on a Mac)',
    takesNotes: false,
    isPacked: () => true,
    program: async (_, home) => {
      const program = join(home, 'write-guard-seatbelt');
      mkdirSync(join(home, GIT_DIRECTORY), { recursive: true, mode: 0o700 });
      ensureFile(join(home, GIT_DIRECTORY, 'git'), Buffer.from(GIT_SHIM), 0o700);
      ensureFile(program, Buffer.from(seatbeltProgram(sandbox)), 0o700);
      return program;
    },
    policyText: async (policy) => {
      const root = real(policy.root);
      const leases = policy.leases === null ? [] : readLeases(policy.leases, Date.now());
      const elsewhere = policy.elsewhere.map(({ owner, path }) => ({ owner, path: real(path) }));
      const [gitDirectories, gitTrees] = [policy.gitDirectories.map(real), policy.gitTrees.map(real)];
      return seatbeltProfile(
        { ...policy, root, elsewhere, gitDirectories, gitTrees },
        { leases, ignored: await ignoredDirectories(root) },
      );
    },
  };
}

/** null: the platform has none. */
export function mechanismOf(platform: string): GuardMechanism | null {
  return platform === 'linux' ? KERNEL : platform === 'darwin' ? seatbelt() : null;
}
