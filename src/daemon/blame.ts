// The cause of an attempt that came to nothing: the agent, or something outside of it.

import { failure, ToolError } from '../base/rules/errors.ts';
import { GIT_CODES } from '../git/rules/git-codes.ts';
import { isDiskFull } from './rules/disk-full.ts';

/** `runtime`: outside of the issue, so it does not count against it. */
export function blame(error: unknown): 'agent' | 'runtime' {
  if (isDiskFull(error)) return 'runtime';
  return error instanceof ToolError && (error.kind === 'hook' || error.kind === 'agent') ? 'agent' : 'runtime';
}

/** A workspace that an agent has been in and that Git cannot be brought up to date in: that is the agent's doing. */
export function blameWorkspace(error: unknown): unknown {
  const broken = error instanceof ToolError && (error.kind === 'git' || error.kind === 'workspace_root');
  if (!broken) return error;
  const what = { said: error.message, cause: error.code };
  return failure(GIT_CODES.workspace_broken_by_agent, what, { cause: error });
}
