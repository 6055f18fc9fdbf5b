// Number of git processes that a team's work starts: starting one costs more than its work.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { createTeamWorktrees } from '../../../src/team/worktrees/team-worktrees.ts';
import { gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { projectOf, TEAM } from '../../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

/** Wrappers of `git` and `rm` that log their arguments. */
function noting(t: Cleanup) {
  const bin = join(tempDir(t), 'bin');
  const notes = join(bin, 'notes');
  mkdirSync(bin);
  writeFileSync(notes, '');
  for (const name of ['git', 'rm']) {
    const real = execaSync('sh', ['-c', `command -v ${name}`]).stdout;
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >>${notes}\nexec ${real} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const taken = () => {
    const rows = readFileSync(notes, 'utf8').split('\n').slice(0, -1);
    writeFileSync(notes, '');
    return rows.map((row) =>
      row
        .replaceAll(/ (?:-c \S+|--git-dir=\S+)/g, '')
        .split(' ')
        .slice(0, 2)
        .join(' '),
    );
  };
  return { env: { PATH: `${bin}:${process.env.PATH ?? ''}` }, taken };
}

/** Completes a task in the steps of a writer's team server. */
async function complete(teamWorktrees: ReturnType<typeof createTeamWorktrees>, member: string, file: string) {
  await teamWorktrees.leftOut(TEAM, member, [file]);
  await teamWorktrees.save(TEAM, member, 'Work');
  const merge = await teamWorktrees.update(TEAM, member);
  const { tip, commits } = await teamWorktrees.commits(TEAM, member);
  assert.deepEqual(
    commits.map(({ files }) => files),
    [[file]],
  );
  assert.equal((await teamWorktrees.merge(TEAM, member, 'Work', tip ?? '')).kind, 'merged');
  return merge.kind;
}

test('git is started as often as there is something new to ask or to do', async (t) => {
  const { root, git } = projectOf(t, { files: { 'a.js': '1\n', 'b.js': '1\n' } });
  const { env, taken } = noting(t);
  const lead = createTeamWorktrees({ root, env });
  await lead.begin(TEAM, 'anew');
  assert.deepEqual(taken(), ['git version', 'git rev-parse', 'git rev-parse', 'git update-ref']);
  await lead.begin(TEAM);
  assert.deepEqual(taken(), ['git rev-parse']);
  const { path: a } = await lead.open(TEAM, 'a');
  assert.deepEqual(taken(), ['git update-ref', 'git worktree', 'git ls-files']);
  const { path: b } = await lead.open(TEAM, 'b');
  taken();

  const server = createTeamWorktrees({ root, env });
  writeTree(a, { 'a.js': '2\n' });
  assert.equal(await complete(server, 'a', 'a.js'), 'nothing');
  const joined = ['git commit-tree', 'git update-ref'];
  const saved = ['git ls-files', 'git ls-files', 'git update-index', 'git commit', 'git log'];
  assert.deepEqual(taken(), ['git rev-parse', ...saved, ...joined]);
  writeTree(b, { 'b.js': '2\n' });
  assert.equal(await complete(server, 'b', 'b.js'), 'merged');
  const updated = [
    'merge-tree',
    'commit-tree',
    'diff-tree',
    'diff',
    'read-tree',
    'ls-files',
    'checkout-index',
    'update-ref',
  ];
  assert.deepEqual(taken(), [...saved, ...updated.map((word) => `git ${word}`), ...joined]);

  await lead.end(TEAM, ['a', 'b']);
  const looked = Array.from({ length: 2 }, () => ['git ls-files', 'git diff-index']).flat();
  assert.deepEqual(taken().sort(), ['git for-each-ref', 'git update-ref', ...looked].sort());
  assert.equal(
    git('for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/toolcrew/left'),
    `refs/heads/main\nrefs/heads/tool/${TEAM}\n`,
  );
  assert.equal(git('log', '--topo-order', '--format=%s', '--no-merges', `tool/${TEAM}`), 'Work\nWork\nBegin\n');
});

test('names of files like what git writes before them are told as they are', async (t) => {
  const { teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const names = ['A', '\nM', `${'0'.repeat(40)} `, '? a', 'tab\tin', 'quote"d', 'Task: 3'];
  writeTree(path, Object.fromEntries(names.map((name) => [name, 'x\n'])));
  await teamWorktrees.save(TEAM, 'a', 'A\n\nTask: 1');
  gitIn(path)('commit', '-q', '--allow-empty', '-m', 'M');
  gitIn(path)('rm', '-q', 'A');
  await teamWorktrees.save(TEAM, 'a', 'D\n\nTask: 2');
  const { commits } = await teamWorktrees.commits(TEAM, 'a');
  assert.deepEqual(
    commits.map(({ subject, task, files }) => ({ subject, task, files })),
    [
      { subject: 'A', task: '1', files: [...names].sort() },
      { subject: 'M', task: null, files: [] },
      { subject: 'D', task: '2', files: ['A'] },
    ],
  );
});

test('nothing is committed where what was changed is back again, though the index was not', async (t) => {
  const { teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': '2\n' });
  gitIn(path)('add', '-A');
  writeTree(path, { 'src/api/a.js': '1\n' });
  assert.equal(await teamWorktrees.save(TEAM, 'a', 'Work'), null);
  assert.deepEqual((await teamWorktrees.commits(TEAM, 'a')).commits, []);
});
