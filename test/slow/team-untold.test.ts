// A lead that is killed between the end of its team and its last word: the next command says what came of it, and does not begin anew.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { PhaseProject } from '../support/phase-project.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../support/plan-results.ts';
import { SPEC, shopProject, TEAM } from '../support/shop-spec.ts';
import type { Cleanup } from '../support/temp.ts';

const PROGRAM = join(process.cwd(), 'test', 'support', 'programs', 'killed-lead.cjs');
const OUTPUT = '$ node --version\nv20';
const task = (subject: string, result: string) => ({ tasks: [{ subject, steps: [], result }] });

type Case = {
  readonly args: readonly string[];
  readonly team: string;
  readonly make: (t: Cleanup) => PhaseProject;
  readonly moments: readonly string[];
  readonly check: (report: PhaseReport) => void;
};

const FIRST = 'before it is put away';
const LAST = 'when all was said';

const CASES: readonly Case[] = [
  {
    args: ['run', SPEC, '--team'],
    team: TEAM,
    make: shopProject,
    moments: [FIRST, 'when it is put away', LAST, 'when its report is written'],
    check: (report) => {
      assert.deepEqual([report.branch, report.files], [`tool/${TEAM}`, 3]);
      assert.match(readFileSync(report.report ?? '', 'utf8'), /3 of 3 tasks by 3 teammates/);
    },
  },
  {
    args: ['plan', 'Users can log out of their account', '--team'],
    team: 'tool-plan-users-can-log-out-of-their-account',
    make: (t) =>
      new PhaseProject(t, {
        researcher: task('Explore', RESEARCHER),
        analyst: task('Write the requirements', ANALYST),
        architect: task('Design the solution', ARCHITECT),
      }),
    // What a run ends with, the others end with as well.
    moments: [FIRST],
    check: ({ plan }) =>
      assert.deepEqual([plan?.spec, plan?.status], ['SPEC-LOG-OUT-ACCOUNT-001', 'awaiting_approval']),
  },
  {
    args: ['build-fix', 'TypeError in session', '--team'],
    team: 'tool-debug-typeerror-in-session',
    make: (t) =>
      new PhaseProject(t, {
        'hypothesis-1': task('Try whether', `refuted: it was never otherwise\n${OUTPUT}`),
        'hypothesis-2': task('Try whether', `proven: Node is too old\n${OUTPUT}`),
        'hypothesis-3': task('Try whether', `refuted: it was never otherwise\n${OUTPUT}`),
      }),
    moments: [LAST],
    check: ({ debug }) => assert.deepEqual([debug?.cause, debug?.by], ['Node is too old', 'hypothesis-2']),
  },
];

for (const { args, team, make, moments, check } of CASES)
  for (const [index, moment] of moments.entries())
    test(`${args[0]}: killed ${moment}`, async (t) => {
      const project = make(t);
      project.env = { NODE_OPTIONS: `--require ${JSON.stringify(PROGRAM)}`, TOOLCREW_KILL_AT: moment };
      const killed = await project.lead(...args);
      assert.equal(killed.code, null, killed.stderr);
      project.env = {};

      // The one command and the other, in turn.
      const again = index % 2 === 0 ? args : ['team-restart'];
      const { code, stdout, stderr } = await project.lead(...again, '--json');
      assert.equal(code, 0, stderr);
      assert.ok(stderr.includes(`team ${team} was done when its lead was ended`), stderr);
      assert.ok(!stderr.includes(' is there (run'), `nobody is started again: ${stderr}`);
      const report: PhaseReport = JSON.parse(stdout);
      assert.deepEqual([report.team, report.outcome], [team, 'done']);
      check(report);
      assert.deepEqual(project.names('.tool/teams'), ['.gitignore', 'archive']);
      assert.equal(project.names('.tool/teams/archive').length, 1);

      const over = await project.lead('team-restart');
      assert.equal(over.code, 2, 'it is said once');
      assert.match(over.stderr, /\(no_team_active\)$/m);
      assert.equal(existsSync(join(project.root, '.tool', 'worktrees', team)), false);
    });
