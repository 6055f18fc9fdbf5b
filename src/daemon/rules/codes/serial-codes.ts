// Codes of changes that wait for each other.

import { codes } from '../../../base/rules/codes.ts';

export const SERIAL_CODES = codes({
  change_awaits_pull_request: {
    kind: 'refused',
    message: 'Pull request #{pull_request} is open and changes {path} (agent.serialize_paths: {glob}).',
    help: 'Merge or close that pull request. tool retry publishes this one without waiting.',
    values: { pull_request: 'number', path: 'text', glob: 'text' },
  },
  change_awaits_issue: {
    kind: 'refused',
    message: 'Issue #{issue} comes first and changes {path} (agent.serialize_paths: {glob}).',
    values: { issue: 'number', path: 'text', glob: 'text' },
  },
  change_released: {
    kind: 'refused',
    message: 'Nothing holds the change back any more. It goes on.',
  },
  branch_not_compared: {
    kind: 'warning',
    message:
      'The branch {branch} has no commit in common with the default branch. A pull request of it holds no change back.',
    values: { branch: 'text' },
  },
  base_conflicts: {
    kind: 'refused',
    message: 'The base has changed, and the branch conflicts with it (round {round} of {rounds}): {paths}.',
    values: { round: 'number', rounds: 'number', paths: 'list' },
  },
  base_rounds_exhausted: {
    kind: 'refused',
    message: 'The branch still conflicts with the base (follow.max_rounds: {rounds}): {paths}.',
    help: 'Merge the base by hand, or put the active label on again.',
    values: { rounds: 'number', paths: 'list' },
  },
});
