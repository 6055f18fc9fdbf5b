// Codes of issues and attempts.

import { codes } from '../../../base/rules/codes.ts';

export const WORK_CODES = codes({
  attempt_cancelled: {
    kind: 'refused',
    message: 'The attempt was cancelled: {why}.',
    values: { why: ['closed', 'label_removed'] },
    may: { issue: 'number' },
  },
  attempt_interrupted: {
    kind: 'refused',
    message: 'The attempt was interrupted: {why}.',
    values: { why: ['stopped', 'died'] },
    may: { issue: 'number', attempt: 'number' },
  },
  no_commit_made: {
    kind: 'refused',
    message: 'The agent ended without a commit.',
    values: { turns: 'number' },
    may: { savedAs: 'text', said: 'text' },
  },
  outages_exhausted: {
    kind: 'refused',
    message: 'No attempt could work, {count} times in a row.',
    help: 'Read the log of the daemon, and put the label on again.',
    values: { count: 'number', last: 'text' },
  },
  issue_not_active: {
    kind: 'refused',
    message: 'The issue has no active label.',
    help: 'Put an active label on it.',
    values: { issue: 'number' },
  },
  issue_already_done: {
    kind: 'refused',
    message: 'The work on this issue is over.',
    help: 'Take {label} off and put it on again to start it anew.',
    values: { label: 'text' },
  },
  issue_untrusted: {
    kind: 'refused',
    message: '{person}, who {role}, may not write to the repository.',
    help: 'A person with write access takes the label off and puts it on again, or set tracker.trust: anyone.',
    values: { role: 'text' },
    may: { person: 'text' },
  },
  issue_unreadable: {
    kind: 'warning',
    message: 'Issue #{issue} cannot be read: {said}',
    values: { said: 'text' },
    may: { issue: 'number' },
  },
  issue_waits_for_slot: {
    kind: 'refused',
    message: 'The issue waits for a free slot.',
    values: { issue: 'number' },
  },
  day_budget_spent: {
    kind: 'warning',
    message:
      'The daily limit of ${limit} is reached (agent.max_cost_usd_per_day). No agent starts before tomorrow (UTC).',
    help: 'Raise agent.max_cost_usd_per_day.',
    values: { limit: 'number' },
  },
  poll_failed: {
    kind: 'tracker',
    message: 'The poll failed: {said}',
    values: { said: 'text' },
  },
  attempt_over: {
    kind: 'refused',
    message: 'Attempt {attempt} on issue #{issue} is over.',
    values: { attempt: 'number', issue: 'number' },
  },
  wrong_issue: {
    kind: 'refused',
    message: 'This attempt is about issue #{issue} only, not #{asked}.',
    values: { issue: 'number', asked: 'number' },
  },
  comment_limit: {
    kind: 'refused',
    message: 'An attempt may write {limit} comments.',
    values: { limit: 'number' },
  },
  nothing_committed: {
    kind: 'refused',
    message: 'Nothing is committed on {branch} that changes anything.',
    help: 'Commit your work there. If nothing has to change, say why with tool issue comment.',
    values: { branch: 'text' },
  },
  request_invalid: {
    kind: 'refused',
    message: 'The request is not valid: {problems}.',
    values: { problems: 'list' },
  },
  branch_prefix_taken: {
    kind: 'config',
    message: 'The branch {blocking} on the remote makes branches like {prefix}issue-1 impossible.',
    help: 'Rename {blocking}, or set workspace.branch_prefix.',
    values: { blocking: 'text', prefix: 'text' },
  },
  record_not_written: {
    kind: 'warning',
    message: 'A record could not be written: {said}',
    values: { said: 'text' },
    may: { what: 'text' },
  },
});
