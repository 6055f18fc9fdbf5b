// The built daemon stopped by SIGSTOP, as a machine that sleeps stops it, while its agent goes on.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { Daemon } from '../support/daemon.ts';
import { startForge } from '../support/forge.ts';
import { finallyDo } from '../support/temp.ts';

const STALL_MS = 6_000;

/** Prints and counts until a file says that it is enough, then does its work. */
const agentCounting = (directory: string) => `cat > /dev/null
n=0
until [ -e ${directory}/enough ]; do
  n=$((n + 1)); echo "step $n"; echo "$n" > ${directory}/count.new; mv ${directory}/count.new ${directory}/count; sleep 0.1
done
echo done > work.txt; git add work.txt; git commit -qm "Do the work"`;

test('an agent that goes on while the daemon is stopped is not called stalled', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('Takes its time');
  const daemon = await Daemon.create(t, forge);
  daemon.write(
    `${agentRunning(agentCounting(daemon.directory), `stall_timeout_ms: ${STALL_MS}`)}\nagent: { max_attempts: 1 }`,
  );
  const count = () => {
    const path = join(daemon.directory, 'count');
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  };
  daemon.start();
  await daemon.until('the agent at work', () => count() > 5);

  // A stopped process hears no SIGTERM.
  finallyDo(t, () => {
    if (!daemon.ended) process.kill(daemon.pid, 'SIGCONT');
  });
  process.kill(daemon.pid, 'SIGSTOP');
  const stoppedAt = performance.now();
  const from = count();
  await daemon.until(
    'more than the limit is over, and the agent went on',
    () => performance.now() - stoppedAt > STALL_MS + 1_000 && count() > from + 5,
  );
  process.kill(daemon.pid, 'SIGCONT');
  const continued = count();
  await daemon.until('the agent goes on', () => count() > continued + 5);
  writeFileSync(join(daemon.directory, 'enough'), '');
  await daemon.logged('state changed to tool-done');

  assert.doesNotMatch(daemon.log, /stall_timeout_ms|attempt 2/);
  assert.equal((await forge.pulls()).length, 1, daemon.log);
  assert.deepEqual(await forge.labelsOf(issue), ['tool-done']);
});
