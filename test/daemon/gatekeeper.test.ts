// Admission of labelled issues: the number of label-event reads, and a second read for changes within one second.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Gatekeeper } from '../../src/daemon/gatekeeper.ts';
import type { Tracker } from '../../src/daemon/ports.ts';
import { NO_BLOCKERS } from '../../src/daemon/rules/blockers.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import type { Issue } from '../../src/daemon/rules/issue.ts';
import { isRefusal } from '../support/codes.ts';
import { FakeClock } from '../support/fake-clock.ts';

const STATES = { active: ['todo'], done: 'done', failed: 'failed' };
const ISSUE: Issue = {
  number: 1,
  title: 'One',
  body: '',
  url: 'https://example.com/1',
  state: 'open',
  labels: ['todo'],
  author: { login: 'owner', type: 'User' },
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  blockers: NO_BLOCKERS,
};

test('a label put on again in the second of the change before it is seen, by one more question', async () => {
  const clock = new FakeClock();
  let event = 7;
  let asked = 0;
  const tracker: Pick<Tracker, 'readLabelEvent'> = {
    readLabelEvent: async () => {
      asked += 1;
      return { id: event, actor: ISSUE.author };
    },
  };
  const gatekeeper = new Gatekeeper(tracker as Tracker, clock);
  const admit = () => gatekeeper.admit(ISSUE, 'anyone', STATES, 7, new AbortController().signal);
  const refused = await admit();
  isRefusal(refused.admitted ? null : refused.why[0], WORK_CODES.issue_already_done, { label: 'todo' });
  event = 8;
  assert.deepEqual([await admit(), asked], [refused, 1], 'not asked about at each poll');
  await clock.pass(2_000);
  assert.deepEqual(
    [gatekeeper.known(ISSUE), gatekeeper.last(ISSUE)],
    [undefined, refused],
    'its reason is still shown',
  );
  assert.deepEqual([await admit(), asked], [{ admitted: true, labelEvent: 8 }, 2]);
});

test('what is refused in a version that has settled is asked about no more than once in ten minutes', async () => {
  const clock = new FakeClock();
  let asked = 0;
  const tracker: Pick<Tracker, 'readLabelEvent'> = {
    readLabelEvent: async () => {
      asked += 1;
      return { id: 7, actor: ISSUE.author };
    },
  };
  const gatekeeper = new Gatekeeper(tracker as Tracker, clock);
  for (let poll = 0; poll < 60; poll += 1) {
    await gatekeeper.admit(ISSUE, 'anyone', STATES, 7, new AbortController().signal);
    await clock.pass(9_000);
  }
  assert.equal(asked, 2);
});

test('a label that is older than the finished work is no new wish, though it became an active one since', async () => {
  const tracker: Pick<Tracker, 'readLabelEvent'> = { readLabelEvent: async () => ({ id: 6, actor: ISSUE.author }) };
  const gatekeeper = new Gatekeeper(tracker as Tracker, new FakeClock());
  const { signal } = new AbortController();
  const admission = await gatekeeper.admit(ISSUE, 'anyone', STATES, 7, signal);
  isRefusal(admission.admitted ? null : admission.why[0], WORK_CODES.issue_already_done, { label: 'todo' });
  const other = { ...ISSUE, number: 2 };
  assert.deepEqual(await gatekeeper.admit(other, 'anyone', STATES, null, signal), { admitted: true, labelEvent: 6 });
});
