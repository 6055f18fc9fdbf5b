// Processes that come to the same step of a team at once: one of them takes it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { execa } from 'execa';
import { composeOperations } from '../../../src/compose/team.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { scriptFile } from '../../support/compiled.ts';
import { type Fields, HookedProject, TEAM } from '../../support/hooked.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../../support/plan-results.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const PLAN = 'tool-plan-log-out';
const CONFIG = `workflow:
  team:
    enabled: true
quality:
  required: []
`;

const LOOKS = scriptFile(`
  import { writeSync } from 'node:fs';
  import { composeOperations } from './src/compose/team.ts';
  import { operateInHost } from './src/claude-code/answers/operate-in-host.ts';
  const [root, evidence] = process.argv.slice(2);
  const begun = new Promise((resolve) => process.stdin.once('data', resolve));
  writeSync(1, 'ready');
  await begun;
  writeSync(1, JSON.stringify(await operateInHost(composeOperations(root, process.env), 'TaskList', {}, JSON.parse(evidence))));
  process.exit();
`);

/** The lead looks from so many processes at once; gives what each was told. */
async function look(t: Cleanup, project: HookedProject, count: number): Promise<readonly string[]> {
  const args = [LOOKS, project.root];
  const lead = JSON.stringify(project.evidence('team-lead'));
  const children = Array.from({ length: count }, () => {
    const child = execa(process.execPath, [...args, lead], { env: project.env, extendEnv: false });
    finallyDo(t, () => child.kill('SIGKILL'));
    return child;
  });
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  for (const child of children) child.stdin.write('go');
  const ended = await Promise.all(children);
  return ended.map(({ stdout }) => String(JSON.parse(stdout.replace('ready', '')).note ?? ''));
}

/** Without what follows from it, as of a server that was killed then. */
function only(project: HookedProject, who: string, name: string, input: Fields): Promise<Fields> {
  return operate(composeOperations(project.root, project.env), name, input, project.evidence(who));
}

function records(project: HookedProject, team: string, what: RegExp): number {
  return project
    .read(`.tool/teams/${team}/log.jsonl`)
    .split('\n')
    .filter((line) => what.test(line)).length;
}

test('a SPEC is written once', async (t) => {
  const project = new HookedProject(t, { config: CONFIG });
  await project.call('team-lead', 'TeamCreate', { team_name: PLAN, subject: 'log out' });
  for (const [name, result] of [
    ['researcher', RESEARCHER],
    ['analyst', ANALYST],
    ['architect', ARCHITECT],
  ] as const) {
    await project.call('team-lead', 'TaskCreate', { subject: `Part of ${name}`, description: 'd', owner: name });
    const taskId = String(project.state(PLAN).tasks.size);
    const subagent_type = `team-${name}`;
    await project.call('team-lead', 'Task', { subagent_type, team_name: PLAN, name, prompt: 'p' });
    const spawned = { tool_name: 'Task', tool_input: { subagent_type, prompt: 'p' } };
    await project.hook('pre-tool-use', 'team-lead', 'PreToolUse', spawned);
    await project.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
    await only(project, name, 'TaskUpdate', { taskId, status: 'completed', result });
  }
  const notes = await look(t, project, 4);
  assert.equal(
    notes.filter((note) => /has been written from the planners' results/.test(note)).length,
    1,
    notes.join('\n'),
  );
  assert.equal(records(project, PLAN, /"event":"spec_generated"/), 1);
  assert.equal(project.state(PLAN).session, 'awaiting_approval');
});

test('the work of all is measured once, and what it finds is asked for once', async (t) => {
  const project = new HookedProject(t, { config: CONFIG, fixture: 'node' });
  project.commit();
  await project.team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Build', description: 'd', owner: 'backend-dev' });
  await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await only(project, 'backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'done' });
  // Broken after it was handed in.
  project.write(
    'test/broken.test.js',
    "import test from 'node:test';\n\ntest('it fails', () => {\n  throw new Error('it fails');\n});\n",
  );
  const notes = await look(t, project, 4);
  assert.equal(notes.filter((note) => /the final gate failed/.test(note)).length, 1, notes.join('\n'));
  assert.equal(records(project, TEAM, /"type":"gate_measured","task":null/), 1);
  const { tasks, gate } = project.state();
  const asked = [...tasks.values()].map(({ subject }) => subject).sort();
  assert.deepEqual(asked, [
    'Build',
    'Check files that were changed under no task',
    "Fix the gate's finding: bug_report",
  ]);
  assert.equal(gate?.rejected, 1);
});
