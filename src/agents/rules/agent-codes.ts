// Codes of running an agent.

import { codes } from '../../base/rules/codes.ts';

export const AGENT_CODES = codes({
  isolation_required: {
    kind: 'prerequisite',
    message: 'tool.isolation is required, and agents cannot be isolated here: {why}',
    help: 'Allow user namespaces, or set tool.isolation: auto.',
    values: { why: 'text' },
  },
  agents_not_isolated: {
    kind: 'warning',
    message: 'Agents are not isolated: {why}. A process of an agent may outlive its attempt.',
    help: 'Allow user namespaces, or give the daemon a user of its own.',
    values: { why: 'text' },
  },
  runtime_unauthorized: {
    kind: 'refused',
    message: 'The runtime cannot log in: {said}',
    help: 'Run tool doctor, and log in.',
    values: { said: 'text' },
  },
  agent_ended_early: {
    kind: 'refused',
    message: 'The agent program {how} without a result: {said}',
    values: { how: 'text', said: 'text' },
    may: { runtime: 'text' },
  },
  issue_budget_spent: {
    kind: 'agent',
    message: 'The cost limit of the issue is reached: ${spent} of ${limit} (agent.max_cost_usd).',
    help: 'Raise agent.max_cost_usd.',
    values: { spent: 'number', limit: 'number' },
  },
});
