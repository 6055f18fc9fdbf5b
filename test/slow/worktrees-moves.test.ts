// A writer's branch and files move together: where the move breaks off at any git command, the next call, whichever it is,
// brings it to its end first. What it left half done would count as the writer's own work otherwise.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import type { TeamWorktrees } from '../../src/git/worktrees/team-worktrees-port.ts';
import { createTeamWorktrees } from '../../src/team/worktrees/team-worktrees.ts';
import { projectOf, TEAM, textOf } from '../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

type Tree = Readonly<Record<string, string>>;

type Scene = {
  readonly root: string;
  readonly teamWorktrees: TeamWorktrees;
  /** The same, with a git of which the n-th command and all after it are not run, and fail. */
  readonly failingAt: (count: number) => { readonly teamWorktrees: TeamWorktrees; readonly commands: () => number };
  readonly write: (member: string, files: Tree) => void;
};

async function sceneOf(t: Cleanup): Promise<Scene> {
  const { root, teamWorktrees } = projectOf(t);
  const real = execaSync`sh -c ${'command -v git'}`.stdout;
  const failingAt = (count: number) => {
    const bin = tempDir(t);
    const kept = join(bin, 'count');
    writeFileSync(kept, '0');
    const act = `if [ $n -ge ${count} ]; then echo 'it breaks off' >&2; exit 99; fi`;
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh\nread n <${kept}; n=$((n+1)); echo $n >${kept}\n${act}\nexec ${real} "$@"\n`,
    );
    chmodSync(join(bin, 'git'), 0o755);
    const broken = createTeamWorktrees({ root, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
    return { teamWorktrees: broken, commands: () => Number(textOf(kept)) };
  };
  const write = (member: string, files: Tree) => {
    for (const [path, text] of Object.entries(files)) {
      const place = join(root, '.tool', 'worktrees', TEAM, member, path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
  };
  await teamWorktrees.begin(TEAM);
  for (const member of ['one', 'two']) await teamWorktrees.open(TEAM, member);
  return { root, teamWorktrees, failingAt, write };
}

/** The commands of a move, and one before it. */
const LAST = 6;

/**
 * Plays a scene with the call broken off at each of its last git commands.
 * @param play gives how many commands the call had, broken off at the `count`-th
 */
async function eachCommand(play: (count: number) => Promise<number>): Promise<void> {
  const all = await play(Number.MAX_SAFE_INTEGER);
  assert.ok(all > LAST, `${all} commands`);
  for (let count = all - LAST + 1; count <= all; count++) assert.ok((await play(count)) >= count);
}

test('others’ work on its way into a writer’s files is never taken for the writer’s own', async (t) => {
  await eachCommand(async (count) => {
    const { teamWorktrees, failingAt, write } = await sceneOf(t);
    write('one', { 'src/api/a.js': 'one\n', 'src/api/b.js': 'one\n' });
    await teamWorktrees.save(TEAM, 'one', 'One');
    await teamWorktrees.merge(TEAM, 'one', 'Merge one');
    write('two', { 'src/pages/p.js': 'two\n' });
    const broken = failingAt(count);
    // What it says is no matter: it is dead.
    await broken.teamWorktrees.update(TEAM, 'two').catch(() => undefined);
    await teamWorktrees.save(TEAM, 'two', 'Two');
    const { commits } = await teamWorktrees.commits(TEAM, 'two');
    const told = commits.map(({ subject, files }) => `${subject}: ${files.join(' ')}`);
    assert.deepEqual(told, ['Two: src/pages/p.js'], `broken off at command ${count}`);
    await teamWorktrees.update(TEAM, 'two');
    assert.equal((await teamWorktrees.merge(TEAM, 'two', 'Merge two')).kind, 'merged');
    const { path } = await teamWorktrees.openReadOnly(TEAM, 'reader');
    const texts = ['src/api/a.js', 'src/api/b.js', 'src/pages/p.js'].map((file) => textOf(path, file));
    assert.deepEqual(texts, ['one\n', 'one\n', 'two\n'], `broken off at command ${count}`);
    return broken.commands();
  });
});

test('what was refused does not come back as other work of the writer', async (t) => {
  await eachCommand(async (count) => {
    const { root, teamWorktrees, failingAt, write } = await sceneOf(t);
    write('two', { 'src/api/a.js': 'foreign\n', 'src/pages/q.js': 'two\n' });
    const bad = (await teamWorktrees.save(TEAM, 'two', 'Bad')) ?? '';
    const broken = failingAt(count);
    await broken.teamWorktrees.refuse(TEAM, 'two', bad, ['src/api/a.js']).catch(() => undefined);
    await teamWorktrees.save(TEAM, 'two', 'After');
    const { commits: before } = await teamWorktrees.commits(TEAM, 'two');
    // Broken off before anything was moved, it is there still, and refused now.
    if (before.some(({ sha }) => sha === bad)) {
      assert.deepEqual(
        before.map(({ subject }) => subject),
        ['Bad'],
      );
      await teamWorktrees.refuse(TEAM, 'two', bad, ['src/api/a.js']);
      await teamWorktrees.save(TEAM, 'two', 'After');
    }
    const told = (await teamWorktrees.commits(TEAM, 'two')).commits.map(
      ({ subject, files }) => `${subject}: ${files.join(' ')}`,
    );
    assert.deepEqual(told, ['After: src/pages/q.js'], `broken off at command ${count}`);
    assert.equal(textOf(root, '.tool', 'worktrees', TEAM, 'two', 'src/api/a.js'), '1\n');
    return broken.commands();
  });
});
