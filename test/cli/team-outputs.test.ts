// Output files of teammates: bounded in size, without terminal control sequences.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { TeamOutputs } from '../../src/cli/team-outputs.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

test('each has a file of its own, in words that act on no terminal', (t) => {
  const team = tempDir(t);
  const outputs = new TeamOutputs(team);
  finallyDo(t, () => outputs.close());
  assert.equal(outputs.write('tester', 'a\u001b[2Jb\n'), true);
  assert.equal(outputs.write('backend-dev', 'c\n'), true);
  assert.equal(outputs.pathOf('tester'), join(team, 'output', 'tester.log'));
  assert.ok(!readFileSync(outputs.pathOf('tester'), 'utf8').includes('\u001b'));
  assert.match(readFileSync(outputs.pathOf('tester'), 'utf8'), /^a.*b\n$/);
  assert.equal(readFileSync(outputs.pathOf('backend-dev'), 'utf8'), 'c\n');
});

test('a flood is kept up to the bound, which is said once; others are kept as before', (t) => {
  const outputs = new TeamOutputs(tempDir(t), 100);
  finallyDo(t, () => outputs.close());
  const line = `${'x'.repeat(29)}\n`;
  assert.deepEqual(
    Array.from({ length: 6 }, () => outputs.write('tester', line)),
    [true, true, true, false, false, false],
  );
  const text = readFileSync(outputs.pathOf('tester'), 'utf8');
  assert.equal(
    text,
    `${line.repeat(3)}${'x'.repeat(10)}\n[more than 100 bytes since the run began: the rest is not kept]\n`,
  );
  assert.equal(statSync(outputs.pathOf('tester')).mode & 0o777, 0o600);
  assert.equal(outputs.write('backend-dev', line), true);
});
