// Codes of operations of a team: who may call them, and what they take.

import { codes } from '../../../base/rules/codes.ts';

export const OPERATIONS_CODES = codes({
  branch_not_adopted: {
    kind: 'warning',
    message: '{branch}: changes to it while nobody led cannot be taken up: {said}.',
    values: { branch: 'text', said: 'text' },
  },
  branch_moved: {
    kind: 'warning',
    message: '{branch}: {words}',
    values: { branch: 'text', words: 'text' },
  },
  path_is_link: {
    kind: 'refused',
    message: 'path: {path} leads to {target}.',
    help: 'Call {call}, and write it under that name.',
    values: { path: 'text', target: 'text', call: 'text' },
  },
  path_leads_outside: {
    kind: 'refused',
    message: 'path: {path} leads out of the project, to {target}: no lease is possible there.',
    values: { path: 'text', target: 'text' },
  },
  team_not_active: {
    kind: 'refused',
    message: 'No team[ {team}] is active[; there is {active}].',
    help: 'Name an active team, or create one with TeamCreate.',
    may: { team: 'text', active: 'list', archived: 'list', near: 'text' },
  },
  team_ambiguous: {
    kind: 'refused',
    message: 'You lead several teams ({teams}): name one of them as "team_name".',
    values: { teams: 'list' },
  },
  team_gone: {
    kind: 'refused',
    message: 'Team {team} is gone: it was deleted.',
    values: { team: 'text' },
    may: { archived: 'list' },
  },
  caller_unknown: {
    kind: 'refused',
    message: 'toolcrew cannot identify you: {why}.',
    values: { why: 'text' },
    may: { takesKey: 'flag' },
  },
  caller_key_missing: {
    kind: 'refused',
    message: 'toolcrew cannot identify you: {why}.',
    help: 'Pass the key from your prompt as "key".',
    values: { why: 'text' },
  },
  caller_not_member: {
    kind: 'refused',
    message: '{who} is not a member of an active team ({active}).',
    values: { who: 'text', active: 'list' },
  },
  caller_of_other_team: {
    kind: 'refused',
    message: 'team_name: you are not a member of team {team}.',
    values: { team: 'text' },
  },
  subagent_mode: {
    kind: 'refused',
    message: 'Team {team} is in sub-agent mode: {who} must not claim tasks, take leases or send messages.',
    help: 'Do what your prompt says, and give the result as your answer. The lead sets the task to completed.',
    values: { team: 'text', who: 'text' },
  },
  team_without_members: {
    kind: 'refused',
    message: 'Team {team} is in sub-agent mode, without teammates.',
    help: 'Start one agent at a time yourself, with the text of its task as its prompt. Once the missing prerequisite is met, /tool:team-restart makes a team of the remaining tasks.',
    values: { team: 'text' },
  },
  team_unreadable: {
    kind: 'warning',
    message: 'The state of team {team} cannot be read: {said}',
    help: 'Run tool doctor.',
    values: { team: 'text', said: 'text' },
  },
  operation_unknown: {
    kind: 'refused',
    message: 'There is no operation {name}.',
    help: 'Use one of {known}.',
    values: { name: 'text', known: 'list' },
    may: { near: 'text' },
  },
  input_invalid: {
    kind: 'refused',
    message: '{operation}: some parameters are not valid:\n{problems}',
    values: { operation: 'text', problems: 'problems' },
  },
  lead_only: {
    kind: 'refused',
    message: 'Only team-lead {does}[, not {who}].',
    help: 'Ask team-lead with SendMessage.',
    values: { does: 'text' },
    may: { who: 'text', team: 'text' },
  },
  main_agent_only: {
    kind: 'refused',
    message: 'Only the main agent of a session creates a team.',
    help: 'Ask team-lead with SendMessage.',
  },
  team_creator_unknown: {
    kind: 'refused',
    message: 'Team {team} is active, and toolcrew cannot identify you: {why}.',
    help: 'Only its lead can create another team.',
    values: { team: 'text', why: 'text' },
  },
  settings_block_team: {
    kind: 'refused',
    message: 'No team can be created until this is corrected: {problem}',
    help: 'Correct .tool/config/workflow.yaml. Do the tasks one at a time, each with one sub-agent.',
    values: { problem: 'text' },
  },
  team_mode_off: {
    kind: 'refused',
    message: 'workflow.team.enabled is not true in .tool/config/workflow.yaml: no team can be created.',
    help: 'Do the tasks one at a time, each with one sub-agent.',
  },
  gate_not_ready: {
    kind: 'refused',
    message: 'No team can be created: {missing}.',
    help: 'Tell the user, and wait.',
    values: { missing: 'text' },
  },
  team_name_invalid: {
    kind: 'refused',
    message:
      'team_name: expected tool-plan-<feature>, tool-run-<spec-id-lowercase> or tool-debug-<failure>, in lower case with hyphens, got {got}.',
    values: { got: 'text' },
  },
  team_without_spec: {
    kind: 'refused',
    message: 'team_name: expected tool-run-<spec-id-lowercase> of a SPEC, such as tool-run-spec-auth-001, got {team}.',
    help: '/tool:1-plan writes a SPEC, and the user approves it.',
    values: { team: 'text' },
  },
  team_already_active: {
    kind: 'refused',
    message: 'team_name: team {team} is already active ({state}).',
    help: '/tool:team-restart {team} continues it; `tool team delete {team}` ends it.',
    values: { team: 'text', state: 'text' },
  },
  team_still_active: {
    kind: 'refused',
    message: 'Team {team} is already active ({state}).',
    help: '`/tool:team-restart {team}` continues it. `tool team shutdown`, then `tool team delete {team}` end it (with --force after a minute, if teammates do not answer).',
    values: { team: 'text', state: 'text' },
  },
  spec_not_found: {
    kind: 'refused',
    message: 'There is no {spec}[; there is {known}].',
    help: '/tool:1-plan writes a SPEC.',
    values: { spec: 'text' },
    may: { known: 'list', near: 'text' },
  },
  agent_definition_unusable: {
    kind: 'warning',
    message:
      "There is no .claude/agents/{agent}.md in the project or in the user's home, so the host cannot start {member}.",
    help: 'Before you make this call, tell the user to write that file, modelled on those that `tool init` installed.',
    values: { agent: 'text', member: 'text' },
    may: { tools: 'list' },
  },
  member_not_registered: {
    kind: 'refused',
    message: '{member} was not registered.',
    values: { member: 'text' },
  },
  team_has_live_members: {
    kind: 'refused',
    message: 'Team {team} is not deleted, because these teammates have not ended: {members}.',
    help: '{next}',
    values: { team: 'text', members: 'list', next: 'text' },
    may: { force_in: 'number' },
  },
  team_create_failed: {
    kind: 'refused',
    message: 'TeamCreate fails: {said}.[ {next}.]',
    values: { said: 'text' },
    may: { next: 'text' },
  },
  recipient_is_sender: {
    kind: 'refused',
    message: 'recipient: {recipient} is yourself.',
    help: 'Name another member.',
    values: { recipient: 'text' },
  },
  gate_not_passed: {
    kind: 'refused',
    message: 'quality_gate_passed: the last measured checks failed.',
    help: 'Ask for the missing work with coverage_required or change_request.',
  },
  gate_not_measured: {
    kind: 'refused',
    message: 'quality_gate_passed: nothing has been measured yet.',
    help: 'The checks run when a writer completes a task.',
  },
  request_unread: {
    kind: 'refused',
    message:
      'quality_gate_passed: {type} #{message} of {from} to {to} is not read yet, and its request is part of your verdict.',
    help: 'End your turn. You are asked again when it is done.',
    values: { type: 'text', message: 'number', from: 'text', to: 'text' },
  },
  progress_too_frequent: {
    kind: 'warning',
    message: 'Send progress at most once a minute: each message interrupts others.',
  },
});
