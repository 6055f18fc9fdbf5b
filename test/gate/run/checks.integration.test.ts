import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { processStartTime } from '../../../src/base/processes/processes.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { DEFAULT_QUALITY, type QualitySettings } from '../../../src/gate/rules/quality.ts';
import { createChecks } from '../../../src/gate/run/checks.ts';
import { checkOf, commands, failures, LCOV, type TestProject, testProject } from '../../support/checks.ts';
import { failsWith, isOf, wordsOf } from '../../support/codes.ts';
import { programFile } from '../../support/compiled.ts';
import { gitIn } from '../../support/git.ts';
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
    keptFiles(project).every((name) => /^[0-9a-f]{40}-[0-9a-f]{16}$/.test(name)),
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

test('what is kept below the project is nothing that its formatter looks at', async (t) => {
  const project = testProject(t, null);
  const prettier = fileURLToPath(import.meta.resolve('prettier/bin/prettier.cjs'));
  const settings = { ...DEFAULT_QUALITY, ...commands({ tests: 'true', coverage: LCOV }) };
  const checked = { ...settings, commands: { ...settings.commands, lint: `node '${prettier}' --check .` } };
  const cacheDirectory = join(project.root, '.tool/cache/checks');
  const { run } = createChecks({ root: project.root, cacheDirectory, now: Date.now });
  for (const value of [1, 2]) {
    project.write('a.json', `{ "a": ${value} }\n`);
    const result = await run(checked, new AbortController().signal);
    assert.deepEqual(failures(result), [], checkOf(result, 'lint').reason);
    assert.equal(readdirSync(cacheDirectory).length, value);
  }
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
  assert.equal(checkOf(result, 'tests').reason, wordsOf(GATE_CODES.check_timed_out, { seconds: 2 }));
  assert.equal(checkOf(result, 'lint').reason, wordsOf(GATE_CODES.check_timed_out, { seconds: 2 }));
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
  const args = [PROGRAM, project.root, project.cacheDirectory, JSON.stringify(settings)];
  const start = () => execa(process.execPath, args, { env: { NODE_TEST_CONTEXT: undefined }, reject: false });
  const killed = start();
  await until(() => runs().length === 1);
  killed.kill('SIGKILL');
  await once(killed, 'exit');

  const child = start();
  await until(() => runs().length === 2);
  const here = createChecks({ root: project.root, cacheDirectory: project.cacheDirectory, now: Date.now });
  const waiting = here.run(settings, new AbortController().signal);
  writeFileSync(go ?? '', '');
  const { stdout: said } = await child;
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

/** What the lock of a repository's checks says, as of a process. */
function lockWords(pid: number | undefined, started: string | null): string {
  const since = new Date().toISOString();
  return JSON.stringify({
    pid,
    start_time: started,
    host: hostname(),
    namespace: '',
    since,
    workflow: 'checks',
    url: null,
  });
}

function lockOf({ root }: TestProject): string {
  mkdirSync(join(root, '.git', 'toolcrew'), { recursive: true });
  return join(root, '.git', 'toolcrew', 'checks.lock');
}

test('a holder that lives is waited for until half of the time is over, then nothing is measured', async (t) => {
  const { project, settings, runs } = counted(t);
  writeFileSync(lockOf(project), lockWords(process.pid, processStartTime(process.pid)));
  let time = 0;
  const asking = project.gate(settings, { now: () => (time += 60_000), patienceMs: 600_000 });
  await failsWith(asking, GATE_CODES.checks_busy, { holder: `process ${process.pid}`, seconds: 300 });
  assert.equal(runs(), 0);
  rmSync(lockOf(project));
  assert.equal((await project.gate(settings, { patienceMs: 600_000 })).ok, true);
});

test('where too little time is left after others, what does not end in it is measured another time', async (t) => {
  const project = testProject(t, null);
  const started = join(project.root, '..', 'started');
  const settings = commands({ tests: `touch ${started}; exec sleep 300`, coverage: LCOV });
  writeFileSync(lockOf(project), lockWords(process.pid, processStartTime(process.pid)));
  let looks = 0;
  const now = () => {
    looks += 1;
    if (looks === 4) rmSync(lockOf(project));
    return existsSync(started) ? 3_000 : 0;
  };
  const rejected = project.gate(settings, { now, patienceMs: 2_000 });
  await assert.rejects(rejected, (error) => isOf(GATE_CODES.checks_busy)(error) && /ran first\.$/.test(String(error)));
});

test('what would not end in the time that others left is not begun: whoever asks then has all the time', async (t) => {
  const { project, settings, runs } = counted(t);
  let at = 0;
  await project.gate(settings, { now: () => at + 300 * runs(), patienceMs: 500 });
  assert.equal(runs(), 1);
  writeFileSync(join(project.root, 'more.txt'), 'x');
  writeFileSync(lockOf(project), lockWords(process.pid, processStartTime(process.pid)));
  let looks = 0;
  const waiting = () => {
    looks += 1;
    if (looks === 4) {
      rmSync(lockOf(project));
      at = 240;
    }
    return at;
  };
  const late = project.gate(settings, { now: waiting, patienceMs: 500 });
  await assert.rejects(late, (error) => isOf(GATE_CODES.checks_busy)(error) && /ran first\.$/.test(String(error)));
  assert.equal(runs(), 1);
  assert.equal(existsSync(lockOf(project)), false, 'given back at once');
  assert.equal((await project.gate(settings, { now: () => at, patienceMs: 500 })).ok, true);
  assert.equal(runs(), 2);
});

test('what is measured in two worktrees of a repository is measured one after the other', async (t) => {
  const project = testProject(t, null);
  const busy = join(project.root, '..', 'busy');
  // Ends when it is alone for as long as the other one needs to come; what overlaps finds the directory there.
  const script = `mkdir ${busy} || exit 1; sleep 1; rmdir ${busy}; ${LCOV}`;
  const settings = { ...DEFAULT_QUALITY, ...commands({ tests: script, coverage: script }) };
  const git = gitIn(project.root);
  git('commit', '-q', '--allow-empty', '-m', 'Begin');
  const other = join(project.root, '..', 'other');
  git('worktree', 'add', '-q', other);
  writeFileSync(join(other, 'new.txt'), 'x');
  const measured = await Promise.all(
    [project.root, other].map(async (root, index) => {
      const cache = join(project.root, '..', `cache-${index}`);
      const words = [PROGRAM, root, cache, JSON.stringify(settings)];
      return JSON.parse((await execa(process.execPath, words, { env: { NODE_TEST_CONTEXT: undefined } })).stdout);
    }),
  );
  for (const result of measured) assert.deepEqual(failures(result), []);
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
