// Codes of running an agent.

import { codes } from '../../base/rules/codes.ts';

export const AGENT_CODES = codes({
  isolation_required: {
    kind: 'prerequisite',
    message: 'tool.isolation: expected namespaces for agents (required), got none: {why}.',
    help: 'Allow user namespaces, or set tool.isolation: auto.',
    values: { why: 'text' },
  },
  agents_not_isolated: {
    kind: 'warning',
    message:
      'Agents are not isolated: {why}. A process of an agent with a session of its own and a cleared environment may outlive its attempt.',
    values: { why: 'text' },
  },
  runtime_unauthorized: {
    kind: 'refused',
    message: "The runtime's own credential was refused: {said}",
    values: { said: 'text' },
  },
  agent_ended_early: {
    kind: 'refused',
    message: '{program} {how} without a result[: {said}]',
    values: { program: 'text', how: 'text' },
    may: { said: 'text' },
  },
  turn_failed: {
    kind: 'refused',
    message: 'it {how}[: {said}]',
    values: { how: 'text' },
    may: { said: 'text' },
  },
  retry_after_invalid: {
    kind: 'warning',
    message: 'Retry-After: expected seconds or an HTTP date, got {got}.',
    help: 'Without a valid value, the next attempt comes as after an outage.',
    values: { got: 'text' },
  },
  retry_after_too_long: {
    kind: 'warning',
    message: 'Retry-After: expected at most {days} days, got {got}; the wait is {days} days.',
    values: { got: 'text', days: 'number' },
  },
  issue_budget_spent: {
    kind: 'agent',
    message: 'the cost limit of the issue is reached',
  },
});
