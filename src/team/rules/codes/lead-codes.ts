// Codes of leading a team.

import { codes } from '../../../base/rules/codes.ts';

export const LEAD_CODES = codes({
  branches_unknown: {
    kind: 'warning',
    message: 'Cannot read whether branches moved: {said}',
    values: { said: 'text' },
    may: { team: 'text' },
  },
  member_failed: {
    kind: 'warning',
    message: '{member} failed: {said}.',
    values: { member: 'text', said: 'text' },
  },
  task_failed_by_lead: {
    kind: 'warning',
    message: 'task {task} has failed: {why}.',
    values: { task: 'text', why: 'text' },
  },
  task_not_retried: {
    kind: 'warning',
    message: 'task {task} "{subject}" is not tried again: {why}.',
    values: { task: 'text', subject: 'text', why: 'text' },
  },
  agent_stalled: {
    kind: 'refused',
    message: 'No life sign for {seconds} s (tool.stall_timeout_ms).',
    help: 'Raise tool.stall_timeout_ms, or set it to 0.',
    values: { seconds: 'number', setting: 'text' },
  },
  turn_timed_out: {
    kind: 'refused',
    message: 'A turn took longer than {seconds} s (tool.turn_timeout_ms).',
    help: 'Raise tool.turn_timeout_ms.',
    values: { seconds: 'number' },
  },
  member_start_timed_out: {
    kind: 'refused',
    message: 'No output and no record within {seconds} s of the start (tool.start_timeout_ms).',
    help: 'Raise tool.start_timeout_ms.',
    values: { seconds: 'number' },
  },
  spec_file_not_found: {
    kind: 'refused',
    message: 'spec_id: there is no {path}; {known}',
    values: { path: 'text', known: 'text' },
  },
  settings_block_flag: {
    kind: 'refused',
    message: '{problem}.',
    help: 'Correct the file, or leave out the flag.',
    values: { problem: 'text' },
  },
  subagents_instead: {
    kind: 'warning',
    message: 'sub-agents in place of a team: {why}',
    values: { trigger: 'text', why: 'text' },
  },
  fallback_disabled: {
    kind: 'refused',
    message: 'A team cannot work: {why} ({causes}).',
    help: 'Sub-agents cannot replace it, because workflow.team.fallback.enabled is false.',
    values: { trigger: 'text', why: 'text', causes: 'text' },
  },
  pattern_empty: {
    kind: 'refused',
    message: 'The pattern {pattern} has no roles.',
    help: 'Choose another pattern, or name its roles in workflow.team.patterns.{pattern}.',
    values: { pattern: 'text' },
  },
  pattern_cut: {
    kind: 'refused',
    message: 'The pattern {pattern} is left without roles: workflow.team.max_teammates is {max}.',
    help: 'Raise workflow.team.max_teammates.',
    values: { pattern: 'text', max: 'number' },
  },
  pattern_read_only: {
    kind: 'refused',
    message: 'The pattern {pattern} has no role that can write: {roles} can only read.',
    help: 'Choose another pattern.',
    values: { pattern: 'text', roles: 'list' },
  },
  planners_cut: {
    kind: 'refused',
    message: 'A SPEC needs the results of {planners}, and workflow.team.max_teammates is {max}.',
    help: 'Raise workflow.team.max_teammates, or use --solo for one agent at a time.',
    values: { planners: 'list', max: 'number' },
  },
  issue_spec_not_approved: {
    kind: 'refused',
    message: '{spec}, which the issue names, is not approved ({why}).',
    help: 'Approve it by `tool spec approve {spec}` and commit that on the default branch. Or take {spec} out of the title and text of the issue.',
    values: { spec: 'text', why: 'text' },
  },
  issue_spec_has_problems: {
    kind: 'refused',
    message: '{spec}, which the issue names, has documents with problems: {problems}.',
    help: '`tool spec check {spec}` names them all. Mend them, or take {spec} out of the title and text of the issue.',
    values: { spec: 'text', problems: 'text' },
  },
  issue_spec_completed: {
    kind: 'warning',
    message: '{spec}, which the issue names, is completed already: it is not built again',
    values: { spec: 'text' },
  },
  spec_already_built: {
    kind: 'refused',
    message: '{spec} is completed already, and nothing of it is left to build.',
    help: 'For further work write a new SPEC with /tool:1-plan. If something is missing after all, `tool sync {spec}` names it and sets the SPEC back to approved; then it can be built again.',
    values: { spec: 'text' },
  },
  spec_has_problems: {
    kind: 'refused',
    message: 'the documents of {spec} have problems: {problems}.',
    help: '`tool spec check {spec}` names them all.',
    values: { spec: 'text', problems: 'text' },
  },
  team_led_by_host: {
    kind: 'refused',
    message: 'A session of the host leads team {team}.',
    help: '`/tool:team-restart {team}` continues it there; `tool team delete {team}` ends it.',
    values: { team: 'text' },
  },
  task_unclaimable: {
    kind: 'warning',
    message: 'it has no owner, and {why}',
    values: { task: 'text', why: 'text', owners: 'list' },
  },
  task_given_up: {
    kind: 'warning',
    message: '{member} ended {count} times without finishing it',
    values: { task: 'text', member: 'text', count: 'number' },
  },
  too_many_given_up: {
    kind: 'warning',
    message: '{member} ended without finishing it, and {runs} runs of the team have ended so: that is too many',
    values: { task: 'text', member: 'text', runs: 'number' },
  },
  budget_reached: {
    kind: 'warning',
    message: '{used} used, of a {kind} budget of {limit} (workflow.team.budget.{of}.{kind}_usd)',
    values: { used: 'text', kind: ['soft', 'hard'], limit: 'text', of: ['task', 'teammate'] },
  },
  work_unfinished: {
    kind: 'refused',
    message: '{lines}',
    values: { lines: 'text', unread: 'number', tasks: 'list' },
    may: { next: 'text' },
  },
  lead_work_pending: {
    kind: 'refused',
    message: '{lines}',
    values: { lines: 'text', unread: 'number', tasks: 'list', roles: 'list', stuck: 'list' },
  },
  team_stuck: {
    kind: 'refused',
    message: '{why}',
    values: { why: 'text', tasks: 'list' },
  },
  gate_rejected_too_often: {
    kind: 'refused',
    message: 'The gate has rejected the work {count} times: {why}',
    values: { count: 'number', why: 'text' },
  },
  verdict_missing: {
    kind: 'refused',
    message: '{judge}[ was asked {asked} times, and] has not sent quality_gate_passed: {why}',
    values: { judge: 'text', why: 'text' },
    may: { asked: 'number' },
  },
  member_start_failed: {
    kind: 'warning',
    message: '{member} ended {count} times without finishing[: {said}]',
    values: { member: 'text', count: 'number' },
    may: { said: 'text' },
  },
  member_quota_spent: {
    kind: 'refused',
    message: 'The quota of the runtime of {member} is used up until {until}: {said}',
    values: { member: 'text', until: 'text', said: 'text' },
  },
  fell_back: {
    kind: 'warning',
    message: 'sub-agents in place of team {team}: {why}',
    values: { team: 'text', trigger: 'text', why: 'text' },
  },
  prerequisite_missing: {
    kind: 'refused',
    message: 'expected {expected}, {found}',
    values: { name: 'text', expected: 'text', found: 'text' },
  },
  objects_owned_by_other: {
    kind: 'prerequisite',
    message: '{path}: user {user} owns it, so teammates in namespaces cannot write there.',
    help: 'Start the team as that user, or set tool.isolation: off in WORKFLOW.md.',
    values: { path: 'text', user: 'text' },
  },
});
