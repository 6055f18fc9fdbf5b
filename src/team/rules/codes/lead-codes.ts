// Codes of leading a team.

import { codes } from '../../../base/rules/codes.ts';

export const LEAD_CODES = codes({
  branches_unknown: {
    kind: 'warning',
    message: 'Cannot read whether branches moved: {said}',
    values: { said: 'text' },
    may: { team: 'text' },
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
  branch_in_the_way: {
    kind: 'refused',
    message: 'The branch {blocking} makes {branch} impossible.',
    help: 'Rename {blocking}, or choose another prefix (workspace.branch_prefix).',
    values: { blocking: 'text', branch: 'text' },
  },
  spec_already_built: {
    kind: 'refused',
    message: '{spec} is completed already, and nothing of it is left to build.',
    help: 'For further work write a new SPEC with /tool:1-plan. If something is missing after all, `tool sync {spec}` names it and sets the SPEC back to approved; then it can be built again.',
    values: { spec: 'text' },
  },
  spec_has_problems: {
    kind: 'refused',
    message: 'The documents of {spec} have problems: {problems}.',
    help: 'Run tool spec check {spec}.',
    values: { spec: 'text', problems: 'problems' },
  },
  team_led_by_host: {
    kind: 'refused',
    message: 'A session of the host leads team {team}.',
    help: '`/tool:team-restart {team}` continues it there; `tool team delete {team}` ends it.',
    values: { team: 'text' },
  },
  task_unclaimable: {
    kind: 'warning',
    message: 'Task {task} has no owner, and nobody can take it: {why}.',
    help: 'Give it to a teammate, or split it into one task for each owner.',
    values: { task: 'text', why: 'text', owners: 'list' },
  },
  task_given_up: {
    kind: 'warning',
    message: 'Task {task} failed: {member} ended {count} times without finishing it.',
    values: { task: 'text', member: 'text', count: 'number' },
  },
  budget_reached: {
    kind: 'warning',
    message: '${used} used, of a {kind} budget of ${limit} (workflow.team.budget.{of}.{kind}_usd).',
    help: 'Come to an end soon: finish what you have begun, and begin no more.',
    values: { used: 'number', kind: ['soft', 'hard'], limit: 'number', of: ['task', 'teammate'] },
    may: { task: 'text' },
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
    message: 'The team cannot continue: {tasks}.',
    help: 'Tell the user. /tool:team-restart tries again.',
    values: { tasks: 'list', failed: 'flag' },
  },
  gate_rejected_too_often: {
    kind: 'refused',
    message: 'The gate has rejected the work {count} times: {why}',
    values: { count: 'number', why: 'text' },
  },
  verdict_missing: {
    kind: 'refused',
    message: 'quality has not sent quality_gate_passed: {why}',
    help: 'quality must send quality_gate_passed to team-lead.',
    values: { why: 'text', asked: 'number' },
  },
  member_start_failed: {
    kind: 'warning',
    message: '{member} cannot be started: {said}',
    values: { member: 'text', count: 'number', said: 'text' },
  },
  fell_back: {
    kind: 'warning',
    message: 'Sub-agents replace team {team}: {trigger}, {why}.',
    values: { team: 'text', trigger: 'text', why: 'text' },
  },
  prerequisite_missing: {
    kind: 'refused',
    message: 'No team can start: {name}: expected {expected}, got {got}.',
    help: '{fix}',
    values: { name: 'text', expected: 'text', got: 'text', trigger: 'text', fix: 'text' },
  },
  objects_owned_by_other: {
    kind: 'prerequisite',
    message: '{path}: user {user} owns it, so isolated teammates cannot write there.',
    help: 'Start the team as that user, or set tool.isolation: off in WORKFLOW.md.',
    values: { path: 'text', user: 'text' },
  },
});
