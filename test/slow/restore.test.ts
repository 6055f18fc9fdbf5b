// A state directory restored from a copy that was made while the daemon worked.

import assert from 'node:assert/strict';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { Daemon } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';

/** All else can be made again: docs/operations.md. */
const COPIED = ['journal.jsonl', 'issues'];

/** Begins, and does its work once a file says so. */
const agentWaiting = (directory: string) => `cat > /dev/null
touch ${directory}/started
until [ -e ${directory}/enough ]; do sleep 0.1; done
echo done > work.txt; git add work.txt; git commit -qm "Do the work"`;

test('a daemon with an older copy of journal and outputs alone repeats no pull request', async (t) => {
  const forge = await startForge(t);
  const first = await forge.open('At work when the copy is made');
  const daemon = await Daemon.create(t, forge);
  daemon.write(agentRunning(agentWaiting(daemon.directory)));
  daemon.start();
  await daemon.until('the agent at work', () => existsSync(join(daemon.directory, 'started')));
  const copy = join(daemon.directory, 'copy');
  for (const name of COPIED) cpSync(join(daemon.stateDir, name), join(copy, name), { recursive: true });
  writeFileSync(join(daemon.directory, 'enough'), '');
  const second = await forge.open('Done after the copy');
  // The done label goes on before the active one comes off: a daemon that is ended in between has work left.
  const done = (issue: number) => async () => (await forge.labelsOf(issue)).join() === 'tool-done';
  await daemon.until('both are done', async () => (await done(first)()) && (await done(second)()));
  await daemon.kill();
  const pulls = (await forge.pulls()).length;

  for (const path of [daemon.stateDir, daemon.root]) rmSync(path, { recursive: true });
  cpSync(copy, daemon.stateDir, { recursive: true });
  daemon.start();
  const third = await forge.open('Opened after the restore');
  await daemon.until('the third is done', done(third));
  assert.equal(pulls, 2);
  assert.equal((await forge.pulls()).length, 3, daemon.log);
  for (const issue of [first, second]) assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
});
