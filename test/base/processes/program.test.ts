import assert from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcessesOfRun, processesOfRun, processStartTime } from '../../../src/base/processes/processes.ts';
import { boundedOutput, runProgram, startAgentProgram, startProgram } from '../../../src/base/processes/program.ts';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { isOf } from '../../support/codes.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const env = { PATH: process.env.PATH ?? '' };

/** Waits until something is so; a test that waits in vain is ended by its runner. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(10);
}

function isAlive(pid: number): boolean {
  return processStartTime(pid) !== null && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

test('bytes on descriptor 3 are counted to the last, also those that come just before the end', async (t) => {
  const options = { cwd: tempDir(t), env, marks: true };
  for (const [script, count] of [
    ['exit 0', 0],
    ['echo >&3; exec sh -c "echo >&3" 3>&3', 2],
    ['echo >&3; kill -KILL $$', 1],
  ] as const)
    assert.equal((await runProgram('/bin/sh', ['-c', script], options)).marks, count, script);
});

test('output, exit code and signal of a program', async () => {
  const ok = await runProgram('/bin/sh', ['-c', 'cat; echo err >&2; exit 3'], { cwd: '/', env, input: 'in' });
  assert.deepEqual({ ...ok }, { exitCode: 3, signal: null, stdout: 'in', stderr: 'err\n', timedOut: false, marks: 0 });
  const killed = await runProgram('/bin/sh', ['-c', 'kill -9 $$'], { cwd: '/', env });
  assert.equal(killed.signal, 'SIGKILL');
});

test('nothing of this process’s environment is passed on', async () => {
  const { stdout } = await runProgram('/usr/bin/env', [], { cwd: '/', env: { ONLY: 'this' } });
  // Node itself hands the folder of its coverage counters on to every child.
  assert.equal(stdout.replace(/^NODE_V8_COVERAGE=.*\n/m, ''), 'ONLY=this\n');
});

for (const [maker, start] of [
  ['execa', startProgram],
  ['node', startAgentProgram],
] as const) {
  test(`a program that is not there is named, by ${maker}`, async () => {
    const cases = [
      ['/no/such/program', '/', 'there is no such program'],
      ['no-such-program', '/', 'there is no such program on the PATH; is it installed?'],
      ['/bin/sh', '/no/such/place', 'there is no directory /no/such/place'],
      ['/etc/passwd', '/', 'spawn /etc/passwd EACCES'],
    ] as const;
    for (const [program, cwd, said] of cases)
      await assert.rejects(start(program, [], { cwd, env }), isOf(BASE_CODES.program_not_started, { program, said }));
    // Each puts it in its own words.
    await assert.rejects(
      start('ls', ['a\0'], { cwd: '/', env }),
      isOf(BASE_CODES.program_not_started, { program: 'ls' }),
    );
  });

  test(`a program leads a group of its own, with the given environment alone, by ${maker}`, async () => {
    const script = 'ps -o pgid= -p $$; env | grep -c -v -e ^NODE_V8_COVERAGE= -e ^_= -e ^PWD= -e ^SHLVL=';
    const program = await start('/bin/sh', ['-c', script], { cwd: '/', env: { ...env, ONLY: 'this' } });
    program.stdin.end();
    const output = boundedOutput(program.stdout, 1000);
    assert.deepEqual(await program.exit, { exitCode: 0, signal: null });
    assert.deepEqual(output().trim().split(/\s+/), [String(program.pid), '2']);
  });
}

test('a secret is handed over on a pipe: no argument, no variable, no second reader', async () => {
  const { stdout } = await runProgram(
    '/bin/sh',
    ['-c', 'cat <&3; echo; tr "\\0" "\\n" </proc/self/environ; tr "\\0" " " </proc/self/cmdline; cat <&3'],
    { cwd: '/', env, secret: 'the-secret' },
  );
  assert.equal(stdout.match(/the-secret/g)?.length, 1);
});

test('at the time limit the whole group is ended, stubborn members too', async (t) => {
  const pids = join(tempDir(t), 'pids');
  const script = `trap '' TERM; (trap '' TERM; echo $$ >> ${pids}; while :; do sleep 0.05; done) & sh -c 'trap "" TERM; echo $$ >> ${pids}; while :; do sleep 0.05; done' & wait`;
  const result = await runProgram('/bin/sh', ['-c', script], { cwd: '/', env, timeoutMs: 300, graceMs: 200 });
  assert.equal(result.timedOut, true);
  assert.equal(result.signal, 'SIGKILL');
  const left = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  assert.ok(left.length >= 2);
  await until(() => left.every((pid) => !existsSync(`/proc/${pid}`) || !isAlive(pid)));
});

test('an abort ends a program that is reasonable with SIGTERM alone', async () => {
  const stop = new AbortController();
  const program = await startProgram(
    '/bin/sh',
    ['-c', 'trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.05; done'],
    { cwd: '/', env, signal: stop.signal, graceMs: 10_000 },
  );
  let said = '';
  program.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said === 'up\n') stop.abort();
  });
  assert.deepEqual(await program.exit, { exitCode: 5, signal: null });
  assert.equal(said, 'up\nbye\n');
  program.terminate();
});

test('what a program leaves in its group goes with it, and output held open by a runaway does not keep us waiting', async (t) => {
  const file = join(tempDir(t), 'pid');
  const run = `test-${process.pid}-${Date.now()}`;
  const result = await runProgram(
    '/bin/sh',
    [
      '-c',
      `sleep 300 & setsid sh -c 'echo $$ > ${file}; exec sleep 300' & while [ ! -s ${file} ]; do sleep 0.02; done; echo done`,
    ],
    { cwd: '/', env: { ...env, TOOL_RUN: run } },
  );
  assert.equal(result.stdout, 'done\n');
  const runaway = Number(readFileSync(file, 'utf8'));
  assert.deepEqual(processesOfRun(run), [runaway], 'the one that left the group is known by its mark');
  assert.equal(await endProcessesOfRun(run, 100), 1);
  assert.deepEqual(processesOfRun(run), []);
});

test('long output keeps its beginning and its end', async () => {
  const { stdout } = await runProgram('/bin/sh', ['-c', 'echo first; yes | head -c 300000; echo; echo last'], {
    cwd: '/',
    env,
    maxBytes: 4_000,
  });
  assert.match(stdout, /^first\n/);
  assert.match(stdout, /\nlast\n$/);
  assert.match(stdout, /\[\d+ bytes left out\]/);
  assert.ok(stdout.length < 80_000);
});

test('a program that reads nothing is no error', async () => {
  const { exitCode } = await runProgram('/bin/sh', ['-c', 'exit 0'], { cwd: '/', env, input: 'x'.repeat(1_000_000) });
  assert.equal(exitCode, 0);
});

test('when a process started tells it from another with its number', (t) => {
  const own = processStartTime(process.pid);
  assert.ok(own !== null);
  assert.equal(processStartTime(process.pid), own);
  assert.equal(processStartTime(2 ** 22 - 1), null);
  writeFileSync(join(tempDir(t), 'x'), '');
});

/** Starts a script in a session of its own, out of reach of signals to the group, and ends once it is there. */
function leaving(t: Cleanup, script: string): string {
  const there = join(tempDir(t), 'there');
  return `setsid sh -c 'touch ${there}; ${script}' & while [ ! -e ${there} ]; do :; done; exit 0`;
}

test('output that comes while this process is busy is read, however long that takes', async (t) => {
  const written = join(tempDir(t), 'written');
  const { emit } = ChildProcess.prototype;
  t.mock.method(ChildProcess.prototype, 'emit', function (this: ChildProcess, ...args: unknown[]) {
    const isHeard = Reflect.apply(emit, this, args);
    // The program has ended, and another process of its writes on.
    for (let left = 20; args[0] === 'exit' && left > 0 && !existsSync(written); left--)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 800);
    return isHeard;
  });
  const { stdout } = await runProgram('/bin/sh', ['-c', leaving(t, `sleep 0.2; echo late; touch ${written}`)], {
    ...{ cwd: '/', env },
  });
  assert.equal(stdout, 'late\n');
});

test('a program that ended in time is not late since what it left behind writes on', async (t) => {
  // The writer ends with its output.
  const writer = leaving(t, 'while echo x; do sleep 0.05; done');
  const { exitCode, timedOut, stdout } = await runProgram('/bin/sh', ['-c', writer], {
    ...{ cwd: '/', env },
    timeoutMs: 1_000,
  });
  assert.deepEqual([exitCode, timedOut], [0, false]);
  assert.match(stdout, /^(x\n)+$/);
});
