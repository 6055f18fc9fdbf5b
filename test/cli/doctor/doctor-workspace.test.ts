// The repository as `tool doctor` sees it for worktrees of teams: its owner, and the ignored files that they get copies of.

import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import { diagnoseWorkspace } from '../../../src/cli/doctor/doctor-workspace.ts';
import { writeTree } from '../../support/installed.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const ENV = { PATH: '/usr/bin:/bin' };

function project(t: Cleanup): string {
  const root = tempDir(t);
  execaSync`git -C ${root} init --quiet`;
  writeTree(root, {
    '.gitignore': '.env\n*.local.json\n',
    '.env': 'KEY=1\n',
    'config/a.local.json': '{}\n',
    'b.txt': '',
  });
  return root;
}

test('each entry of workspace.copy that matches no ignored file is named', async (t) => {
  const root = project(t);
  assert.deepEqual(await diagnoseWorkspace(root, ['.env', 'config/*.local.json'], ENV), []);
  const rows = await diagnoseWorkspace(root, ['.env', '.env.test', 'b.txt'], ENV);
  assert.deepEqual(
    rows.map(({ status, name, code, mend }) => [status, name, code, mend]),
    [1, 2].map(() => [
      'warn',
      'workspace copy',
      'workspace_copy_unmatched',
      'correct the entry in .tool/config/workflow.yaml, or remove it',
    ]),
  );
  assert.deepEqual(
    ['.env.test', 'b.txt'].map((entry, index) => rows[index]?.says.includes(`workflow.team.workspace.copy: ${entry} `)),
    [true, true],
  );
});

test('without a repository there is nothing to copy from', async (t) => {
  assert.deepEqual(await diagnoseWorkspace(tempDir(t), ['.env'], ENV), []);
});

test('a repository of another user is named in the words of git, with the setting that allows it', {
  skip: process.getuid?.() === 0 ? false : 'only root can give files to another user',
}, async (t) => {
  const root = project(t);
  execaSync`chown -R 12345:12345 ${root}`;
  const [row, ...others] = await diagnoseWorkspace(root, ['.env'], ENV);
  assert.deepEqual(others, []);
  assert.deepEqual([row?.status, row?.name], ['fail', 'git repository']);
  assert.equal(row?.code, 'git_repository_refused');
  assert.match(row?.says ?? '', /detected dubious ownership in repository at '/);
  assert.equal(row?.mend, `git config --global --add safe.directory '${root}'`);
});
