// A team's branch that somebody moves past its merges, and the one that a new team of the same name finds.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { writerEnvironment } from '../../../src/git/worktree-git.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { createTeamWorktrees } from '../../../src/team/worktrees/team-worktrees.ts';
import { failsWith } from '../../support/codes.ts';
import { gitIn } from '../../support/git.ts';
import { writeTree } from '../../support/installed.ts';
import { commitAll, projectOf, TEAM, textOf } from '../../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../../support/temp.ts';

const BRANCH = `tool/${TEAM}`;
const WRITERS = ['a', 'b'];

/** A team with one task merged and a commit of the writer's that is not. */
async function merged(t: Cleanup) {
  const { root, git, base, teamWorktrees } = projectOf(t);
  const at = (ref: string) => git('rev-parse', ref).trim();
  await teamWorktrees.begin(TEAM, 'anew');
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': '2\n' });
  await teamWorktrees.save(TEAM, 'a', 'Two');
  await teamWorktrees.merge(TEAM, 'a', 'Two');
  const left = at(BRANCH);
  await teamWorktrees.update(TEAM, 'a');
  writeTree(path, { 'src/api/b.js': 'b\n' });
  const own = (await teamWorktrees.save(TEAM, 'a', 'More')) ?? '';
  return { root, git, base, teamWorktrees, path, at, left, own };
}

for (const [how, change] of [
  ['moved on', (own: string) => ['update-ref', `refs/heads/${BRANCH}`, own]],
  ['moved back', () => ['update-ref', `refs/heads/${BRANCH}`, 'main']],
  ['deleted', () => ['branch', '-q', '-D', BRANCH]],
  ['made another name of a branch of the person', () => ['symbolic-ref', `refs/heads/${BRANCH}`, 'refs/heads/main']],
] as const) {
  test(`what is left is where the last merge left it, the team's branch ${how}`, async (t) => {
    const { git, base, teamWorktrees, path, at, left, own } = await merged(t);
    assert.equal(await teamWorktrees.putBack(TEAM), null);
    git(...change(own));
    assert.equal((await teamWorktrees.openReadOnly(TEAM, 'gate')).head, left);
    assert.deepEqual(
      (await teamWorktrees.changed(TEAM)).map((one) => one.path),
      ['src/api/a.js'],
    );
    assert.deepEqual(await teamWorktrees.update(TEAM, 'a'), { kind: 'nothing' });
    assert.deepEqual(
      (await teamWorktrees.commits(TEAM, 'a')).commits.map(({ sha }) => sha),
      [own],
    );
    assert.deepEqual(await teamWorktrees.merge(TEAM, 'a', 'More'), { kind: 'moved' });
    const kept = (await teamWorktrees.putBack(TEAM)) ?? '';
    assert.match(kept, new RegExp(`^refs/toolcrew/refused/${TEAM}/team-lead/`));
    assert.equal(at(BRANCH), left);
    assert.equal(at('main'), base);
    assert.equal((await teamWorktrees.merge(TEAM, 'a', 'More')).kind, 'merged');
    assert.equal(git('show', `${BRANCH}:src/api/b.js`), 'b\n');
    git('update-ref', `refs/heads/${BRANCH}`, own);
    writeTree(path, { 'src/api/c.js': 'late\n' });
    await teamWorktrees.end(TEAM, []);
    assert.equal(git('show', `${BRANCH}:src/api/b.js`), 'b\n', 'what it ends with is what was merged');
    assert.equal(git('for-each-ref', 'refs/toolcrew/left'), '');
  });
}

test('a branch that git does not move is given up with words, and merged once git does', async (t) => {
  const { root, at, left } = await merged(t);
  const bin = tempDir(t);
  const git = execaSync`/bin/sh -c ${'command -v git'}`.stdout;
  const tried = join(bin, 'tried');
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh
case "$*" in *'update-ref --no-deref --stdin') echo >>"${tried}"; [ $(wc -l <"${tried}") -le 12 ] && echo held >&2 && exit 1 ;; esac
exec ${git} "$@"
`,
    { mode: 0o755 },
  );
  const teamWorktrees = createTeamWorktrees({
    root,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` },
  });
  const merge = () => teamWorktrees.merge(TEAM, 'a', 'More');
  await failsWith(merge(), WORK_CODES.team_branch_contended, { branch: BRANCH, tries: 10, said: 'held' });
  assert.equal(at(BRANCH), left);
  assert.equal((await merge()).kind, 'merged');
});

test('what a person commits to it while nobody leads counts, what a teammate does not', async (t) => {
  const { root, git, teamWorktrees, at, left, own } = await merged(t);
  git('update-ref', `refs/heads/${BRANCH}`, own);
  await teamWorktrees.adoptChanges(TEAM, WRITERS);
  await teamWorktrees.putBack(TEAM);
  assert.equal(at(BRANCH), left);
  git('checkout', '-q', BRANCH);
  writeTree(root, { 'fix.txt': 'x' });
  const fix = commitAll(root, 'A fix');
  git('checkout', '-q', 'main');
  await teamWorktrees.adoptChanges(TEAM, WRITERS);
  assert.equal(await teamWorktrees.putBack(TEAM), null);
  assert.equal((await teamWorktrees.openReadOnly(TEAM, 'gate')).head, fix);
  // Made anew without what was merged, with a merge of the project in it.
  git('checkout', '-q', '-B', BRANCH, 'main');
  writeTree(root, { 'src/api/a.js': 'anew\n' });
  const anew = commitAll(root, 'Anew');
  git('checkout', '-q', 'main');
  await teamWorktrees.adoptChanges(TEAM, WRITERS);
  assert.equal(await teamWorktrees.putBack(TEAM), null);
  assert.equal((await teamWorktrees.openReadOnly(TEAM, 'gate')).head, anew);
});

for (const [how, text] of [
  ['made anew', 'anew\n'],
  ['moved back', null],
] as const) {
  test(`what a person took out of the branch, ${how}, does not come back with the writers`, async (t) => {
    const { root, git, teamWorktrees, path, at, own, left } = await merged(t);
    const other = await teamWorktrees.open(TEAM, 'b');
    assert.equal(textOf(other.path, 'src/api/a.js'), '2\n');
    writeTree(other.path, { 'note.txt': 'mine\n' });
    writeTree(path, { 'src/api/c.js': 'not committed\n' });
    git('checkout', '-q', '-B', BRANCH, 'main');
    if (text !== null) {
      writeTree(root, { 'src/pages/p.js': text });
      commitAll(root, 'Anew');
    }
    const taken = at(BRANCH);
    git('checkout', '-q', 'main');
    await teamWorktrees.adoptChanges(TEAM, WRITERS);
    assert.equal(await teamWorktrees.putBack(TEAM), null);
    assert.deepEqual((await teamWorktrees.commits(TEAM, 'b')).commits, []);
    assert.equal(textOf(other.path, 'note.txt'), 'mine\n');
    assert.equal(textOf(other.path, 'src/api/a.js'), '1\n');
    const [commit, ...more] = (await teamWorktrees.commits(TEAM, 'a')).commits;
    assert.deepEqual([commit?.subject, commit?.files, more], ['More', ['src/api/b.js'], []]);
    assert.equal(gitIn(path)('status', '--porcelain'), '?? src/api/c.js\n');
    await teamWorktrees.save(TEAM, 'b', 'Note');
    for (const member of ['a', 'b']) assert.equal((await teamWorktrees.merge(TEAM, member, 'All')).kind, 'merged');
    const held = git('rev-list', BRANCH).split('\n');
    assert.ok(held.includes(taken));
    assert.ok(![own, left].some((sha) => held.includes(sha)));
    assert.equal(git('show', `${BRANCH}:src/api/a.js`), '1\n');
  });
}

test('of the branches beside it the writers\u2019 alone are put upon it, and where each stood is kept', async (t) => {
  const { git, teamWorktrees, at, own, left } = await merged(t);
  await teamWorktrees.open(TEAM, 'b');
  for (const name of ['backup', 'c_-old']) git('branch', `${BRANCH}--${name}`, BRANCH);
  git('symbolic-ref', `refs/heads/${BRANCH}--alias`, `refs/heads/${BRANCH}--backup`);
  git('update-ref', `refs/heads/${BRANCH}`, 'main');
  const told = await teamWorktrees.adoptChanges(TEAM, ['gone', 'c_-old', ...WRITERS, 'alias']);
  for (const name of ['backup', 'c_-old']) assert.equal(at(`${BRANCH}--${name}`), left);
  assert.equal(at(`${BRANCH}--b`), at('main'));
  assert.equal(git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length, 3);
  const kept = (member: string, sha: string) => `refs/toolcrew/saved/${TEAM}/${member}/${sha}`;
  const refs = [kept('a', own), kept('b', left), kept('team-lead', left)];
  assert.equal(git('for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved').trim(), refs.join('\n'));
  for (const ref of refs) assert.equal(at(ref), ref.split('/').at(-1));
  assert.match(
    told.join('\n'),
    new RegExp(
      `^${BRANCH}: .*${refs[2]}\n${BRANCH}--c_-old: teammate: expected .*\n${BRANCH}--a: .*${refs[0]}\n${BRANCH}--b: .*${refs[1]}\n${BRANCH}--alias: .* another name of refs/heads/${BRANCH}--backup$`,
    ),
  );
  assert.equal(await teamWorktrees.putBack(TEAM), null);
  assert.deepEqual(await teamWorktrees.adoptChanges(TEAM, WRITERS), []);
});

test('each commit that was not merged stays one, with its author and the task that it names', async (t) => {
  const { git, teamWorktrees, path } = await merged(t);
  for (const [file, words] of [
    ['c', 'Third\n\nTask: 3'],
    ['d', 'Fourth\n\nTask: 4'],
  ] as const) {
    writeTree(path, { [`src/api/${file}.js`]: 'x\n' });
    if (file === 'c') commitAll(path, words);
    else await teamWorktrees.save(TEAM, 'a', words);
  }
  const shown = () => git('log', '--reverse', '--format=%s %an %ad', `-3`, `${BRANCH}--a`);
  const before = shown();
  git('update-ref', `refs/heads/${BRANCH}`, 'main');
  await teamWorktrees.adoptChanges(TEAM, WRITERS);
  assert.equal(shown(), before);
  const { commits } = await teamWorktrees.commits(TEAM, 'a');
  assert.deepEqual(
    commits.map(({ subject, task, files }) => [subject, task, ...files]),
    [
      ['More', null, 'src/api/b.js'],
      ['Third', '3', 'src/api/c.js'],
      ['Fourth', '4', 'src/api/d.js'],
    ],
  );
  assert.equal(gitIn(path)('status', '--porcelain'), '');
});

test('commits that go upon it together alone are one, with the tasks of all', async (t) => {
  const { git, teamWorktrees, path } = await merged(t);
  for (const [text, words] of [
    ['3\n', 'Third\n\nTask: 3'],
    ['2\n', 'Fourth\n\nTask: 4'],
  ] as const) {
    writeTree(path, { 'src/api/a.js': text });
    await teamWorktrees.save(TEAM, 'a', words);
  }
  git('update-ref', `refs/heads/${BRANCH}`, 'main');
  await teamWorktrees.adoptChanges(TEAM, WRITERS);
  const trailers = '--format=%s|%(trailers:key=Task,valueonly,separator=%x2C)';
  assert.equal(git('log', trailers, `main..${BRANCH}--a`), 'More|3,4\n');
  assert.equal(git('diff', '--name-only', 'main', `${BRANCH}--a`), 'src/api/b.js\n');
});

test('a writer that does not go with what the branch is now is named, with the files', async (t) => {
  const { git, teamWorktrees, path, at } = await merged(t);
  const other = await teamWorktrees.open(TEAM, 'b');
  writeTree(other.path, { 'src/api/a.js': 'not committed\n' });
  writeTree(path, { 'src/api/a.js': '3\n' });
  const own = await teamWorktrees.save(TEAM, 'a', 'Third');
  git('update-ref', `refs/heads/${BRANCH}`, 'main');
  const [, ...told] = await teamWorktrees.adoptChanges(TEAM, WRITERS);
  assert.equal(told.length, 2);
  for (const [index, member] of WRITERS.entries())
    assert.match(
      told[index] ?? '',
      new RegExp(`^${BRANCH}--${member}: stays as it was, .*comes back.*: src/api/a.js `),
    );
  assert.equal(at(`${BRANCH}--a`), own);
  assert.equal(textOf(other.path, 'src/api/a.js'), 'not committed\n');
  assert.equal(await teamWorktrees.putBack(TEAM), null);
});

test('a branch that a teammate has moved back is none that a person took something out of', async (t) => {
  const { git, teamWorktrees, path, at, left } = await merged(t);
  execaSync({ cwd: path, env: writerEnvironment(TEAM, 'a') })`git update-ref refs/heads/${BRANCH} main`;
  await teamWorktrees.adoptChanges(TEAM, WRITERS);
  assert.notEqual(await teamWorktrees.putBack(TEAM), null);
  assert.equal(at(BRANCH), left);
  assert.equal(git('show', `${BRANCH}:src/api/a.js`), '2\n');
});

test('a new team begins where the project is, also when that stands at the branch itself', async (t) => {
  const { git, teamWorktrees, left } = await merged(t);
  await teamWorktrees.close(TEAM, 'a');
  await teamWorktrees.end(TEAM, []);
  git('merge', '-q', '--ff-only', BRANCH);
  assert.deepEqual(await teamWorktrees.begin(TEAM, 'anew'), { branch: BRANCH, base: left, head: left });
  assert.deepEqual(await teamWorktrees.begin(TEAM), { branch: BRANCH, base: left, head: left });
  assert.deepEqual(await teamWorktrees.changed(TEAM), []);
});

test('branches and tags of the person are told from those that a teammate moved', async (t) => {
  const { git, teamWorktrees, path, at, base, own } = await merged(t);
  git('branch', 'mine');
  git('update-ref', 'refs/heads/main', own);
  gitIn(path)('tag', 'light', own);
  // In nobody's name: the worktree that it was made in tells.
  const { path: view } = await teamWorktrees.openReadOnly(TEAM, 'analyst');
  gitIn(view)('commit', '-q', '--allow-empty', '-m', 'Mine?');
  gitIn(view)('tag', '-a', '-m', 'x', 'annotated');
  assert.deepEqual(
    [...(await teamWorktrees.tips())],
    [
      ['refs/heads/main', { sha: own, isTeams: true }],
      ['refs/heads/mine', { sha: base, isTeams: false }],
      ['refs/tags/annotated', { sha: at('annotated'), isTeams: true }],
      ['refs/tags/light', { sha: at('light'), isTeams: true }],
    ],
  );
});

test('what a teammate goes to, or takes as it is, stays the person’s', async (t) => {
  const { root, git, teamWorktrees, path, at } = await merged(t);
  writeTree(root, { 'own.txt': 'own\n' });
  const own = commitAll(root, 'Own');
  git('branch', 'picked', 'main');
  const writer = gitIn(path);
  writer('rebase', '-q', 'main');
  const mine = at(`${BRANCH}--a`);
  git('branch', 'rebased', mine);
  writer('checkout', '-q', '--detach', 'main~1');
  writer('cherry-pick', '--ff', 'main');
  writer('rebase', '-q', 'main');
  const tips = await teamWorktrees.tips();
  assert.deepEqual(tips.get('refs/heads/main'), { sha: own, isTeams: false });
  assert.deepEqual(tips.get('refs/heads/picked'), { sha: own, isTeams: false });
  assert.deepEqual(tips.get('refs/heads/rebased'), { sha: mine, isTeams: true });
});

test('a new team begins where the project is, once that has all of an earlier one’s branch', async (t) => {
  const { root, git, base, teamWorktrees, left } = await merged(t);
  await teamWorktrees.close(TEAM, 'a');
  await teamWorktrees.end(TEAM, []);
  writeTree(root, { 'src/api/more.js': 'more\n' });
  const more = commitAll(root, 'More');
  assert.equal((await teamWorktrees.begin(TEAM, 'anew')).head, left, 'it lacks the branch');
  assert.deepEqual(await teamWorktrees.begin(TEAM), { branch: BRANCH, base, head: left });
  git('merge', '-q', '-m', 'Merge', BRANCH);
  const here = git('rev-parse', 'HEAD').trim();
  assert.deepEqual(await teamWorktrees.begin(TEAM), { branch: BRANCH, base, head: left }, 'the same team');
  assert.deepEqual(await teamWorktrees.begin(TEAM, 'anew'), { branch: BRANCH, base: here, head: here });
  assert.notEqual(here, more);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  assert.equal(textOf(path, 'src/api/more.js'), 'more\n');
  assert.deepEqual(await teamWorktrees.changed(TEAM), []);
});

test('the end of a team closes its members\u2019 branches, and leaves a person\u2019s of a like name', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'backend-dev');
  await teamWorktrees.open(TEAM, 'tester');
  git('branch', `tool/${TEAM}--backup`, 'main');
  // As after a kill between the two: the worktree is gone, the branch is not.
  git('worktree', 'remove', '--force', path);
  await teamWorktrees.end(TEAM, ['backend-dev', 'tester']);
  assert.deepEqual(git('branch', '--list', '--format=%(refname:short)', 'tool/*').trim().split('\n'), [
    `tool/${TEAM}`,
    `tool/${TEAM}--backup`,
  ]);
});
