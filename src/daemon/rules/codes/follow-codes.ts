// Codes of pull requests that are followed.

import { codes } from '../../../base/rules/codes.ts';

export const FOLLOW_CODES = codes({
  follow_rounds_exhausted: {
    kind: 'refused',
    message: 'The agent has gone on {rounds} times (follow.max_rounds), and this is left: {left}.',
    help: 'Mend the rest by hand, or put the active label on again.',
    values: { rounds: 'number', left: 'text' },
  },
  follow_unchanged: {
    kind: 'refused',
    message: 'The agent has seen this of commit {commit} already and left it as it is: {left}.',
    help: 'Mend the rest by hand, or put the active label on again.',
    values: { commit: 'text', left: 'text' },
  },
  branch_rewritten: {
    kind: 'refused',
    message: 'Somebody rewrote the branch: its commit {commit} does not go on from the last one that the daemon knows.',
    help: 'Go on by hand, or put the active label on the issue again for new work.',
    values: { commit: 'text' },
  },
  checks_unreadable: {
    kind: 'warning',
    message: 'Pull request #{pull_request} of issue #{issue}: {said}. Reviews and comments are followed.',
    help: 'Give the token read access to what is named; tool doctor shows what it may read.',
    values: { pull_request: 'number', issue: 'number', said: 'text' },
  },
  follow_cancelled: {
    kind: 'refused',
    message: 'An operator ended it (tool cancel).',
  },
  follow_unreadable: {
    kind: 'warning',
    message: 'Pull request #{pull_request} of issue #{issue} could not be read, so it is read at the next poll: {said}',
    values: { pull_request: 'number', issue: 'number', said: 'text' },
  },
  check_unexplained: {
    kind: 'warning',
    message: 'The log of the check {check} could not be read; the agent is told what the check says of itself: {said}',
    values: { check: 'text', said: 'text' },
  },
  round_taken_over: {
    kind: 'refused',
    message: 'The pull request is in the hands of people: merged, closed, or its issue has the active label again.',
  },
  round_unpublished: {
    kind: 'warning',
    message: 'The last commits of issue #{issue} are not pushed to pull request #{pull_request}: {why}',
    values: { issue: 'number', pull_request: 'number', why: 'text' },
  },
  review_request_refused: {
    kind: 'warning',
    message: 'The service takes no request for another review of issue #{issue}: {said}',
    values: { issue: 'number', said: 'text' },
  },
  no_pull_request_open: {
    kind: 'refused',
    message: 'Issue #{issue} has no pull request with review threads yet.',
    help: 'Answer a thread that the prompt names.',
    values: { issue: 'number' },
  },
});
