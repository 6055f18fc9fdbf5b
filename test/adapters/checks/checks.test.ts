import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { processStartTime } from '../../../src/adapters/processes.ts';
import { DEFAULT_QUALITY, type QualitySettings, rejection } from '../../../src/domain/quality.ts';
import { checkOf, failures, prints, type TestProject, testProject } from '../../support/checks.ts';
import type { Cleanup } from '../../support/temp.ts';

const NONE = DEFAULT_QUALITY.commands;
const LCOV = "printf 'TN:\\nSF:a.js\\nDA:1,1\\nend_of_record\\n' > lcov.info";

function commands(given: Partial<QualitySettings['commands']>): Pick<QualitySettings, 'commands'> {
  return { commands: { ...NONE, ...given } };
}

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
  assert.equal((await project.gate({ commands: { ...NONE, ...settings.commands, lint } })).ok, true);
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
    writeFileSync(kept.replace('.json', '.lock'), lock);
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
  writeFileSync(join(project.cacheDirectory, name.replace('.json', '.lock')), lock);
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

test('a report older than the run does not count; one that is written does, wherever it is asked for', async (t) => {
  const project = testProject(t, null);
  project.write('coverage/lcov.info', 'TN:\nSF:a.js\nDA:1,1\nend_of_record\n');
  const stale = await project.gate(commands({ tests: 'true', coverage: 'true' }));
  assert.equal(
    checkOf(stale, 'coverage').reason,
    'not measured: coverage/lcov.info is older than this run of the tests and does not count',
  );
  // Written anew with the same words, and a time in the past.
  const again = `cp coverage/lcov.info x; cp x coverage/lcov.info; touch -d 2001-01-01 coverage/lcov.info; rm x`;
  utimesSync(join(project.root, 'coverage/lcov.info'), 1, 1);
  assert.equal((await project.gate(commands({ tests: again, coverage: again }))).ok, true);

  const settings = { ...commands({ tests: 'true', coverage: LCOV }), coverageReport: 'build/report' };
  assert.equal(
    checkOf(await project.gate(settings), 'coverage').reason,
    'not measured: no coverage report was written to build/report',
  );
  const asked = {
    ...commands({ tests: 'true', coverage: `${LCOV}; mkdir -p build; mv lcov.info build/report` }),
    coverageReport: 'build/report',
  };
  assert.equal((await project.gate(asked)).ok, true);
});

test('tests that leave a report by themselves are not run again for it', async (t) => {
  const project = testProject(t, null);
  project.write('package.json', '{"scripts":{"test":"sh test.sh","coverage":"sh coverage.sh"}}');
  project.write('test.sh', LCOV);
  const result = await project.gate();
  assert.equal(result.ok, true, JSON.stringify(result.checks));
  assert.deepEqual(
    [checkOf(result, 'coverage').command, project.said().includes('npm run coverage')],
    ['npm test', false],
  );
});

test('reports that cannot be read, or name nothing of the project, fail with what is wrong', async (t) => {
  const project = testProject(t, null);
  for (const [text, reason] of [
    ['hello', /lcov\.info cannot be read as a coverage report: expected lines that begin with TN: or SF:$/],
    ['<coverage', /lcov\.info cannot be read as a coverage report: /],
    ['<report/>', /expected <coverage>, got <report>$/],
    ['<coverage><project><file name="a"/></project></coverage>', /Clover/],
    ['{"a.js":1}', /expected lines\.covered and lines\.total at a\.js$/],
    ['TN:\n', /lcov\.info names no line of the project$/],
    ['SF:/elsewhere/a.js\nDA:1,1\nend_of_record\n', /lcov\.info names no line of the project$/],
  ] as const) {
    project.write('report', text);
    const result = await project.gate(commands({ tests: 'true', coverage: 'cat report > lcov.info' }));
    assert.match(checkOf(result, 'coverage').reason, reason);
    assert.equal(checkOf(result, 'coverage').outcome, 'failed');
  }
});

test('a coverage command with a threshold of its own fails the coverage, not the tests', async (t) => {
  const project = testProject(t, null);
  const script = `${LCOV}; printf '# pass 3\\n# fail 0\\n# cancelled 0\\n'; echo 'threshold not met'; exit 1`;
  const result = await project.gate(commands({ tests: script, coverage: script }));
  assert.deepEqual(failures(result), ['coverage']);
  assert.match(checkOf(result, 'coverage').reason, /ended with 1 although the tests pass; the tests reach 100 %/);
});

test('tests that fail without a name are shown with their last lines', async (t) => {
  const project = testProject(t, null);
  const result = await project.gate(commands({ tests: 'echo one; echo two; exit 3', coverage: LCOV }));
  assert.equal(checkOf(result, 'tests').reason, 'echo one; echo two; exit 3 ended with 3: two');
  assert.deepEqual(checkOf(result, 'tests').details, ['one', 'two']);
});

test('a project that is none fails tests and coverage with the reason, and says what to give', async (t) => {
  const result = await testProject(t, null).gate();
  assert.deepEqual(failures(result), ['tests', 'coverage']);
  assert.match(
    checkOf(result, 'tests').reason,
    /^the project has no package\.json, go\.mod, pyproject\.toml or Cargo\.toml/,
  );
  assert.equal(checkOf(result, 'performance').reason, 'quality.performance names no command with a budget');
  assert.match(rejection(result, DEFAULT_QUALITY), /tests: the project has no package\.json/);
});

test('findings of an audit are named, the worst first; one that broke off has none and fails', async (t) => {
  const project = testProject(t, null);
  const good = { tests: 'true', coverage: LCOV };
  project.write(
    'audit.json',
    JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: { a: { name: 'a', severity: 'low' }, b: { name: 'b', severity: 'critical' } },
    }),
  );
  const found = await project.gate(commands({ ...good, security: 'cat audit.json; exit 1' }));
  assert.deepEqual(checkOf(found, 'security').details, ['critical: b', 'low: a']);
  project.write('audit.json', JSON.stringify({ auditReportVersion: 2, vulnerabilities: {} }));
  const broken = await project.gate(commands({ ...good, security: 'cat audit.json; exit 1' }));
  assert.match(checkOf(broken, 'security').reason, /ended with 1 without a finding that can be read$/);
});

test('performance: each command within its budget, by the clock that is given; one that fails, or never ends, is over', async (t) => {
  const project = testProject(t, null);
  const good = commands({ tests: 'true', coverage: LCOV });
  const performance = [
    { name: 'broken', command: 'echo why; exit 2', budgetMs: 60_000 },
    { name: 'endless', command: 'exec sleep 300', budgetMs: 1 },
    { name: 'missing', command: 'no-such-program', budgetMs: 60_000 },
    { name: 'quick', command: 'true', budgetMs: 60_000 },
  ];
  const { details } = checkOf(await project.gate({ ...good, performance }), 'performance');
  assert.equal(details[0], 'broken: echo why; exit 2 ended with 2: why');
  assert.match(details[1] ?? '', /^endless: ended after \d+ ms, budget 1 ms$/);
  assert.match(details[2] ?? '', /^missing: cannot be run: .*no-such-program/);
  assert.equal(details.length, 3);

  let time = 0;
  const now = () => (time += 10);
  const clocked = await project.gate(
    { ...good, performance: [{ name: 'quick', command: 'true', budgetMs: 9 }] },
    { now },
  );
  assert.deepEqual(checkOf(clocked, 'performance').details, ['quick: 10 ms, budget 9 ms']);
});

test('two projects in one root: all tests run, coverage is of both', async (t) => {
  const project = testProject(t, 'go');
  project.program(
    'go',
    `${'for word; do case "$word" in -coverprofile=*)'} printf 'mode: set\\nexample.com/greeter/a.go:1.1,2.2 3 0\\n' > "\${word#*=}";; esac; done; ${prints('go-test-pass.txt', 0)}`,
  );
  project.write('package.json', JSON.stringify({ scripts: { test: LCOV } }));
  const result = await project.gate();
  assert.equal(result.coverage, 25);
  assert.deepEqual(result.uncoveredFiles, ['a.go']);
  assert.equal(checkOf(result, 'tests').outcome, 'passed');
  assert.match(checkOf(result, 'tests').command ?? '', /npm test && go test -cover \.\/\.\.\./);
});

test('what commands print is handed on', async (t) => {
  const project = testProject(t, null);
  await project.gate(commands({ tests: 'echo hello', coverage: LCOV }));
  assert.match(project.said(), /^\$ echo hello\nhello\n/);
});
