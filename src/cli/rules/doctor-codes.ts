// Codes of `tool doctor`: what its rows warn of. What mends it stands in the row, as it depends on the machine.

import { codes } from '../../base/rules/codes.ts';

export const DOCTOR_CODES = codes({
  required_part_unmeasured: {
    kind: 'problem',
    message: 'required (quality.required), and nothing can measure it: {gap}',
    values: { gap: 'text' },
  },
  report_not_promised: {
    kind: 'warning',
    message: 'measured only if the tests leave a report: {gap}',
    values: { gap: 'text' },
  },
  guard_not_used: {
    kind: 'warning',
    message: '{why}: only obvious writes of shell commands are refused',
    values: { why: 'text' },
  },
  lfs_not_installed: {
    kind: 'problem',
    message: 'the repository uses it, and there is no git-lfs on the PATH: agents see pointers in place of files',
  },
  lfs_objects_elsewhere: {
    kind: 'warning',
    message: '.lfsconfig has the objects at {host}: files stay pointers, and what agents add is not published',
    values: { host: 'text' },
  },
  root_place_refused: {
    kind: 'problem',
    message: '{said}',
    values: { said: 'text' },
  },
  state_place_refused: {
    kind: 'problem',
    message: '{said}',
    values: { said: 'text' },
  },
  paths_unusable: {
    kind: 'problem',
    message: '{said}',
    values: { said: 'text' },
  },
  journal_unreadable: {
    kind: 'problem',
    message: '{path} cannot be read: {said}',
    values: { path: 'text', said: 'text' },
  },
  journal_lines_torn: {
    kind: 'warning',
    message: '{lines} torn by a crash; nothing else is lost',
    values: { lines: 'text' },
  },
  saved_work_unreadable: {
    kind: 'warning',
    message: 'cannot be read: {said}',
    values: { said: 'text' },
  },
  clone_unreadable: {
    kind: 'warning',
    message: '{path} cannot be read: {said}',
    values: { path: 'text', said: 'text' },
  },
  submodules_stay_empty: {
    kind: 'warning',
    message: '{found}, of which {count} stay empty{rest}:\n{which}',
    values: { found: 'text', count: 'number', rest: 'text', which: 'text' },
  },
  permissions_lacking: {
    kind: 'warning',
    message: 'the token lacks {permissions}: without them no pull request is called green, or logs stay unread',
    values: { permissions: 'list' },
  },
  permissions_unknown: {
    kind: 'warning',
    message: 'not known what the token may read: {said}',
    values: { said: 'text' },
  },
  branch_prefix_blocked: {
    kind: 'problem',
    message: 'the branch {taken} on the remote makes {branch} impossible',
    values: { taken: 'text', branch: 'text' },
  },
  branch_prefix_unknown: {
    kind: 'warning',
    message: 'not known whether {branch} is possible: {said}',
    values: { branch: 'text', said: 'text' },
  },
  team_mode_missing: {
    kind: 'warning',
    message: 'not installed in {root}',
    values: { root: 'text' },
  },
  team_mode_unseen: {
    kind: 'warning',
    message: 'not installed here; only a plugin that this session was started with (--plugin-dir) can bring it',
  },
  hook_programs_gone: {
    kind: 'problem',
    message: '.claude/settings.json starts programs of .tool/hooks, which is not there',
  },
  installation_record_unreadable: {
    kind: 'problem',
    message: '{path} cannot be read: {said}',
    values: { path: 'text', said: 'text' },
  },
  installation_version_differs: {
    kind: 'warning',
    message: '{installed} is installed, this is {own}',
    values: { installed: 'text', own: 'text' },
  },
  hooks_unknown_to_host: {
    kind: 'problem',
    message: '{installed}: Claude Code {host} cannot read them, and silently leaves its whole settings file out',
    values: { installed: 'text', host: 'text' },
  },
  hooks_could_be_faster: {
    kind: 'warning',
    message: '{installed}: on Claude Code {host} they can be faster',
    values: { installed: 'text', host: 'text' },
  },
  team_agent_missing: {
    kind: 'warning',
    message:
      'workflow.team.patterns names a role of your own, and there is no .claude/agents/{agent}.md: no host can start it',
    values: { agent: 'text' },
  },
  team_log_torn: {
    kind: 'warning',
    message: '{team}: {count} records are not whole and do not count',
    values: { team: 'text', count: 'number' },
  },
  team_settings_broken: {
    kind: 'warning',
    message: 'no team mode while .tool/config/workflow.yaml cannot be used',
  },
  team_prerequisite_missing: {
    kind: 'warning',
    message: '{said}',
    values: { said: 'text' },
  },
  git_not_on_path: {
    kind: 'problem',
    message: 'there is no such program on the PATH; the rows that need it are left out',
  },
  program_too_old: {
    kind: 'problem',
    message: '{version}; {required} or later is needed',
    values: { version: 'text', required: 'text' },
  },
  hosting_client_unusable: {
    kind: 'warning',
    message: '{said}[; the token from {source} is used]',
    values: { said: 'text' },
    may: { source: 'text' },
  },
  port_unusable: {
    kind: 'problem',
    message: '{port} on {host} {said}',
    values: { port: 'number', host: 'text', said: 'text' },
  },
  daemon_wants_token: {
    kind: 'warning',
    message: 'runs at {url}, which wants a token',
    values: { url: 'text' },
  },
  queue_not_set: {
    kind: 'problem',
    message: 'neither queue.url in {path} nor TOOL_QUEUE_URL names a queue',
    values: { path: 'text' },
  },
  queue_not_encrypted: {
    kind: 'warning',
    message: 'the connection to the queue is not encrypted',
  },
  queue_certificate_unchecked: {
    kind: 'warning',
    message:
      'the connection to the queue is encrypted, but the certificate of PostgreSQL is not checked (sslmode=require)',
  },
  queue_evicts: {
    kind: 'warning',
    message: 'Redis may drop jobs when its memory is full (maxmemory-policy {policy})',
    values: { policy: 'text' },
  },
  fleet_key_differs: {
    kind: 'problem',
    message: 'the coordinator that acts for {repository} has another key than this fleet has here',
    values: { repository: 'text' },
  },
  fleet_key_unmatched: {
    kind: 'warning',
    message:
      'no coordinator that acts now has this key, those of {repositories} have others: the key is wrong, or they are of other fleets',
    values: { repositories: 'text' },
  },
  workers_of_other_version: {
    kind: 'warning',
    message: '{count} are of another version, such as {worker} with {version}; {own} is installed here',
    values: { count: 'number', worker: 'text', version: 'text', own: 'text' },
  },
});
