import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
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

/** The same for every release: they hold one lock. */
const LOCK_NAME = `${createHash('sha256').update(`${PROJECT}\0${TEAM}`).digest('hex').slice(0, 32)}.lock`;

/** A process that holds the lock in `place` until its input ends. */
async function holder(t: Cleanup, place: string) {
  const file = scriptFile(`
    import { writeSync } from 'node:fs';
    import { FilePhaseLock } from './src/team/log/phase-lock.ts';
    const lock = new FilePhaseLock({ project: '${PROJECT}', directories: [process.argv[2]] });
    const ended = new Promise((resolve) => process.stdin.resume().once('end', resolve));
    await lock.take('${TEAM}', async () => {
      writeSync(1, 'holds');
      await ended;
    });
    process.exit();
  `);
  const child = execa(process.execPath, [file, place], { buffer: false, reject: false });
  finallyDo(t, () => child.kill('SIGKILL'));
  const [words] = (await once(child.stdout, 'data')) as [Buffer];
  assert.equal(words.toString(), 'holds');
  // Bare, it would be waited for to its end.
  return { child };
}

test('while another process has the turn nothing is done, and who has it is told; its end gives it away', async (t) => {
  const place = join(tempDir(t), 'turns');
  const { child } = await holder(t, place);
  const mine = phaseLock(place, 0);
  const refused = await mine.take(TEAM, () => assert.fail('it is taken'));
  assert.deepEqual(refused, { ok: false, holder: `process ${child.pid}` });
  assert.deepEqual(readdirSync(place), [LOCK_NAME]);
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
  const { child } = await holder(t, place);
  const waiting = phaseLock(place, 600_000).take(TEAM, () => Promise.resolve('mine'));
  child.stdin?.end();
  assert.deepEqual(await waiting, { ok: true, value: 'mine' });
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
