import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { ensurePrivateDirectory } from '../../../src/base/files/lock-directory.ts';
import { processStartTime } from '../../../src/base/processes/processes.ts';
import { FilePhaseLock } from '../../../src/team/log/phase-lock.ts';
import { scriptFile } from '../../support/compiled.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const PROJECT = '/a/project';
const TEAM = 'tool-run-spec-auth-001';

function phaseLock(place: string, patienceMs?: number, more: readonly string[] = []): FilePhaseLock {
  return new FilePhaseLock({
    project: PROJECT,
    directories: [place, ...more],
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
}

function lockOf(place: string): string {
  return join(place, `${createHash('sha256').update(`${PROJECT}\0${TEAM}`).digest('hex').slice(0, 32)}.lock`);
}

/** A process that runs this with the turn of `place`, and ends when its input does. */
function other(t: Cleanup, place: string, act: string): ChildProcess {
  const taker = scriptFile(`
    import { appendFileSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
    import { FilePhaseLock } from './src/team/log/phase-lock.ts';
    const place = process.argv[2];
    const lock = new FilePhaseLock({ project: '${PROJECT}', directories: [place], patienceMs: 600_000 });
    const take = (act) => lock.take('${TEAM}', act);
    const begun = new Promise((resolve) => process.stdin.once('data', resolve));
    const ended = new Promise((resolve) => process.stdin.once('end', resolve));
    writeSync(1, 'ready');
    ${act}
    process.exit();
  `);
  const child = spawn(process.execPath, [taker, place], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  finallyDo(t, () => child.kill('SIGKILL'));
  return child;
}

async function said(child: ChildProcess, words: string): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error(`it ended with ${text}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(words)) resolve();
    });
  });
}

const HOLDS = `await take(async () => { writeSync(1, 'holds'); await ended; });`;

test('while another process has the turn nothing is done, and who has it is told; its end gives it away', async (t) => {
  const place = join(tempDir(t), 'turns');
  const child = other(t, place, HOLDS);
  await said(child, 'holds');
  const mine = phaseLock(place, 0);
  const refused = await mine.take(TEAM, () => assert.fail('it is taken'));
  assert.deepEqual(refused, { ok: false, holder: `process ${child.pid}` });
  // Another team's is another turn.
  assert.deepEqual(await mine.take('tool-plan-x', () => Promise.resolve(1)), { ok: true, value: 1 });
  // As a host ends a hook that took too long.
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.deepEqual(await mine.take(TEAM, () => Promise.resolve(2)), { ok: true, value: 2 });
  assert.deepEqual(readdirSync(place), []);
});

test('whoever waits gets it when it is given back', async (t) => {
  const place = join(tempDir(t), 'turns');
  const child = other(t, place, HOLDS);
  await said(child, 'holds');
  const waiting = phaseLock(place, 600_000).take(TEAM, () => Promise.resolve('mine'));
  child.stdin?.end();
  assert.deepEqual(await waiting, { ok: true, value: 'mine' });
});

test('of many processes one at a time has it', async (t) => {
  const directory = tempDir(t);
  const place = join(directory, 'turns');
  const count = join(directory, 'count');
  writeFileSync(count, '0');
  const act = `
    await begun;
    for (let round = 0; round < 25; round++)
      await take(async () => {
        const before = Number(readFileSync('${count}', 'utf8'));
        await new Promise((resolve) => setImmediate(resolve));
        writeFileSync('${count}', String(before + 1));
      });`;
  const children = Array.from({ length: 4 }, () => other(t, place, act));
  await Promise.all(children.map((child) => said(child, 'ready')));
  const ends = children.map((child) => once(child, 'close'));
  for (const child of children) child.stdin?.write('go');
  assert.deepEqual(
    (await Promise.all(ends)).map(([code]) => code),
    [0, 0, 0, 0],
  );
  assert.equal(readFileSync(count, 'utf8'), '100');
  assert.deepEqual(readdirSync(place), []);
});

test('within a process as well one comes after the other, also where an act fails', async (t) => {
  const place = join(tempDir(t), 'turns');
  const order: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const first = phaseLock(place).take(TEAM, async () => {
    order.push('first');
    await opened;
    order.push('first is done');
    throw new Error('it fails');
  });
  const second = phaseLock(place, 600_000).take(TEAM, async () => order.push('second'));
  const third = await phaseLock(place, 0).take(TEAM, async () => order.push('third'));
  assert.deepEqual(third, { ok: false, holder: 'another call' });
  open();
  await assert.rejects(first, /it fails/);
  await second;
  assert.deepEqual(order, ['first', 'first is done', 'second']);
});

const HOLDER = {
  pid: process.pid,
  host: hostname(),
  namespace: '',
  start_time: processStartTime(process.pid),
  since: '2026-01-01T00:00:00.000Z',
  workflow: TEAM,
  url: null,
};

test('a lock of the dead is nobody’s: not one whose number is in use again, nor one that cannot be read', async (t) => {
  const place = join(tempDir(t), 'turns');
  assert.ok(ensurePrivateDirectory(place));
  for (const words of [
    JSON.stringify({ ...HOLDER, start_time: '1' }),
    JSON.stringify({ ...HOLDER, pid: 2 ** 22 + 1 }),
    '',
    '{',
  ]) {
    writeFileSync(lockOf(place), words);
    assert.deepEqual(await phaseLock(place, 0).take(TEAM, () => Promise.resolve(1)), { ok: true, value: 1 }, words);
  }
  // Its number says nothing here; its life signs do.
  writeFileSync(lockOf(place), JSON.stringify({ ...HOLDER, namespace: 'pid:[1]', start_time: '1' }));
  assert.equal((await phaseLock(place, 0).take(TEAM, () => Promise.resolve(1))).ok, false);
});

test('a process that has ended, and that nobody has asked about its end, holds nothing', async (t) => {
  const place = join(tempDir(t), 'turns');
  assert.ok(ensurePrivateDirectory(place));
  // The shell becomes a program that asks after none of its children.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  finallyDo(t, () => parent.kill('SIGKILL'));
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(chunk.toString());
  const lock = { ...HOLDER, pid, start_time: processStartTime(pid) };
  writeFileSync(lockOf(place), JSON.stringify(lock));
  assert.deepEqual(await phaseLock(place, 600_000).take(TEAM, () => Promise.resolve(1)), { ok: true, value: 1 });
});

test('where no lock can be made the next place is used; without any it is done all the same, one at a time', async (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'file'), '');
  const bad = join(directory, 'file', 'turns');
  const good = join(directory, 'good');
  const inside = await phaseLock(bad, 0, [good]).take(TEAM, () => Promise.resolve(readdirSync(good).length));
  assert.deepEqual(inside, { ok: true, value: 1 });
  const nested = await phaseLock(bad, 0).take(TEAM, () => phaseLock(bad, 0).take(TEAM, () => Promise.resolve(1)));
  assert.deepEqual(nested, { ok: true, value: { ok: false, holder: 'another call' } });
});

test('a place is this user’s own, and nobody else looks into it', (t) => {
  const directory = tempDir(t);
  const lax = join(directory, 'lax');
  mkdirSync(lax);
  chmodSync(lax, 0o777);
  assert.ok(ensurePrivateDirectory(lax));
  assert.equal(statSync(lax).mode & 0o777, 0o700);
  const link = join(directory, 'link');
  symlinkSync(lax, link);
  assert.equal(ensurePrivateDirectory(link), false);
});
