// Codes of writes of members.

import { codes } from '../../../base/rules/codes.ts';

export const WRITES_CODES = codes({
  path_protected: {
    kind: 'refused',
    message: '{path} belongs to {what}, and nobody may change it while team {team} is active.',
    help: 'Ask team-lead.',
    values: { path: 'text', what: 'text' },
    may: { team: 'text' },
  },
  path_in_main_checkout: {
    kind: 'refused',
    message: '{path} is in the main checkout, outside your worktree.',
    help: 'Write in your own working directory only. The lead merges finished work.',
    values: { path: 'text' },
  },
  write_too_broad: {
    kind: 'refused',
    message: 'This writes all of {directory}.',
    help: 'Name only your own files, or ask the lead with a change_request.',
    values: { directory: 'text' },
    may: { path: 'text', owner: 'text' },
  },
  lease_held: {
    kind: 'refused',
    message: '{path} is leased to {holder} until {until}.',
    help: 'Wait, or ask: SendMessage {"recipient":"{holder}","type":"change_request","content":{"file":"{path}","requestedChange":"…","reason":"…"}}',
    values: { path: 'text', holder: 'text' },
    may: { until: 'time', reason: 'text' },
  },
  path_needs_lease: {
    kind: 'refused',
    message: '{path} is {owner}, so you need a lease for it.',
    help: 'Call FileLease {"path":"{path}"}.',
    values: { path: 'text', owner: ['unowned', 'shared'] },
    may: { pattern: 'text' },
  },
  directory_not_leasable: {
    kind: 'refused',
    message: '{path} is a directory, and a lease is for one file.',
    help: 'Name the files, or ask the lead with a change_request.',
    values: { path: 'text' },
    may: { owner: 'text' },
  },
  path_owned_by_other: {
    kind: 'refused',
    message: '{path} belongs to {owner} ({pattern}).',
    help: 'SendMessage {"recipient":"{ask}","type":"change_request","content":{"file":"{path}","requestedChange":"…","reason":"…"}}',
    values: { path: 'text', owner: 'text', ask: 'text' },
    may: { pattern: 'text' },
  },
  writer_not_member: {
    kind: 'refused',
    message: 'Team {team} is active, and {who} does not belong to it.',
    help: '/tool:team-restart {team} takes the team over; tool team delete {team} ends it.',
    values: { team: 'text' },
    may: { who: 'text' },
  },
  member_replaced: {
    kind: 'refused',
    message: 'A newer {member} has replaced you.',
    help: 'Write nothing more, and end your turn.',
    values: { member: 'text' },
    may: { run: 'number' },
  },
  member_read_only: {
    kind: 'refused',
    message: '{member} is read-only and cannot write or take leases.',
    help: 'Report your findings with SendMessage or as the result of your task.',
    values: { member: 'text' },
    may: { path: 'text' },
  },
  lead_delegates: {
    kind: 'refused',
    message: 'The lead delegates (delegate_mode) and writes only .tool/specs/**.',
    help: 'Call TaskCreate {"subject":"Change {path}","description":"…","owner":"{owner}","files":["{path}"]}.',
    values: { path: 'text' },
    may: { owner: 'text' },
  },
});
