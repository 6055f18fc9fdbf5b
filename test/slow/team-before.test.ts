// Failures older than the team: the gate does not reject work for them, in a terminal run and in a host.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import type { PhaseReport } from '../../src/cli/phase-report.ts';
import { NOT_ACCEPTED } from '../support/checks.ts';
import { joined, lineLike, START } from '../support/codes.ts';
import { HookedProject, type HookRun, TEAM } from '../support/hooked.ts';
import { SPEC, shopProject, shopScript } from '../support/shop-spec.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { within } from '../support/within.ts';

const OLD = "import assert from 'node:assert/strict';\nimport test from 'node:test';\n";
const RED = `${OLD}test('adds', () => assert.equal(1 + 1, 3));\n`;
const TESTS = 'node --test tests/*.test.js';
const QUALITY = { coverage_target: 0, required: ['tests'], trust5: { min_score: 0 } };

/** A shop whose HEAD has a test that fails, and a gate that runs its tests. */
function redShop(t: Cleanup) {
  const project = shopProject(t);
  mkdirSync(join(project.root, 'tests'));
  writeFileSync(join(project.root, 'tests/old.test.js'), RED);
  writeFileSync(
    join(project.root, '.tool/config/workflow.yaml'),
    JSON.stringify({ workflow: { team: { enabled: true } }, quality: { ...QUALITY, commands: { tests: TESTS } } }),
  );
  project.git('add', '-A');
  project.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'A test that fails');
  return project;
}

async function reportOf(
  project: ReturnType<typeof redShop>,
): Promise<{ run: PhaseReport; text: string; said: string }> {
  const { code, stdout, stderr } = await project.lead('run', SPEC, '--team', '--json');
  assert.equal(code, 0, stderr);
  const run: PhaseReport = JSON.parse(stdout);
  return { run, text: readFileSync(run.report ?? '', 'utf8'), said: stderr };
}

test('a test that is red at HEAD costs no rejection and no task, and stands in the report', async (t) => {
  const { run, text, said } = await reportOf(redShop(t));
  assert.deepEqual([run.outcome, run.rejections, run.tasks.length], ['done', 0, 3], said);
  assert.match(said, /tests: 1 test fails: adds.* \(checks_failed_before\)$/m);
  assert.match(text, /^Tests before \/ after: failed: 1 test fails: adds .* \/ old failure: /m);
});

test('who completes a task while the base is still measured waits for it', async (t) => {
  const project = redShop(t);
  const word = join(dirname(project.root), 'word');
  const slow = `case "$PWD" in *@base) while [ ! -e '${word}' ]; do sleep 0.05; done;; esac; ${TESTS}`;
  writeFileSync(
    join(project.root, '.tool/config/workflow.yaml'),
    JSON.stringify({ workflow: { team: { enabled: true } }, quality: { ...QUALITY, commands: { tests: slow } } }),
  );
  project.git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qam', 'Slow tests');
  const lead = project.start('run', SPEC, '--team', '--json');
  finallyDo(t, () => lead.kill('SIGKILL'));
  const [said, told] = [{ stdout: '', stderr: '' }, new Set<string>()];
  for (const name of ['stdout', 'stderr'] as const)
    lead[name].on('data', (chunk: Buffer) => {
      said[name] += chunk.toString('utf8');
      for (const [, who = ''] of said[name].matchAll(/\[(backend-dev|frontend-dev)\] SendMessage/g)) told.add(who);
      // The next step of each teammate is to complete its task.
      if (told.size === 2) writeFileSync(word, '');
    });
  await within('the lead ends', once(lead, 'close'), () => said.stderr);
  const run: PhaseReport = JSON.parse(said.stdout);
  assert.deepEqual([run.outcome, run.rejections], ['done', 0], said.stderr);
});

test('a test that newly fails is rejected beside an old one', async (t) => {
  const project = redShop(t);
  const wrong = `${OLD}test('greets', () => assert.equal(1, 2));\n`;
  const right = `${OLD}test('greets', () => assert.equal(1, 1));\n`;
  const script = shopScript();
  project.play({
    ...script,
    tester: {
      tasks: [
        {
          subject: 'Write T3',
          steps: [{ write: { path: 'tests/greeting.test.js', text: wrong } }],
          mend: [{ write: { path: 'tests/greeting.test.js', text: right } }],
        },
      ],
    },
  });
  const { run, said } = await reportOf(project);
  assert.deepEqual([run.outcome, run.rejections], ['done', 1], said);
});

const TASK = { task_id: '7', task_subject: 'Greet', task_description: 'Politely' };

for (const kind of ['committed', 'not committed'] as const)
  test(`in a host: what was red when the team began, ${kind}, is old; what newly fails is not`, async (t) => {
    const project = new HookedProject(t, { fixture: 'node' });
    if (kind === 'not committed') project.commit();
    project.edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'");
    if (kind === 'committed') project.commit();
    await project.call('team-lead', 'TeamCreate', { team_name: TEAM });
    const complete = (): Promise<HookRun> => project.hook('task-completed', 'team-lead', 'TaskCompleted', TASK);
    const { code, stderr } = await complete();
    assert.deepEqual([code, stderr], [0, '']);
    const { before, gate, messages } = project.state();
    const outcomeOf = (checks: typeof before) => checks?.checks.find(({ check }) => check === 'tests')?.outcome;
    assert.deepEqual([outcomeOf(before), gate?.checks[0]?.outcome], ['failed', 'old_failure']);
    assert.match(String(messages.at(-1)?.content), /: tests: 1 test fails: shouts.* \(checks_failed_before\)$/);
    assert.equal(project.git('worktree', 'list').split('\n').length, 1);

    // From here on both go the same way.
    if (kind === 'committed') return;
    project.write('test/more.test.js', RED);
    const rejected = await complete();
    assert.equal(rejected.code, 2);
    assert.match(
      rejected.stderr,
      joined(
        START,
        lineLike(NOT_ACCEPTED, { checks: ['tests'], report: /tests: 1 newly fails: adds .*; 1 failure is older/ }),
      ),
    );
    assert.doesNotMatch(rejected.stderr, /- shouts/);

    project.write('test/more.test.js', RED.replace('3', '2'));
    project.edit('test/greet.test.js', "'HELLO!'", "'HELLO, ADA!'");
    assert.equal((await complete()).code, 0);
    project.edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'");
    assert.equal((await complete()).code, 2, 'what was mended stays mended');
    const board = project.board();
    assert.match(board, /tests before \/ after .*failed: 1 test fails: shouts/);
  });
