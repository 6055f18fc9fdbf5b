// What is said of a command of git to write the repository is held against what git makes of it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readIn } from './decide.ts';
import { copyTemplate, createTemplate, runCommand, type Scratch } from './scratch-project.ts';

const READING = [
  'git status --short',
  'git diff HEAD --stat',
  'git log --oneline -3 && git show --stat HEAD',
  'git branch',
  'git branch -a -v',
  "git branch --list 'o*'",
  'git branch --contains "$(git rev-parse HEAD)"',
  'git branch --show-current',
  'git branch --merged main --sort=-committerdate',
  "git tag -l 'v*'",
  'git tag -n3 old',
  'git tag --sort=-creatordate',
  'git stash list && git stash show -p "stash@{0}"',
  'git reflog',
  'git reflog -2 main',
  'git ls-files -s && git blame README.md',
  'git worktree list --porcelain',
  'git config --get user.name',
  'git config user.email',
  'git config --list --show-origin',
  'git remote -v && git remote show',
  'git notes list',
  'git symbolic-ref --short HEAD',
  'git hash-object README.md',
  'git update-index -q --refresh',
  'git add -n . && git rm -n README.md && git commit --dry-run',
  'git push --dry-run ../copy.git main',
  'git fetch -q ../copy.git main',
  'git apply --check api.patch',
  'git merge-base main other',
  'git bisect log',
  'git checkout --help; git commit -h',
];

const WRITING = [
  'git add -A && git commit -qm x',
  'git commit -q --amend -m y',
  'git commit -qam "x" --trailer --dry-run',
  'git reset -q --soft HEAD~1',
  'git branch -D other',
  'git branch new',
  'git branch -m main trunk',
  'git branch --unset other; git branch --copy other another',
  'git tag v1',
  'git tag -m words v1',
  'git tag -d old',
  'git stash drop -q',
  'git update-ref -d refs/heads/other',
  'git update-ref refs/heads/new HEAD',
  'git symbolic-ref HEAD refs/heads/other',
  'git rm -q --cached README.md',
  'git apply --cac api.patch',
  'git restore --staged staged.txt',
  'git checkout -q -b new',
  'git switch -q -c new',
  'git notes add -m x',
  'git config user.name other',
  'git config --unset-al core.bare',
  'git remote add o ../copy.git',
  'git fetch -q . main:new',
  'git fetch -q --refmap=refs/heads/main:refs/heads/new . main',
  'git update-index --force-remove README.md',
  'bash -c "git tag v1"',
  'echo v1 | xargs git tag',
  'git -C src tag v1',
];

/** Nothing in these copies changes by it, or nothing that can be seen there. */
const ELSEWHERE = [
  'git push --force',
  'git push -q ../copy.git main',
  'git gc -q',
  'git tag "$NAME"',
  'git stash $WHAT',
];

function seen({ project, env }: Scratch): string {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: project, env, encoding: 'utf8' });
  const refs = git('for-each-ref', '--format=%(refname) %(objectname)');
  const head = readFileSync(join(project, '.git/HEAD'), 'utf8');
  return [refs, head, git('ls-files', '-s'), git('config', '--local', '--list'), git('stash', 'list')].join('\n');
}

describe('the repository', () => {
  let template: ReturnType<typeof createTemplate>;

  before(() => {
    template = createTemplate();
    const own = join(template.root, 'template', 'project');
    const { env } = copyTemplate(template.root, 'first');
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: own, env, stdio: 'pipe' });
    git('tag', 'old');
    git('commit', '-q', '--allow-empty', '-m', 'one more');
    execFileSync('touch', ['staged.txt'], { cwd: own });
    git('add', 'staged.txt');
    git('clone', '-q', '--bare', '.', '../copy.git');
  });

  after(() => template.remove());

  it('is left as it is by what only reads', async () => {
    const scratch = copyTemplate(template.root, 'reading');
    const before = seen(scratch);
    for (const command of READING) {
      assert.deepEqual(readIn(command, scratch).repository, [], command);
      await runCommand(command, scratch);
      assert.equal(seen(scratch), before, command);
    }
  });

  it('is written by the others, and it is said by which', async () => {
    for (const [index, command] of WRITING.entries()) {
      const scratch = copyTemplate(template.root, `writing-${index}`);
      const before = seen(scratch);
      assert.notDeepEqual(readIn(command, scratch).repository, [], command);
      await runCommand(command, scratch);
      assert.notEqual(seen(scratch), before, command);
    }
    const scratch = copyTemplate(template.root, 'elsewhere');
    for (const command of ELSEWHERE) assert.notDeepEqual(readIn(command, scratch).repository, [], command);
    const { repository } = readIn('git add -A && git commit -m x; git add src', scratch);
    assert.deepEqual(repository, ['git add', 'git commit']);
  });
});
