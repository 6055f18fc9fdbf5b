// The real program of the write guard works on this machine, from its packed form.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { guardProgram, guardWorks, PACKED_PROGRAM } from '../../src/guard/guard-program.ts';
import { packProgram } from '../../src/guard/packed-program.ts';
import { scriptFile } from '../support/compiled.ts';
import { writeGuard } from '../support/guard-program.ts';
import { tempDir } from '../support/temp.ts';

const guard = writeGuard();

test('the real guard refuses a foreign write and lets an own one pass', async (t) => {
  const [from, keep] = [tempDir(t), tempDir(t)];
  writeFileSync(join(from, PACKED_PROGRAM), packProgram(readFileSync(guard)));
  const program = (await guardProgram([from], keep)) ?? '';
  assert.deepEqual(await guardWorks(program, keep), { works: true });
  assert.deepEqual(await guardWorks(program, keep), { works: true });
  assert.equal(readdirSync(keep).length, 2);
});

test('inside another guard the trial says so, and keeps no verdict', async (t) => {
  const [root, keep] = [tempDir(t), tempDir(t)];
  writeFileSync(join(root, 'policy'), `root\t${root}\nmember\tsomebody\n`);
  const script = scriptFile(`
    import { guardWorks } from './src/guard/guard-program.ts';
    process.stdout.write(JSON.stringify(await guardWorks(process.argv[2] ?? '', process.argv[3] ?? '')));
  `);
  const words = [join(root, 'policy'), join(root, 'log'), '--', process.execPath, script, guard, keep];
  assert.match(execaSync(guard, words).stdout, /inside another guard/);
  assert.deepEqual(readdirSync(keep), []);
});
