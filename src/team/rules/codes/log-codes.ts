// Codes of the log of a team, and its settings.

import { codes } from '../../../base/rules/codes.ts';

export const LOG_CODES = codes({
  member_unknown: {
    kind: 'refused',
    message: '{member} is no member of {team}.',
    values: { member: 'text', team: 'text' },
  },
  member_run_over: {
    kind: 'refused',
    message: '{member} has been replaced: that was its run {run}, and its latest is {latest}.',
    values: { member: 'text', run: 'number', latest: 'number' },
  },
  member_ended: {
    kind: 'refused',
    message: '{member} has ended[: {reason}].',
    help: 'The lead starts it again with Task.',
    values: { member: 'text' },
    may: { reason: 'text', known: 'list' },
  },
  team_log_removed: {
    kind: 'state_unusable',
    message: '{path} was removed, so its team cannot continue[: {said}].',
    values: { path: 'text' },
    may: { said: 'text' },
  },
  team_log_headless: {
    kind: 'state_unusable',
    message: '{path} does not begin as the log of a team does: somebody cut it or wrote over it.',
    help: 'Put a copy of it back, or move {directory} away: then the team can be made anew.',
    values: { path: 'text', directory: 'text' },
  },
  team_snapshot_unreadable: {
    kind: 'state_unusable',
    message: '{path} does not begin with a snapshot that this program can read: what stood before is not known.',
    values: { path: 'text' },
  },
  team_log_order_broken: {
    kind: 'state_unusable',
    message: '{path} goes on in {next}; expected {expected}.',
    values: { path: 'text', next: 'text', expected: 'text' },
  },
  team_log_put_away: {
    kind: 'refused',
    message: 'The log in {directory} was put away meanwhile: the team was deleted.',
    values: { directory: 'text' },
  },
  team_log_missing: {
    kind: 'refused',
    message: 'There is no log of team {team} in {directory}.',
    values: { team: 'text', directory: 'text' },
  },
  team_log_busy: {
    kind: 'state_unusable',
    message: 'Cannot begin a log in {directory}: it was put away {tries} times meanwhile.',
    values: { directory: 'text', tries: 'number' },
  },
  team_not_deleted: {
    kind: 'refused',
    message: 'Team {team} was not deleted (it is {state}): its log is not put away.',
    values: { team: 'text', state: 'text' },
  },
  directory_expected: {
    kind: 'state_unusable',
    message: '{path}: expected a directory, got a file.',
    help: 'Move it away.',
    values: { path: 'text' },
  },
  log_continued: {
    kind: 'refused',
    message: 'The log goes on in {file}.',
    values: { file: 'text' },
  },
  team_deleted: {
    kind: 'refused',
    message: 'Team {team} has been deleted.',
    values: { team: 'text' },
  },
  team_not_created: {
    kind: 'refused',
    message: 'The team has not been created.',
  },
  team_exists: {
    kind: 'refused',
    message: 'Team {team} is there already.',
    values: { team: 'text' },
  },
  record_not_valid: {
    kind: 'refused',
    message: 'The record {type} does not count: {why}.',
    values: { type: 'text', why: 'text' },
  },
  step_not_possible: {
    kind: 'refused',
    message: '{event}: there is no such step from {state}[; it needs: {missing}].',
    values: { event: 'text', state: 'text' },
    may: { missing: 'list' },
  },
  member_name_reserved: {
    kind: 'refused',
    message: 'No teammate can be called {name}.',
    help: 'Choose another name.',
    values: { name: 'text' },
  },
  team_shutting_down: {
    kind: 'refused',
    message: 'Team {team} is shutting down.',
    help: '/tool:team-restart {team} continues it.',
    values: { team: 'text' },
  },
  member_already_working: {
    kind: 'refused',
    message: '{member} is already at work.',
    help: 'Give it work with TaskCreate, or replace it: SendMessage {"recipient":"{member}","type":"shutdown_request","content":"Another agent takes your place."}',
    values: { member: 'text' },
    may: { idle: 'flag' },
  },
  too_many_members: {
    kind: 'refused',
    message: 'Team {team} has {count} teammates, and max_teammates is {limit}: {members}.',
    help: 'Raise workflow.team.max_teammates, or end a teammate.',
    values: { team: 'text', count: 'number', limit: 'number', members: 'list' },
  },
  settings_file_unreadable: {
    kind: 'config',
    message: '{path} cannot be read: {said}',
    values: { path: 'text', said: 'text' },
  },
  settings_file_wrong: {
    kind: 'config',
    message: '{path}: expected {expected}, got {got}.',
    values: { path: 'text', expected: 'text', got: 'text' },
  },
  settings_defaults_hold: {
    kind: 'warning',
    message: '{said}\nthe defaults hold until it is mended: no team mode, default owners and gate',
    values: { said: 'text' },
  },
  settings_last_hold: {
    kind: 'warning',
    message: '{said}\nwhat it said before holds until it is mended',
    values: { said: 'text' },
  },
  settings_file_gone: {
    kind: 'config',
    message: '{path}: there is no such file any more.',
    help: 'Write one with tool init, or remove the rest with tool uninstall.',
    values: { path: 'text' },
  },
});
