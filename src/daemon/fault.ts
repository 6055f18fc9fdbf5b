// Fault of a failed attempt: the agent, or something outside of the issue.

import { failure, ToolError } from '../base/rules/errors.ts';
import { GIT_CODES } from '../git/rules/git-codes.ts';
import { isDiskFull } from './rules/disk-full.ts';

/** Who is at fault for a failed attempt. `runtime`: something outside of the issue; the attempt does not count. */
export function faultOf(error: unknown): 'agent' | 'runtime' {
  if (isDiskFull(error)) return 'runtime';
  return error instanceof ToolError && (error.kind === 'hook' || error.kind === 'agent') ? 'agent' : 'runtime';
}

/** Blames the agent when Git cannot update a workspace in which an agent has worked. */
export function asAgentFault(error: unknown): unknown {
  const broken = error instanceof ToolError && (error.kind === 'git' || error.kind === 'workspace_root');
  if (!broken) return error;
  const what = { said: error.message, cause: error.code };
  return failure(GIT_CODES.workspace_broken_by_agent, what, { cause: error });
}
