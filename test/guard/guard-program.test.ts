// The program of the write guard is unpacked once and tried once; played by scripts. test/slow/guard-program.test.ts has the real one.

import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import {
  guardProgram,
  guardWorks,
  type Machine,
  PACKED_PROGRAM,
  trialFailureReason,
} from '../../src/guard/guard-program.ts';
import { packProgram } from '../../src/guard/packed-program.ts';
import { GUARD_CODES } from '../../src/guard/rules/guard-codes.ts';
import { wordsOf } from '../support/codes.ts';
import { scriptFile } from '../support/compiled.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const PASSES = '#!/bin/sh\nshift 3\nexec "$@"\n';

/** An installation whose program is a script. */
function packed(t: Cleanup, script: string): { readonly from: string; readonly keep: string } {
  const from = tempDir(t);
  writeFileSync(join(from, PACKED_PROGRAM), packProgram(Buffer.from(script)));
  return { from, keep: join(tempDir(t), 'keep') };
}

function played(t: Cleanup, script: string): { readonly program: string; readonly keep: string } {
  const keep = tempDir(t);
  const program = join(keep, 'write-guard-played');
  writeFileSync(program, script, { mode: 0o700 });
  return { program, keep };
}

test('the program comes from the first directory that has a whole one', async (t) => {
  const { from, keep } = packed(t, PASSES);
  const [empty, cut] = [tempDir(t), tempDir(t)];
  assert.equal(await guardProgram([empty, join(empty, 'nowhere')], keep), null);
  writeFileSync(join(cut, PACKED_PROGRAM), readFileSync(join(from, PACKED_PROGRAM)).subarray(0, 30));
  assert.equal(await guardProgram([cut], keep), null);
  const program = await guardProgram([empty, cut, from], keep);
  assert.match(program ?? '', /\/write-guard-[0-9a-f]{12}$/);
  assert.equal(readFileSync(program ?? '', 'utf8'), PASSES);
  assert.equal(statSync(program ?? '').mode & 0o777, 0o700);
  writeFileSync(join(cut, PACKED_PROGRAM), packProgram(Buffer.from(`${PASSES}# another\n`)));
  assert.notEqual(await guardProgram([cut, from], keep), program);
});

test('an unpacked program is used again; a damaged one is replaced', async (t) => {
  const { from, keep } = packed(t, PASSES);
  const program = (await guardProgram([from], keep)) ?? '';
  const { ino } = statSync(program);
  assert.equal(await guardProgram([from], keep), program);
  assert.equal(statSync(program).ino, ino);
  truncateSync(program, 5);
  assert.equal(await guardProgram([from], keep), program);
  assert.equal(readFileSync(program, 'utf8'), PASSES);
  chmodSync(program, 0o600);
  await guardProgram([from], keep);
  assert.equal(statSync(program).mode & 0o777, 0o700);
});

test('the program of another package goes when a new one comes, with its verdict', async (t) => {
  const { from, keep } = packed(t, PASSES);
  const older = basename((await guardProgram([from], keep)) ?? '');
  for (const name of [`works-${older}`, 'write-guard-1', 'bash']) writeFileSync(join(keep, name), '');
  writeFileSync(join(from, PACKED_PROGRAM), packProgram(Buffer.from(`${PASSES}# newer\n`)));
  const newer = basename((await guardProgram([from], keep)) ?? '');
  assert.deepEqual(readdirSync(keep).sort(), ['bash', newer, 'write-guard-1'].sort());
});

test('processes that unpack at once all get a whole program', async (t) => {
  const { from, keep } = packed(t, `${PASSES}${'# long\n'.repeat(200_000)}`);
  const script = scriptFile(`
    import { guardProgram } from './src/guard/guard-program.ts';
    process.stdout.write(String(await guardProgram([process.argv[2] ?? ''], process.argv[3] ?? '')));
  `);
  const start = async () => (await execa(process.execPath, [script, from, keep])).stdout;
  const [program] = new Set(await Promise.all([start(), start(), start(), guardProgram([from], keep)]));
  assert.deepEqual(
    readdirSync(keep).map((name) => join(keep, name)),
    [program],
  );
  assert.equal(statSync(program ?? '').size, PASSES.length + 1_400_000);
});

test('a program that cannot start, that lets all pass or that refuses all does not work', async (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      '#!/bin/sh\necho "toolcrew: policy: odd (guard_file_unusable)" >&2\nexit 125\n',
      /cannot start|user notification|too old|gVisor|yama/,
    ],
    [PASSES, /let a forbidden write pass/],
    ['#!/bin/sh\nexit 0\n', /let a forbidden write pass/],
    ['#!/bin/sh\nexit 3\n', /exit code 3|user notification|too old|gVisor|yama/],
    ['#!/no/such/shell\n', /cannot be started \(ENOENT\)/],
  ];
  for (const [script, why] of cases) {
    const { program, keep } = played(t, script);
    const verdict = await guardWorks(program, keep);
    assert.match(verdict.works ? 'works' : verdict.why, why, script);
    assert.ok(verdict.works || !verdict.why.includes('\n'));
  }
  const gone = await guardWorks('/no/such/program', tempDir(t));
  assert.equal(gone.works ? '' : gone.why, wordsOf(GUARD_CODES.guard_program_gone, {}));
});

test('a verdict is kept for the program, and found anew on request', async (t) => {
  const { program, keep } = played(t, '#!/bin/sh\necho x >> "$0.runs"\nexit 125\n');
  const runs = () => readFileSync(`${program}.runs`, 'utf8').split('x').length - 1;
  const first = await guardWorks(program, keep);
  assert.deepEqual(await guardWorks(program, keep), first);
  assert.equal(runs(), 1);
  await guardWorks(program, keep, true);
  assert.equal(runs(), 2);
  // Another text under the same name is another program.
  writeFileSync(program, `${readFileSync(program, 'utf8')}# changed\n`);
  await guardWorks(program, keep);
  assert.equal(runs(), 3);
  const [kept = ''] = readdirSync(keep).filter((name) => name.startsWith('works-'));
  writeFileSync(join(keep, kept), '{"key": ');
  assert.deepEqual(await guardWorks(program, keep), first);
  assert.equal(runs(), 4);
});

test('a write that passed is not kept as a verdict: another guard may be around the trial', async (t) => {
  const { program, keep } = played(t, PASSES);
  await guardWorks(program, keep);
  assert.deepEqual(readdirSync(keep), ['write-guard-played']);
});

test('a verdict that cannot be kept is given all the same', async (t) => {
  const { program } = played(t, '#!/bin/sh\nexit 125\n');
  const file = join(tempDir(t), 'file');
  writeFileSync(file, '');
  assert.equal((await guardWorks(program, file)).works, false);
});

test('the reason names what stands in the way', () => {
  const machine: Machine = { release: '6.1.0-13', version: 'Linux version 6.1.0-13', bootId: '', ptraceScope: '' };
  const cannot = { code: 125, stderr: 'toolcrew: seccomp: Invalid argument (guard_call_failed)\n' };
  const rows: readonly (readonly [string, ReturnType<typeof trialFailureReason>])[] = [
    ['noexec', trialFailureReason({ code: 'EACCES', stderr: '' }, machine)],
    ['seccomp user notification here (seccomp: Invalid argument)', trialFailureReason(cannot, machine)],
    ['the kernel 5.4.0-42 is too old: 5.5', trialFailureReason(cannot, { ...machine, release: '5.4.0-42' })],
    ['the kernel 4.19.0 is too old', trialFailureReason(cannot, { ...machine, release: '4.19.0' })],
    [
      'gVisor',
      trialFailureReason(cannot, { ...machine, release: '4.4.0', version: 'Linux version 4.4.0 #1 SMP 2016' }),
    ],
    ['ptrace_scope is 2', trialFailureReason({ code: 3, stderr: '' }, { ...machine, ptraceScope: '2' })],
    ['ptrace_scope is 3', trialFailureReason(cannot, { ...machine, ptraceScope: '3' })],
    [
      'the guard cannot start (fork: no)',
      trialFailureReason({ code: 125, stderr: 'toolcrew: fork: no (guard_call_failed)' }, machine),
    ],
    ['within 10 seconds', trialFailureReason({ code: 'timeout', stderr: '' }, machine)],
    ['exit code 3', trialFailureReason({ code: 3, stderr: '' }, { ...machine, ptraceScope: '1' })],
  ];
  for (const [part, { why, mend }] of rows) {
    assert.ok(why.includes(part), `${why}: expected ${part}`);
    assert.notEqual(mend, '');
  }
});
