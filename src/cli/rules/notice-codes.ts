// Codes of warnings that commands print while they go on.

import { codes } from '../../base/rules/codes.ts';

export const NOTICE_CODES = codes({
  log_lines_torn: {
    kind: 'warning',
    message: 'Team {team}: its log has lines that are not whole and do not count: {count}.',
    values: { team: 'text', count: 'number' },
  },
  approved_with_problems: {
    kind: 'warning',
    message: '{id} has problems: {count}.',
    help: 'Run tool spec check {id}.',
    values: { id: 'text', count: 'number' },
  },
  state_directory_guessed: {
    kind: 'warning',
    message: '{said}. The command reads from {path} instead.',
    help: 'Name another directory with --state-dir.',
    values: { said: 'text', path: 'text' },
  },
  output_not_kept: {
    kind: 'warning',
    message: 'Cannot write the output of {member} to its file: {said}.',
    values: { member: 'text', said: 'text' },
  },
  panes_unavailable: {
    kind: 'warning',
    message: 'No panes: {said}. The output of teammates is shown here.',
    values: { said: 'text' },
  },
  work_not_reported: {
    kind: 'warning',
    message: 'Cannot write the report of what was built: {said}.',
    values: { said: 'text' },
  },
});
