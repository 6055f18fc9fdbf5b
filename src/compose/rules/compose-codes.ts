// Codes of starting a program.

import { codes } from '../../base/rules/codes.ts';

export const COMPOSE_CODES = codes({
  guard_not_in_use: {
    kind: 'warning',
    message: 'The write guard is not in use: {why}. Only the merge protects files of others.',
    help: '{fix}',
    values: { why: 'text' },
    may: { fix: 'text' },
  },
  journal_torn: {
    kind: 'warning',
    message: '{path}: {count} incomplete lines are skipped.',
    values: { path: 'text', count: 'number' },
  },
  login_broken: {
    kind: 'credential',
    message: 'gh auth status for {host}: {said}',
    help: 'Run gh auth login --hostname {host}, or set $GITHUB_TOKEN.',
    values: { host: 'text', said: 'text' },
    may: { source: 'text' },
  },
  token_readable_by_others: {
    kind: 'warning',
    message: 'The token is in the environment of other processes, where an agent could read it: {processes}.',
    help: 'Start only the daemon with it: GITHUB_TOKEN=… tool serve.',
    values: { processes: 'list' },
  },
  leftovers_ended: {
    kind: 'warning',
    message: 'Ended {count} processes that an earlier run left.',
    values: { count: 'number' },
  },
  team_led_elsewhere: {
    kind: 'refused',
    message: 'Team {team} is led by {holder}, since {since}.',
    help: 'Stop that lead, or wait for it.',
    values: { team: 'text', holder: 'text', since: 'text' },
  },
});
