// What a teammate's git can move in the repository, where the kernel holds it to its own.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { writerEnvironment } from '../../../src/adapters/git/workshop-git.ts';
import { findProject } from '../../../src/adapters/project.ts';
import { memberBounds } from '../../../src/adapters/runner/member-bounds.ts';
import { writeTree } from '../../support/installed.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';
import { projectOf, TEAM } from '../../support/workshop.ts';

async function bounded(t: Cleanup) {
  const { root, git, workshop } = projectOf(t);
  const home = tempDir(t);
  const bounds = await memberBounds(findProject(root), 'auto', {
    ...process.env,
    HOME: home,
    XDG_STATE_HOME: undefined,
  });
  await workshop.begin(TEAM);
  git('branch', 'other');
  git('pack-refs', '--all');
  /** Each line of a script, and whether it went through. */
  const play = (cwd: string, script: string) => {
    const lines = script.trim().split('\n');
    const [file, args] = bounds.wrap(
      '/bin/sh',
      ['-c', lines.map((line) => `(${line}) && echo yes || echo no`).join('\n')],
      cwd,
      [],
      { team: TEAM, name: 'a', epoch: 1 },
    );
    const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1', ...writerEnvironment(TEAM, 'a') };
    const { stdout, stderr } = spawnSync(file, args, { cwd, env, encoding: 'utf8' });
    const came = stdout.split('\n').filter((line) => /^(yes|no)$/.test(line));
    return { came: lines.map((line, index) => `${came[index] ?? 'none'}: ${line.trim()}`), stderr };
  };
  return { root, git, workshop, play, isActive: bounds.isolation.active };
}

function assertAll(came: readonly string[], word: string, stderr: string): void {
  assert.deepEqual(
    came.filter((line) => !line.startsWith(`${word}: `)),
    [],
    stderr,
  );
}

const FORBIDDEN = `
  git update-ref refs/heads/main HEAD~1
  git branch -f other HEAD
  git branch -D other
  git tag evil
  git pack-refs --all
  git config core.hooksPath x
  echo x >"$(git rev-parse --git-common-dir)/HEAD"
  echo x >"$(git rev-parse --git-common-dir)/packed-refs"
  touch "$(git rev-parse --git-common-dir)/worktrees/b/x"
  touch "$(git rev-parse --git-common-dir)/hooks/x"`;

test('a writer commits, merges and rewrites on its branch, and moves none of the person’s', async (t) => {
  const { root, git, workshop, play, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await workshop.open(TEAM, 'a');
  await workshop.open(TEAM, 'b');
  writeTree(path, { 'src/api/a.js': '2\n' });
  const before = git('for-each-ref', 'refs/heads/main', 'refs/heads/other', 'refs/tags');
  const own = play(
    path,
    `git add -A
    git commit -q -m One
    echo 3 >src/api/a.js && git commit -q -a -m Two
    git commit -q --amend -m Again
    git reset -q --soft HEAD~1 && git commit -q -m Three
    git merge -q tool/${TEAM}
    git rebase -q main
    git checkout -q -- .
    git reflog -1`,
  );
  assertAll(own.came, 'yes', own.stderr);
  // Somebody tidies the repository while it is at work.
  git('pack-refs', '--all', '--prune');
  const after = play(path, 'echo 4 >src/api/a.js && git commit -q -a -m Four');
  assertAll(after.came, 'yes', after.stderr);
  const foreign = play(path, FORBIDDEN);
  assertAll(foreign.came, 'no', foreign.stderr);
  assert.equal(git('for-each-ref', 'refs/heads/main', 'refs/heads/other', 'refs/tags'), before);
  assert.equal((await workshop.merge(TEAM, 'a', 'All')).kind, 'merged');
  assert.equal(git('show', `tool/${TEAM}:src/api/a.js`), '4\n');
  await workshop.end(TEAM);
  assert.equal(git('-C', root, 'status', '--porcelain'), '');
});

test('who only reads moves no branch at all', async (t) => {
  const { git, workshop, play, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await workshop.view(TEAM, 'analyst');
  await workshop.open(TEAM, 'b');
  const refs = git('for-each-ref');
  const own = play(path, 'echo x >src/api/a.js && git commit -q -a -m hacked\n git status --short');
  assertAll(own.came, 'yes', own.stderr);
  const foreign = play(path, `${FORBIDDEN.trim()}\n git update-ref refs/heads/tool/${TEAM} HEAD\n git branch tool/x`);
  assertAll(foreign.came, 'no', foreign.stderr);
  assert.equal(git('for-each-ref'), refs);
});
