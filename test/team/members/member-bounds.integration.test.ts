// Kernel-enforced bounds of a teammate's git: a writer changes its own branches only, a reader changes none.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import { findProject } from '../../../src/git/project.ts';
import { writerEnvironment } from '../../../src/git/worktree-git.ts';
import { memberBounds } from '../../../src/team/members/member-bounds.ts';
import { writeTree } from '../../support/installed.ts';
import { projectOf, TEAM, textOf } from '../../support/team-worktrees.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

async function bounded(t: Cleanup) {
  const { root, git, teamWorktrees } = projectOf(t);
  const home = tempDir(t);
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const person = { ...process.env, HOME: home, XDG_STATE_HOME: undefined };
  const bounds = await memberBounds(findProject(root), 'auto', person, runtime.path);
  await teamWorktrees.begin(TEAM);
  git('branch', 'other');
  git('pack-refs', '--all');
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1', GIT_EDITOR: 'true' },
    ...writerEnvironment(TEAM, 'a'),
  };
  const wrap = (cwd: string, script: string, own: readonly string[] = []) =>
    bounds.wrap('/bin/sh', ['-c', script], cwd, own, { team: TEAM, name: 'a', epoch: 1 });
  /** Runs a script line by line; `came` has `yes`, `no` or `none` before each line. */
  const play = (cwd: string, script: string, own: readonly string[] = []) => {
    const lines = script.trim().split('\n');
    const [file, args] = wrap(cwd, lines.map((line) => `(${line}) && echo yes || echo no`).join('\n'), own);
    const { stdout, stderr } = execaSync(file, args, { cwd, env, extendEnv: false, reject: false });
    const came = stdout.split('\n').filter((line) => /^(yes|no)$/.test(line));
    return { came: lines.map((line, index) => `${came[index] ?? 'none'}: ${line.trim()}`), stderr };
  };
  /** Starts a script in the background; its first output says that it runs. */
  const begin = (cwd: string, script: string) => {
    const [file, args] = wrap(cwd, script);
    return execa(file, args, { cwd, env, extendEnv: false, buffer: false, reject: false });
  };
  return { root, git, runtime, teamWorktrees, play, begin, isActive: bounds.isolation.active };
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
  echo x >"$(git rev-parse --git-common-dir)/objects/info/alternates"
  mv "$(git rev-parse --git-common-dir)/refs" "$(git rev-parse --git-common-dir)/aside"
  touch "$(git rev-parse --git-common-dir)/worktrees/b/x"
  touch "$(git rev-parse --git-common-dir)/hooks/x"`;

test('a writer commits, merges and rewrites on its branch, and moves none of the person’s', async (t) => {
  const { root, git, teamWorktrees, play, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await teamWorktrees.open(TEAM, 'a');
  await teamWorktrees.open(TEAM, 'b');
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
  // The person packs the refs while the writer is active.
  git('pack-refs', '--all', '--prune');
  const after = play(path, 'echo 4 >src/api/a.js && git commit -q -a -m Four');
  assertAll(after.came, 'yes', after.stderr);
  const foreign = play(path, FORBIDDEN);
  assertAll(foreign.came, 'no', foreign.stderr);
  assert.equal(git('for-each-ref', 'refs/heads/main', 'refs/heads/other', 'refs/tags'), before);
  assert.equal((await teamWorktrees.merge(TEAM, 'a', 'All')).kind, 'merged');
  assert.equal(git('show', `tool/${TEAM}:src/api/a.js`), '4\n');
  await teamWorktrees.end(TEAM, []);
  assert.equal(git('-C', root, 'status', '--porcelain'), '');
});

test('a writer brings picks, reverts and rebases to their end, in conflict too', async (t) => {
  const { git, teamWorktrees, play, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const own = play(
    path,
    `git checkout -q -b tool/x && echo x >src/api/a.js && git commit -q -a -m X && git checkout -q -
    echo n >n.txt && git add -A && git commit -q -m N
    git revert --no-edit HEAD && git merge -q tool/${TEAM}
    echo 2 >src/api/a.js && git commit -q -a -m Two
    ! git cherry-pick tool/x
    git cherry-pick --abort
    ! git cherry-pick tool/x
    echo 3 >src/api/a.js && git add -A && git cherry-pick --continue
    git commit -q --amend -m Three
    ! git rebase tool/x
    git rebase --abort
    ! git rebase tool/x
    ! git rebase --skip
    echo 4 >src/api/a.js && git add -A && git rebase --continue
    git update-ref -d refs/heads/tool/x
    test -z "$(git status --porcelain)"
    ! git status | grep -E 'progress|currently'
    git merge -q tool/${TEAM}`,
  );
  assertAll(own.came, 'yes', own.stderr);
  assert.equal(git('for-each-ref', 'refs/heads/tool/x'), '');
  assert.equal((await teamWorktrees.merge(TEAM, 'a', 'All')).kind, 'merged');
});

test('what the person replaces while a writer is at work stays read-only', async (t) => {
  const { root, git, teamWorktrees, begin, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const files = ['config', 'HEAD', 'index', 'packed-refs'];
  const writer = begin(
    path,
    `echo there; read go; cd "$(git rev-parse --git-common-dir)"
    for file in ${files.join(' ')}; do (echo planted >>"$file") 2>/dev/null; (echo planted >>"toolcrew-real/$file") 2>/dev/null; done
    git rev-parse late main; cat HEAD`,
  );
  const said: string[] = [];
  writer.stdout.on('data', (chunk: Buffer) => said.push(String(chunk)));
  await once(writer.stdout, 'data');
  git('config', 'user.name', 'p');
  git('checkout', '-q', '-b', 'late');
  writeTree(root, { 'late.txt': '1\n' });
  git('add', '-A');
  git('commit', '-q', '-m', 'Late');
  git('pack-refs', '--all', '--prune');
  writer.stdin.end('go\n');
  await once(writer, 'close');
  for (const file of files) assert.doesNotMatch(textOf(root, '.git', file), /planted/, file);
  // The writer sees the current refs and HEAD.
  assert.equal(said.join(''), `there\n${git('rev-parse', 'late', 'main')}ref: refs/heads/late\n`);
});

test('who only reads moves no branch at all', async (t) => {
  const { git, teamWorktrees, play, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await teamWorktrees.openReadOnly(TEAM, 'analyst');
  await teamWorktrees.open(TEAM, 'b');
  const refs = git('for-each-ref');
  const own = play(path, 'echo x >src/api/a.js && git commit -q -a -m hacked\n git status --short');
  assertAll(own.came, 'yes', own.stderr);
  const foreign = play(path, `${FORBIDDEN.trim()}\n git update-ref refs/heads/tool/${TEAM} HEAD\n git branch tool/x`);
  assertAll(foreign.came, 'no', foreign.stderr);
  assert.equal(git('for-each-ref'), refs);
});

test('temporary files of the gate and of another teammate are read-only', async (t) => {
  const { runtime, teamWorktrees, play, isActive } = await bounded(t);
  if (!isActive) return t.skip('the kernel gives no namespaces');
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const [own, gate] = [runtime.make('m-a-1'), runtime.make('gate-1')];
  writeTree(gate, { s: 'real\n' });
  const foreign = play(
    path,
    `echo forged >${gate}/s
    mv ${gate}/s ${gate}/t
    rm ${gate}/s
    mv ${gate} ${gate}.real
    mkdir ${runtime.path}/x
    mv ${runtime.path} ${runtime.path}.real`,
    [own],
  );
  assertAll(foreign.came, 'no', foreign.stderr);
  assertAll(play(path, `echo mine >${own}/x && cat ${own}/x ${gate}/s`, [own]).came, 'yes', foreign.stderr);
});
