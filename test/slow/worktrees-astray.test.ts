// A writer's worktree that stands elsewhere than on its branch when its work is to be taken: nothing of earlier tasks is undone, and
// nothing of the present one is lost.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { joined, START, textLike } from '../support/codes.ts';
import { type GitCall, gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { commitAll, projectOf, TEAM, textOf } from '../support/team-worktrees.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const TEAMS = `tool/${TEAM}`;
const BRANCH = `${TEAMS}--a`;

/** A writer whose first task is merged, and in whose second one something happens. */
async function second(t: Cleanup) {
  const { root, git, base, teamWorktrees } = projectOf(t);
  await teamWorktrees.begin(TEAM);
  const { path } = await teamWorktrees.open(TEAM, 'a');
  writeTree(path, { 'src/api/a.js': 'first\n', 'src/api/k1.js': 'k1\n' });
  await teamWorktrees.save(TEAM, 'a', 'First');
  await teamWorktrees.merge(TEAM, 'a', 'Merge first');
  await teamWorktrees.open(TEAM, 'a', 'updated');
  const own = gitIn(path);
  const tree = () => own('ls-files', '--stage') + own('status', '--porcelain') + textOf(path, 'src/api/a.js');
  return { root, git, base, teamWorktrees, path, own, tree };
}

type Scene = Awaited<ReturnType<typeof second>>;

/** As a completion does; `second`: what the file of the second task has then. */
async function completes({ teamWorktrees, git, own }: Scene): Promise<void> {
  assert.equal(await teamWorktrees.astray(TEAM, 'a'), null);
  await teamWorktrees.save(TEAM, 'a', 'Second');
  assert.notEqual((await teamWorktrees.update(TEAM, 'a')).kind, 'conflict');
  assert.equal((await teamWorktrees.merge(TEAM, 'a', 'Merge second')).kind, 'merged');
  assert.equal(git('show', `${TEAMS}:src/api/k1.js`), 'k1\n', 'the first task is not undone');
  assert.equal(own('symbolic-ref', 'HEAD'), `refs/heads/${BRANCH}\n`);
}

function fails(git: GitCall, ...args: readonly string[]): void {
  assert.throws(() => git(...args));
}

/** A branch of the person's, made from where the project began. */
function personsBranch({ root, git, base }: Scene, text: string): void {
  git('checkout', '-q', '-b', 'theirs', base);
  writeTree(root, { 'src/api/a.js': text, 'src/theirs.js': 'theirs\n' });
  commitAll(root, 'Theirs');
  git('checkout', '-q', 'main');
}

const offBranch = (values: { readonly where?: RegExp; readonly next?: RegExp } = {}) =>
  textLike(GIT_CODES.worktree_off_branch, { branch: BRANCH, ...values });

type Case = {
  readonly name: string;
  readonly happens: (scene: Scene, t: Cleanup) => void;
  /** What is told of where it stands. */
  readonly words: RegExp;
  /** What its writer does, as it is told. */
  readonly mends: (scene: Scene) => void;
  /** What the files of the second task then are in the team's branch. */
  readonly holds: Readonly<Record<string, string>>;
  /** What git itself has put aside of a file. */
  readonly aside?: readonly string[];
};

const SETTLED = { 'src/api/a.js': 'settled\n' };

/** Goes back as it is told, with a collision in one file. */
function mergesBack({ own, path }: Scene): void {
  if (own('status', '--porcelain') !== '') commitAll(path, 'Here');
  own('checkout', '-q', BRANCH);
  fails(own, 'merge', '-q', '-');
  writeTree(path, SETTLED);
  commitAll(path, 'Settled');
}

const CASES: readonly Case[] = [
  {
    name: 'a rebase whose conflict is mended and that is not continued',
    happens: (scene) => {
      const { own, path } = scene;
      personsBranch(scene, 'theirs\n');
      fails(own, 'rebase', 'theirs');
      writeTree(path, { 'src/api/a.js': 'mended\n' });
      own('add', '-A');
    },
    words: textLike(GIT_CODES.worktree_mid_rebase, { branch: BRANCH, step: 'rebase' }),
    mends: ({ own, path }) => {
      own('-c', 'core.editor=true', 'rebase', '--continue');
      fails(own, 'merge', '-q', TEAMS);
      writeTree(path, SETTLED);
      commitAll(path, 'Settled');
    },
    holds: { ...SETTLED, 'src/theirs.js': 'theirs\n' },
  },
  {
    name: 'a rebase with its conflict',
    happens: (scene) => {
      personsBranch(scene, 'theirs\n');
      fails(scene.own, 'rebase', 'theirs');
    },
    words: textLike(GIT_CODES.worktree_mid_rebase, { branch: BRANCH, step: 'rebase' }),
    mends: ({ own, path }) => {
      own('rebase', '--abort');
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'a rebase that stops at a commit it has put upon another, without a conflict',
    happens: (scene) => {
      const { own, path } = scene;
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
      commitAll(path, 'Second');
      personsBranch(scene, '1\n');
      own('-c', 'sequence.editor=sed -i s/^pick/edit/', 'rebase', '-q', '-i', 'theirs');
    },
    words: textLike(GIT_CODES.worktree_mid_rebase, { branch: BRANCH, step: 'rebase' }),
    mends: ({ own }) => {
      for (let step = 1; step <= 2; step++) own('-c', 'core.editor=true', 'rebase', '--continue');
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'a rebase that has put aside what was not committed',
    happens: ({ own, path }) => {
      writeTree(path, { 'src/api/a.js': 'put aside\n' });
      own('-c', 'sequence.editor=sed -i s/^pick/edit/', 'rebase', '-q', '--autostash', '-i', 'HEAD~1');
    },
    words: textLike(GIT_CODES.worktree_mid_rebase, { branch: BRANCH, step: 'rebase' }),
    mends: ({ own }) => own('rebase', '--continue'),
    holds: { 'src/api/a.js': 'put aside\n' },
    aside: ['put aside\n'],
  },
  {
    name: 'at an older commit, with changes to what the branch has otherwise, and a file that it has',
    happens: ({ own, path, base }) => {
      own('checkout', '-q', '--detach', base);
      writeTree(path, { 'src/api/a.js': 'older\n', 'src/api/k2.js': 'k2\n' });
    },
    words: offBranch({ next: /Commit there all that is not committed\. Run git checkout .*--a, then git merge -,.*/ }),
    mends: mergesBack,
    holds: { ...SETTLED, 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'at an older commit, with a new file where the branch has one',
    happens: ({ own, path, base }) => {
      own('checkout', '-q', '--detach', base);
      writeTree(path, { 'src/api/k1.js': 'again\n' });
    },
    words: offBranch(),
    mends: ({ own, path }) => {
      commitAll(path, 'Here');
      own('checkout', '-q', BRANCH);
      fails(own, 'merge', '-q', '-');
      writeTree(path, { 'src/api/k1.js': 'k1\n', 'src/api/k2.js': 'k2\n' });
      commitAll(path, 'Settled');
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'at an older commit, with an ignored file where the branch has one',
    happens: ({ own, path, base }) => {
      writeTree(path, { 'dist/made.js': 'made\n' });
      own('add', '--force', 'dist/made.js');
      own('commit', '-qm', 'Made');
      own('checkout', '-q', '--detach', base);
      writeTree(path, { 'dist/made.js': 'made anew\n' });
    },
    words: offBranch(),
    mends: ({ own, path }) => {
      const text = textOf(path, 'dist/made.js');
      own('checkout', '-q', BRANCH);
      writeTree(path, { 'dist/made.js': text });
    },
    holds: { 'dist/made.js': 'made anew\n' },
  },
  {
    name: 'at a commit of its own beside the branch',
    happens: ({ own, path, base }) => {
      own('checkout', '-q', '--detach', base);
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
      commitAll(path, 'Beside');
    },
    words: offBranch({ where: /at [0-9a-f]{12}/ }),
    mends: ({ own }) => {
      own('checkout', '-q', BRANCH);
      own('merge', '-q', '-m', 'Back', '-');
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'on another branch with a commit beside its own',
    happens: ({ own, path, base }) => {
      own('checkout', '-q', '-b', 'astray', base);
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
      commitAll(path, 'Beside');
    },
    words: offBranch({ where: /at [0-9a-f]{12} on astray/ }),
    mends: ({ own }) => {
      own('checkout', '-q', BRANCH);
      own('merge', '-q', '-m', 'Back', '-');
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'on a branch without a commit, with files of an older one',
    happens: ({ own, base }) => own('checkout', '-q', '--orphan', 'fresh', base),
    words: textLike(GIT_CODES.worktree_on_unborn_branch, { where: 'on fresh', branch: BRANCH, other: 'fresh' }),
    mends: ({ own, path }) => {
      own('symbolic-ref', 'HEAD', `refs/heads/${BRANCH}`);
      own('checkout', 'HEAD', '--', 'src');
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  {
    name: 'an older commit in a bisection, changed',
    happens: ({ own, path, base }) => {
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
      commitAll(path, 'Second');
      own('bisect', 'start', 'HEAD', base);
      writeTree(path, { 'src/api/k2.js': 'bisected\n' });
    },
    words: offBranch(),
    mends: ({ own, path }) => {
      commitAll(path, 'Here');
      own('checkout', '-q', BRANCH);
      fails(own, 'merge', '-q', '-');
      writeTree(path, { 'src/api/k2.js': 'k2\n' });
      commitAll(path, 'Settled');
    },
    holds: { 'src/api/a.js': 'first\n', 'src/api/k2.js': 'k2\n' },
  },
  ...(['cherry-pick', 'revert', 'merge'] as const).map(
    (step): Case => ({
      name: `at an older commit, in a ${step} whose conflict is mended`,
      happens: (scene) => {
        const { own, path, base } = scene;
        personsBranch(scene, 'theirs\n');
        own('checkout', '-q', '--detach', base);
        writeTree(path, { 'src/api/a.js': 'older\n' });
        commitAll(path, 'Older');
        if (step === 'revert') {
          writeTree(path, { 'src/api/a.js': 'older still\n' });
          commitAll(path, 'Older still');
        }
        fails(own, step, step === 'revert' ? 'HEAD~1' : 'theirs');
        writeTree(path, { 'src/api/a.js': 'mended\n' });
        own('add', '-A');
      },
      words: offBranch({ next: new RegExp(`.*git ${step} --continue\\. .*git ${step} --abort\\..*`) }),
      mends: (scene) => {
        scene.own('-c', 'core.editor=true', step, '--continue');
        mergesBack(scene);
      },
      holds: SETTLED,
    }),
  ),
  {
    name: 'at an older commit, in an am that does not apply',
    happens: ({ own, path, base }, t) => {
      const patch = join(tempDir(t), 'patch');
      writeFileSync(patch, own('format-patch', '-1', '--stdout'));
      own('checkout', '-q', '--detach', base);
      writeTree(path, { 'src/api/a.js': 'older\n' });
      commitAll(path, 'Older');
      fails(own, 'am', '-q', patch);
    },
    words: textLike(GIT_CODES.worktree_mid_rebase, { branch: BRANCH, step: 'am' }),
    mends: (scene) => {
      scene.own('am', '--abort');
      mergesBack(scene);
    },
    holds: SETTLED,
  },
];

for (const [index, { name, happens, words, mends, holds, aside = [] }] of CASES.entries()) {
  test(`refused in words, left as it is, and taken once it is back: ${name}`, async (t) => {
    const scene = await second(t);
    const { root, git, teamWorktrees, path, tree } = scene;
    happens(scene, t);
    const before = tree();
    const stands = git('rev-parse', BRANCH, TEAMS);
    // However often: where a rebase is under way, and where none is.
    const times = index === 0 || name.startsWith('at a commit of its own') ? 2 : 1;
    for (let time = 1; time <= times; time++) {
      const told = (await teamWorktrees.astray(TEAM, 'a')) ?? '';
      assert.match(told, joined(START, words));
      const isAstray = (error: unknown) => error instanceof Error && error.message.includes(told);
      await assert.rejects(teamWorktrees.save(TEAM, 'a', 'Second'), isAstray);
      await assert.rejects(teamWorktrees.update(TEAM, 'a'), isAstray);
      // As when its process is started anew.
      assert.equal((await teamWorktrees.open(TEAM, 'a', 'updated')).path, path);
      await teamWorktrees.unmerged(TEAM, 'a');
    }
    assert.equal(tree(), before);
    assert.equal(git('rev-parse', BRANCH, TEAMS), stands);
    mends(scene);
    await completes(scene);
    for (const [file, text] of Object.entries(holds)) assert.equal(git('show', `${TEAMS}:${file}`), text, file);
    assert.equal(existsSync(join(root, '.git/worktrees/a/rebase-merge')), false);
  });

  test(`kept when it is closed: ${name}`, async (t) => {
    const scene = await second(t);
    const { git, teamWorktrees, path } = scene;
    happens(scene, t);
    const text = textOf(path, 'src/api/a.js');
    const lacks = (await teamWorktrees.commits(TEAM, 'a')).commits.map(({ sha }) => sha);
    await teamWorktrees.close(TEAM, 'a');
    const refs = git('for-each-ref', '--format=%(refname)', 'refs/toolcrew/saved').split('\n').filter(Boolean);
    const texts = [...refs, TEAMS, 'main'].map((ref) => git('show', `${ref}:src/api/a.js`));
    for (const held of [text, ...aside]) assert.ok(texts.includes(held), held);
    for (const sha of lacks)
      assert.ok(
        refs.some((ref) => git('rev-list', ref).includes(sha)),
        'a commit of its branch',
      );
    assert.equal(existsSync(path), false);
  });
}

/** Each is back on its branch by itself, with what it has. */
const GOES_ON: Readonly<Record<string, (scene: Scene) => void>> = {
  'at its branch’s own commit': ({ own }) => own('checkout', '-q', '--detach'),
  'at an older commit, nothing changed there': ({ own, base }) => own('checkout', '-q', '--detach', base),
  'at an older commit in a bisection': ({ own, base }) => own('bisect', 'start', 'HEAD', base),
  'in a cherry-pick that is mended and not committed': (scene) => {
    personsBranch(scene, 'theirs\n');
    fails(scene.own, 'cherry-pick', 'theirs');
    writeTree(scene.path, { 'src/api/a.js': 'first\n' });
    scene.own('add', '-A');
  },
  'in a revert that is mended and not committed': ({ own, path }) => {
    writeTree(path, { 'src/api/a.js': 'more\n' });
    commitAll(path, 'More');
    fails(own, 'revert', 'HEAD~1');
    writeTree(path, { 'src/api/a.js': 'first\n', 'src/api/k1.js': 'k1\n' });
  },
  'in a merge that is mended and not committed': (scene) => {
    personsBranch(scene, 'theirs\n');
    fails(scene.own, 'merge', 'theirs');
    writeTree(scene.path, { 'src/api/a.js': 'first\n' });
    scene.own('add', '-A');
  },
};

for (const [name, happens] of Object.entries(GOES_ON)) {
  test(`taken with what it has: ${name}`, async (t) => {
    const scene = await second(t);
    happens(scene);
    writeTree(scene.path, { 'src/api/k2.js': 'k2\n' });
    await completes(scene);
    assert.equal(scene.git('show', `${TEAMS}:src/api/a.js`), 'first\n');
    assert.equal(scene.git('show', `${TEAMS}:src/api/k2.js`), 'k2\n');
    assert.equal(scene.git('for-each-ref', 'refs/toolcrew/saved'), '');
  });
}
