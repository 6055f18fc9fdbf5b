// Tasks under which nothing was changed: in worktrees of a real repository, and in a checkout that all share.

import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import type { GateResult } from '../../../src/gate/rules/quality.ts';
import { writeTree } from '../../support/installed.ts';
import { projectOf } from '../../support/team-worktrees.ts';
import { failing, TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const OWN = 'src/api/a.js';

/** A writer in a worktree of its own, with three tasks; the last one is about a file that git ignores. */
async function writing(t: Cleanup) {
  const { teamWorktrees } = projectOf(t, { files: { [OWN]: '1\n', '.gitignore': 'made.js\n' } });
  const world = new TeamWorld(t);
  Object.assign(world.context, { teamWorktrees: () => Promise.resolve(teamWorktrees) });
  await teamWorktrees.begin(TEAM);
  await world.team(['backend-dev']);
  await world.append({ type: 'base_measured', checks: [], coverage: null });
  const place = await teamWorktrees.open(TEAM, 'backend-dev');
  for (const files of [[], [], ['made.js']])
    await world.call('team-lead', 'TaskCreate', { subject: 's', description: 'd', owner: 'backend-dev', files });
  const claim = async (id: string) => {
    await world.clock.pass(1);
    await world.call('backend-dev', 'TaskUpdate', { taskId: id, status: 'in_progress' });
  };
  const complete = (id: string) =>
    world.call('backend-dev', 'TaskUpdate', { taskId: id, status: 'completed', result: 'It is there' });
  const isNothing = (id: string) => world.state().tasks.get(id)?.changedNothing;
  return { world, place, claim, complete, isNothing };
}

test('a task whose owner changed nothing says so, and one with a change does not', async (t) => {
  const { place, claim, complete, isNothing } = await writing(t);
  await claim('1');
  await complete('1');
  assert.equal(isNothing('1'), true);
  await claim('2');
  writeTree(place.path, { [OWN]: '2\n' });
  await complete('2');
  assert.equal(isNothing('2'), undefined);
  await claim('2');
  assert.equal(isNothing('1'), true);
  await complete('2');
  assert.equal(isNothing('2'), undefined, 'its change is there since the first time');
});

test('a commit without a change is none; a change that its owner committed is one', async (t) => {
  const { place, claim, complete, isNothing } = await writing(t);
  const options = { cwd: place.path, env: { PATH: process.env.PATH, ...place.env }, extendEnv: false };
  const commit = (...how: readonly string[]) => execaSync(options)`git commit -qm Mine ${how}`;
  await claim('1');
  commit('--allow-empty');
  await complete('1');
  assert.equal(isNothing('1'), true);
  await claim('2');
  writeTree(place.path, { [OWN]: '2\n' });
  commit('-a');
  await complete('2');
  assert.equal(isNothing('2'), undefined);
});

test('of two tasks in hand at once nobody can tell what was for which', async (t) => {
  const { place, claim, complete, isNothing } = await writing(t);
  await claim('1');
  await claim('2');
  writeTree(place.path, { [OWN]: '2\n' });
  await complete('1');
  await complete('2');
  assert.equal(isNothing('2'), undefined);
});

test('a file of the task that git ignores was written, though no commit has it', async (t) => {
  const { world, place, claim, complete, isNothing } = await writing(t);
  await claim('3');
  writeTree(place.path, { 'made.js': '1\n' });
  await world.refused('backend-dev', 'TaskUpdate', { taskId: '3', status: 'completed' });
  await complete('3');
  assert.equal(isNothing('3'), undefined);
});

/** The checkout as it is measured, at each completion. */
function measured(...trees: readonly string[]): GateResult[] {
  return trees.map((tree) => ({ ...failing(tree.repeat(40)), ok: true, checks: [] }));
}

/** Somebody who claims and completes these tasks in the checkout itself, one after the other. */
async function sharing(t: Cleanup, trees: readonly string[], name = 'backend-dev') {
  const world = new TeamWorld(t);
  world.gate = measured(...trees, 'z');
  await world.team([name, 'tester']);
  const complete = async (id: string) => {
    await world.call('team-lead', 'TaskCreate', { subject: 's', description: 'd', owner: name });
    await world.clock.pass(1);
    await world.call(name, 'TaskUpdate', { taskId: id, status: 'in_progress' });
    await world.call(name, 'TaskUpdate', { taskId: id, status: 'completed' });
    return world.state().tasks.get(id)?.changedNothing;
  };
  return { world, complete };
}

test('in one checkout it is known by what was measured before the task and at its end', async (t) => {
  const { complete } = await sharing(t, ['a', 'a', 'b']);
  assert.equal(await complete('1'), undefined, 'nothing had been measured before it');
  assert.equal(await complete('2'), true);
  assert.equal(await complete('3'), undefined);
});

test('what was measured while the task was at work says nothing of its beginning', async (t) => {
  const { world, complete } = await sharing(t, ['a', 'b', 'b']);
  await complete('1');
  await world.call('team-lead', 'TaskCreate', { subject: 's', description: 'd', owner: 'tester' });
  await world.call('tester', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  await complete('3');
  await world.call('tester', 'TaskUpdate', { taskId: '2', status: 'completed' });
  assert.equal(world.state().tasks.get('2')?.changedNothing, undefined);
});

test('a write that the guard has seen for it counts, though the tree is the same', async (t) => {
  const { world } = await sharing(t, ['a', 'a']);
  for (const id of ['1', '2']) {
    await world.call('team-lead', 'TaskCreate', { subject: 's', description: 'd', owner: 'backend-dev' });
    await world.clock.pass(1);
    await world.call('backend-dev', 'TaskUpdate', { taskId: id, status: 'in_progress' });
    await world.call('backend-dev', 'FileLease', { path: 'package.json' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: id, status: 'completed' });
  }
  assert.equal(world.state().tasks.get('2')?.changedNothing, undefined);
});

test('who only reads is expected to change nothing', async (t) => {
  const { complete } = await sharing(t, ['a', 'a'], 'quality');
  await complete('1');
  assert.equal(await complete('2'), undefined);
});
