// The row of the write guard: each reason why its program does not work, with what helps; played by scripts.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { PACKED_PROGRAM } from '../../src/adapters/guard-program.ts';
import type { Check } from '../../src/cli/check.ts';
import { checkGuard } from '../../src/cli/doctor-guard.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const options = { skip: process.platform === 'linux' ? false : 'the guard is a program for Linux' };

function rowFor(t: Cleanup, script: string | null): Promise<Check> {
  const [root, home] = [tempDir(t), tempDir(t)];
  for (const name of ['hooks', 'guard']) mkdirSync(join(root, '.tool', name), { recursive: true });
  if (script !== null) writeFileSync(join(root, '.tool', 'guard', PACKED_PROGRAM), gzipSync(script));
  return checkGuard(root, { HOME: home });
}

test('a guard that refuses a foreign write works', options, async (t) => {
  // Plays the refusal: the foreign file cannot be made.
  const row = await rowFor(t, '#!/bin/sh\nshift 3\nmkdir foreign; "$@"; code=$?; rmdir foreign; exit "$code"\n');
  assert.deepEqual([row.name, row.status, row.mend], ['write guard', 'ok', null]);
});

test('a project without the program is warned of', options, async (t) => {
  const missing = await rowFor(t, null);
  assert.deepEqual([missing.status, missing.mend?.startsWith('tool init')], ['warn', true]);
  assert.ok(missing.says.includes(PACKED_PROGRAM));
});

test('a program that does not guard is named with the reason and what helps', options, async (t) => {
  const passing = await rowFor(t, '#!/bin/sh\nshift 3\nexec "$@"\n');
  assert.deepEqual([passing.status, passing.mend], ['warn', 'tool doctor, in a shell that no agent started']);
  const broken = await rowFor(t, '#!/bin/sh\nexit 125\n');
  assert.equal(broken.status, 'warn');
  assert.ok(broken.mend !== null && broken.says.endsWith('only obvious writes are refused'));
});

test('a place where the program cannot be unpacked is named', options, async (t) => {
  const root = tempDir(t);
  const from = tempDir(t);
  writeFileSync(join(root, 'file'), '');
  writeFileSync(join(from, PACKED_PROGRAM), gzipSync('#!/bin/sh\n'));
  const row = await checkGuard(root, { XDG_STATE_HOME: join(root, 'file') }, [from]);
  assert.equal(row.status, 'warn');
  assert.ok(row.mend?.includes(join(root, 'file')));
});
