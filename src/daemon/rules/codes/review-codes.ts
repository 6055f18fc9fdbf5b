// Codes of the review of finished work by a second agent.

import { codes } from '../../../base/rules/codes.ts';

export const REVIEW_CODES = codes({
  review_has_findings: {
    kind: 'refused',
    message: 'The agent {agent} reviewed the work and has findings: {count}.',
    values: { agent: 'text', count: 'number' },
  },
  review_failed: {
    kind: 'warning',
    message: 'Issue #{issue}: the review failed and is tried once more: {said}',
    values: { issue: 'number', said: 'text' },
  },
  review_waits_for_quota: {
    kind: 'warning',
    message: 'Issue #{issue}: the review waits for the quota of its runtime until {until}: {said}',
    values: { issue: 'number', until: 'text', said: 'text' },
  },
  review_left_out: {
    kind: 'warning',
    message: 'Issue #{issue} is published without a review: {said}',
    values: { issue: 'number', said: 'text' },
  },
  review_agent_unknown: {
    kind: 'refused',
    message: 'No agent is named {agent}. Known are {known}.',
    help: 'Set review.agent to one of them.',
    values: { agent: 'text', known: 'list' },
  },
  reviewer_silent: {
    kind: 'refused',
    message: 'The agent {agent} ended without a word on the work.',
    values: { agent: 'text' },
  },
  findings_kept_from_author: {
    kind: 'refused',
    message: 'The issue has cost {spent} USD, and {limit} USD are allowed (agent.max_cost_usd).',
    values: { spent: 'number', limit: 'number' },
  },
  reviewer_changed_files: {
    kind: 'warning',
    message: 'Issue #{issue}: the reviewer changed the workspace, which is put back.',
    help: 'Set tool.isolation to required: then no write of a reviewer succeeds.',
    values: { issue: 'number' },
  },
});
