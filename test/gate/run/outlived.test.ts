// Processes of a measurement end when the measuring process is killed.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { type Commands, checkEnvironment, createCommands } from '../../../src/gate/run/command.ts';
import { programFile } from '../../support/compiled.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';
import { within } from '../../support/within.ts';

const PROGRAM = programFile('measuring');

/** Starts a measurement with that script, calls `before` with its process group, then kills the measuring process. */
async function outlived(t: Cleanup, first: string, before: (group: number) => void): Promise<void> {
  const root = tempDir(t);
  // A killed process does not remove its temporary files.
  const env = { TMPDIR: tempDir(t) };
  execaSync`git init -q ${root}`;
  execaSync`mkfifo ${join(root, 'told')}`;
  // The shell and its children hold the pipe open: it closes when all of them have ended.
  const script = `${first}exec 7>'${join(root, 'told')}'; sleep 1000 & echo $$ >&7; wait`;
  const child = execa(process.execPath, [PROGRAM, root, script], { stdio: 'inherit', env, reject: false });
  finallyDo(t, () => child.kill('SIGKILL'));
  const told = execa({ buffer: false, reject: false })`cat ${join(root, 'told')}`;
  finallyDo(t, () => told.kill('SIGKILL'));
  let group = 0;
  finallyDo(t, () => {
    try {
      if (group > 0) process.kill(-group, 'SIGKILL');
    } catch {
      // Expected: the group has ended.
    }
  });
  const ended = once(told, 'close');
  const lines = createInterface({ input: told.stdout });
  const [line] = (await within('the check says that it runs', once(lines, 'line'))) as [string];
  group = Number(line);
  assert.ok(group > 0, line);
  before(group);
  child.kill('SIGKILL');
  await within('the check ends', ended);
}

test('what is being measured ends with who measures, however that ends', (t) => outlived(t, '', () => undefined));

test('what does not heed the request to end ends with who has asked it', (t) =>
  outlived(t, "trap '' TERM INT HUP; ", (group) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(-group, signal);
  }));

function commandsIn(root: string, output: (text: string) => void = () => undefined): Commands {
  return createCommands({
    root,
    env: checkEnvironment(process.env, root),
    now: Date.now,
    deadline: Date.now() + 600_000,
    signal: new AbortController().signal,
    output,
  });
}

test('the output says of a command that it had no more time', async (t) => {
  const told: string[] = [];
  const { timedOut } = await commandsIn(tempDir(t), (text) => told.push(text)).run('x', 'printf on; sleep 600', {
    limitMs: 300,
  });
  assert.deepEqual([timedOut, told.join('')], [true, '$ x\non\ntimed out after 0.3 s\n']);
});

test('a script that waits for all that it has started waits for nothing else', async (t) => {
  const root = tempDir(t);
  const { exitCode, output } = await commandsIn(root).run(
    'x',
    'echo one & wait; echo two; [ ! -e /dev/fd/3 ] && echo "no third"',
  );
  assert.deepEqual([exitCode, output], [0, 'one\ntwo\nno third\n']);
});

test('a script that is asked to end hears it', async (t) => {
  const root = tempDir(t);
  const asked = await commandsIn(root).run('x', 'kill -TERM $$; echo on');
  assert.deepEqual([asked.exitCode, asked.output], [null, '']);
});
