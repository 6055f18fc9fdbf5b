// `tool build-fix` as a person types it: three hypotheses, teammates that are processes.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { CLI_CODES } from '../../src/cli/rules/cli-codes.ts';
import { lineLike } from '../support/codes.ts';
import { PhaseProject } from '../support/phase-project.ts';

const FAILURE = 'TypeError in session: x is undefined';
const OUTPUT = '$ node --version\nv20.19.0, expected 22';

/** What each of the three comes to, and how long it thinks before. */
function script(...said: readonly (readonly [result: string, thinkMs?: number])[]): TeammateScript {
  return Object.fromEntries(
    said.map(([result, think_ms = 0], at) => [
      `hypothesis-${at + 1}`,
      {
        tasks: [
          { subject: 'Give the result of the hypothesis', steps: [], result: `refuted: I was wrong\n${OUTPUT}` },
          { subject: 'Try whether', steps: [{ think_ms }], result },
        ],
      },
    ]),
  );
}

const REFUTED = [`refuted: it was never otherwise\n${OUTPUT}`] as const;
const PROVEN = [`proven: Node is too old\n${OUTPUT}`] as const;

async function report(project: PhaseProject, ...args: readonly string[]): Promise<PhaseReport> {
  const { code, stdout, stderr } = await project.lead('build-fix', ...args, '--json');
  assert.equal(code, 0, stderr);
  const parsed: PhaseReport = JSON.parse(stdout);
  return parsed;
}

test('the first that is proven wins; nobody waits for those who search on', async (t) => {
  const project = new PhaseProject(t, script(REFUTED, PROVEN, ['', 3_600_000]));
  const { debug, tasks, outcome, plan } = await report(project, FAILURE, '--team');
  assert.deepEqual([outcome, plan], ['done', null]);
  assert.deepEqual([debug?.cause, debug?.evidence, debug?.by], ['Node is too old', OUTPUT, 'hypothesis-2']);
  assert.notEqual(tasks[2]?.outcome, 'completed');
  const log = project.archived();
  assert.match(log, /"type":"moved","event":"cause_proven","reason":"Node is too old"/);
  assert.match(log, /"kind":"shutdown_request"/);
  assert.deepEqual(project.names('.tool/teams'), ['.gitignore', 'archive']);
  assert.equal(project.git('branch', '--list'), '* main');
  assert.equal(project.git('status', '--short'), '');
});

test('for people, the cause stands with what shows it', async (t) => {
  const project = new PhaseProject(t, script(REFUTED, PROVEN, REFUTED));
  const { code, stdout, stderr } = await project.lead('build-fix', '--team');
  assert.equal(code, 0, stderr);
  assert.ok(stdout.endsWith(`cause: Node is too old (hypothesis-2)\n${OUTPUT}\n`), stdout);
});

test('when all are refuted it is said what was tried; who did not say it in the form was asked once', async (t) => {
  const project = new PhaseProject(t, script(REFUTED, ['I looked around.'], REFUTED));
  const { code, stdout, stderr } = await project.lead('build-fix', FAILURE, '--team', '--json');
  assert.equal(code, 1);
  const { debug, tasks }: PhaseReport = JSON.parse(stdout);
  assert.equal(debug?.cause, null);
  assert.deepEqual(
    debug?.tried.map(({ said }) => said),
    ['refuted: it was never otherwise', 'refuted: it was never otherwise', 'refuted: I was wrong'],
  );
  assert.equal(tasks.length, 4);
  assert.match(
    stderr,
    lineLike(CLI_CODES.no_hypothesis_proven, {
      hypotheses: / {2}Try whether a recent change did it: [^\n]*: refuted: it was never otherwise\n/,
    }),
  );
  assert.deepEqual(project.names('.tool/teams'), ['.gitignore', 'archive']);
});

test('what is shown by nothing settles nothing: each hypothesis is named, with what is missing', async (t) => {
  const always = (result: string) => ({ tasks: [{ subject: '', steps: [], result }] });
  const project = new PhaseProject(t, {
    'hypothesis-1': always('proven: I am sure'),
    'hypothesis-2': always('I looked around.\nEverywhere.'),
    'hypothesis-3': always(REFUTED[0]),
  });
  const { code, stderr } = await project.lead('build-fix', FAILURE, '--team');
  assert.equal(code, 1);
  assert.match(
    stderr,
    lineLike(CLI_CODES.no_hypothesis_proven, {
      hypotheses:
        / {2}Try whether [^\n]*: refuted: it was never otherwise\n {2}Try whether [^\n]*: not settled, no command below it shows it \(proven: I am sure\)\n {2}Try whether [^\n]*: not settled, it does not begin with proven: or refuted: \(I looked around\. Everywhere\.\)\n/,
    }),
  );
});
