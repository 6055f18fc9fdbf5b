// The row of an issue on GitHub's REST API, and the issue that the daemon makes of it.

import * as z from 'zod';
import { blockersIn } from '../rules/blocker-text.ts';
import { type Blockers, hasBlockers, NO_BLOCKERS } from '../rules/blockers.ts';
import type { Issue } from '../rules/issue.ts';

export const actor = z.object({ login: z.string(), type: z.string().default('User') }).nullable();
const label = z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]);
const count = z.number().int();

export const issueRow = z.object({
  number: z.number().int(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  labels: z.array(label),
  user: actor.optional(),
  created_at: z.string(),
  updated_at: z.string(),
  pull_request: z.unknown().optional(),
  repository_url: z.string().optional(),
  // Older servers send no such counts, and others of another shape must not make the list unreadable.
  issue_dependencies_summary: z.object({ blocked_by: count, total_blocked_by: count }).nullish().catch(null),
  sub_issues_summary: z.object({ total: count, completed: count }).nullish().catch(null),
});

type IssueRow = z.output<typeof issueRow>;

/** Of the text, only the numbers are kept. */
function blockersOf(row: IssueRow): Blockers {
  const { issue_dependencies_summary: blocking, sub_issues_summary: parts } = row;
  const blockers = {
    named: blockersIn(row.body ?? '', row.html_url),
    dependencies: { open: blocking?.blocked_by ?? 0, all: blocking?.total_blocked_by ?? 0 },
    subIssues: { open: (parts?.total ?? 0) - (parts?.completed ?? 0), all: parts?.total ?? 0 },
  };
  return hasBlockers(blockers) ? blockers : NO_BLOCKERS;
}

export function toIssue(row: IssueRow): Issue {
  return {
    number: row.number,
    title: row.title,
    body: row.body ?? '',
    url: row.html_url,
    state: row.state,
    labels: row.labels,
    author: row.user ?? null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    blockers: blockersOf(row),
  };
}
