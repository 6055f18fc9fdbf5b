// Many repositories in one workflow.

import assert from 'node:assert/strict';
import test from 'node:test';
import { parsePattern, workflowOf } from '../../../src/daemon/rules/repositories.ts';
import { workflowWith } from '../../support/world.ts';

test('a repository, or all of an owner', () => {
  assert.deepEqual(parsePattern('acme/shop'), { owner: 'acme', repo: 'shop' });
  assert.deepEqual(parsePattern('acme/*'), { owner: 'acme', repo: '*' });
  for (const wrong of ['acme', '*/*', 'a/b/*', '*', '/*', 'acme/**', '../*', 'acme/..'])
    assert.equal(parsePattern(wrong), undefined, wrong);
});

test('each has places and limits of its own; what is for all stays', () => {
  const perRepository = { maxConcurrent: 2, maxCostPerDayUsd: 5 };
  const all = workflowWith({ agent: { maxConcurrent: 8, maxCostPerDayUsd: 50, perRepository } });
  const one = workflowOf(all, { owner: 'acme', repo: 'shop' });
  assert.deepEqual(one.tracker.slug, { owner: 'acme', repo: 'shop' });
  assert.deepEqual([one.workspace.root, one.stateDir], ['/workspaces/acme/shop', '/state/acme/shop']);
  assert.deepEqual([one.agent.maxConcurrent, one.agent.maxCostPerDayUsd], [2, 5]);
  assert.equal(workflowOf(workflowWith({ agent: { maxConcurrent: 8 } }), one.tracker.slug).agent.maxConcurrent, 8);
});
