// Codes of operations of a team.

import { codes } from '../../../base/rules/codes.ts';

export const OPERATIONS_CODES = codes({
  branch_moved: {
    kind: 'warning',
    message: '{branch} was moved by somebody else: {words}',
    help: 'Tell the user.',
    values: { branch: 'text', words: 'text' },
    may: { from: 'text', to: 'text' },
  },
  path_is_link: {
    kind: 'refused',
    message: '{path} leads to {target}.',
    help: 'Call FileLease {"path":"{target}"}, and write it under that name.',
    values: { path: 'text', target: 'text' },
  },
  team_not_active: {
    kind: 'refused',
    message: 'No team {team} is active.',
    help: 'Name one of {active}, or create a team with TeamCreate.',
    values: { active: 'list', archived: 'list' },
    may: { team: 'text', near: 'text' },
  },
  team_ambiguous: {
    kind: 'refused',
    message: 'Several teams are active: {teams}.',
    help: 'Name one of them as "team_name".',
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
    help: 'Pass the key of your prompt as "key". tool doctor says more.',
    values: { why: 'text', takesKey: 'flag' },
  },
  caller_not_member: {
    kind: 'refused',
    message: '{who} is not a member of team {team}.',
    values: { who: 'text', team: 'text', active: 'list' },
  },
  subagent_mode: {
    kind: 'refused',
    message: 'Team {team} is in sub-agent mode, without teammates.',
    help: 'Do what your prompt says, and give the result as your answer.',
    values: { team: 'text' },
    may: { who: 'text' },
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
    message: '{operation}: {problems}',
    help: 'Correct the parameters, and call {operation} again.',
    values: { operation: 'text', problems: 'problems' },
  },
  lead_only: {
    kind: 'refused',
    message: 'Only team-lead {does}.',
    help: 'Ask team-lead with SendMessage.',
    values: { does: 'text' },
    may: { who: 'text', team: 'text' },
  },
  settings_block_team: {
    kind: 'refused',
    message: 'No team can be created until this is corrected: {problem}',
    help: 'Correct .tool/config/workflow.yaml. Do the tasks one at a time, each with one sub-agent.',
    values: { problem: 'text' },
  },
  team_name_invalid: {
    kind: 'refused',
    message:
      'team_name: expected tool-plan-<feature>, tool-run-<spec-id-lowercase> or tool-debug-<failure>, got {got}.',
    values: { got: 'text' },
  },
  team_already_active: {
    kind: 'refused',
    message: 'Team {team} is already active ({state}).',
    help: '/tool:team-restart {team} continues it; tool team delete {team} ends it.',
    values: { team: 'text', state: 'text' },
  },
  spec_not_found: {
    kind: 'refused',
    message: 'There is no {spec}.',
    help: '/tool:1-plan writes a SPEC.',
    values: { spec: 'text', known: 'list' },
    may: { near: 'text' },
  },
  spec_not_approved: {
    kind: 'refused',
    message: '{spec} is not approved ({why}).',
    help: 'Ask the user to send exactly approve {spec}, or to run tool spec approve {spec}.',
    values: { spec: 'text', why: 'text' },
  },
  agent_definition_unusable: {
    kind: 'warning',
    message: '.claude/agents/{agent}.md is missing or lacks {tools}, so the host cannot start {member}.',
    help: 'Tell the user to write that file, modelled on those that tool init installed.',
    values: { agent: 'text', member: 'text' },
    may: { tools: 'list' },
  },
  team_has_live_members: {
    kind: 'refused',
    message: 'Team {team} is not deleted: {members} have not ended.',
    help: 'Send shutdown_request to all, and wait, or call TeamDelete {"team_name":"{team}","force":true}.',
    values: { team: 'text', members: 'list' },
    may: { forceIn: 'number' },
  },
  team_create_failed: {
    kind: 'refused',
    message: 'TeamCreate failed: {said}',
    help: 'Do the tasks one at a time, each with one sub-agent.',
    values: { said: 'text', fallback: 'flag' },
  },
  recipient_is_sender: {
    kind: 'refused',
    message: 'You need not ask yourself.',
    help: 'Name another member, or change the file.',
    values: { recipient: 'text' },
    may: { file: 'text' },
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
    message: 'quality_gate_passed: {type} #{message} of {from} to {to} is not read yet.',
    help: 'End your turn. You are asked again when it is done.',
    values: { type: 'text', message: 'number', from: 'text', to: 'text' },
  },
  progress_too_frequent: {
    kind: 'warning',
    message: 'Send progress at most once a minute.',
  },
});
