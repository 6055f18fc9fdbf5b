// Merge of a team's work into its issue's branch, which is first reset to its state before the team began.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { branchPositionOf, mergeTeamBranch } from '../../../src/team/worktrees/merge-team-branch.ts';
import { isOf } from '../../support/codes.ts';
import { writeTree } from '../../support/installed.ts';
import { commitAll, projectOf, TEAM, textOf } from '../../support/team-worktrees.ts';
import type { Cleanup } from '../../support/temp.ts';

const ISSUE = 'tool/issue-1';

/** The clone of an issue, whose team has built something. */
async function built(t: Cleanup) {
  const { root, git } = projectOf(t);
  git('switch', '-q', '-c', `tool/${TEAM}`);
  writeTree(root, { 'src/api/a.js': 'built\n' });
  const sha = commitAll(root, 'Build');
  git('switch', '-q', '-c', ISSUE, 'main');
  const said: string[] = [];
  const start = await branchPositionOf(root);
  return { root, git, sha, said, start, bring: () => mergeTeamBranch(root, TEAM, start, (words) => said.push(words)) };
}

/** Commits on the checked-out branch as somebody else. */
function foreign(root: string): string {
  writeTree(root, { 'src/pages/p.js': 'foreign\n', 'foreign.js': '1\n' });
  return commitAll(root, 'Foreign');
}

test('the team’s work comes in where the branch stands as it stood', async (t) => {
  const { git, sha, said, bring } = await built(t);
  await bring();
  assert.equal(git('rev-parse', ISSUE).trim(), sha);
  assert.deepEqual(said, []);
});

test('what was committed on the issue’s branch meanwhile is kept, and no part of the work', async (t) => {
  const { root, git, sha, said, bring } = await built(t);
  const other = foreign(root);
  writeTree(root, { 'src/pages/p.js': 'not even committed\n' });
  await bring();
  assert.equal(git('rev-parse', ISSUE).trim(), sha);
  assert.equal(git('symbolic-ref', 'HEAD').trim(), `refs/heads/${ISSUE}`);
  assert.equal(textOf(root, 'src/pages/p.js'), '1\n');
  assert.equal(git('status', '--short'), '');
  const kept = `refs/toolcrew/saved/${TEAM}/team-lead/${other}`;
  assert.equal(git('rev-parse', kept).trim(), other);
  const [words = '', ...more] = said;
  assert.deepEqual(more, []);
  assert.match(words, /was to stand at .* and stood at .*: it is back; what was committed there is kept as /);
  assert.ok(words.includes(kept), words);
});

for (const how of ['another branch', 'no branch'] as const)
  test(`a checkout that was put on ${how} stands on the issue's again before anything comes in`, async (t) => {
    const { root, git, sha, said, bring } = await built(t);
    git('switch', '-q', ...(how === 'no branch' ? ['--detach'] : ['-c', 'elsewhere']));
    const other = foreign(root);
    // The issue's branch has moved as well.
    git('update-ref', `refs/heads/${ISSUE}`, other);
    await bring();
    assert.equal(git('rev-parse', ISSUE).trim(), sha);
    assert.equal(git('symbolic-ref', 'HEAD').trim(), `refs/heads/${ISSUE}`);
    assert.equal(textOf(root, 'src/pages/p.js'), '1\n');
    if (how === 'another branch')
      assert.equal(git('rev-parse', 'elsewhere').trim(), other, 'nothing comes into that one');
    assert.match(said.join('\n'), /it is back/);
  });

test('what does not merge is said, and leaves no merge under way', async (t) => {
  const { root, git, start, said } = await built(t);
  writeTree(root, { 'src/api/a.js': 'of main\n' });
  const head = commitAll(root, 'Of main');
  await assert.rejects(
    mergeTeamBranch(root, TEAM, { ...start, head }, (words) => said.push(words)),
    (error: unknown) => {
      isOf(WORK_CODES.team_work_not_merged, { branch: 'tool/tool-run-spec-a-001' })(error);
      assert.ok(error instanceof ToolError && error.kind === 'agent');
      assert.match(String(error.values.said), /src\/api\/a\.js/);
      return true;
    },
  );
  assert.equal(git('rev-parse', 'HEAD').trim(), head);
  assert.equal(git('status', '--short'), '');
});
