// A state of the daemon for pages and tables.

import type { IssueHistory } from '../../src/daemon/rules/issue-history.ts';
import type { StateView } from '../../src/daemon/view.ts';
import type { IssueDetails } from '../../src/daemon/view-issue.ts';

export const NO_HISTORY: IssueHistory = {
  ...{ title: null, url: null, attempts: [], evidence: null, pullRequest: null, story: [] },
};

export function viewWith(change: Partial<StateView> = {}): StateView {
  const now = '2026-01-01T12:00:00.000Z';
  const row = (number: number, title: string) => ({
    issue_number: number,
    issue_identifier: `o/r#${number}`,
    issue_url: `https://host/o/r/issues/${number}`,
    title,
  });
  const tokens = { input_tokens: 12_000, output_tokens: 345, total_tokens: 12_345 };
  return {
    generated_at: now,
    version: '1.2.3',
    repository: 'o/r',
    workflow: { path: '/p/WORKFLOW.md', loaded_at: now, error: null, pending_restart: [], follow: 'open' },
    counts: { running: 1, retrying: 1, asking: 0, following: 0, queued: 1, completed: 1, failed: 1 },
    waiting: { reasons: { issue_untrusted: 1 }, postponed: 0 },
    slots: 2,
    running: [
      {
        ...row(1, 'First <b>bold</b>'),
        state: 'tool-todo',
        attempt: 2,
        phase: 'agent',
        runtime: 'claude',
        pid: 4242,
        session_id: 'session',
        turn_count: 3,
        last_event: 'tool Bash',
        last_message: 'Reading <script>alert(1)</script>',
        started_at: '2026-01-01T11:58:55.000Z',
        last_event_at: '2026-01-01T11:59:58.000Z',
        workspace: '/w/issue-1',
        branch: 'tool/issue-1',
        pull_request: null,
        last_error: null,
        tokens,
        cost_usd: 0.1234,
        team: null,
      },
    ],
    retrying: [
      {
        ...row(2, 'Second'),
        attempt: 1,
        due_at: '2026-01-01T12:00:20.000Z',
        waits_for: null,
        last_error: 'it broke\nin two lines',
        branch: 'tool/issue-2',
      },
    ],
    asking: [],
    following: [],
    queued: [
      {
        ...row(3, 'Third'),
        reason: 'stranger, who wrote it, is not trusted',
        held_back: false,
        author: 'stranger',
        labels: ['tool-todo', 'Ui'],
      },
    ],
    completed: [
      {
        ...row(4, 'Fourth'),
        outcome: 'done',
        attempts: 1,
        pull_request: { number: 9, url: 'https://host/o/r/pull/9' },
        branch: 'tool/issue-4',
        reason: null,
        started_at: now,
        finished_at: now,
        seconds: 61,
        tokens,
        cost_usd: 1.5,
        team: null,
      },
      {
        ...row(5, 'Fifth'),
        outcome: 'failed',
        attempts: 3,
        pull_request: null,
        branch: 'tool/issue-5',
        reason: 'no commit',
        started_at: now,
        finished_at: now,
        seconds: 0.5,
        tokens,
        cost_usd: 0,
        team: null,
      },
    ],
    next: { running: null, retrying: null, asking: null, following: null, queued: null, completed: null },
    more: { running: 0, retrying: 0, asking: 0, following: 0, queued: 0, completed: 0 },
    poll: {
      interval_ms: 30_000,
      last_at: '2026-01-01T11:59:50.000Z',
      next_at: null,
      last_error: null,
      requests: 10,
      not_modified: 8,
    },
    totals: { ...tokens, cost_usd: 1.6234, seconds_running: 65 },
    budget: null,
    rate_limit: { limit: 5000, remaining: 4990, reset_at: null, paused_until: null, reason: null },
    webhook: null,
    ...change,
  };
}

/** The first issue of the view while its agent is at work. */
export function issueWith(change: Partial<IssueDetails> = {}): IssueDetails {
  const [running = null] = viewWith().running;
  return {
    issue_number: 1,
    title: 'First <b>bold</b>',
    url: 'https://host/o/r/issues/1',
    running,
    retrying: null,
    asking: null,
    following: null,
    queued: null,
    completed: [],
    life: 1,
    phase: 'running',
    attempts: 2,
    failures: 1,
    rounds: 0,
    evidence: null,
    review: null,
    seconds_running: 65,
    attempt_usage: { input_tokens: 5_000, output_tokens: 678, total_tokens: 5_678, cost_usd: 0.05 },
    pull_request: null,
    team: null,
    ...change,
  };
}
