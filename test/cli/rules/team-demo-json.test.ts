// The object of `tool demo --team --json`.

import assert from 'node:assert/strict';
import test from 'node:test';
import { teamDemoJson } from '../../../src/cli/rules/team-demo-json.ts';

const TASK = {
  id: '1',
  subject: 'Build it',
  status: 'completed',
  owner: 'backend-dev',
  note: null,
  started_at: '2026-01-01T00:00:00.000Z',
  seconds: 1.5,
  cost_usd: 0,
} as const;

test('one object: tasks, messages, rejections, gate, branch, files and both times', () => {
  const checks = [{ check: 'tests', outcome: 'passed', figure: null }];
  const team = {
    tasks: [TASK],
    messages: { count: 5, last: [] },
    rejections: 1,
    gate: { ok: true, coverage: null, checks, scores: [] },
  };
  const figures = { row: { branch: 'tool/issue-1' }, team, files: 7, seconds: 12 };
  assert.deepEqual(teamDemoJson(figures, 20), {
    tasks: [{ id: '1', subject: 'Build it', owner: 'backend-dev', outcome: 'completed', note: null, seconds: 1.5 }],
    messages: 5,
    rejections: 1,
    gate: { ok: true, coverage: null, checks },
    branch: 'tool/issue-1',
    files: 7,
    seconds: 12,
    solo_seconds: 20,
  });
  assert.equal(teamDemoJson({ ...figures, team: { ...team, gate: null } }, 20).gate, null);
});
