// Codes of starting a program.

import { codes } from '../../base/rules/codes.ts';

export const COMPOSE_CODES = codes({
  guard_not_in_use: {
    kind: 'warning',
    message: 'The write guard is not in use ({why}). Only the merge protects files of others.',
    values: { why: 'text' },
    may: { fix: 'text' },
  },
  journal_torn: {
    kind: 'warning',
    message: '{path}: incomplete lines are skipped: {count}.',
    values: { path: 'text', count: 'number' },
  },
  day_cost_unread: {
    kind: 'warning',
    message: "{path}: the day's budget does not count what this repository has cost: {said}",
    values: { path: 'text', said: 'text' },
  },
  login_broken: {
    kind: 'credential',
    message: 'gh auth status for {host}: {said}[; the token from {source} is used].',
    help: 'Log in with `gh auth login --hostname {host}`, or set $GITHUB_TOKEN.',
    values: { host: 'text', said: 'text' },
    may: { source: 'text' },
  },
  repository_unusable: {
    kind: 'warning',
    message: 'The repository cannot be worked on now, and is tried again at intervals: {said}',
    values: { said: 'text' },
  },
  repositories_unlisted: {
    kind: 'warning',
    message: 'No list of the repositories of {owner}: {said}.',
    help: 'Those that are known stay. The list is read every five minutes.',
    values: { owner: 'text', said: 'text' },
  },
  token_readable_by_others: {
    kind: 'warning',
    message: 'The token is in the environment of other processes ({processes}), where an agent could read it.',
    help: 'Start only the daemon with it: GITHUB_TOKEN=… tool serve.',
    values: { processes: 'list' },
  },
  token_not_removed: {
    kind: 'warning',
    message: 'The token could not be removed from the environment of this process.',
    help: 'Log in with `gh auth login`, and start the daemon without a token in its environment.',
  },
  leftovers_ended: {
    kind: 'warning',
    message: 'Ended {count} processes that an earlier daemon left.',
    values: { count: 'number' },
  },
  team_led_elsewhere: {
    kind: 'refused',
    message: 'Team {team} is led by {holder}, since {since}.',
    help: 'Stop that lead, or wait for it.',
    values: { team: 'text', holder: 'text', since: 'text' },
  },
  team_lead_contended: {
    kind: 'refused',
    message: 'Team {team} is taken by other leads again and again.',
    help: 'Start one lead at a time.',
    values: { team: 'text' },
  },
});
