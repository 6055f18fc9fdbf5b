// Codes of hooks and the host.

import { codes } from '../../base/rules/codes.ts';

export const HOOK_CODES = codes({
  guard_cannot_decide: {
    kind: 'refused',
    message: '{event} cannot decide whether this is allowed, so it is refused: {said}.',
    help: '`tool doctor` says more.',
    values: { event: 'text', said: 'text' },
  },
  team_step_running: {
    kind: 'refused',
    message: 'Team {team} is busy: {holder} is doing its next step.',
    help: 'Try again in a moment.',
    values: { team: 'text', holder: 'text' },
  },
  gate_still_running: {
    kind: 'refused',
    message: 'quality_gate_passed: the final gate is still running ({holder}).',
    help: 'Send it again when the gate has finished. Meanwhile call TaskList {} for other tasks.',
    values: { holder: 'text' },
  },
  agent_not_registered: {
    kind: 'refused',
    message: 'While team {team} is active only registered teammates may start, and {member} is not registered.',
    help: '{call}',
    values: { team: 'text', member: 'text', call: 'text' },
  },
  member_never_started: {
    kind: 'refused',
    message: '{member} was called {count} times, and the host has not started it.',
    help: '{next}',
    values: { member: 'text', count: 'number', next: 'text' },
  },
  host_tool_refused: {
    kind: 'refused',
    message: 'While team {team} is active, call {instead} instead: the team cannot see {tool} of the host.',
    values: { team: 'text', tool: 'text', instead: 'text' },
  },
  approval_word_reserved: {
    kind: 'refused',
    message: '{tool} may not send "{words}" as a prompt: only the user approves or changes a SPEC, by typing it.',
    help: 'Ask the user now, and end your turn.',
    values: { tool: 'text', words: 'text' },
  },
  spec_status_reserved: {
    kind: 'refused',
    message: '{path}: only the user sets it to {status}.',
    help: 'Write it with "status: draft", and ask the user to reply with exactly "approve {spec}".',
    values: { path: 'text', status: 'text', spec: 'text' },
  },
  approval_not_understood: {
    kind: 'refused',
    message: 'These words name no SPEC to approve.',
    help: 'Reply with exactly one of these: {replies}.',
    values: { replies: 'list' },
  },
  team_server_disabled: {
    kind: 'refused',
    message: 'disabledMcpjsonServers in {file} holds "team", so the tools of the team are missing.',
    help: 'Remove "team" from it, restart Claude Code, and give the command again.',
    values: { file: 'text' },
  },
  write_not_done: {
    kind: 'refused',
    message: 'Not written:\n{why}',
    values: { paths: 'list', why: 'text' },
  },
  run_ended_unreported: {
    kind: 'warning',
    message: '{member} ended without reporting it. Its unfinished tasks are open again.',
    values: { member: 'text' },
  },
  hook_input_invalid: {
    kind: 'warning',
    message: '{field}: expected {expected}, got {got}.',
    values: { field: 'text', expected: 'text', got: 'text' },
  },
  writes_not_noted: {
    kind: 'warning',
    message: 'Cannot note what {tool} writes: {said}.',
    values: { tool: 'text', said: 'text' },
  },
  hook_not_from_host: {
    kind: 'refused',
    message: '{event}: only the host starts hooks, not the shell of an agent. Nothing was done.',
    values: { event: 'text' },
  },
  plugin_hooks_idle: {
    kind: 'warning',
    message: 'This project has its own hooks, so the hooks of the plugin do nothing here.',
  },
  argument_invalid: {
    kind: 'problem',
    message: '{argument}: expected {expected}, got {got}.',
    values: { argument: 'text', expected: 'text', got: 'text' },
    may: { near: 'text' },
  },
  team_not_deleted_yet: {
    kind: 'refused',
    message: 'Team {team} is not deleted: {holder} is doing its next step.',
    help: 'Call TeamDelete {"team_name":"{team}"} again in a moment.',
    values: { team: 'text', holder: 'text' },
  },
  agent_run_over: {
    kind: 'refused',
    message: 'While team {team} is active only registered teammates may start, and the run of {member} is over.',
    help: '{call}',
    values: { team: 'text', member: 'text', call: 'text' },
  },
  agent_already_started: {
    kind: 'refused',
    message: '{member} is {phase} already, so no second one is started.',
    help: 'Give it work with TaskCreate (owner: {member}), or write to it with SendMessage (recipient: {member}).',
    values: { member: 'text', phase: ['waiting for work', 'at work'] },
  },
  agent_lacks_tools: {
    kind: 'refused',
    message: '.claude/agents/{agent}.md lists tools without {tools} of the team server, so the agent cannot work.',
    help: 'Tell the user to add them to its "tools", or to remove that line.',
    values: { agent: 'text', tools: 'list' },
  },
  agents_for_lead_only: {
    kind: 'refused',
    message: 'Only team-lead starts agents while team {team} is active.',
    help: 'Ask it with SendMessage.',
    values: { team: 'text' },
  },
  session_not_lead: {
    kind: 'refused',
    message: 'Team {team} is active, and this session does not lead it.',
    help: '/tool:team-restart {team} takes it over; `tool team delete {team}` ends it.',
    values: { team: 'text' },
  },
  workflow_refused: {
    kind: 'refused',
    message: 'A workflow starts its own agents, and while team {team} is active only registered teammates may start.',
    help: 'Give its work to teammates with TaskCreate.',
    values: { team: 'text' },
  },
  member_run_by_other: {
    kind: 'refused',
    message: 'Another agent is already {member} of team {team}, so you are not a member.',
    help: 'Write nothing. End now, and give this as your answer.',
    values: { member: 'text', team: 'text' },
  },
  agent_not_started: {
    kind: 'warning',
    message: '{member} could not be started: {said}.',
    help: '{next}',
    values: { member: 'text', said: 'text', next: 'text' },
  },
  team_of_other_session: {
    kind: 'warning',
    message: 'Team {team} ({state}) is active in this project, led by another session.',
    help: 'Only its teammates may write until it ends. /tool:team-restart {team} takes it over.',
    values: { team: 'text', state: 'text' },
  },
  spec_status_unseen: {
    kind: 'refused',
    message: '{path}: this write does not show the status that the SPEC gets.',
    help: 'Write spec.md with Write or Edit.',
    values: { path: 'text' },
  },
  spec_completed_reserved: {
    kind: 'refused',
    message: '{path}: only `tool sync {spec}` sets it to completed, when all requirements are met.',
    values: { path: 'text', spec: 'text' },
  },
  nothing_to_approve: {
    kind: 'refused',
    message: 'No SPEC is a draft, so there is nothing to approve.',
  },
  words_do_not_approve: {
    kind: 'warning',
    message:
      '{spec} is not approved yet. To approve {spec}, send exactly `approve {spec}` as a separate prompt.[ {more}]',
    values: { spec: 'text' },
    may: { more: 'text' },
  },
  prompt_not_from_user: {
    kind: 'refused',
    message: 'Another Claude Code in the same project started this one, so its prompts do not count as the user.',
    help: 'The user approves a SPEC in a session or terminal of their own.',
  },
  nothing_to_restart: {
    kind: 'refused',
    message: 'No team is active, so there is nothing to restart.',
  },
  restarted_team_unknown: {
    kind: 'refused',
    message: 'team: expected one of {known}, got {got}.',
    values: { known: 'list', got: 'text' },
  },
  team_log_unwritable: {
    kind: 'refused',
    message: 'The log of the team cannot be written, and no team works without it: {said}',
    values: { said: 'text' },
  },
  host_hook_failed: {
    kind: 'warning',
    message: '{event} failed, and the call continues: {said}',
    values: { event: 'text', said: 'text' },
  },
  flag_unknown: {
    kind: 'problem',
    message: '{flag}: {command} takes {known}.',
    values: { flag: 'text', command: 'text', known: 'list' },
    may: { near: 'text' },
  },
  flag_not_taken: {
    kind: 'problem',
    message: '{flag}: {command} takes no flags.',
    help: 'After a lone -- it is a word.',
    values: { flag: 'text', command: 'text' },
  },
});
