// Depth of a shallow repository: the check for enough history, and the steps that deepen it.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { CloneDepth, hasHistoryBetween, missingDepth, shallowCommits } from '../../src/git/clone-depth.ts';
import { tempDir } from '../support/temp.ts';

const { signal } = new AbortController();

test('all is there between two commits when none at which the repository ends is among those that differ', async () => {
  const between = (ends: readonly string[], shas: string, exitCode = 0) =>
    hasHistoryBetween(ends, 'first', 'second', async (args) => {
      assert.deepEqual(args, ['rev-list', 'first...second']);
      return { exitCode, stdout: shas, stderr: '' };
    });
  assert.equal(await between([], 'a\nb\n'), true);
  assert.equal(await between(['c'], 'a\nb\n'), true);
  assert.equal(await between(['c', 'b'], 'a\nb\n'), false);
  assert.equal(await between(['b'], '', 128), true);
});

test('a default branch has too few commits for a depth only where it ends early', () => {
  assert.equal(missingDepth(['b'], 5, ['a', 'b']), 3);
  assert.equal(missingDepth(['b'], 2, ['a', 'b']), null);
  assert.equal(missingDepth(['other'], 5, ['a', 'b']), null);
  assert.equal(missingDepth(['b'], 5, []), null);
});

test('steps: back by commits, else all at once, and no more when the remote has nothing', async (t) => {
  const path = tempDir(t);
  const ends = (...shas: readonly string[]) => writeFileSync(join(path, 'shallow'), shas.join('\n'));
  const asked: string[] = [];
  let onFetch: () => void = () => undefined;
  let depth: number | null = 2;
  const reach = new CloneDepth({
    path,
    depth: () => depth,
    fetch: async (how) => {
      asked.push(how.join(' '));
      onFetch();
    },
    firstParents: async () => ['a', 'b'],
  });
  assert.equal(reach.isOpen, false);
  ends('b');
  assert.deepEqual(shallowCommits(path), ['b']);
  assert.equal(reach.isOpen, true);
  assert.equal(await reach.lacking(signal), null);
  depth = 6;
  assert.equal(await reach.lacking(signal), 4);
  onFetch = () => ends('c');
  await reach.step(4, signal);
  assert.deepEqual(asked.splice(0), ['--deepen=4']);
  onFetch = () => undefined;
  await reach.step(4, signal);
  assert.deepEqual(asked.splice(0), ['--deepen=4', '--unshallow --tags']);
  assert.equal(reach.isOpen, false);
  ends('c', 'd');
  assert.equal(reach.isOpen, true);
  depth = null;
  assert.equal(await reach.lacking(signal), 2 ** 30);
  rmSync(join(path, 'shallow'));
  assert.equal(await reach.lacking(signal), null);
});
