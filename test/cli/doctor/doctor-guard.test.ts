// The row of the write guard: each reason why Bash calls do not run under it, with what helps; played by scripts.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { checkGuard } from '../../../src/cli/doctor/doctor-guard.ts';
import { DOCTOR_CODES } from '../../../src/cli/rules/doctor-codes.ts';
import { GUARD_PROGRAM, PACKED_PROGRAM } from '../../../src/guard/guard-program.ts';
import { prepareShell } from '../../../src/guard/guard-shell.ts';
import { END, joined, START, wordsLike } from '../../support/codes.ts';
import { PLAYED_GUARD, packedScript } from '../../support/guarded-project.ts';
import { writeTree } from '../../support/installed.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const options = { skip: process.platform === 'linux' ? false : 'the guard is a program for Linux' };
const NOT_USED = joined(START, wordsLike(DOCTOR_CODES.guard_not_used, { why: /(.*)/ }), END);

function machine(t: Cleanup, script = PLAYED_GUARD) {
  const [root, home, from] = [tempDir(t), tempDir(t), packedScript(t, script)];
  mkdirSync(join(root, '.tool', 'hooks'), { recursive: true });
  const shell = join(home, '.local', 'state', 'toolcrew', 'guard', 'bash');
  const set = (file: string, value: string) =>
    writeTree(root, { [file]: JSON.stringify({ env: { CLAUDE_CODE_SHELL: value } }) });
  return {
    root,
    from,
    shell,
    set,
    prepare: () => prepareShell({ env: { HOME: home }, before: null, from }),
    row: async (more: Readonly<Record<string, string>> = {}) => {
      const { name, status, says, mend } = await checkGuard(root, { HOME: home, ...more }, from);
      assert.equal(name, 'write guard');
      const why = NOT_USED.exec(says)?.[1];
      assert.ok(status === 'ok' || why !== undefined, says);
      return { status, says: why ?? says, mend };
    },
  };
}

test('it holds where the setting that counts is our shell, and shell and program are there', options, async (t) => {
  const { shell, set, prepare, row } = machine(t);
  assert.deepEqual(await row(), { status: 'warn', says: 'CLAUDE_CODE_SHELL is not set', mend: 'tool init' });
  await prepare();
  assert.equal((await row({ CLAUDE_CODE_SHELL: shell })).status, 'ok');
  set('.claude/settings.json', '/bin/bash');
  assert.deepEqual(await row({ CLAUDE_CODE_SHELL: shell }), {
    status: 'warn',
    says: 'CLAUDE_CODE_SHELL in .claude/settings.json is /bin/bash, which is not the shell of toolcrew',
    mend: 'tool init',
  });
  set('.claude/settings.local.json', shell);
  assert.equal((await row()).status, 'ok');
  for (const gone of [shell, join(shell, '..', GUARD_PROGRAM)]) {
    rmSync(gone);
    assert.match(
      (await row()).says,
      /settings\.local\.json is .*, and that shell or the write-guard-1 beside it is gone$/,
    );
    await prepare();
  }
  // A program that was placed and no longer works.
  writeFileSync(join(shell, '..', GUARD_PROGRAM), '#!/bin/sh\nshift 3\nexec "$@"\n');
  const passing = await row();
  assert.deepEqual([passing.status, passing.mend], ['warn', 'run it again in a shell that no agent started']);
});

test('the plugin form says that it cannot set the shell', options, async (t) => {
  const { root, row } = machine(t);
  rmSync(join(root, '.tool'), { recursive: true });
  const { says, mend } = await row();
  assert.deepEqual([says, mend], ['the plugin form cannot set CLAUDE_CODE_SHELL', 'tool init']);
});

test('the reason of an unset shell is the program, if that is missing or does not work', options, async (t) => {
  const missing = machine(t);
  rmSync(join(missing.from, PACKED_PROGRAM));
  const { says, mend } = await missing.row();
  assert.ok(says.includes(PACKED_PROGRAM) && mend?.includes('tool init'), says);
  const broken = await machine(t, '#!/bin/sh\nexit 125\n').row();
  assert.match(broken.says, /guard cannot start|user notification|too old|gVisor|yama/);
});

test('a guard home that cannot be written is named', options, async (t) => {
  const { root, row } = machine(t);
  writeFileSync(join(root, 'file'), '');
  const { status, mend } = await row({ XDG_STATE_HOME: join(root, 'file') });
  assert.equal(status, 'warn');
  assert.ok(mend?.includes(join(root, 'file', 'toolcrew', 'guard')), mend ?? '');
});
