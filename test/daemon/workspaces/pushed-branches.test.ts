// The branches that a coordinator pushes, with real repositories: those of issues alone, whatever the journal of the store names.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isFailure } from '../../../src/base/rules/errors.ts';
import type { Stored } from '../../../src/base/rules/stored-record.ts';
import { quietTask } from '../../../src/daemon/publish/publish.ts';
import { WORKSPACES_CODES } from '../../../src/daemon/rules/codes/workspaces-codes.ts';
import { reactionTo } from '../../../src/daemon/rules/failure-answers.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { EMPTY_STATE } from '../../../src/daemon/rules/state.ts';
import { commitFiles, gitAs } from '../../support/forge.ts';
import { setUpWorkspaces } from '../../support/workspaces.ts';

const { signal } = new AbortController();

/** The task of an issue whose claim names this branch. */
function taskOn(branch: string) {
  const claimed: Stored<JournalRecord> = {
    ...{ type: 'claimed', issue: 1, title: '', url: '', life: 1, branch, state_labels: [], label_event: null },
    ...{ v: 1, id: 'a', at: 1 },
  };
  return quietTask(fold(EMPTY_STATE, claimed).entries.get(1) ?? assert.fail());
}

test("a branch that is no issue's is not pushed, and waits for a person", async (t) => {
  let prefix = 'tool/';
  const { workspaces, ready, bare } = await setUpWorkspaces(t, {}, undefined, undefined, {
    branchPrefix: () => prefix,
  });
  const own = taskOn('tool/issue-1');
  const { path } = await ready(own);
  const sha = await commitFiles(path, { 'own.txt': 'own\n' }, 'Own');
  await workspaces.collect(own, signal);
  const before = await gitAs(bare, 'for-each-ref');
  for (const branch of [
    'main',
    'tool/main',
    'issue-1',
    'tool/issue-1:refs/heads/main',
    'tool/issue-1/../main',
    'bot/issue-1',
  ])
    await assert.rejects(workspaces.push(taskOn(branch), sha, [], signal), (error) => {
      assert.ok(isFailure(error, WORKSPACES_CODES.branch_not_of_issue), branch);
      assert.deepEqual(reactionTo('push', error), { do: 'wait', for: 'branch' });
      return true;
    });
  // A prefix that says nothing.
  prefix = '';
  await assert.rejects(workspaces.push(taskOn('main'), sha, [], signal), (error) =>
    isFailure(error, WORKSPACES_CODES.branch_not_of_issue),
  );
  assert.equal(await gitAs(bare, 'for-each-ref'), before);
  prefix = 'tool/';
  await workspaces.push(own, sha, [], signal);
  assert.equal((await gitAs(bare, 'rev-parse', 'tool/issue-1')).trim(), sha);
});
