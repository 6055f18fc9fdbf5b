// Files that Git ignores and that tests need: copies of those that the settings name are in each worktree.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { withBaseTree } from '../../src/git/worktrees/base-tree.ts';
import { createTeamWorktrees } from '../../src/team/worktrees/team-worktrees.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { projectOf, TEAM, textOf } from '../support/team-worktrees.ts';

const { env } = process;
const COPIES = ['.env', 'config/*.local.json', 'tracked.txt', 'missing'];
const FILES = { '.gitignore': '.env\n*.local.json\nlink\n', 'tracked.txt': 'committed\n', 'src/a.js': '1\n' };

function project(t: Parameters<typeof projectOf>[0]) {
  const made = projectOf(t, { files: FILES });
  writeTree(made.root, {
    '.env': 'KEY=1\n',
    'config/a.local.json': '{}\n',
    'config/deep/b.local.json': '{}\n',
    'tracked.txt': 'changed, and not committed\n',
  });
  chmodSync(join(made.root, '.env'), 0o600);
  symlinkSync('/etc/passwd', join(made.root, 'link'));
  return made;
}

test('a writer and the gate find what is named and ignored, and no commit takes it in', async (t) => {
  const { root } = project(t);
  const teamWorktrees = createTeamWorktrees({ root, env, copies: () => Promise.resolve([...COPIES, 'link']) });
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  const view = await teamWorktrees.openReadOnly(TEAM, 'gate');
  for (const place of [path, view.path]) {
    assert.equal(textOf(place, '.env'), 'KEY=1\n');
    assert.equal(statSync(join(place, '.env')).mode & 0o777, 0o600);
    assert.equal(textOf(place, 'config', 'a.local.json'), '{}\n');
    assert.equal(existsSync(join(place, 'config', 'deep')), false, 'no glob names it');
    assert.equal(textOf(place, 'tracked.txt'), 'committed\n', 'Git has it');
    assert.equal(existsSync(join(place, 'link')), false, 'a link may lead anywhere');
  }
  assert.equal(gitIn(path)('status', '--porcelain'), '');
  writeTree(path, { '.env': 'KEY=2\n', 'src/a.js': '2\n' });
  await teamWorktrees.save(TEAM, 'backend-dev', 'New\n\nTask: 1\n');
  await teamWorktrees.merge(TEAM, 'backend-dev', 'New\n');
  assert.deepEqual(
    (await teamWorktrees.changed(TEAM)).map((one) => one.path),
    ['src/a.js'],
  );
  assert.equal(textOf(root, '.env'), 'KEY=1\n');
});

test('the tree in which failures from before are looked for has the same', async (t) => {
  const { root, git, base } = project(t);
  const tree = git('rev-parse', 'HEAD^{tree}').trim();
  const objects = join(root, '.git', 'objects');
  const options = { root, env, objects, commit: base, tree, copies: COPIES };
  assert.equal(await withBaseTree(options, (place) => Promise.resolve(textOf(place, '.env'))), 'KEY=1\n');
});
