// Loop of one repository among others: it never ends them. Orders for one that is not open.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Refusal, textOf } from '../../src/base/rules/codes.ts';
import { memberOf, runMember } from '../../src/compose/member.ts';
import { sourceOf } from '../../src/compose/own-source.ts';
import { COMPOSE_CODES } from '../../src/compose/rules/compose-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { failsWith, isRefusal } from '../support/codes.ts';
import { workflowWith } from '../support/world.ts';

test('a loop that ends by itself is said, and so is a close that fails', async () => {
  const said: Refusal[] = [];
  const log = (_: string, __: string, what: string | Refusal) => {
    assert.ok(typeof what !== 'string', String(what));
    said.push(what);
  };
  const member = { log: { log }, problem: null, opened: null };
  await runMember(member, {
    orchestrator: { run: () => Promise.reject(new Error('the disk is full')) },
    close: () => Promise.reject(new Error('still full')),
  });
  isRefusal(said[0], COMPOSE_CODES.repository_unusable, { said: 'the disk is full' });
  isRefusal(said[1], WORK_CODES.background_task_failed, { said: 'still full' });
  assert.equal(said.length, 2, said.map(textOf).join('\n'));
  assert.equal(member.problem, 'the disk is full');
});

test('a repository that is not open refuses orders with its problem, and a foreign one by its name', async () => {
  const member = memberOf({ owner: 'o', repo: 'r' }, workflowWith, { log: () => undefined }, null);
  const own = sourceOf({
    ...{ common: () => assert.fail(), workflow: workflowWith, shares: null, members: () => [member] },
    memberOf: (name) => (name === 'o/r' ? member : undefined),
    ...{ refresh: () => ({ coalesced: false }), onChange: () => () => undefined },
  });
  member.problem = 'another coordinator has it';
  const said = { repository: 'o/r', said: member.problem };
  await failsWith(own.steer('pause', 1, 'o/r'), WORK_CODES.repository_not_open, said);
  await failsWith(own.tell(1, 'in French'), WORK_CODES.repository_not_open, said);
  await failsWith(own.steer('pause', 1, 'o/s'), WORK_CODES.repository_not_known, { got: 'o/s' });
});
