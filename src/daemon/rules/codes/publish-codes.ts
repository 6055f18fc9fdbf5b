// Codes of publishing, and of work that the daemon does beside the attempts.

import { codes } from '../../../base/rules/codes.ts';

export const PUBLISH_CODES = codes({
  issue_not_publishable: {
    kind: 'warning',
    message: 'Issue #{issue} cannot be published ({step}): {said}',
    values: { issue: 'number', step: 'text', said: 'text' },
  },
  step_postponed: {
    kind: 'warning',
    message: 'Issue #{issue}: {step} is tried again in {seconds} s, then at longer intervals: {said}',
    values: { issue: 'number', step: 'text', seconds: 'number', said: 'text' },
  },
  comment_refused: {
    kind: 'warning',
    message: 'Issue #{issue} takes no comment: {said}[ (it was given up because: {why})]',
    values: { issue: 'number', said: 'text' },
    may: { why: 'text' },
  },
  issue_gone: {
    kind: 'warning',
    message: 'Issue #{issue} is gone: {said}',
    values: { issue: 'number', said: 'text' },
  },
  label_not_shown: {
    kind: 'warning',
    message: 'Issue #{issue} does not show {label}. Somebody may have taken it off.',
    values: { issue: 'number', label: 'text' },
  },
  old_label_kept: {
    kind: 'warning',
    message: 'Issue #{issue}: a label of earlier work could not be taken off: {said}',
    values: { issue: 'number', said: 'text' },
  },
  draft_refused: {
    kind: 'warning',
    message: 'The service takes no draft of issue #{issue}. A plain pull request is opened.',
    values: { issue: 'number' },
  },
  kept_work_unreadable: {
    kind: 'warning',
    message: 'Issue #{issue}: kept work cannot be listed: {said}',
    values: { issue: 'number', said: 'text' },
  },
  background_task_failed: {
    kind: 'warning',
    message: '{task} failed: {said}',
    values: { task: 'text', said: 'text' },
  },
  daemon_stops: {
    kind: 'warning',
    message: 'The daemon stops: {said}',
    values: { said: 'text' },
  },
});
