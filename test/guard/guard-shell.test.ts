// Our shell and the guard's program in the guard home; played by scripts. test/slow/guard-shell.test.ts has the real program.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { GUARD_PROGRAM, PACKED_PROGRAM } from '../../src/guard/guard-program.ts';
import { guardHome, isOurShell, prepareShell, previewShell, programBeside } from '../../src/guard/guard-shell.ts';
import { GUARD_CODES } from '../../src/guard/rules/guard-codes.ts';
import { shellScript } from '../../src/guard/rules/ticket.ts';
import { wordsLike } from '../support/codes.ts';
import { PLAYED_GUARD, packedScript } from '../support/guarded-project.ts';
import { treeOf } from '../support/installed.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

/** A program with a shell's name. */
function shellNamed(directory: string, name: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\necho ${name}\n`, { mode: 0o755 });
  return path;
}

function machine(t: Cleanup, script = PLAYED_GUARD) {
  const home = tempDir(t);
  const guard = join(home, '.local', 'state', 'toolcrew', 'guard');
  const from = packedScript(t, script);
  const prepare = (more: Readonly<Record<string, string>> = {}, before: string | null = null) =>
    prepareShell({ env: { HOME: home, ...more }, before, from });
  return { home, guard, from, prepare };
}

test('the guard home is in the state directory', () => {
  assert.equal(guardHome({ HOME: '/home/x' }), '/home/x/.local/state/toolcrew/guard');
  assert.equal(guardHome({ HOME: '/home/x', XDG_STATE_HOME: '/state' }), '/state/toolcrew/guard');
  assert.equal(guardHome({ HOME: '/home/x', XDG_STATE_HOME: 'state' }), '/home/x/.local/state/toolcrew/guard');
});

test('a home that cannot be part of a ticket’s path has no guard, and says what mends it', async (t) => {
  const prepared = await machine(t).prepare({ XDG_STATE_HOME: `${tempDir(t)}/my state` });
  assert.ok(!prepared.ok);
  assert.match(prepared.why, wordsLike(GUARD_CODES.guard_home_unfit, { path: /\/.*\/my state\/toolcrew\/guard$/ }));
  assert.match(prepared.mend, /^set XDG_STATE_HOME/);
});

test('shell and program are placed once, and are mended', async (t) => {
  const { guard, prepare } = machine(t);
  const shell = join(guard, 'bash');
  assert.deepEqual(await prepare(), { ok: true, shell });
  assert.deepEqual([statSync(guard).mode & 0o777, statSync(shell).mode & 0o777], [0o700, 0o755]);
  assert.equal(programBeside(shell), join(guard, GUARD_PROGRAM));
  assert.equal(readFileSync(join(guard, GUARD_PROGRAM), 'utf8'), PLAYED_GUARD);
  const [before, inode] = [treeOf(guard), statSync(shell).ino];
  await prepare();
  assert.deepEqual([treeOf(guard), statSync(shell).ino], [before, inode]);
  chmodSync(shell, 0o644);
  rmSync(join(guard, GUARD_PROGRAM));
  assert.equal(programBeside(shell), null);
  await prepare();
  assert.deepEqual(treeOf(guard), before);
});

test('the user’s own shell runs the calls, and our shell has its kind of name', async (t) => {
  const { home, guard, prepare } = machine(t);
  const [bash, zsh, fish] = ['bash-5', 'zsh', 'fish'].map((name) => shellNamed(home, name));
  const cases: readonly (readonly [Readonly<Record<string, string>>, string | null, string, string])[] = [
    [{ SHELL: zsh ?? '' }, null, 'zsh', zsh ?? ''],
    [{ SHELL: zsh ?? '' }, bash ?? '', 'bash', bash ?? ''],
    [{ SHELL: fish ?? '' }, null, 'bash', '/bin/bash'],
    [{ SHELL: join(home, 'gone', 'zsh') }, join(home, 'gone', 'bash'), 'bash', '/bin/bash'],
    // Our own shell never runs itself.
    [{ SHELL: join(guard, 'zsh') }, join(guard, 'bash'), 'bash', '/bin/bash'],
  ];
  for (const [env, before, name, real] of cases) {
    const prepared = await prepare(env, before);
    assert.deepEqual(prepared, { ok: true, shell: join(guard, name) });
    assert.equal(readFileSync(join(guard, name), 'utf8'), shellScript(real));
  }
  await prepare({ SHELL: zsh ?? '' });
  assert.equal(execaSync(join(guard, 'zsh'), ['-c', 'x']).stdout, 'zsh');
  // A link to our shell is our shell.
  symlinkSync(join(guard, 'bash'), join(home, 'my-bash'));
  await prepare({}, join(home, 'my-bash'));
  assert.equal(readFileSync(join(guard, 'bash'), 'utf8'), shellScript('/bin/bash'));
});

test('our shell is known by its path', () => {
  assert.ok(isOurShell('/home/x/.local/state/toolcrew/guard/zsh'));
  assert.ok(!isOurShell('/bin/bash') && !isOurShell('/srv/guard/bash') && !isOurShell('/toolcrew/guard/bash-5'));
});

test('the answer is foreseen without a write', (t) => {
  const { home, guard, from } = machine(t);
  const options = { env: { HOME: home }, before: null, from };
  assert.deepEqual(previewShell(options), { ok: true, shell: join(guard, 'bash') });
  assert.equal(previewShell({ ...options, from: home }).ok, false);
  assert.deepEqual(readdirSync(home), []);
});

test('without a program, with one that does not work, or without a place there is no shell', async (t) => {
  const missing = machine(t);
  rmSync(join(missing.from, PACKED_PROGRAM));
  const broken = machine(t, '#!/bin/sh\nexit 125\n');
  const closed = machine(t);
  writeFileSync(join(closed.home, '.local'), '');
  const cases: readonly (readonly [typeof missing, RegExp, RegExp])[] = [
    [missing, /has no whole write-guard|no write guard for/, /./],
    [broken, /guard cannot start|user notification|too old|gVisor|yama/, /./],
    [closed, /ENOTDIR/, new RegExp(`^make ${closed.guard} a directory that you can write to, then tool init$`)],
  ];
  for (const [{ guard, prepare }, why, mend] of cases) {
    const prepared = await prepare();
    assert.ok(!prepared.ok);
    assert.match(prepared.why, why);
    assert.match(prepared.mend, mend);
    assert.ok(!existsSync(join(guard, 'bash')) && !existsSync(join(guard, GUARD_PROGRAM)));
  }
});
