// Atomic creation of whole files under a new name, with and without hard links.

import assert from 'node:assert/strict';
import fs, { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { execa } from 'execa';
import { linkExclusive, renameExclusive } from '../../../src/base/files/create-exclusive.ts';
import { LockTaken, ProcessLock } from '../../../src/base/files/process-lock.ts';
import { readCallerSignature, signCaller } from '../../../src/claude-code/older/caller-signature.ts';
import { FileJournal } from '../../../src/daemon/journal/journal.ts';
import { acquireCheckLock } from '../../../src/gate/run/check-lock.ts';
import { WorktreeLock } from '../../../src/git/worktrees/worktree-lock.ts';
import { FileTeamLog } from '../../../src/team/log/team-log.ts';
import { HookedProject, TEAM } from '../../support/hooked.ts';
import { rec } from '../../support/team.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

/** Error codes of `link` on file systems without hard links; null: hard links work. */
const ANSWERS = [null, 'EPERM', 'ENOTSUP'];

function answering(t: TestContext, code: string | null): void {
  if (code === null) return;
  t.mock.method(fs, 'linkSync', () => {
    throw Object.assign(new Error(`${code}: link`), { code });
  });
  syncBuiltinESMExports();
  finallyDo(t, () => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

const isTaken = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EEXIST';

for (const code of ANSWERS) {
  const where = code === null ? 'with links' : `without links (${code})`;

  test(`${where}: a name is given once, and nothing is left beside it`, (t) => {
    answering(t, code);
    const directory = tempDir(t);
    const path = (name: string) => join(directory, name);
    for (const name of ['one', 'other', 'third']) writeFileSync(path(name), name);
    renameExclusive(path('one'), path('named'));
    assert.throws(() => renameExclusive(path('other'), path('named')), isTaken);
    assert.throws(() => linkExclusive(path('other'), path('named')), isTaken);
    linkExclusive(path('other'), path('also'));
    assert.throws(() => linkExclusive(path('third'), path('also')), isTaken);
    assert.deepEqual(readdirSync(directory), ['also', 'named', 'other', 'third']);
    assert.equal(readFileSync(path('named'), 'utf8'), 'one');
    assert.equal(readFileSync(path('also'), 'utf8'), 'other');
    assert.throws(() => renameExclusive(path('one'), path('new')), /ENOENT/);
    assert.ok(!existsSync(path('new')));
  });

  test(`${where}: logs, keys and locks are made`, async (t) => {
    answering(t, code);
    const directory = tempDir(t);
    const log = new FileTeamLog({ directory, now: () => 1, maxBytes: 1 });
    for (const record of [rec('created'), rec('task_created'), rec('task_created')])
      assert.equal((await log.append(record)).refusal, null);
    assert.equal(log.state.tasks.size, 2);
    await log.close();
    const files = readdirSync(directory);
    assert.ok(files.length > 1 && files.every((file) => /^log(\.\d+)?\.jsonl$/.test(file)), files.join());

    const caller = { session: 's', agentId: 'a', agentType: 'team-tester', toolUseId: null };
    const keys = join(tempDir(t), 'keys');
    assert.deepEqual(readCallerSignature(keys, signCaller(keys, caller)), caller);
    assert.deepEqual(readdirSync(keys), ['caller-signature.key']);

    const places = tempDir(t);
    const dead = { pid: 2 ** 22, host: 'x', namespace: '', start_time: null, since: 'x', workflow: 'x', url: null };
    for (const before of [null, '', JSON.stringify(dead)]) {
      const path = join(places, 'held');
      if (before !== null) writeFileSync(path, before);
      if (before !== null) fs.utimesSync(path, 0, 0);
      const take = () => ProcessLock.tryTake({ path, workflow: 'x' });
      const lock = take();
      assert.ok(lock instanceof ProcessLock);
      const second = take();
      assert.ok(second instanceof LockTaken && second.holder?.pid === process.pid);
      lock.release();
      assert.deepEqual(readdirSync(places), []);
    }
    assert.equal(await new WorktreeLock(join(places, 'turn')).take(() => Promise.resolve('taken')), 'taken');
    const measuring = { path: join(places, 'checks'), now: () => 0, giveUpAt: 1, signal: t.signal };
    const checks = await acquireCheckLock(measuring, () => false);
    assert.equal(checks?.hasWaited, false);
    checks.release(null);
    assert.deepEqual(readdirSync(places), []);
  });

  test(`${where}: a journal that has grown goes on in a new file beside the old one`, async (t) => {
    answering(t, code);
    const directory = tempDir(t);
    const journal = new FileJournal({ directory, now: () => 1, maxBytes: 1 });
    finallyDo(t, () => journal.close());
    await journal.append({ type: 'finished', issue: 1, outcome: 'closed', updated_at: 'x' });
    assert.deepEqual(readdirSync(directory).sort(), ['journal.1.jsonl', 'journal.jsonl']);
  });
}

test('a turn whose owner died is taken over, one that changes hands is waited for', (t) => {
  answering(t, 'EPERM');
  const directory = tempDir(t);
  const [draft, path] = [join(directory, 'draft'), join(directory, 'named')];
  writeFileSync(draft, 'whole');
  writeFileSync(`${path}.turn`, 'of 1');
  let calls = 0;
  t.mock.method(performance, 'now', () => {
    calls += 1;
    // The turn changes its owner every second.
    if (calls < 10) writeFileSync(`${path}.turn`, `of ${calls}`);
    return calls * 1000;
  });
  renameExclusive(draft, path);
  assert.ok(calls > 10, `${calls}`);
  assert.deepEqual(readdirSync(directory), ['named']);
});

test('a turn of who lives is waited for however long it takes; one that was lost meanwhile is taken anew', (t) => {
  answering(t, 'EPERM');
  const directory = tempDir(t);
  const [draft, path] = [join(directory, 'draft'), join(directory, 'named')];
  const turn = `${path}.turn`;
  writeFileSync(draft, 'whole');
  let now = 0;
  t.mock.method(performance, 'now', () => {
    now += 60_000;
    return now;
  });
  let looks = 0;
  let held = '';
  const { wait } = Atomics;
  t.mock.method(Atomics, 'wait', (...args: Parameters<typeof wait>) => {
    looks += 1;
    assert.equal(readFileSync(turn, 'utf8'), held, 'it is left to who has it');
    if (looks === 5) fs.rmSync(turn);
    return wait(...args);
  });
  const { existsSync: exists } = fs;
  let entered = 0;
  t.mock.method(fs, 'existsSync', (file: string) => {
    if (file !== path) return exists(file);
    entered += 1;
    // During the first turn, another process of this machine takes it over and holds it for minutes.
    if (entered === 1) {
      held = `${readFileSync(turn, 'utf8')}, another`;
      writeFileSync(turn, held);
    }
    return exists(file);
  });
  syncBuiltinESMExports();
  renameExclusive(draft, path);
  assert.deepEqual([looks, entered], [5, 2]);
  assert.deepEqual(readdirSync(directory), ['named']);
});

test('without links one of many founds a team, and all read the same', async (t) => {
  const project = new HookedProject(t);
  const preload = join(process.cwd(), 'test', 'support', 'programs', 'no-links.cjs');
  const args = ['--require', preload, join(process.cwd(), 'dist', 'cli.js'), 'team', 'create', TEAM];
  const options = { cwd: project.root, env: project.env, extendEnv: false, reject: false };
  const create = async () => (await execa(process.execPath, args, options)).exitCode;
  const codes = await Promise.all(Array.from({ length: 6 }, create));
  assert.deepEqual(codes.sort(), [0, 1, 1, 1, 1, 1]);
  assert.equal(project.state().session, 'created');
  assert.deepEqual(readdirSync(join(project.root, '.tool', 'teams', TEAM)), ['log.jsonl']);
});
