import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { processStartTime } from '../../../src/base/processes/processes.ts';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { readStateDirHolder, StateDir } from '../../../src/daemon/journal/state-dir.ts';
import { CONFIG_CODES } from '../../../src/daemon/rules/codes/config-codes.ts';
import { isOf, isRefusal } from '../../support/codes.ts';
import { scriptFile } from '../../support/compiled.ts';
import { tempDir } from '../../support/temp.ts';

const HOLDER = {
  pid: process.pid,
  host: hostname(),
  start_time: processStartTime(process.pid),
  since: '2026-01-01T00:00:00.000Z',
  workflow: '/W',
  url: 'http://localhost:8888',
};

function refusal(directory: string): Refusal | null {
  try {
    new StateDir(directory, '/W2').release();
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'state_in_use');
    return error.refusal;
  }
  return null;
}

test('a second daemon is refused and told who holds the directory', (t) => {
  const directory = join(tempDir(t), 'state');
  const first = new StateDir(directory, '/project/WORKFLOW.md');
  first.announce('http://localhost:8888');
  isRefusal(refusal(directory), CONFIG_CODES.state_in_use, {
    directory,
    holder: `process ${process.pid}`,
    workflow: '/project/WORKFLOW.md',
    page: 'http://localhost:8888',
  });
  assert.equal(readStateDirHolder(directory)?.url, 'http://localhost:8888');
  first.release();
  first.release();
  assert.equal(readStateDirHolder(directory), undefined);
  const second = new StateDir(directory, '/W');
  second.release();
  assert.equal(existsSync(join(directory, 'lock')), false);
});

test('the lock of a dead process is taken over, also when its number is in use again', async (t) => {
  const directory = tempDir(t);
  const child = spawn('/bin/true');
  await new Promise((resolve) => child.once('exit', resolve));
  for (const dead of [
    { ...HOLDER, pid: child.pid },
    { ...HOLDER, start_time: '1' },
    { ...HOLDER, pid: 'x' },
  ]) {
    writeFileSync(join(directory, 'lock'), JSON.stringify(dead));
    assert.equal(refusal(directory), null);
  }
  writeFileSync(join(directory, 'lock'), 'garbage');
  assert.equal(refusal(directory), null);
});

test('the lock of another machine holds while it is touched', (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'lock');
  writeFileSync(path, JSON.stringify({ ...HOLDER, host: 'elsewhere', pid: 1 }));
  isRefusal(refusal(directory), CONFIG_CODES.state_in_use, { holder: 'process 1 on elsewhere' });
  const old = new Date(Date.now() - 120_000);
  utimesSync(path, old, old);
  assert.equal(refusal(directory), null);
});

test('of many that start at once on a dead lock, one gets it', async (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'lock'), JSON.stringify({ ...HOLDER, start_time: '1' }));
  const holder = scriptFile(`
    import { StateDir } from './src/daemon/journal/state-dir.ts';
    import { writeSync } from 'node:fs';
    let won = true;
    try { new StateDir(process.argv[2], '/W'); } catch { won = false; }
    writeSync(1, won ? 'won' : 'lost');
    process.stdin.resume();
    process.stdin.once('end', () => process.exit());
  `);
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, [holder, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const said = await Promise.all(
    children.map(
      (child) =>
        new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()))),
    ),
  );
  for (const child of children) child.stdin.end();
  await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
  assert.deepEqual(said.sort(), ['lost', 'lost', 'lost', 'lost', 'lost', 'won']);
});

test('a directory that cannot be made or written to is said by its key', (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'file'), '');
  assert.throws(
    () => new StateDir(join(directory, 'file', 'state'), '/W'),
    isOf(CONFIG_CODES.state_dir_unwritable, { directory: join(directory, 'file', 'state') }),
  );
  assert.equal(readFileSync(join(directory, 'file'), 'utf8'), '');
});
