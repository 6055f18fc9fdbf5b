// Codes of writes of members, and of leases.

import { codes } from '../../../base/rules/codes.ts';

export const WRITES_CODES = codes({
  path_protected: {
    kind: 'refused',
    message: '{path} holds rules of the team ({what}): nobody may change it[ while team {team} is active].',
    values: { path: 'text', what: 'text' },
    may: { team: 'text' },
  },
  host_file_protected: {
    kind: 'refused',
    message: "{path} holds the host's settings and hooks: no member may change it while the team is active.",
    values: { path: 'text' },
  },
  path_in_main_checkout: {
    kind: 'refused',
    message: "{path} lies outside of your worktree, in the team's main checkout.",
    help: 'Write in your own working directory only. The lead merges finished work.',
    values: { path: 'text' },
  },
  write_too_broad: {
    kind: 'refused',
    message: 'This writes all of {directory}.',
    help: 'Name only your own files.[ {why}][ {ask}]',
    values: { directory: 'text' },
    may: { path: 'text', why: 'text', ask: 'text' },
  },
  lease_held: {
    kind: 'refused',
    message: '{path} is leased to {holder}[ until {until}][ ({reason})].',
    help: 'Wait for it, or ask: {call}',
    values: { path: 'text', holder: 'text', call: 'text' },
    may: { until: 'time', reason: 'text' },
  },
  lease_not_free: {
    kind: 'refused',
    message: '{path} is leased to {holder} until {until}.',
    help: 'It ends earlier if {holder} completes its task. Or ask {holder} to give it back with {call}.',
    values: { path: 'text', holder: 'text', until: 'time', call: 'text' },
  },
  lease_missing: {
    kind: 'refused',
    message: '{path} is not leased.',
    values: { path: 'text' },
  },
  path_needs_lease: {
    kind: 'refused',
    message: '{path} is {owner}[ ({pattern})].',
    help: 'Take a lease for it first: {call}',
    values: { path: 'text', owner: ['unowned', 'shared'], call: 'text' },
    may: { pattern: 'text' },
  },
  directory_not_leasable: {
    kind: 'refused',
    message: '{path} is {kind} directory, and leases are for files.',
    help: 'Name the files, or ask the lead: {call}',
    values: { path: 'text', kind: ['a', 'an unowned', 'a shared'], call: 'text' },
  },
  path_owned_by_other: {
    kind: 'refused',
    message: "{path} is {owner}'s[ ({pattern})].",
    help: 'Ask {whom}: {call}',
    values: {
      path: 'text',
      owner: 'text',
      whom: ['its owner', 'the lead (the owner is not in this team)'],
      call: 'text',
    },
    may: { pattern: 'text' },
  },
  lease_of_owned_path: {
    kind: 'refused',
    message: "{path} is {owner}'s[ ({pattern})], and leases are for shared and unowned paths.",
    help: '{ask} a change_request.',
    values: { path: 'text', owner: 'text', ask: 'text' },
    may: { pattern: 'text' },
  },
  writer_not_member: {
    kind: 'refused',
    message: 'Team {team} is active[, and {who} is not a member]: only its teammates may write in the project.',
    help: '/tool:team-restart {team} takes the team over; `tool team delete {team}` ends it.[ ({why})]',
    values: { team: 'text' },
    may: { who: 'text', why: 'text' },
  },
  member_replaced: {
    kind: 'refused',
    message: 'You were replaced by a newer {member}.',
    help: 'Write nothing more, and end your turn.[ ({why})]',
    values: { member: 'text' },
    may: { run: 'number', why: 'text' },
  },
  member_read_only: {
    kind: 'refused',
    message: '{member} is read-only: it writes nothing and takes no leases.[ This changes {path}.]',
    help: 'Report your findings with SendMessage or as the result of your task.[ {advice}][ ({why})]',
    values: { member: 'text' },
    may: { path: 'text', advice: 'text', why: 'text' },
  },
  lead_delegates: {
    kind: 'refused',
    message: 'The lead delegates (delegate_mode) and writes only .tool/specs/**.',
    help: '[{owner} is not in this team yet: first start {start}. ]Give {path} to {whom}: {call} (with the work in place of …).',
    values: { path: 'text', whom: 'text', call: 'text' },
    may: { owner: 'text', start: 'text' },
  },
  lead_takes_no_lease: {
    kind: 'refused',
    message: 'team-lead delegates (delegate_mode) and writes only SPECs: it takes no leases.',
    help: 'Give {path} to a teammate with TaskCreate.',
    values: { path: 'text' },
  },
  git_refused: {
    kind: 'refused',
    message: '{said}',
    values: { said: 'text' },
  },
});
