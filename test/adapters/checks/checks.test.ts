import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createChecks } from '../../../src/adapters/checks/checks.ts';
import { turnPath } from '../../../src/adapters/checks/store.ts';
import { processStartTime } from '../../../src/adapters/processes.ts';
import { DEFAULT_QUALITY, type QualitySettings } from '../../../src/domain/quality.ts';
import { checkOf, commands, failures, LCOV, type TestProject, testProject } from '../../support/checks.ts';
import { programFile } from '../../support/compiled.ts';
import type { Cleanup } from '../../support/temp.ts';

const PROGRAM = programFile('gate');
/** Commands that count their runs in a file beside the project. */
function counted(t: Cleanup): { project: TestProject; settings: Partial<QualitySettings>; runs: () => number } {
  const project = testProject(t, null);
  const log = join(project.root, '..', 'runs');
  const script = `echo run >> ${log}; ${LCOV}`;
  return {
    project,
    settings: commands({ tests: script, coverage: script }),
    runs: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0),
  };
}

function keptFiles({ cacheDirectory }: TestProject): readonly string[] {
  return existsSync(cacheDirectory) ? readdirSync(cacheDirectory).sort() : [];
}

/** Waits until something is so; a test that waits in vain is ended by its runner. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(10);
}

test('a tree that was measured is not measured again, a changed one is', async (t) => {
  const { project, settings, runs } = counted(t);
  const first = await project.gate(settings);
  assert.equal(first.ok, true, JSON.stringify(first));
  assert.equal(runs(), 1, 'one command for both is run once');
  assert.deepEqual(await project.gate(settings), first);
  assert.equal(runs(), 1);
  project.write('new.txt', 'x');
  assert.notEqual((await project.gate(settings)).tree, first.tree);
  assert.equal(runs(), 2);
  await project.gate({ ...settings, coverageTarget: 50 });
  assert.equal(runs(), 3, 'other settings, another result');
  assert.ok(
    keptFiles(project).every((name) => /^[0-9a-f]{40}-[0-9a-f]{16}\.json$/.test(name)),
    keptFiles(project).join(),
  );
});

test('a failure is measured again, since its cause may lie where no tree sees it; who waited for it takes it', async (t) => {
  const { project, settings, runs } = counted(t);
  const needed = join(project.root, '..', 'needed');
  const lint = `[ -e ${needed} ]`;
  const asking = { commands: { ...DEFAULT_QUALITY.commands, ...settings.commands, lint } };
  const [first, second] = await Promise.all([project.gate(asking), project.gate(asking)]);
  assert.deepEqual([failures(first), runs()], [['lint'], 1]);
  assert.deepEqual(second, first);
  writeFileSync(needed, '');
  const passed = await project.gate(asking);
  assert.deepEqual([passed.ok, passed.tree, runs()], [true, first.tree, 2]);
  rmSync(needed);
  assert.equal((await project.gate(asking)).ok, true);
  assert.equal(runs(), 2, 'what has passed is kept');
});

test('a kept result that is broken, or of another form, is measured again', async (t) => {
  const { project, settings, runs } = counted(t);
  const first = await project.gate(settings);
  const [name = ''] = keptFiles(project);
  const path = join(project.cacheDirectory, name);
  const whole = readFileSync(path, 'utf8');
  const spoilt = [
    '',
    '{',
    '[]',
    whole.slice(0, 40),
    whole.replace('"tests"', '"other"'),
    whole.replace('"passed"', '1'),
    whole.replace('"ok":true', '"ok":1'),
    whole.replace('"coverage":100', '"coverage":"x"'),
  ];
  for (const [index, text] of spoilt.entries()) {
    assert.notEqual(text, whole);
    writeFileSync(path, text);
    assert.deepEqual(await project.gate(settings), first);
    assert.equal(runs(), index + 2, text);
  }
});

test('a result that says nothing of the tree is not kept: no data, a missing tool, a deadline', async (t) => {
  for (const settings of [
    commands({}),
    commands({ tests: 'no-such-program', coverage: LCOV }),
    commands({ tests: 'true', coverage: 'true' }),
    { ...commands({ tests: 'true', coverage: LCOV, lint: 'no-such-program' }) },
    { ...commands({ tests: 'sleep 60', coverage: LCOV }), timeoutMs: 500 },
    {
      ...commands({ tests: 'true', coverage: LCOV }),
      performance: [{ name: 'slow', command: 'sleep 0.1', budgetMs: 1 }],
    },
  ]) {
    const project = testProject(t, null);
    assert.equal((await project.gate(settings)).ok, false, JSON.stringify(settings));
    assert.deepEqual(keptFiles(project), [], JSON.stringify(settings));
  }
});

test('work that goes on while it is measured makes it a result of neither tree', async (t) => {
  const { project, settings } = counted(t);
  const lint = 'echo more >> worked-on.txt';
  assert.equal(
    (await project.gate({ commands: { ...DEFAULT_QUALITY.commands, ...settings.commands, lint } })).ok,
    true,
  );
  assert.deepEqual(keptFiles(project), []);
});

test('at the deadline what has not ended has failed, with all that it started', async (t) => {
  const project = testProject(t, null);
  const pids = join(project.root, '..', 'pids');
  const stubborn = `(trap '' TERM; echo $$ >> ${pids}; sleep 300) & echo $! >> ${pids}; wait`;
  const settings = { ...commands({ tests: stubborn, coverage: LCOV, lint: 'true' }), timeoutMs: 2_000 };
  // The clock that is given stands still until the command is under way.
  const now = () => (existsSync(pids) ? 10_000 : 0);
  const result = await project.gate(settings, { now });
  assert.deepEqual(failures(result), ['tests', 'coverage', 'lint']);
  assert.equal(checkOf(result, 'tests').reason, 'did not end within the 2 s that all checks have together');
  assert.equal(checkOf(result, 'lint').reason, 'did not end within the 2 s that all checks have together');
  assert.equal(checkOf(result, 'security').outcome, 'not_measured');
  const left = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  await until(() => left.every((pid) => processStartTime(pid) === null));
});

test('an abort ends what runs and is no result', async (t) => {
  const project = testProject(t, null);
  const pid = join(project.root, '..', 'pid');
  const stop = new AbortController();
  const running = project.gate(commands({ tests: `echo $$ > ${pid}; exec sleep 300` }), { signal: stop.signal });
  await until(() => existsSync(pid) && readFileSync(pid, 'utf8').endsWith('\n'));
  stop.abort(new Error('enough'));
  await assert.rejects(running, /enough/);
  assert.equal(processStartTime(Number(readFileSync(pid, 'utf8'))), null);
  assert.deepEqual(keptFiles(project), [], 'neither a result nor a lock');
});

test('the second of two gates waits for the first and takes its result', async (t) => {
  const { project, settings, runs } = counted(t);
  const both = await Promise.all([project.gate(settings), project.gate(settings)]);
  assert.deepEqual(both[0], both[1]);
  assert.equal(runs(), 1);
});

// What the killed gate leaves running ends by itself, at the latest when the project is removed.
test('a gate in another process is waited for; when it is killed, nobody waits for it any longer', async (t) => {
  const project = testProject(t, null);
  const [pids, go] = ['pids', 'go'].map((name) => join(project.root, '..', name));
  const script = `echo $$ >> ${pids}; while [ -d ${project.root} ] && [ ! -e ${go} ]; do sleep 0.02; done; ${LCOV}`;
  const settings = { ...DEFAULT_QUALITY, ...commands({ tests: script, coverage: script }) };
  const runs = () =>
    existsSync(pids ?? '')
      ? readFileSync(pids ?? '', 'utf8')
          .split('\n')
          .slice(0, -1)
      : [];
  const start = () =>
    spawn(process.execPath, [PROGRAM, project.root, project.cacheDirectory, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
  const killed = start();
  await until(() => runs().length === 1);
  killed.kill('SIGKILL');
  await once(killed, 'exit');

  const child = start();
  await until(() => runs().length === 2);
  const here = createChecks({ root: project.root, cacheDirectory: project.cacheDirectory, now: Date.now });
  const waiting = here.run(settings, new AbortController().signal);
  writeFileSync(go ?? '', '');
  const said = await child.stdout.reduce((text, chunk) => `${text}${chunk}`, '');
  assert.deepEqual(await waiting, JSON.parse(said));
  assert.equal(runs().length, 2);
});

test('who waits can be told to stop', async (t) => {
  const project = testProject(t, null);
  const [started, go] = ['started', 'go'].map((name) => join(project.root, '..', name));
  const slow = `touch ${started}; while [ ! -e ${go} ]; do sleep 0.02; done; ${LCOV}`;
  const settings = commands({ tests: slow, coverage: slow });
  const first = project.gate(settings);
  await until(() => existsSync(started ?? ''));
  const stop = new AbortController();
  const second = project.gate(settings, { signal: stop.signal });
  const rejected = assert.rejects(second, /enough/);
  stop.abort(new Error('enough'));
  await rejected;
  writeFileSync(go ?? '', '');
  assert.equal((await first).ok, true);
});

test('a holder that died, or is long over its time, does not keep others waiting', async (t) => {
  const { project, settings, runs } = counted(t);
  await project.gate(settings);
  const [name = ''] = keptFiles(project);
  const kept = join(project.cacheDirectory, name);
  const dead = spawn('true');
  await once(dead, 'exit');
  const alive = { pid: process.pid, started: processStartTime(process.pid) };
  const locks = [
    '',
    '{}',
    JSON.stringify({ pid: dead.pid, started: '1', until: Date.now() + 1e9 }),
    JSON.stringify({ ...alive, started: '1', until: Date.now() + 1e9 }),
    JSON.stringify({ ...alive, until: Date.now() - 1 }),
  ];
  for (const [index, lock] of locks.entries()) {
    writeFileSync(kept, '');
    writeFileSync(turnPath(project.cacheDirectory, name.replace('.json', '')), lock);
    assert.equal((await project.gate(settings)).ok, true);
    assert.equal(runs(), index + 2, lock);
    assert.deepEqual(keptFiles(project), [name]);
  }
});

test('a holder that lives is waited for until the deadline', async (t) => {
  const { project, settings } = counted(t);
  await project.gate(settings, { now: () => 0 });
  const [name = ''] = keptFiles(project);
  const lock = JSON.stringify({ pid: process.pid, started: processStartTime(process.pid), until: 1e9 });
  writeFileSync(join(project.cacheDirectory, name), '');
  writeFileSync(turnPath(project.cacheDirectory, name.replace('.json', '')), lock);
  // Each look at this clock takes as long as half of the deadline.
  let time = 0;
  const late = await project.gate(settings, { now: () => (time += DEFAULT_QUALITY.timeoutMs / 2) });
  assert.deepEqual(failures(late), ['tests', 'coverage']);
  assert.match(checkOf(late, 'tests').reason, /^did not end within/);
});

test('commands get the caller’s environment without credentials, and CI', async (t) => {
  const project = testProject(t, null);
  await project.gate(commands({ tests: 'env > ../env' }), {
    env: { GITHUB_TOKEN: 'x', GH_TOKEN: 'x', TOOL_KEY: 'x', NODE_TEST_CONTEXT: 'child-v8', KEPT: 'yes' },
  });
  const env = readFileSync(join(project.root, '../env'), 'utf8').split('\n');
  assert.ok(env.includes('CI=true') && env.includes('KEPT=yes'));
  assert.deepEqual(
    env.filter((line) => /^(GITHUB_TOKEN|GH_TOKEN|TOOL_KEY|NODE_TEST_CONTEXT)=/.test(line)),
    [],
  );
});
