// The failure of one git command in the daemon's copies.

import { failure, type ToolError } from '../../../base/rules/errors.ts';
import type { GitResult } from '../../../git/git.ts';
import { GIT_CODES } from '../../../git/rules/git-codes.ts';

/**
 * @param command as people call it, without `git`
 * @param files that it was for, where it was for some alone
 */
export function gitFailure(
  command: string,
  { exitCode }: Pick<GitResult, 'exitCode'>,
  said: string,
  files?: readonly string[],
): ToolError {
  const exit = exitCode === null ? {} : { exit: exitCode };
  return failure(GIT_CODES.git_failed, { command, ...exit, said, ...(files === undefined ? {} : { files }) });
}
