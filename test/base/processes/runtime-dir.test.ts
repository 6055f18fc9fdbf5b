import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { closeAll } from '../../../src/base/close-all.ts';
import { endProcessesOfRun, processesOfRun, RUN_VARIABLE } from '../../../src/base/processes/processes.ts';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { BASE_CODES } from '../../../src/base/rules/base-codes.ts';
import { errorCode } from '../../../src/base/rules/errors.ts';
import { isOf } from '../../support/codes.ts';
import { finallyDo } from '../../support/temp.ts';

test('a runtime directory that a cleaner took away is made again, for this user alone', async (t) => {
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  rmSync(runtime.path, { recursive: true });
  const path = runtime.make('a');
  assert.ok(existsSync(path));
  assert.equal(statSync(runtime.path).mode & 0o777, 0o700);
  rmSync(runtime.path, { recursive: true });
  writeFileSync(runtime.path, 'in the way');
  assert.throws(
    () => runtime.make('a'),
    (error) =>
      /^(?:EEXIST|ENOTDIR)$/.test(String(errorCode(error))) ||
      isOf(BASE_CODES.runtime_directory_foreign, { path: runtime.path })(error),
  );
  rmSync(runtime.path);
});

test('what is removed is out of the way at once and gone at the end, whatever is in it', async () => {
  const runtime = new RuntimeDir();
  const path = runtime.make('a');
  writeFileSync(join(path, 'file'), 'x');
  const other = runtime.make('a');
  assert.deepEqual(readdirSync(other), [], 'one of the same name is another one');
  assert.deepEqual(readdirSync(path), ['file'], 'and leaves the first as it is');
  runtime.remove(path);
  runtime.remove(path);
  assert.equal(existsSync(path), false);
  assert.ok(existsSync(other));
  await runtime.close();
  assert.equal(existsSync(runtime.path), false);
});

test('what a dead daemon left is removed at the next start', async () => {
  const child = execa`/bin/true`;
  await child;
  const left = join(tmpdir(), `toolcrew-${child.pid}-left`);
  mkdirSync(join(left, 'deep'), { recursive: true });
  const runtime = new RuntimeDir();
  await runtime.close();
  assert.equal(existsSync(left), false);
});

test('a process that cannot be ended is given up, looked for ever less often', async () => {
  let looks = 0;
  const find = () => {
    looks += 1;
    return [2 ** 30];
  };
  const began = Date.now();
  assert.equal(await endProcessesOfRun('nothing', 50, { giveUpMs: 1_000, find }), 0);
  assert.ok(Date.now() - began < 10_000);
  assert.ok(looks <= 12, `${looks} looks`);
});

test('a process that ignores SIGTERM is killed', async (t) => {
  const run = `test.${process.pid}`;
  const script = 'trap "" TERM; echo up; while :; do sleep 1; done';
  const child = execa({ env: { [RUN_VARIABLE]: run }, reject: false })`/bin/sh -c ${script}`;
  finallyDo(t, () => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.ok((await endProcessesOfRun(run, 100)) >= 1);
  assert.deepEqual(processesOfRun(run), []);
});

test('one that fails to close keeps no other from closing', async () => {
  const closed: string[] = [];
  const closers = [
    () => {
      throw new Error('the first');
    },
    async () => {
      throw new Error('the second');
    },
    () => {
      closed.push('the lock');
    },
  ];
  await assert.rejects(closeAll(closers), /the first/);
  assert.deepEqual(closed, ['the lock']);
});
