// The command line of an agent within its bounds. One that only reads is under the write guard where there are no namespaces.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../base/files/atomic-write.ts';
import { packageRoot } from '../base/package-root.ts';
import type { Environment } from '../base/rules/environment.ts';
import { mechanismOf } from '../guard/guard-mechanism.ts';
import { guardWorks } from '../guard/guard-program.ts';
import { makeGuardHome } from '../guard/guard-shell.ts';
import { BARE_POLICY } from '../guard/rules/policy.ts';
import type { Isolation } from './isolation.ts';
import type { RunRequest } from './ports.ts';

/** The directory that a process began in is the one below the mounts, where writes succeed: it is entered anew. */
const ENTER = 'cd -- "$1" && shift && exec "$@"';

type CommandWords = readonly [file: string, args: readonly string[]];

/** The guard's words before a command; none where it does not work on this machine. */
async function guardWords(env: Environment, cwd: string, place: string): Promise<readonly string[]> {
  const mechanism = mechanismOf(process.platform);
  if (mechanism === null) return [];
  try {
    const home = makeGuardHome(env);
    const program = await mechanism.program(join(packageRoot(), 'dist', 'native'), home);
    if (program === null || !(await guardWorks(program, home, false, mechanism.policyText)).works) return [];
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const policy = join(place, 'policy');
    writeFileAtomic(
      policy,
      await mechanism.policyText({ ...BARE_POLICY, root: cwd, member: null, ownership: [] }),
      0o600,
    );
    return [program, policy, join(place, 'guard.log'), '--'];
  } catch {
    return [];
  }
}

/**
 * @param place a directory of the run, outside of the workspace
 * @param writable where it may write although the place around is read-only
 */
export async function heldCommand(
  isolation: Isolation,
  env: Environment,
  { cwd, role }: Pick<RunRequest, 'cwd' | 'role'>,
  place: string,
  [file, args]: CommandWords,
  writable: readonly string[],
): Promise<CommandWords> {
  if (role === undefined) return isolation.wrap(file, args, writable);
  if (isolation.active) return isolation.wrap('/bin/sh', ['-c', ENTER, 'enter', cwd, file, ...args], writable);
  const [first = file, ...words] = [...(await guardWords(env, cwd, place)), file, ...args];
  return [first, words];
}
