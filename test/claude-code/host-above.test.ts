import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { isBelowHost, isDetached, isNestedHost, teammateAbove } from '../../src/claude-code/host-above.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

/** A shell that waits, and the process that it has started. */
async function family(t: Cleanup, shell: string, env: Record<string, string>, cwd?: string): Promise<number> {
  const options = { env, extendEnv: false, reject: false, ...(cwd === undefined ? {} : { cwd }) } as const;
  const child = execa(shell, ['-c', "env -i /bin/sh -c 'echo $$; read -r line'; :"], options);
  finallyDo(t, () => child.stdin.end());
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

test('a host counts for the project that it works in', async (t) => {
  const [here, there] = [realpathSync(tempDir(t)), realpathSync(tempDir(t))];
  const pid = await family(t, '/bin/sh', { PATH: process.env.PATH ?? '', CLAUDECODE: '1' }, here);
  assert.deepEqual(
    [isBelowHost(pid, here), isBelowHost(pid, dirname(here)), isBelowHost(pid, there)],
    [true, true, false],
  );
});

test('a host that another one in the project has started is told from one that a person has', async (t) => {
  const here = realpathSync(tempDir(t));
  const claude = join(tempDir(t), 'claude');
  copyFileSync('/bin/sh', claude);
  const own = await family(t, claude, { PATH: process.env.PATH ?? '' }, here);
  assert.equal(isNestedHost(here, own), false);
  const words = ['-c', `'${claude}' -c 'echo $$; read -r line; :'; :`];
  const child = execa(claude, words, { cwd: here, reject: false });
  finallyDo(t, () => child.stdin.end());
  const [line] = await once(child.stdout, 'data');
  const nested = Number(String(line));
  assert.equal(isNestedHost(here, nested), true);
  assert.equal(isNestedHost(join(here, 'elsewhere'), nested), false);
});

test('a teammate is known by the program above, whatever it calls itself', async (t) => {
  const here = realpathSync(tempDir(t));
  const env = {
    PATH: process.env.PATH ?? '',
    TOOL_TEAM: 'tool-run-spec-a-001',
    TOOL_TEAMMATE: 'tester',
    TOOL_TEAMMATE_RUN: '2',
  };
  const pid = await family(t, '/bin/sh', env, here);
  assert.deepEqual(teammateAbove(here, pid), { team: 'tool-run-spec-a-001', teammate: 'tester', epoch: 2 });
  assert.equal(teammateAbove(join(here, 'elsewhere'), pid), undefined, 'of another project');
});

test('what its parents have let go of, without a terminal, is nobody', async (t) => {
  const kept = execa({ reject: false })`/bin/sh -c ${'read -r line; :'}`;
  finallyDo(t, () => kept.stdin.end());
  assert.equal(isDetached(kept.pid, /./), isDetached(process.pid, /./), 'as this process itself');
  const loose = execa({ reject: false })`setsid --fork /bin/sh -c ${'echo $$; read -r line; :'}`;
  finallyDo(t, () => loose.stdin.end());
  const [line] = await once(loose.stdout, 'data');
  if (loose.exitCode === null) await once(loose, 'exit');
  assert.equal(isDetached(Number(String(line)), /./), true);
  assert.equal(isDetached(Number(String(line)), /^no such init$/), false);
});

test('a shell of a person has none above it', async (t) => {
  const path = process.env.PATH ?? '';
  assert.equal(isBelowHost(0), false);
  const pid = await family(t, '/bin/sh', { PATH: path, NO_CLAUDECODE: '1' });
  assert.equal(isBelowHost(pid), isBelowHost(), 'the shell itself is no sign');
});
