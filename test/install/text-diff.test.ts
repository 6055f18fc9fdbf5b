// The differences that a dry run shows.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import fc from 'fast-check';
import { lengthText, unifiedDiff } from '../../src/install/text-diff.ts';
import { tempDir } from '../support/temp.ts';

test('git takes each for a patch, and makes of the one text the other', (t) => {
  const directory = tempDir(t);
  const path = join(directory, 'f');
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', ' d', '-e'), { maxLength: 30 });
  const text = fc.tuple(lines, fc.boolean()).map(([list, ended]) => list.join('\n') + (ended ? '\n' : ''));
  const maybe = fc.option(
    text.filter((one) => one !== ''),
    { freq: 8 },
  );
  fc.assert(
    fc.property(maybe, maybe, (before, after) => {
      const patch = unifiedDiff('f', before, after);
      if (before === after) return patch === '';
      rmSync(path, { force: true });
      if (before !== null) writeFileSync(path, before);
      const { exitCode, stderr } = execaSync({ cwd: directory, input: patch, reject: false })`git apply -`;
      assert.deepEqual(
        [exitCode, stderr.replace(/^warning: .*$/gm, '').includes('error')],
        [0, false],
        `${patch}\n${stderr}`,
      );
      return (existsSync(path) ? readFileSync(path, 'utf8') : null) === after;
    }),
    { numRuns: 60 },
  );
});

test('far changes are hunks of their own, with three lines around', () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index}\n`);
  const after = before.with(2, 'x\n').with(15, 'y\n');
  assert.equal(
    unifiedDiff('f', before.join(''), after.join('')),
    '--- a/f\n+++ b/f\n@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -13,7 +13,7 @@\n 12\n 13\n 14\n-15\n+y\n 16\n 17\n 18\n',
  );
});

test('a bundle is told by its size', () => {
  assert.equal(unifiedDiff('f', null, 'x'.repeat(3000)), '--- /dev/null\n+++ b/f\n(0 → 3000 bytes)\n');
  const lengths = ['', 'a', 'a\nb\n', 'é'.repeat(3000), 'a\0\n'].map((text) => lengthText(Buffer.from(text)));
  assert.deepEqual(lengths, ['0 lines', '1 line', '2 lines', '6000 bytes', '3 bytes']);
});

test('two files with nothing in common are told by their sizes, and a new file is shown whole', () => {
  const all = (word: string) => `${word}\n`.repeat(50_000);
  assert.equal(unifiedDiff('f', all('a'), all('b')), '--- a/f\n+++ b/f\n(100000 → 100000 bytes)\n');
  assert.equal(unifiedDiff('f', null, all('b')).split('\n').length, 50_004);
});

test('a name that would end its line is quoted as git quotes it', (t) => {
  const directory = tempDir(t);
  const path = 'a\n+++ b/"other"';
  const input = unifiedDiff(path, null, 'x\n');
  const { stdout } = execaSync({ cwd: directory, input })`git apply --numstat -z -`;
  assert.equal(stdout, `1\t0\t${path}\0`);
});
