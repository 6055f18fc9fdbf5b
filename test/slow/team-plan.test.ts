// `tool plan` as a person types it: the compiled command, real git, teammates that are processes.

import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { TeammateScript } from '../../src/cli/agents/agent-teammate.ts';
import { readApproval } from '../../src/cli/approval-question.ts';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { PhaseProject } from '../support/phase-project.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from '../support/plan-results.ts';
import type { Pty } from '../support/pty.ts';

const FEATURE = 'Users can log out of their account';
const SPEC = 'SPEC-LOG-OUT-ACCOUNT-001';
const PATHS = ['spec.md', 'plan.md', 'acceptance.md'].map((name) => `.tool/specs/${SPEC}/${name}`);

const task = (subject: string, result: string) => ({ subject, steps: [], result });

function script(more: { analyst?: ReturnType<typeof task>[]; architect?: ReturnType<typeof task>[] } = {}) {
  return {
    researcher: { tasks: [task('Explore', RESEARCHER)] },
    analyst: { tasks: [...(more.analyst ?? []), task('Write the requirements', ANALYST)] },
    architect: { tasks: [...(more.architect ?? []), task('Design the solution', ARCHITECT)] },
  } satisfies TeammateScript;
}

function reportOf({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): PhaseReport {
  assert.equal(code, 0, stderr);
  const report: PhaseReport = JSON.parse(stdout);
  return report;
}

/** The session's steps, as the log has them. */
function stepsOf(log: string): readonly string[] {
  return [...log.matchAll(/"type":"moved","event":"(\w+)"/g)].map(([, event = '']) => event);
}

const OPENED = '[?1049h';
const CLOSED = '[?1049l';

/** When the board took the terminal, and when it gave it back. */
function boards(output: string): readonly string[] {
  return output.split('\u001b').flatMap((text) => [OPENED, CLOSED].filter((code) => text.startsWith(code)));
}

async function asked(pty: Pty, words = `approve ${SPEC}? [y/N/changes] `): Promise<void> {
  await pty.until(() => pty.output.includes(words));
}

test('three look, one SPEC comes of it that passes the check, and it waits for the word of a person', async (t) => {
  const project = new PhaseProject(t, script());
  // What is not committed is the person's, and no change of a teammate's.
  appendFileSync(join(project.root, 'src/api/session.js'), '// more\n');
  const before = project.git('status', '--short');
  const report = reportOf(await project.lead('plan', FEATURE, '--team', '--json'));
  assert.deepEqual(report.plan, { spec: SPEC, status: 'awaiting_approval', paths: PATHS });
  assert.deepEqual([report.branch, report.files, report.rejections], [null, 0, 0]);
  assert.deepEqual(
    report.tasks.map(({ owner, outcome }) => [owner, outcome]),
    [
      ['researcher', 'completed'],
      ['analyst', 'completed'],
      ['architect', 'completed'],
    ],
  );
  const check = await project.tool('spec', 'check', SPEC);
  assert.equal(check.code, 0, check.stdout);
  assert.match(project.read(PATHS[0] ?? ''), /- R1: When a user logs out, the API shall end the session\./);
  assert.match(project.read(PATHS[1] ?? ''), /sessions are rows/);
  assert.deepEqual(stepsOf(project.archived()), ['spec_generated', 'approval_asked']);
  assert.equal(project.git('status', '--short', '--', 'src'), before);
  assert.equal(project.git('branch', '--list'), '* main', 'no branch is left of what builds nothing');
  assert.equal(project.git('for-each-ref', 'refs/toolcrew'), '');
  assert.equal(project.git('worktree', 'list').split('\n').length, 1);
  // The same once more is the same SPEC.
  const again = await project.lead('plan', FEATURE, '--team');
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, new RegExp(`${SPEC} waits for your approval: tool spec approve ${SPEC}\n$`));
  assert.deepEqual(project.names('.tool/specs'), [SPEC]);
});

test('what does not make a SPEC is given back to whom it concerns, and mended', async (t) => {
  const wrong = ANALYST.replace('the API shall end', 'we end').replace('A2 (R2)', 'A2 (R9)');
  const mending = {
    analyst: [task('Correct the result: line 5', ANALYST.replace('(R2)', '(R9)')), task('Correct the result', ANALYST)],
  };
  const plays = script(mending);
  plays.analyst.tasks.pop();
  plays.analyst.tasks.push(task('Write the requirements', wrong));
  const project = new PhaseProject(t, plays);
  const ended = await project.lead('plan', FEATURE, '--team', '--json');
  assert.match(ended.stderr, /given back to analyst: line 5 of the result: R1: expected "When <trigger>/);
  const report = reportOf(ended);
  assert.equal(report.plan?.spec, SPEC);
  assert.deepEqual(
    report.tasks.map(({ owner }) => owner),
    ['researcher', 'analyst', 'architect', 'analyst', 'analyst'],
  );
  assert.equal((await project.tool('spec', 'check', SPEC)).code, 0);
});

test('after three times it is said what is wrong; what comes back right goes on from there', async (t) => {
  const never = ARCHITECT.replaceAll('domain: backend', 'domain: server');
  const plays = script({ architect: [task('Correct the result', never)] });
  plays.architect.tasks.pop();
  plays.architect.tasks.push(task('Design the solution', never));
  const project = new PhaseProject(t, plays);
  const { code, stderr } = await project.lead('plan', FEATURE, '--solo');
  assert.equal(code, 1);
  assert.match(
    stderr,
    /no SPEC can be built from the results: architect: line 9 of the result: T1: domain: expected one of /,
  );
  assert.deepEqual(project.names('.tool/specs'), []);
  assert.equal(stderr.match(/given back to architect/g)?.length, 3);
  project.play(script({ architect: [task('Correct the result', ARCHITECT)] }));
  const report = reportOf(await project.lead('plan', FEATURE, '--solo', '--json'));
  assert.equal(report.plan?.spec, SPEC);
});

test('where no approval is required none is asked for', async (t) => {
  const project = new PhaseProject(t, script(), '    require_plan_approval: false\n');
  const report = reportOf(await project.lead('plan', FEATURE, '--team', '--json'));
  assert.equal(report.plan?.status, 'draft');
  assert.deepEqual(stepsOf(project.archived()), ['spec_generated', 'approved']);
});

test('a person at the terminal wants it otherwise, then approves it', async (t) => {
  const changed = ANALYST.replace('a button to log out', 'a red button to log out');
  const plays = script({ analyst: [task('Change SPEC', changed)], architect: [task('Change SPEC', ARCHITECT)] });
  const project = new PhaseProject(t, plays);
  const pty = project.attend(['plan', FEATURE, '--team']);
  await asked(pty);
  pty.type('what\n');
  await asked(pty, 'expected y, n, or what is to change, got "what": ');
  pty.type('changes\n');
  await asked(pty, 'What is to change? ');
  const before = pty.output.length;
  pty.type('the button shall be red\n');
  // While the change is made the board is there again, until the next question.
  await pty.until(() => pty.output.slice(before).includes(`approve ${SPEC}? `));
  assert.deepEqual(boards(pty.output.slice(before)), [OPENED, CLOSED]);
  assert.match(pty.output.slice(before), /TASKS/);
  assert.match(project.read(PATHS[0] ?? ''), /a red button/);
  pty.type('y\n');
  assert.equal(await pty.ended, 0, pty.output);
  assert.deepEqual(boards(pty.output), [OPENED, CLOSED, OPENED, CLOSED]);
  assert.match(pty.output, new RegExp(`${SPEC} is approved\\. Next: tool run ${SPEC}`));
  assert.deepEqual(project.names('.tool/specs'), [SPEC]);
  const { stdout } = await project.tool('spec', 'list');
  assert.match(stdout, new RegExp(`${SPEC}  approved \\(approved on `));
  assert.deepEqual(stepsOf(project.archived()), [
    'spec_generated',
    'approval_asked',
    'changes_asked',
    'spec_generated',
    'approval_asked',
    'approved',
  ]);
});

test('a board that the person has taken away does not come back with the changes', async (t) => {
  const plays = script({ analyst: [task('Change SPEC', ANALYST)], architect: [task('Change SPEC', ARCHITECT)] });
  const project = new PhaseProject(t, plays);
  const go = join(project.home, 'go');
  project.before = `while [ ! -e '${go}' ]; do sleep 0.1; done; `;
  const pty = project.attend(['plan', FEATURE, '--team']);
  await pty.until((screen) => screen.some((line) => line.includes('TASKS')));
  pty.type('q');
  await pty.until(() => boards(pty.output).includes(CLOSED));
  writeFileSync(go, '');
  await asked(pty);
  const before = pty.output.length;
  pty.type('changes: a red button\n');
  await pty.until(() => pty.output.slice(before).includes(`approve ${SPEC}? `));
  pty.type('y\n');
  assert.equal(await pty.ended, 0, pty.output);
  assert.deepEqual(boards(pty.output), [OPENED, CLOSED]);
});

test('no is no, and so is a closed terminal', async (t) => {
  const project = new PhaseProject(t, script());
  for (const keys of ['\n', '\u0004']) {
    const pty = project.attend(['plan', FEATURE, '--team']);
    await asked(pty);
    pty.type(keys);
    assert.equal(await pty.ended, 0, pty.output);
    assert.match(pty.output, new RegExp(`${SPEC} waits for your approval`));
  }
  assert.match(project.read(PATHS[0] ?? ''), /^status: awaiting_approval$/m);
});

test('Ctrl-C at the question says how to go on, and the question comes again', async (t) => {
  const project = new PhaseProject(t, script());
  const first = project.attend(['plan', FEATURE, '--team']);
  await asked(first);
  first.type('\u0003');
  assert.equal(await first.ended, 130, first.output);
  const [, command = '', team = ''] =
    /stopped: `tool (team-restart) (\S+)`, or the same command again/.exec(first.output) ?? [];
  const again = project.attend([command, team]);
  await asked(again);
  again.type('y\n');
  assert.equal(await again.ended, 0, again.output);
});

test('an agent at a terminal is not asked', async (t) => {
  const project = new PhaseProject(t, script());
  const pty = project.attend(['plan', FEATURE, '--team'], { CLAUDECODE: '1' });
  assert.equal(await pty.ended, 0, pty.output);
  assert.doesNotMatch(pty.output, /\[y\/N/);
  assert.match(pty.output, new RegExp(`${SPEC} waits for your approval`));
});

test('what cannot be planned is refused in words', async (t) => {
  const project = new PhaseProject(t, script());
  for (const [args, expected, words] of [
    [['plan', '…', '--team'], 2, /feature: expected /],
    [['plan'], 2, /Missing required argument 'feature'.*\(command_line_invalid\)$/m],
    [['plan', FEATURE, '--team', '--solo'], 2, /--team, --solo: expected one of them, got both/],
  ] as const) {
    const { code, stderr } = await project.lead(...args);
    assert.match(stderr, words);
    assert.equal(code, expected);
  }
  assert.deepEqual(project.names('.tool/teams'), []);
});

test('an answer is yes, no, what is to change, or none', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['y', { kind: 'yes' }],
    [' YES ', { kind: 'yes' }],
    ['', { kind: 'no' }],
    ['n', { kind: 'no' }],
    ['No', { kind: 'no' }],
    ['c', 'which'],
    ['changes', 'which'],
    ['changes: a red button', { kind: 'changes', words: 'a red button' }],
    ['make it red', { kind: 'changes', words: 'make it red' }],
    ['yy', null],
    ['yes but later', { kind: 'changes', words: 'yes but later' }],
  ];
  for (const [text, answer] of cases) assert.deepEqual(readApproval(text), answer, text);
});
