// Files that differ from their last commit by a filter alone: by line endings that an attribute asked for after them.

import assert from 'node:assert/strict';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { commitAll, projectOf, TEAM, textOf } from '../support/team-worktrees.ts';

test('empty files that are only meant to be added are committed', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'one');
  writeTree(path, { 'pkg/__init__.py': '', 'pkg/py.typed': '' });
  gitIn(path)('add', '-N', '.');
  await teamWorktrees.save(TEAM, 'one', 'Empty');
  assert.equal((await teamWorktrees.merge(TEAM, 'one', 'One')).kind, 'merged');
  assert.equal(git('ls-tree', '-r', '--name-only', `tool/${TEAM}`, 'pkg/'), 'pkg/__init__.py\npkg/py.typed\n');
});

/** Names are bytes, and git reads those that come to it line by line. */
const ODD = 'src/pages/"odd\\\n\u00fc.js\r';

test('files that only an attribute of line endings makes differ are work of nobody, and in the way of nobody', async (t) => {
  const { root, git, teamWorktrees } = projectOf(t);
  writeTree(root, {
    'src/pages/old.js': '1\r\n2\r\n',
    [ODD]: '1\r\n',
    'src/pages/run.sh': '1\r\n',
    'src/pages/more.js': '1\r\n',
  });
  commitAll(root, 'Line endings of another system');
  writeTree(root, { '.gitattributes': '* text eol=lf\n' });
  git('add', '.gitattributes');
  git('commit', '-qm', 'Attributes');
  await teamWorktrees.begin(TEAM);
  const one = await teamWorktrees.open(TEAM, 'one');
  const two = await teamWorktrees.open(TEAM, 'two');
  assert.match(gitIn(one.path)('status', '--porcelain'), / M src\/pages\/old\.js/);
  assert.equal(await teamWorktrees.save(TEAM, 'one', 'Nothing'), null);
  assert.deepEqual(await teamWorktrees.unmerged(TEAM, 'one'), []);

  writeTree(one.path, { 'src/api/a.js': '2\n' });
  writeTree(two.path, { 'src/pages/old.js': '1\r\n3\r\n' });
  chmodSync(join(two.path, 'src/pages/run.sh'), 0o755);
  rmSync(join(two.path, 'src/pages/more.js'));
  await teamWorktrees.save(TEAM, 'one', 'One');
  await teamWorktrees.save(TEAM, 'two', 'Two');
  assert.deepEqual((await teamWorktrees.commits(TEAM, 'one')).commits[0]?.files, ['src/api/a.js']);
  assert.deepEqual((await teamWorktrees.commits(TEAM, 'two')).commits[0]?.files, [
    'src/pages/more.js',
    'src/pages/old.js',
    'src/pages/run.sh',
  ]);
  assert.equal((await teamWorktrees.merge(TEAM, 'two', 'Two')).kind, 'merged');
  assert.equal((await teamWorktrees.update(TEAM, 'one')).kind, 'merged');
  assert.equal(textOf(one.path, 'src/pages/old.js'), '1\n3\n');
  assert.equal((await teamWorktrees.merge(TEAM, 'one', 'One')).kind, 'merged');
  assert.equal(await teamWorktrees.close(TEAM, 'one'), null, 'nothing is to be kept');
});
