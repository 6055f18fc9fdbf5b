// The table of answers, and the one of `docs/daemon.md`: row by row the same.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { refusal } from '../../../src/base/rules/codes.ts';
import { failure, ToolError } from '../../../src/base/rules/errors.ts';
import { branchInTheWay } from '../../../src/daemon/rules/branch-prefix.ts';
import { GITHUB_CODES } from '../../../src/daemon/rules/codes/github-codes.ts';
import { WORKSPACES_CODES } from '../../../src/daemon/rules/codes/workspaces-codes.ts';
import { answerOf, REACTIONS, type Reaction } from '../../../src/daemon/rules/failure-answers.ts';
import { TrackerError } from '../../../src/daemon/rules/tracker-error.ts';
import { GIT_CODES } from '../../../src/git/rules/git-codes.ts';
import { saying } from '../../support/codes.ts';

const STEPS = [
  'gate',
  'review',
  'take_base',
  'serialize',
  'push',
  'pull_request',
  'evidence',
  'review_request',
  'comment',
  'label_add',
  'label_remove',
  'observe',
] as const;

function cellOf(reaction: Reaction): string {
  switch (reaction.do) {
    case 'wait':
      return `wait: ${reaction.for}`;
    case 'retry':
      return [
        ...(reaction.first === 'nothing' ? [] : [reaction.first]),
        reaction.atMost === 1 ? 'once' : `${reaction.atMost} times`,
        ...(reaction.last === 'skip' ? ['skip'] : []),
      ].join(', ');
    case 'ask_agent':
      return 'ask the agent';
    case 'look':
      return 'look, wait: permission';
    default:
      return reaction satisfies never;
  }
}

/** Rows of the page's table: the answer, then a cell for each step. */
function rowsOfPage(): readonly (readonly string[])[] {
  const page = readFileSync('docs/daemon.md', 'utf8');
  const part = page.split('\n## When a step of publishing fails\n')[1]?.split(/^## /m)[0] ?? '';
  const lines = part.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

test('the page has the same answer to each answer of each step', () => {
  const [head = [], , ...rows] = rowsOfPage();
  assert.deepEqual(head.slice(1), [...STEPS]);
  const ofCode = Object.keys(REACTIONS.push).map((answer) => [
    answer,
    ...STEPS.map((step) =>
      cellOf(Object.entries(REACTIONS[step]).find(([name]) => name === answer)?.[1] ?? assert.fail()),
    ),
  ]);
  const told = rows.map(([answer = '', ...cells]) => [answer.replace(/ .*/, ''), ...cells]);
  assert.deepEqual([...told].sort(), [...ofCode].sort());
});

test('an agent is asked about a refused push, and about a workspace that cannot take in the base', () => {
  const asked = STEPS.flatMap((step) =>
    Object.entries(REACTIONS[step]).flatMap(([answer, reaction]) =>
      reaction.do === 'ask_agent' ? [`${step} ${answer}`] : [],
    ),
  );
  assert.deepEqual(asked, ['take_base workspace_refused', 'push branch_refused']);
});

test('an error is the answer that it stands for', () => {
  const refused = (status: number, words: string) => new TrackerError('refused', saying('tracker', words), { status });
  const unprocessable = (said: string) =>
    new TrackerError('refused', refusal(GITHUB_CODES.tracker_refused, { status: 422, said }), { status: 422 });
  const hookFailed = (said: string) =>
    failure(WORKSPACES_CODES.workflow_hook_failed, { hook: 'before_run', how: 'ended with exit code 1', said });
  const cases: readonly (readonly [unknown, string])[] = [
    [new TrackerError('paused', saying('tracker', 'a limit'), { retryAt: 1 }), 'paused'],
    [new TrackerError('unavailable', saying('tracker', 'it answered 502')), 'unavailable'],
    [new TrackerError('unauthorized', saying('tracker', 'it answered 401')), 'unauthorized'],
    [refused(422, 'No commits between main and tool/issue-1'), 'invalid'],
    [refused(422, 'Draft pull requests are not supported in this repository.'), 'no_draft'],
    [unprocessable('Draft pull requests are not supported in this repository.'), 'no_draft'],
    [unprocessable('No commits between main and tool/issue-1'), 'invalid'],
    [refused(403, 'draft'), 'forbidden'],
    [refused(404, 'Not Found'), 'not_found'],
    [refused(410, 'Gone'), 'not_found'],
    [refused(301, 'moved'), 'not_found'],
    [new TrackerError('refused', saying('tracker', 'the repository is called o/new now')), 'not_found'],
    [refused(409, 'draft'), 'refused'],
    [failure(WORKSPACES_CODES.push_rejected, { said: 'pre-receive hook declined' }), 'branch_refused'],
    [failure(WORKSPACES_CODES.branch_has_foreign_commits, { branch: 'tool/issue-1', commit: 'abc' }), 'branch_refused'],
    [failure(WORKSPACES_CODES.lfs_host_without_credential, { files: ['a'], host: 'other' }), 'branch_refused'],
    [failure(WORKSPACES_CODES.lfs_push_refused, { files: ['a'], said: 'too large' }), 'branch_refused'],
    [failure(WORKSPACES_CODES.lfs_objects_missing, { files: ['a'] }), 'branch_refused'],
    [failure(WORKSPACES_CODES.issue_branch_blocked, { blocking: 'tool', branch: 'tool/issue-1' }), 'branch_in_the_way'],
    [failure(WORKSPACES_CODES.hook_timed_out, { hook: 'before_run', ms: 1 }), 'workspace_refused'],
    [failure(WORKSPACES_CODES.history_unrelated, { branch: 'tool/issue-1', base: 'main' }), 'workspace_refused'],
    [failure(WORKSPACES_CODES.nested_repository_linked, { links: ['a'], first: 'a' }), 'workspace_refused'],
    [failure(GIT_CODES.workspace_broken_by_agent, { said: 'no HEAD', cause: 'git_failed' }), 'workspace_refused'],
    [hookFailed('npm ci failed'), 'workspace_refused'],
    [hookFailed('No space left on device'), 'other'],
    [failure(GIT_CODES.git_failed, { command: 'push', said: 'Could not resolve host' }), 'other'],
    [new ToolError(saying('refused', 'no push')), 'other'],
    [new Error('EIO'), 'other'],
  ];
  for (const [error, answer] of cases) assert.equal(answerOf(error), answer);
});

test('a branch is in the way above and below, and only by git’s words about this one', () => {
  const words = (taken: string, made: string) =>
    `remote: error: cannot lock ref 'refs/heads/${made}': 'refs/heads/${taken}' exists; cannot create 'refs/heads/${made}'`;
  assert.equal(branchInTheWay('tool/issue-1', words('tool', 'tool/issue-1')), 'tool');
  assert.equal(branchInTheWay('tool/issue-1', words('tool/issue-1/x', 'tool/issue-1')), 'tool/issue-1/x');
  assert.equal(branchInTheWay('tool/issue-1', words('other', 'other/issue-1')), undefined);
  assert.equal(branchInTheWay('tool/issue-1', '! [remote rejected] (pre-receive hook declined)'), undefined);
});
