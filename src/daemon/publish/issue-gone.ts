// Tells an issue that is gone from one that the credential cannot see.

import type { Tracker } from '../ports.ts';

/**
 * Whether the issue is deleted or was moved away. Services give the same answer for what a credential may not see, so the
 * repository must answer as well: where it does not, and where no answer comes, the issue is not gone.
 */
export async function isGone(tracker: Tracker, issue: number, branch: string, signal: AbortSignal): Promise<boolean> {
  try {
    if ((await tracker.readIssue(issue, signal)) !== null) return false;
    await tracker.findPullRequest(branch, signal);
    return true;
  } catch {
    return false;
  }
}
