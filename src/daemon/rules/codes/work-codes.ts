// Codes of issues and attempts.

import { codes } from '../../../base/rules/codes.ts';

export const WORK_CODES = codes({
  issue_closed: {
    kind: 'refused',
    message: 'The issue was closed.',
  },
  active_label_removed: {
    kind: 'refused',
    message: 'The active label was taken off.',
  },
  issue_paused: {
    kind: 'refused',
    message: 'The issue is paused by tool pause.',
    help: 'tool resume goes on with it.',
  },
  issue_not_steerable: {
    kind: 'refused',
    message: 'Issue #{issue} is {standing}, and {command} takes an issue that is {expected}.[ {next}.]',
    values: { issue: 'number', standing: 'text', command: 'text', expected: 'list' },
    may: { next: 'text' },
  },
  issue_not_known: {
    kind: 'refused',
    message: 'The daemon knows nothing of issue #{issue}.',
    help: 'It knows issues that carry an active label, and those that it has worked on.',
    values: { issue: 'number' },
  },
  repository_not_known: {
    kind: 'refused',
    message: 'This daemon works on {known}; got the repository {got}.',
    help: 'Name the issue as <owner>/<repo>#<number>.',
    values: { known: 'list', got: 'text' },
  },
  repository_not_open: {
    kind: 'refused',
    message: 'Nobody here works on {repository} now: {said}',
    values: { repository: 'text', said: 'text' },
  },
  told_text_invalid: {
    kind: 'refused',
    message: 'tool tell takes a text of 1 to {most} characters, got {length}.',
    values: { most: 'number', length: 'number' },
  },
  question_limit: {
    kind: 'refused',
    message: 'Attempt {attempt} has asked its question; it may ask one.',
    help: 'End your turn. The next attempt may ask again.',
    values: { attempt: 'number' },
  },
  question_open: {
    kind: 'refused',
    message: 'Issue #{issue} waits for the answer to your question.',
    help: 'End your turn now. The answer comes into this session.',
    values: { issue: 'number' },
  },
  question_postponed: {
    kind: 'warning',
    message: 'Issue #{issue}: the question is posted when the attempt has ended: {said}',
    values: { issue: 'number', said: 'text' },
  },
  question_unanswered: {
    kind: 'refused',
    message: 'Nobody has answered the question of the agent within {time} (follow.answer_timeout_ms).',
    help: 'Answer it in a comment, and put the active label on again.',
    values: { time: 'text' },
  },
  question_dropped: {
    kind: 'refused',
    message: 'An operator goes on without an answer to the question (tool retry).',
  },
  comments_unreadable: {
    kind: 'warning',
    message: 'The comments on issue #{issue} cannot be read, so they are read at the next poll: {said}',
    values: { issue: 'number', said: 'text' },
  },
  question_label_refused: {
    kind: 'warning',
    message: 'The question on issue #{issue} stands there without its label {label}: {said}',
    values: { issue: 'number', label: 'text', said: 'text' },
  },
  question_label_kept: {
    kind: 'warning',
    message: 'Issue #{issue}: the label of its question could not be taken off: {said}',
    values: { issue: 'number', said: 'text' },
  },
  daemon_stopped: {
    kind: 'refused',
    message: 'The daemon was stopped.',
  },
  daemon_died: {
    kind: 'refused',
    message: 'The daemon ended while the agent worked.',
  },
  no_commit_made: {
    kind: 'refused',
    message:
      'The agent did nothing: it ended without a commit[ after {turns} turns (agent.max_turns)].[ Its uncommitted changes are saved as {saved_as}.][ Its last words: {said}]',
    may: { turns: 'number', saved_as: 'text', said: 'text' },
  },
  work_uncollected: {
    kind: 'refused',
    message: 'The work could not be collected: {said}',
    values: { said: 'text' },
  },
  disk_full_waited: {
    kind: 'warning',
    message: 'The disk is full. The work is collected when there is room: {said}',
    values: { said: 'text' },
  },
  lead_ended: {
    kind: 'refused',
    message: 'The lead of the team {how}[: {said}]',
    values: { how: 'text' },
    may: { said: 'text' },
  },
  output_incomplete: {
    kind: 'warning',
    message: 'The output in {path} is not complete: {said}',
    values: { path: 'text', said: 'text' },
  },
  commits_kept: {
    kind: 'warning',
    message: 'Its commits are kept in the workspace, up to {commit}.',
    values: { commit: 'text' },
  },
  issue_cost_reached: {
    kind: 'refused',
    message: 'The issue has cost {spent} of {limit} USD (agent.max_cost_usd).',
    help: 'Raise agent.max_cost_usd, and put the label on again.',
    values: { spent: 'number', limit: 'number' },
  },
  outages_exhausted: {
    kind: 'refused',
    message: 'No attempt could work, {count} times in a row.',
    help: 'Read the log of the daemon, and put the label on again.',
    values: { count: 'number' },
  },
  issue_not_active: {
    kind: 'refused',
    message: 'The issue has no active label.',
    help: 'Put an active label on it.',
  },
  issue_already_done: {
    kind: 'refused',
    message: 'The work on this issue is over. To start it anew, take {label} off and put it on again.',
    values: { label: 'text' },
  },
  issue_untrusted: {
    kind: 'refused',
    message: '{person}, who {role}, may not write to the repository.',
    help: 'Somebody with write access takes the label off and puts it on again. For outside authors set tracker.trust: anyone.',
    values: { person: 'text', role: 'text' },
  },
  issue_person_unknown: {
    kind: 'refused',
    message: 'Nobody is known who {role}.',
    help: 'Somebody with write access takes the label off and puts it on again. For outside authors set tracker.trust: anyone.',
    values: { role: 'text' },
  },
  permissions_unreadable: {
    kind: 'warning',
    message: 'Cannot tell who may start work: {said}',
    values: { said: 'text' },
  },
  issue_unreadable: {
    kind: 'warning',
    message: 'Issue #{issue} cannot be read: {said}',
    values: { issue: 'number', said: 'text' },
  },
  blockers_unreadable: {
    kind: 'warning',
    message: 'Cannot tell what issue #{issue} waits for: {said}',
    values: { issue: 'number', said: 'text' },
  },
  issue_blocked: {
    kind: 'refused',
    message: 'It is blocked by {blockers}.',
    values: { blockers: 'text' },
  },
  issue_blocked_in_cycle: {
    kind: 'refused',
    message: 'It is blocked by itself: {chain}. Take one of these out.',
    values: { chain: 'list' },
  },
  issue_unchecked: {
    kind: 'refused',
    message: 'The issue is not checked yet.',
  },
  issue_waits_for_slot: {
    kind: 'refused',
    message: 'No slot is free for this issue.',
  },
  runtime_quota_spent: {
    kind: 'refused',
    message: 'The quota of the runtime is used up until {until}.',
    values: { until: 'text' },
  },
  issue_waits_for_quota: {
    kind: 'refused',
    message: 'The quota of {runtime} is used up until {until}.',
    help: 'To begin earlier, restart the daemon: it tries once.',
    values: { runtime: 'text', until: 'text' },
  },
  day_budget_spent: {
    kind: 'warning',
    message: 'The daily limit of {limit} USD is reached ({key}). No agent starts before {until}.',
    help: 'Raise {key}.',
    values: { limit: 'number', key: 'text', until: 'text' },
  },
  poll_failed: {
    kind: 'tracker',
    message: 'The poll failed: {said}',
    values: { said: 'text' },
  },
  poll_skipped: {
    kind: 'warning',
    message: 'This poll is skipped: {said}',
    values: { said: 'text' },
  },
  list_incomplete: {
    kind: 'warning',
    message: 'The list of issues is not complete before the next poll: {said}',
    values: { said: 'text' },
  },
  attempt_cut_off: {
    kind: 'warning',
    message: 'Attempt {attempt} on issue #{issue} was cut off[; ended {count} of its processes].',
    values: { attempt: 'number', issue: 'number' },
    may: { count: 'number' },
  },
  other_issue_asked: {
    kind: 'warning',
    message: 'An agent on issue #{issue} asked about issue #{asked}, and was refused.',
    values: { issue: 'number', asked: 'number' },
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
    message: 'An attempt may write {limit} comments; this would be one more.',
    values: { limit: 'number' },
  },
  nothing_committed: {
    kind: 'refused',
    message: 'Nothing is committed on {branch} that changes anything.',
    help: 'Commit your work there, then ask again. If nothing has to change, say why with `tool issue comment`, then run `tool issue done`: the issue fails without another attempt.',
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
  gate_failed: {
    kind: 'refused',
    message:
      "The daemon ran the project's checks on the commit, and they failed (round {round} of {rounds}).\n{said}\nMend that, commit it, and end as before. The checks run again.",
    values: { round: 'number', rounds: 'number', said: 'text' },
  },
  gate_rounds_exhausted: {
    kind: 'refused',
    message:
      "The project's checks still fail (gate.max_rounds: {rounds}).\n{said}\nMend what fails, or change the issue.",
    values: { rounds: 'number', said: 'text' },
  },
  gate_unusable: {
    kind: 'warning',
    message: 'Issue #{issue}: nothing was measured: {said}',
    values: { issue: 'number', said: 'text' },
  },
  evidence_refused: {
    kind: 'warning',
    message: 'Issue #{issue}: the pull request does not show what was measured: {said}',
    values: { issue: 'number', said: 'text' },
  },
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
  notification_failed: {
    kind: 'warning',
    message: 'Issue #{issue}: {setting} failed for the event {kind}: {said}',
    values: { issue: 'number', setting: 'text', kind: 'text', said: 'text' },
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
