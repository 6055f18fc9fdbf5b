// Loop of one repository among others: it never ends them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Refusal, textOf } from '../../src/base/rules/codes.ts';
import { runMember } from '../../src/compose/member.ts';
import { COMPOSE_CODES } from '../../src/compose/rules/compose-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { isRefusal } from '../support/codes.ts';

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
