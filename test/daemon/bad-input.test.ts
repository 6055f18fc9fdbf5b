// Input that makes no sense or never ends: nothing is lost, nothing loops.

import assert from 'node:assert/strict';
import test from 'node:test';
import { check, followed, PULL, phaseOf, polls, prompts, WRITER, worldWith } from '../support/followed-world.ts';

test('a check that flaps on one commit starts no attempt while it passes, and stops after one comment', async () => {
  const world = worldWith('approved');
  await followed(world);
  // Agents find nothing to change: the head stays.
  world.script = async () => ({ ok: true, words: 'it is the check' });
  for (let turn = 0; turn < 10; turn++) {
    world.tracker.seen.set(PULL, { checks: [{ ...check('build', turn % 2 === 0 ? 'failed' : 'passed'), run: turn }] });
    await polls(world, 3);
  }
  assert.equal(world.started.length, 2, 'the work itself, and one attempt at the failure');
  const said = world.tracker.comments.filter(({ issue }) => issue === PULL);
  assert.equal(said.length, 1);
  assert.match(said[0]?.body ?? '', /build/);
  assert.equal(phaseOf(world), undefined);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('five hundred comments to the agent: each is told once, in prompts that fit, and then it is quiet', async () => {
  const world = worldWith('approved', 20);
  await followed(world);
  const told = prompts(world);
  const comments = Array.from({ length: 500 }, (_, index) => ({
    id: index + 1,
    author: WRITER,
    body: `/tool Point ${index + 1}: ${'words '.repeat(100)}`,
  }));
  world.tracker.seen.set(PULL, { comments });
  await polls(world, 80);
  const all = told.join('\n');
  for (const { id } of comments) assert.equal(all.split(`Point ${id}: `).length, 2, `point ${id} is told once`);
  const { length } = told;
  assert.ok(length < 20, `${length} prompts`);
  await polls(world, 10);
  assert.equal(told.length, length);
  assert.equal(phaseOf(world), 'following');
  await world.stop();
});
