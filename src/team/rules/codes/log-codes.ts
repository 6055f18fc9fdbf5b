// Codes of the log of a team, and its settings.

import { codes } from '../../../base/rules/codes.ts';

export const LOG_CODES = codes({
  member_ended: {
    kind: 'refused',
    message: '{member} has ended: {reason}.',
    help: 'The lead starts it again with Task.',
    values: { member: 'text' },
    may: { reason: 'text', known: 'list' },
  },
  team_log_removed: {
    kind: 'state_unusable',
    message: '{path} was removed, so its team cannot continue.',
    values: { path: 'text' },
  },
  record_not_valid: {
    kind: 'refused',
    message: 'The record {type} does not count: {why}.',
    values: { type: 'text', why: 'text' },
  },
  step_not_possible: {
    kind: 'refused',
    message: '{event} is not possible in state {state}: {missing}.',
    values: { event: 'text', state: 'text', missing: 'list' },
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
    message: 'Team {team} has {count} teammates, and max_teammates is {limit}.',
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
