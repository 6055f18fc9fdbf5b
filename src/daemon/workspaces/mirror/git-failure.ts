// The failure of one git command in the daemon's copies.

import { failure, type ToolError } from '../../../base/rules/errors.ts';
import type { GitResult } from '../../../git/git.ts';
import { GIT_CODES } from '../../../git/rules/git-codes.ts';

/** @param command as people call it, without `git` */
export function gitFailure(command: string, { exitCode }: Pick<GitResult, 'exitCode'>, said: string): ToolError {
  return failure(GIT_CODES.git_failed, { command, ...(exitCode === null ? {} : { exit: exitCode }), said });
}
