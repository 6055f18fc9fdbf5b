import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { isBelowHost } from '../../src/adapters/host-above.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

/** A shell that waits, and the process that it has started. */
async function family(t: Cleanup, shell: string, env: Record<string, string>): Promise<number> {
  const child: ChildProcess = spawn(shell, ['-c', "env -i /bin/sh -c 'echo $$; read -r line'; :"], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  finallyDo(t, () => child.stdin?.end());
  assert.ok(child.stdout !== null);
  const [line] = await once(child.stdout, 'data');
  return Number(String(line));
}

test('a host is known by the environment of what it runs, and by its name', async (t) => {
  const path = process.env.PATH ?? '';
  assert.equal(isBelowHost(await family(t, '/bin/sh', { PATH: path, CLAUDECODE: '1' })), true);
  const claude = join(tempDir(t), 'claude');
  copyFileSync('/bin/sh', claude);
  assert.equal(isBelowHost(await family(t, claude, { PATH: path })), true);
});

test('a shell of a person has none above it', async (t) => {
  const path = process.env.PATH ?? '';
  assert.equal(isBelowHost(0), false);
  const pid = await family(t, '/bin/sh', { PATH: path, NO_CLAUDECODE: '1' });
  assert.equal(isBelowHost(pid), isBelowHost(), 'the shell itself is no sign');
});
