// Cost budgets of a team: hard and soft limits per teammate and per task, with real processes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { DEMO_FILES, DEMO_SPEC } from '../../src/cli/demo/demo-team-project.ts';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { PhaseProject } from '../support/phase-project.ts';
import type { Cleanup } from '../support/temp.ts';

const HOST = join(process.cwd(), 'test', 'support', 'programs', 'costly-claude.mjs');
const TEAM = 'tool-run-spec-guestbook-001';

/** The demo's project, with a fake host program that reports costs. */
function projectOf(t: Cleanup, budget: string): PhaseProject {
  const command = JSON.stringify([process.execPath, HOST]);
  return new PhaseProject(t, {}, '', {
    ...DEMO_FILES,
    '.tool/config/workflow.yaml': `workflow: { team: { enabled: true, budget: ${budget} } }\n`,
    'WORKFLOW.md': `---\ntool: { runtime: claude, command: ${command} }\n---\n`,
  });
}

test('who has used its budget is ended, and not started again; the report and the log say why', async (t) => {
  const project = projectOf(t, '{ teammate: { soft_usd: 0.5, hard_usd: 1 } }');
  const { code, stdout, stderr } = await project.tool('run', DEMO_SPEC, '--team', '--json');
  assert.equal(code, 1, stderr);
  const hard = '$1.20 used, of a hard budget of $1.00 (workflow.team.budget.teammate.hard_usd)';
  assert.ok(stderr.includes(`backend-dev begins no more tasks: ${hard}`), stderr);
  assert.equal(stderr.match(/backend-dev is there/g)?.length, 1);
  assert.equal(stderr.match(/backend-dev: \$0\.60 used, of a soft budget/g)?.length, 1);
  const report: PhaseReport = JSON.parse(stdout);
  const cost = report.costs.find(({ member }) => member === 'backend-dev');
  assert.deepEqual(
    [report.outcome, report.tasks[0]?.outcome, cost?.task, cost?.cost_usd],
    ['failed', 'pending', '1', 1.2],
  );
  const shown = readFileSync(report.report ?? '', 'utf8');
  assert.match(shown, /\| backend-dev \| 1 [^|]+ \| 2 \| 220 \| 1\.2000 \|/);
  assert.match(shown, /- backend-dev: \$1\.20 used, of a hard budget of \$1\.00/);
  const events = await project.tool('team', 'events', TEAM);
  assert.match(events.stdout, /budget accepts backend-dev: \$0\.60 used, of a soft budget/);
  assert.match(events.stdout, /budget rejects backend-dev: \$1\.20 used, of a hard budget/);
  const board = await project.tool('team', 'board', TEAM);
  assert.match(board.stdout, /\$1\.20/);
});

test('a task that is too dear has failed with that', async (t) => {
  const project = projectOf(t, '{ task: { hard_usd: 0.6 } }');
  const { code, stdout, stderr } = await project.tool('run', DEMO_SPEC, '--team', '--json');
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /failed: task 1 "[^"]+" \(\$0\.60 used, of a hard budget of \$0\.60 \(workflow\.team\.budget\.task\./,
  );
  const report: PhaseReport = JSON.parse(stdout);
  assert.equal(report.tasks[0]?.outcome, 'failed');
});
