// Repositories of every kind, and worktrees that somebody or a kill left in disorder.
// Over 400 lines: its cases share the ways to make repositories.

import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execaSync } from 'execa';
import { isFailure } from '../../src/base/rules/errors.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import type { TeamWorktrees } from '../../src/git/worktrees/team-worktrees-port.ts';
import { WORK_CODES } from '../../src/team/rules/codes/work-codes.ts';
import { createTeamWorktrees } from '../../src/team/worktrees/team-worktrees.ts';
import { isOf } from '../support/codes.ts';
import { type GitCall, gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { commitAll, FILES, projectOf, TEAM, textOf } from '../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const { env } = process;

async function goesThrough(
  teamWorktrees: TeamWorktrees,
  git: GitCall,
  file = 'src/api/a.js',
  inRepository = file,
): Promise<void> {
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { [file]: 'changed\n' });
  await teamWorktrees.save(TEAM, 'a', 'Change');
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'a')).commits.map(({ files }) => files),
    [[file]],
  );
  assert.equal((await teamWorktrees.merge(TEAM, 'a', 'Change')).kind, 'merged');
  assert.deepEqual(await teamWorktrees.changed(TEAM), [{ path: file, added: 1, removed: 1 }]);
  assert.equal(git('show', `tool/${TEAM}:${inRepository}`), 'changed\n');
  const { path: reading } = await teamWorktrees.openReadOnly(TEAM, 'r');
  assert.equal(textOf(reading, file), 'changed\n');
  await teamWorktrees.end(TEAM, []);
}

test('a repository of SHA-256, at a path with spaces and letters of all kinds', async (t) => {
  const { git, teamWorktrees } = projectOf(t, { name: "my pröject 'ö", format: 'sha256' });
  await goesThrough(teamWorktrees, git);
});

test('a project below the top of its repository', async (t) => {
  const files = {
    'packages/app/src/a.js': '1\n',
    'packages/app/.tool/config/workflow.yaml': '',
    'packages/lib/l.js': '1\n',
  };
  const { root: top, git } = projectOf(t, { files });
  const root = join(top, 'packages', 'app');
  const teamWorktrees = createTeamWorktrees({ root, env });
  await goesThrough(teamWorktrees, git, 'src/a.js', 'packages/app/src/a.js');
  const { path } = await teamWorktrees.open(TEAM, 'b');
  assert.equal(path, join(root, '.tool', 'worktrees', TEAM, 'b', 'packages', 'app'));
  writeTree(path, { '../lib/l.js': '2\n' });
  const sha = (await teamWorktrees.save(TEAM, 'b', 'Beside')) ?? '';
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'b')).commits.map(({ files: changed }) => changed),
    [['../lib/l.js']],
  );
  await teamWorktrees.refuse(TEAM, 'b', sha, ['../lib/l.js']);
  assert.equal(textOf(path, '../lib/l.js'), '1\n');
  assert.equal(git('status', '--porcelain'), '');
});

test('a project that is a worktree itself: the team begins from where that stands, and works in it', async (t) => {
  const { root, git } = projectOf(t);
  const linked = join(tempDir(t), 'linked');
  git('worktree', 'add', '-q', '-b', 'topic', linked);
  writeTree(linked, { 'topic.js': '1\n' });
  const sha = commitAll(linked, 'Topic');
  const teamWorktrees = createTeamWorktrees({ root: linked, env });
  assert.equal((await teamWorktrees.begin(TEAM)).base, sha);
  await goesThrough(teamWorktrees, git);
  assert.ok(existsSync(join(linked, '.tool', 'worktrees')) && !existsSync(join(root, '.tool', 'worktrees')));
  assert.equal(git('worktree', 'list').trim().split('\n').length, 2, "the person's own stays");
});

test('submodules are left alone', async (t) => {
  const inner = projectOf(t, { name: 'inner' });
  const { root, git, teamWorktrees } = projectOf(t);
  git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'vendor/inner');
  commitAll(root, 'A submodule');
  await goesThrough(teamWorktrees, git);
  assert.equal(textOf(root, 'vendor/inner/src/api/a.js'), '1\n');
});

test('a repository in a writer’s worktree is none of its work', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  execaSync`git init -q ${join(path, 'nested')}`;
  writeTree(path, { 'nested/file': 'x', 'src/api/a.js': '2\n' });
  const sha = (await teamWorktrees.save(TEAM, 'a', 'x')) ?? '';
  assert.equal(git('show', '--name-only', '--format=', sha), 'src/api/a.js\n');
});

type Refusal = {
  readonly name: string;
  readonly make: (t: Cleanup) => Promise<unknown>;
  readonly holds: (error: unknown) => true;
};

function gitOfVersion(t: Cleanup, version: string): string {
  const bin = join(tempDir(t), 'bin');
  writeTree(bin, { git: `#!/bin/sh\necho git version ${version}\n` });
  chmodSync(join(bin, 'git'), 0o755);
  return `${bin}:${env.PATH}`;
}

/** There is no repository to work in, as git said. */
function saidByGit(words: RegExp): Refusal['holds'] {
  return (error) => {
    assert.ok(isFailure(error, GIT_CODES.git_repository_missing), String(error));
    assert.match(String(error.values.said), words);
    return true;
  };
}

const REFUSALS: readonly Refusal[] = [
  {
    name: 'no repository',
    make: (t) => createTeamWorktrees({ root: tempDir(t), env }).begin(TEAM),
    holds: saidByGit(/^fatal: not a git repository/),
  },
  {
    name: 'a bare repository',
    make: (t) => {
      const root = tempDir(t);
      execaSync`git init -q --bare ${root}`;
      return createTeamWorktrees({ root, env }).begin(TEAM);
    },
    holds: saidByGit(/^fatal: this operation must be run in a work tree/),
  },
  {
    name: 'no commit',
    make: (t) => {
      const root = tempDir(t);
      execaSync`git init -q ${root}`;
      return createTeamWorktrees({ root, env }).begin(TEAM);
    },
    holds: isOf(GIT_CODES.no_commit_yet),
  },
  {
    name: 'an old git',
    make: (t) => createTeamWorktrees({ root: tempDir(t), env: { PATH: gitOfVersion(t, '2.37.9') } }).begin(TEAM),
    holds: isOf(GIT_CODES.git_too_old, { version: 'git version 2.37.9', required: '2.38' }),
  },
  {
    name: 'no git',
    make: (t) => createTeamWorktrees({ root: tempDir(t), env: { PATH: '/nonexistent' } }).begin(TEAM),
    holds: isOf(GIT_CODES.git_missing),
  },
  {
    name: 'a team that has not begun',
    make: (t) => projectOf(t).teamWorktrees.open(TEAM, 'a'),
    holds: isOf(WORK_CODES.team_branch_missing, { branch: `tool/${TEAM}` }),
  },
  {
    name: 'the team’s branch checked out by the person',
    make: async (t) => {
      const { git, teamWorktrees } = projectOf(t);
      await teamWorktrees.begin(TEAM);
      git('checkout', '-q', `tool/${TEAM}`);
      return teamWorktrees.begin(TEAM);
    },
    holds: isOf(WORK_CODES.team_branch_checked_out, { branch: `tool/${TEAM}` }),
  },
  ...['../x', 'a--b', '', 'a.lock', 'a b', '-a'].map(
    (member): Refusal => ({
      name: `a teammate called ${JSON.stringify(member)}`,
      make: async (t) => projectOf(t).teamWorktrees.open(TEAM, member),
      holds: isOf(GIT_CODES.name_invalid, { field: 'teammate' }),
    }),
  ),
  {
    name: 'a file in the place of a worktree',
    make: async (t) => {
      const { root, teamWorktrees } = projectOf(t);
      await teamWorktrees.begin(TEAM);
      writeTree(root, { [`.tool/worktrees/${TEAM}/a`]: 'x' });
      return teamWorktrees.open(TEAM, 'a');
    },
    holds: isOf(GIT_CODES.worktree_path_taken),
  },
  {
    name: 'a branch called tool',
    make: (t) => {
      const { git, teamWorktrees } = projectOf(t);
      git('branch', 'tool');
      return teamWorktrees.begin(TEAM);
    },
    holds: isOf(WORK_CODES.team_branches_blocked, { branch: `tool/${TEAM}`, blocking: 'tool' }),
  },
];

for (const { name, make, holds } of REFUSALS) {
  test(`refused in words: ${name}`, async (t) => {
    await assert.rejects(async () => make(t), holds);
  });
}

/** A writer with work that is committed and work that is not, and what happened to it. */
type Mishap = {
  readonly name: string;
  readonly happens: (at: { readonly root: string; readonly path: string; readonly git: GitCall }) => void;
};

const ADMIN = '.git/worktrees/a';

const MISHAPS: readonly Mishap[] = [
  { name: 'nothing', happens: () => undefined },
  { name: 'its .git file is gone', happens: ({ path }) => rmSync(join(path, '.git')) },
  {
    name: 'its part of the Git directory is gone',
    happens: ({ root }) => rmSync(join(root, ADMIN), { recursive: true }),
  },
  {
    name: 'it was moved away and pruned, then put back',
    happens: ({ path, git }) => {
      renameSync(path, `${path}-away`);
      git('worktree', 'prune');
      renameSync(`${path}-away`, path);
    },
  },
  {
    name: 'a repository was made in its place',
    happens: ({ path }) => {
      rmSync(join(path, '.git'));
      execaSync`git init -q ${path}`;
    },
  },
  { name: 'its index is gone', happens: ({ root }) => rmSync(join(root, ADMIN, 'index')) },
  {
    name: 'its index is locked by a git that is gone',
    happens: ({ root }) => writeFileSync(join(root, ADMIN, 'index.lock'), ''),
  },
  {
    name: 'its HEAD is locked by a git that is gone',
    happens: ({ root }) => writeFileSync(join(root, ADMIN, 'HEAD.lock'), ''),
  },
  {
    name: 'its branch is locked by a git that is gone',
    happens: ({ root }) => writeFileSync(join(root, `.git/refs/heads/tool/${TEAM}--a.lock`), ''),
  },
  {
    name: 'the team’s branch is locked by a git that is gone',
    happens: ({ root }) => writeFileSync(join(root, `.git/refs/heads/tool/${TEAM}.lock`), ''),
  },
  {
    name: 'packed refs are locked by a git that is gone',
    happens: ({ root }) => writeFileSync(join(root, '.git/packed-refs.lock'), ''),
  },
  { name: 'it stands on no branch', happens: ({ path }) => gitIn(path)('checkout', '-q', '--detach') },
  {
    name: 'it stands on another branch, further on',
    happens: ({ path }) => {
      gitIn(path)('checkout', '-q', '-b', 'astray');
      gitIn(path)('commit', '-q', '--allow-empty', '-m', 'further');
    },
  },
  {
    name: 'a rebase is under way',
    happens: ({ path }) => {
      const git = gitIn(path);
      git('stash', '-q', '-u');
      git('-c', 'sequence.editor=sed -i s/^pick/edit/', 'rebase', '-q', '-i', 'HEAD~1');
      git('stash', 'pop', '-q');
    },
  },
  {
    name: 'a part of what replaces it is there',
    happens: ({ path }) => {
      const aside = join(path, '..', '.aside-a');
      rmSync(join(path, '.git'));
      renameSync(path, aside);
      mkdirSync(path);
    },
  },
  {
    name: 'one that was removed is not all gone',
    happens: ({ path }) => writeTree(join(path, '..', '.gone-a'), { 'src/x': 'x' }),
  },
  {
    name: 'a holder of the turn is dead',
    happens: ({ root }) =>
      writeTree(root, {
        '.git/toolcrew/worktrees.lock': '999999999\n1\nx\n',
        '.git/toolcrew/worktrees.lock.git': '999999999\n',
      }),
  },
  { name: 'a lock without a holder', happens: ({ root }) => writeTree(root, { '.git/toolcrew/worktrees.lock': '' }) },
];

for (const { name, happens } of MISHAPS) {
  test(`a writer goes on: ${name}`, async (t) => {
    const { root, git, teamWorktrees } = projectOf(t);
    await teamWorktrees.begin(TEAM);
    const { path } = await teamWorktrees.open(TEAM, 'a');
    writeTree(path, { 'src/api/a.js': '2\n' });
    await teamWorktrees.save(TEAM, 'a', 'Two');
    writeTree(path, { 'src/api/a.js': '3\n', 'src/api/new.js': 'n\n' });
    happens({ root, path, git });
    assert.equal((await teamWorktrees.open(TEAM, 'a')).path, path);
    assert.equal(textOf(path, 'src/api/a.js'), '3\n');
    assert.ok((await teamWorktrees.save(TEAM, 'a', 'Three')) !== null);
    assert.equal((await teamWorktrees.merge(TEAM, 'a', 'All')).kind, 'merged');
    assert.equal(git('show', `tool/${TEAM}:src/api/a.js`), '3\n');
    assert.equal(git('show', `tool/${TEAM}:src/api/new.js`), 'n\n');
    assert.equal(gitIn(path)('status', '--porcelain'), '');
    assert.equal(gitIn(path)('symbolic-ref', 'HEAD'), `refs/heads/tool/${TEAM}--a\n`);
    assert.equal(await teamWorktrees.close(TEAM, 'a'), null);
    assert.deepEqual(
      readdirSync(join(root, '.tool', 'worktrees', TEAM)).filter((one) => !one.startsWith('.git-')),
      [],
    );
    assert.equal(git('worktree', 'list').trim().split('\n').length, 1);
    assert.equal(git('status', '--porcelain'), '');
  });
}

test('a worktree that was not finished is made anew', async (t) => {
  const { root, git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  const whole = join(tempDir(t), 'whole');
  cpSync(join(root, ADMIN), whole, { recursive: true });
  const states = [
    () => rmSync(join(path, 'src'), { recursive: true }),
    () => rmSync(path, { recursive: true }),
    () => writeTree(root, { [`${ADMIN}/index.lock`]: '' }),
    () => rmSync(join(root, ADMIN, 'HEAD')),
    () => rmSync(join(root, ADMIN, 'gitdir')),
    () => rmSync(join(path, '.git')),
  ];
  for (const happens of states) {
    writeFileSync(join(root, ADMIN, 'locked'), 'initializing\n');
    happens();
    await teamWorktrees.open(TEAM, 'a');
    assert.equal(gitIn(path)('status', '--porcelain'), '');
    assert.deepEqual(readdirSync(join(root, '.git/worktrees')), ['a']);
  }
  assert.equal(git('worktree', 'list').trim().split('\n').length, 2);
});

test('a branch without its worktree, and a worktree without its branch', async (t) => {
  const { root, git, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path, branch } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': '2\n' });
  const sha = await teamWorktrees.save(TEAM, 'a', 'Two');
  rmSync(path, { recursive: true });
  await teamWorktrees.open(TEAM, 'a');
  assert.equal(textOf(path, 'src/api/a.js'), '2\n');
  git('update-ref', '-d', `refs/heads/${branch}`);
  await teamWorktrees.open(TEAM, 'a');
  assert.equal(textOf(path, 'src/api/a.js'), '2\n', 'as work that is not committed');
  assert.equal(gitIn(path)('status', '--porcelain'), 'M  src/api/a.js\n');
  git('update-ref', `refs/heads/${branch}`, sha ?? '');
  rmSync(path, { recursive: true });
  assert.equal(await teamWorktrees.close(TEAM, 'a'), `refs/toolcrew/saved/${TEAM}/a/${sha}`);
  assert.equal(existsSync(join(root, ADMIN)), false);
  assert.equal(await teamWorktrees.close(TEAM, 'a'), null);
});

test('a merge with both sides in a file is not committed', async (t) => {
  const { teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const one = await teamWorktrees.open(TEAM, 'one');
  const two = await teamWorktrees.open(TEAM, 'two');
  for (const [{ path }, member] of [
    [one, 'one'],
    [two, 'two'],
  ] as const) {
    writeTree(path, { 'src/api/a.js': `${member}\n` });
    await teamWorktrees.save(TEAM, member, member);
  }
  await teamWorktrees.merge(TEAM, 'one', 'One');
  assert.throws(() => gitIn(two.path)('merge', '-q', `tool/${TEAM}`));
  await assert.rejects(
    teamWorktrees.save(TEAM, 'two', 'x'),
    isOf(GIT_CODES.conflict_unresolved, { member: 'two', files: ['src/api/a.js'] }),
  );
  assert.deepEqual(await teamWorktrees.update(TEAM, 'two'), { kind: 'conflict', files: ['src/api/a.js'], tasks: [] });
  writeTree(two.path, { 'src/api/a.js': 'both\n' });
  assert.ok(await teamWorktrees.save(TEAM, 'two', 'Merged'));
  assert.deepEqual(
    (await teamWorktrees.commits(TEAM, 'two')).commits.map(({ subject }) => subject),
    ['two', 'Merged'],
  );
  assert.equal((await teamWorktrees.merge(TEAM, 'two', 'Two')).kind, 'merged');
});

test('a writer’s git commits under its name, without the person’s hooks and signature', async (t) => {
  const { root, git, teamWorktrees } = projectOf(t);
  git('config', 'commit.gpgSign', 'true');
  git('config', 'user.name', 'The person');
  writeTree(root, { '.git/hooks/pre-commit': '#!/bin/sh\nexit 1\n' });
  chmodSync(join(root, '.git/hooks/pre-commit'), 0o755);
  await teamWorktrees.begin(TEAM);
  const { path, env: own } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': '2\n' });
  execaSync('git', ['-C', path, 'commit', '-qam', 'By hand'], { env: { PATH: env.PATH, ...own }, extendEnv: false });
  assert.equal(gitIn(path)('log', '-1', '--format=%an %ce %s'), `a a@${TEAM}.toolcrew.invalid By hand\n`);
  assert.equal(readFileSync(join(root, 'package.json'), 'utf8'), FILES['package.json']);
});

test('a branch that nothing was committed to goes with its team; one with work stays', async (t) => {
  const { git, teamWorktrees } = projectOf(t);
  await teamWorktrees.forget(TEAM, []);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.openReadOnly(TEAM, 'r');
  await teamWorktrees.forget(TEAM, []);
  assert.equal(existsSync(path), false);
  assert.equal(git('for-each-ref', '--format=%(refname)'), 'refs/heads/main\n');
  await teamWorktrees.begin(TEAM);
  const writer = await teamWorktrees.open(TEAM, 'a');
  writeTree(writer.path, { 'src/api/a.js': '2\n' });
  await teamWorktrees.save(TEAM, 'a', 'Change');
  await teamWorktrees.merge(TEAM, 'a', 'Change');
  await teamWorktrees.forget(TEAM, []);
  assert.equal(git('show', `tool/${TEAM}:src/api/a.js`), '2\n');
});
