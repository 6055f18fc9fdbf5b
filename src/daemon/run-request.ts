// Request to a runner for one attempt.

import type { RunRequest } from '../agents/ports.ts';
import { formatSlug } from '../git/rules/repository.ts';
import type { WorkspaceTask } from './ports.ts';
import type { Issue } from './rules/issue.ts';
import { type Entry, spentOf } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

export function runRequest(
  task: WorkspaceTask,
  entry: Entry,
  { title, body, labels }: Issue,
  { agent, tracker }: Workflow,
  given: Pick<RunRequest, 'run' | 'cwd' | 'prompt' | 'round'>,
): RunRequest {
  const { issue, attempt, branch, env } = task;
  const { maxCostUsd } = agent;
  return {
    ...given,
    issue,
    attempt,
    issueText: `${title}\n\n${body}`,
    labels,
    life: entry.life,
    resume: entry.sessionId,
    budgetUsd: maxCostUsd === null ? null : Math.max(0.01, maxCostUsd - spentOf(entry).cost_usd),
    env: {
      ...env,
      TOOL_ISSUE: String(issue),
      TOOL_ATTEMPT: String(attempt),
      TOOL_REPO: formatSlug(tracker.slug),
      TOOL_BRANCH: branch,
      TOOL_WORKSPACE: given.cwd,
    },
  };
}
