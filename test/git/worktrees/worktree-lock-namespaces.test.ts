import assert from 'node:assert/strict';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { Isolation } from '../../../src/agents/isolation.ts';
import { WorktreeLock } from '../../../src/git/worktrees/worktree-lock.ts';
import { programFile } from '../../support/compiled.ts';
import { tempDir } from '../../support/temp.ts';

const PROGRAM = programFile('lock-takers');
const TURNS = 50;
const isolation = await Isolation.probe('auto', { readOnly: [], hidden: [], tables: '/nowhere' });

test('processes that cannot see each other, of one number, take their turns one after the other', async (t) => {
  if (!isolation.active) t.diagnostic(`THE KERNEL GIVES NO NAMESPACES (${isolation.reason}): they see each other here`);
  const directory = tempDir(t);
  const [lock, place] = [join(directory, 'lock'), join(directory, 'turns')];
  await Promise.all(
    ['one', 'other'].map(async () => {
      const args = [PROGRAM, lock, place, String(TURNS)];
      const [file, all] = isolation.wrap(process.execPath, args, []);
      await execa(file, all);
    }),
  );
  const told = readFileSync(place, 'utf8').trim().split('\n');
  assert.equal(told.length, 4 * TURNS);
  told.forEach((line, index) => {
    assert.match(line, index % 2 === 0 ? /^begin \d+$/ : /^end$/);
  });
  assert.equal(new Set(told.filter((line) => line !== 'end')).size, isolation.active ? 1 : 2);
  assert.equal(existsSync(lock), false);
});

test('of a holder in another namespace that gives no sign any more the turn is taken', async (t) => {
  const lock = join(tempDir(t), 'lock');
  writeFileSync(lock, `${process.pid}\n1\nx\npid:[1]\n`);
  const long = new Date(Date.now() - 60_000);
  utimesSync(lock, long, long);
  assert.equal(await new WorktreeLock(lock).take(() => Promise.resolve('taken')), 'taken');
});
