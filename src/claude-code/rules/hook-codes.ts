// Codes of hooks and the host.

import { codes } from '../../base/rules/codes.ts';

export const HOOK_CODES = codes({
  guard_cannot_decide: {
    kind: 'refused',
    message: '{event} cannot decide whether this call is allowed, so it is refused: {said}',
    help: 'Run tool doctor.',
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
    help: 'Send it again when the gate has finished.',
    values: { holder: 'text' },
  },
  agent_not_registered: {
    kind: 'refused',
    message: 'While team {team} is active only registered teammates may start, and {member} is not registered.',
    help: 'Call Task of the team server first, then make the call that it returns.',
    values: { team: 'text', member: 'text', over: 'flag' },
  },
  member_never_started: {
    kind: 'refused',
    message: '{member} was called {count} times, and the host has not started it.',
    help: 'Ask the user whether they denied it, and why.',
    values: { member: 'text', count: 'number' },
  },
  host_tool_refused: {
    kind: 'refused',
    message: 'While team {team} is active, {tool} of the host may not be used.',
    help: 'Call {instead} instead.',
    values: { team: 'text', tool: 'text', instead: 'text' },
  },
  approval_word_reserved: {
    kind: 'refused',
    message: '{tool} may not send "{words}": only the user approves or changes a SPEC.',
    help: 'Ask the user now, and end your turn.',
    values: { tool: 'text', words: 'text' },
  },
  spec_status_reserved: {
    kind: 'refused',
    message: '{path}: only the user sets the status of a SPEC to {status}.',
    help: 'Write it with "status: draft", and ask the user to reply with exactly "approve {spec}".',
    values: { path: 'text', status: 'text', spec: 'text' },
  },
  approval_not_understood: {
    kind: 'refused',
    message: 'These words approve no SPEC.',
    help: 'Reply with exactly "approve <id>".',
    values: { drafts: 'list' },
    may: { spec: 'text' },
  },
  team_server_disabled: {
    kind: 'refused',
    message: 'disabledMcpjsonServers in {file} holds "team", so the tools of the team are missing.',
    help: 'Remove "team" from it, restart Claude Code, and give the command again.',
    values: { file: 'text' },
  },
  write_not_done: {
    kind: 'refused',
    message: 'Not written: {paths}.',
    values: { paths: 'list', owners: 'list' },
  },
  run_ended_unreported: {
    kind: 'warning',
    message: '{member} ended without reporting it. Its unfinished tasks are open again.',
    values: { member: 'text' },
  },
  hook_input_invalid: {
    kind: 'warning',
    message: '{event}: {field}: expected {expected}, got {got}.',
    values: { event: 'text', field: 'text', expected: 'text', got: 'text' },
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
});
