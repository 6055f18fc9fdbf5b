// The row of `tool doctor` about the write guard: whether its program works on this machine, and if not, why and what helps.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { guardProgram, guardWorks, PACKED_PROGRAM } from '../adapters/guard-program.ts';
import { packageRoot } from '../adapters/package-root.ts';
import { projectState } from '../adapters/stamp.ts';
import { messageOf } from '../domain/errors.ts';
import { type Check, ok, warn } from './check.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = 'write guard';
const INSTEAD = 'of what a shell writes, only obvious writes are refused';

/** @param from the directories with packed programs: the project's, or those of the package in plugin form */
export async function checkGuard(
  root: string,
  env: Environment,
  from: readonly string[] = existsSync(join(root, '.tool', 'hooks'))
    ? [join(root, '.tool', 'guard')]
    : [join(packageRoot(), 'dist', 'native')],
): Promise<Check> {
  if (process.platform !== 'linux') return ok(NAME, `no kernel guard on ${process.platform}: ${INSTEAD}`);
  const keep = join(projectState(root, env), 'guard');
  try {
    const program = await guardProgram(from, keep);
    if (program === null)
      return warn(
        NAME,
        `no whole ${PACKED_PROGRAM} in ${from.join(' or ')}: ${INSTEAD}`,
        'tool init; if it names the program as missing, install toolcrew from a package that has it',
      );
    const verdict = await guardWorks(program, keep, true);
    return verdict.works
      ? ok(NAME, 'its program works here: the kernel can hold a write until it is decided')
      : warn(NAME, `${verdict.why}: ${INSTEAD}`, verdict.mend);
  } catch (error) {
    return warn(NAME, `${messageOf(error)}: ${INSTEAD}`, `make ${keep} a directory that you can write to`);
  }
}
