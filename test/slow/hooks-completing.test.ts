import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { GATE_CODES } from '../../src/gate/rules/gate-codes.ts';
import { FileTeams } from '../../src/team/log/teams.ts';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { NOT_ACCEPTED } from '../support/checks.ts';
import { isOf, joined, lineLike, START, wordsLike, wordsOf } from '../support/codes.ts';
import { ENABLED, type Fields, HookedProject, type HookRun, TEAM, VERSIONS } from '../support/hooked.ts';
import { tempDir } from '../support/temp.ts';

const REJECTED = 2;
const TASK = { task_id: '7', task_subject: 'Greet', task_description: 'Politely' };

/** A project whose tests leave a line each time they run. */
class Greeter {
  readonly project: HookedProject;
  readonly #runs: string;

  constructor(...given: ConstructorParameters<typeof HookedProject>) {
    const [t, settings] = given;
    this.project = new HookedProject(t, { fixture: 'node', ...settings });
    this.#runs = join(this.project.root, '..', 'runs');
    const count = `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(this.#runs)}, 'ran\\n');\n`;
    this.project.write('test/count.test.js', count);
  }

  get runs(): number {
    return existsSync(this.#runs) ? readFileSync(this.#runs, 'utf8').split('\n').length - 1 : 0;
  }

  /** A team that this project's main agent leads. */
  async lead(): Promise<void> {
    await this.project.call('team-lead', 'TeamCreate', { team_name: TEAM });
  }

  complete(who: string, more: Fields = {}, version = VERSIONS[3]): Promise<HookRun> {
    return this.project.hook('task-completed', who, 'TaskCompleted', { ...TASK, ...more }, version);
  }
}

const notAccepted = (check: string, report = /.*/) =>
  joined(START, lineLike(NOT_ACCEPTED, { checks: [check], report }));

test('a completion is rejected for what the checks find, with its name, and accepted after the fix', async (t) => {
  const greeter = new Greeter(t);
  const { project } = greeter;
  await greeter.lead();
  const right = project.read('test/greet.test.js');
  const source = project.read('src/greet.js');

  project.edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'");
  const failing = await greeter.complete('team-lead');
  assert.equal(failing.code, REJECTED);
  assert.equal(failing.stdout, '');
  assert.match(failing.stderr, notAccepted('tests', /tests: 1 test fails: shouts \(test\/greet\.test\.js:7:1\)/));
  assert.ok(failing.stderr.endsWith(`\n${WORK_CODES.work_not_accepted.help}\n`), failing.stderr);

  // What passes is measured once for each state of the work tree, what fails with each completion.
  const before = greeter.runs;
  assert.ok(before >= 1);
  assert.equal((await greeter.complete('team-lead')).stderr, failing.stderr);
  assert.ok(greeter.runs > before);

  project.write('test/greet.test.js', right.replace(/^test\('shouts'.*$/m, 'shout;'));
  project.write(
    'src/greet.js',
    `${source}\nexport function unreached(a) {\n  if (a) {\n    return 1;\n  }\n  return 2;\n}\n`,
  );
  const uncovered = await greeter.complete('team-lead');
  assert.equal(uncovered.code, REJECTED);
  assert.match(
    uncovered.stderr,
    joined(
      notAccepted('coverage', /coverage: /),
      wordsLike(GATE_CODES.coverage_below_target, { reached: /[\d.]+ %/, target: 80 }),
      /\n {2}- src\/greet\.js: /,
    ),
  );

  project.write('test/greet.test.js', right);
  project.write('src/greet.js', source.replace('export function shout', 'var unused = 1;\n\nexport function shout'));
  const unclean = await greeter.complete('team-lead');
  assert.equal(unclean.code, REJECTED);
  assert.match(unclean.stderr, notAccepted('lint', /lint: .*src\/greet\.js:8: no-var: use let or const/));

  project.write('src/greet.js', source);
  const good = await greeter.complete('team-lead');
  assert.deepEqual([good.code, good.stdout, good.stderr], [0, '', '']);
  const measured = greeter.runs;
  assert.equal((await greeter.complete('team-lead')).code, 0);
  assert.equal(greeter.runs, measured);
});

// Those in between tell it as one of these does.
for (const version of ['2.1.33', '2.1.331'] as const) {
  test(`a teammate's completion on ${version} is judged by its team, which writes it down`, async (t) => {
    const greeter = new Greeter(t);
    const { project } = greeter;
    await project.team('tester');
    project.edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'");
    // The guard saw it written.
    const write = { tool_name: 'Write', tool_input: { file_path: 'test/greet.test.js' } };
    assert.equal((await project.hook('pre-tool-use', 'tester', 'PreToolUse', write)).code, 0);
    const named = { teammate_name: 'tester', team_name: 'tool-run-spec-auth-001' };
    const { agent_id, agent_type, ...unnamed } = project.fields(
      'tester',
      'TaskCompleted',
      { ...TASK, ...named },
      version,
    );
    const fields = version === '2.1.331' ? { ...unnamed, agent_id, agent_type } : unnamed;
    const run = () => project.raw('task-completed', JSON.stringify(fields), project.envOf(version));
    const rejected = await run();
    assert.equal(rejected.code, REJECTED, rejected.stderr);
    assert.match(rejected.stderr, /1 test fails: shouts/);
    const { decisions, gate } = project.state();
    assert.equal(decisions.at(-1)?.about, "task 7 of the host's list");
    assert.equal(decisions.at(-1)?.decision, 'reject');
    assert.equal(gate?.ok, false);
    project.edit('test/greet.test.js', "'HELLO!'", "'HELLO, ADA!'");
    assert.deepEqual((await run()).code, 0);
    assert.equal(project.state().decisions.at(-1)?.decision, 'accept');
  });
}

test('a cause outside of the work tree that is mended is seen by the next completion', async (t) => {
  const greeter = new Greeter(t);
  const { project } = greeter;
  await project.team('tester');
  const needed = join(project.root, '..', 'needed');
  project.write('.tool/config/workflow.yaml', `${ENABLED}quality:\n  commands:\n    lint: '[ -e ${needed} ]'\n`);
  assert.match((await greeter.complete('tester')).stderr, notAccepted('lint'));
  writeFileSync(needed, '');
  assert.equal((await greeter.complete('tester')).code, 0);
});

test('nobody is told of what the lead itself was let through with, but the user', async (t) => {
  const greeter = new Greeter(t);
  await greeter.lead();
  greeter.project.edit('src/greet.js', 'export function shout', 'var unused = 1;\n\nexport function shout');
  const runs: HookRun[] = [];
  for (let count = 0; count < 4; count++) runs.push(await greeter.complete('team-lead'));
  assert.deepEqual(
    runs.map(({ code }) => code),
    [2, 2, 2, 0],
  );
  const [first = '', second] = (runs[3]?.stderr ?? '').split('; ');
  const [reason] = wordsOf(GATE_CODES.gate_rejected, { checks: ['lint'], report: '' }).split('\n');
  const accepted = lineLike(WORK_CODES.accepted_after_rejections, { count: 3, ...(reason && { reason }) });
  assert.match(first, joined(/^toolcrew: TaskCompleted: /, accepted));
  assert.match(second ?? '', /^lint: npm run lint ended with 1/);
  assert.deepEqual(greeter.project.state().messages, []);
});

test('what a session does without a team, or beside one, is its own affair', async (t) => {
  const greeter = new Greeter(t);
  greeter.project.edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'");
  const alone = await greeter.complete('team-lead');
  assert.deepEqual([alone.code, alone.stdout, alone.stderr], [0, '', '']);
  await greeter.lead();
  const beside = await greeter.complete('team-lead', { session_id: 'another' });
  assert.deepEqual([beside.code, beside.stdout, beside.stderr], [0, '', '']);
  assert.equal(greeter.runs, 0);
});

test('in sub-agent mode the agents of the session that leads are judged, others are not', async (t) => {
  const greeter = new Greeter(t);
  const { project } = greeter;
  project.edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'");
  await greeter.lead();
  const log = new FileTeams({ root: project.root, now: Date.now }).open(TEAM);
  await log?.append({ type: 'fell_back', trigger: 'spawn_failed', reason: 'the test' });
  await log?.close();
  const judged = await greeter.complete('general-purpose');
  assert.equal(judged.code, REJECTED);
  assert.match(judged.stderr, notAccepted('tests'));
  const { code } = await greeter.complete('general-purpose', { session_id: 'another' });
  assert.equal(code, 0);
});

const UNCHECKED = `${ENABLED}    hooks:\n      task_completed:\n        require_quality_check: false\n`;

test('in a team, what is not checked is accepted and written down as that', async (t) => {
  const greeter = new Greeter(t, { config: UNCHECKED });
  await greeter.project.team('tester');
  assert.equal((await greeter.complete('tester')).code, 0);
  assert.equal(greeter.runs, 0);
  assert.match(greeter.project.state().decisions.at(-1)?.reason ?? '', /^unchecked: require_quality_check is false$/);
});

test('the gate of the operation and that of the hook are one', async (t) => {
  const greeter = new Greeter(t);
  const { project } = greeter;
  await project.team('tester');
  project.edit('src/greet.js', 'export function shout', 'var unused = 1;\n\nexport function shout');
  await project.call('team-lead', 'TaskCreate', { subject: 'Greet', description: 'd', owner: 'tester' });
  await project.call('tester', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const complete = () => project.call('tester', 'TaskUpdate', { taskId: '1', status: 'completed' });
  await assert.rejects(complete, isOf(WORK_CODES.work_not_accepted));
  assert.equal(project.state().tasks.get('1')?.status, 'in_progress');
  project.edit('src/greet.js', 'var unused = 1;\n\n', '');
  assert.equal((await complete()).status, 'completed');
});

test('a foreign change is said once, and keeps no rejection of the checks from counting', async (t) => {
  const greeter = new Greeter(t);
  const { project } = greeter;
  project.write('src/components/menu.js', 'export const menu = 1;\n');
  await project.team('tester');
  project.write('src/components/menu.js', 'export const menu = 2;\n');
  project.edit('src/greet.js', 'export function shout', 'var unused = 1;\n\nexport function shout');
  const first = await greeter.complete('tester');
  assert.match(first.stderr, /: src\/components\/menu\.js.*\(foreign_files_changed\)/s);
  const codes: (number | null)[] = [];
  for (let count = 0; count < 4; count++) codes.push((await greeter.complete('tester')).code);
  assert.deepEqual(codes, [2, 2, 2, 0]);
  // The next piece of work does not hear of it again.
  project.edit('src/greet.js', 'var unused = 1;\n\n', '');
  const next = await greeter.complete('tester', { task_id: '8' });
  assert.doesNotMatch(next.stderr, /foreign_files_changed/);
  const told = project.state().messages.filter(({ content }) => String(content).includes('src/components/menu.js'));
  assert.equal(told.length, 1);
});

test('git is not asked at a completion by a lead that delegates; a key in a file of a teammate is found', async (t) => {
  const place = tempDir(t);
  const [bin, asked] = [join(place, 'bin'), join(place, 'asked')];
  const git = execaSync`/bin/sh -c ${'command -v git'}`.stdout;
  mkdirSync(bin);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" >>"${asked}"\nexec ${git} "$@"\n`, { mode: 0o755 });
  const config = `${ENABLED}    hooks:\n      task_completed:\n        require_quality_check: false\n`;
  const env = { PATH: `${bin}:${process.env.PATH ?? ''}` };
  const project = await new HookedProject(t, { config, env }).team('backend-dev');
  const complete = (who: string) => project.hook('task-completed', who, 'TaskCompleted', TASK);
  // Split, so that this file holds none.
  project.write('src/api/pay.ts', `export const key = '${'gh'}p_${'a1B2c3D4e5f6'.repeat(3)}';\n`);
  const lead = await complete('team-lead');
  assert.equal(lead.code, 0, lead.stderr);
  assert.equal(existsSync(asked), false);
  const refused = await complete('backend-dev');
  assert.equal(refused.code, REJECTED);
  assert.match(refused.stderr, /src\/api\/pay\.ts:1 \(GitHub Token\)/);
  assert.equal(readFileSync(asked, 'utf8').split('\n').length - 1, 7);
});
