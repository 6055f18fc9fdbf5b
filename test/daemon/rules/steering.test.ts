// The fold of an operator's commands: what each changes, and where it changes nothing.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_USAGE } from '../../../src/agents/rules/usage.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import type { JournalRecord, Steer } from '../../../src/daemon/rules/record.ts';
import { type DaemonState, EMPTY_STATE } from '../../../src/daemon/rules/state.ts';

const ISSUE = 7;

function folded(...records: readonly JournalRecord[]): DaemonState {
  return records.reduce<DaemonState>(
    (state, one, index) => fold(state, { ...one, v: 1, id: String(index), at: 1000 * (index + 1) }),
    EMPTY_STATE,
  );
}

const claimed: JournalRecord = {
  ...{ type: 'claimed', issue: ISSUE, title: 't', url: 'u', life: 1, branch: 'b' },
  ...{ state_labels: ['tool-todo'], label_event: null },
};
const started = (attempt = 1): JournalRecord => ({
  ...{ type: 'attempt_started', issue: ISSUE, attempt, run: 'r', runtime: 'command', workspace: '/w' },
});
const ended = (more: Partial<Extract<JournalRecord, { type: 'attempt_ended' }>> = {}): JournalRecord => ({
  ...{ type: 'attempt_ended', issue: ISSUE, outcome: 'failed', reason: 'why', usage: NO_USAGE },
  ...{ head: null, next: 'retry', retry_at: 90_000 },
  ...more,
});
const asked: JournalRecord = { type: 'asked_question', issue: ISSUE, text: 'Which?', label: 'tool-question' };
const steer = (command: Steer): JournalRecord => ({ type: 'steered', issue: ISSUE, steer: command });
const finished = (outcome: 'failed' | 'done'): JournalRecord => ({
  ...{ type: 'finished', issue: ISSUE, outcome, updated_at: '' },
});

const shownOf = (state: DaemonState) => {
  const entry = state.entries.get(ISSUE);
  return [entry?.phase, state.orders.get(ISSUE)];
};

test('a command changes phase and order', () => {
  const failing = [claimed, started(), ended()];
  const asking = [claimed, started(), asked, ended({ next: 'ask', outcome: 'succeeded', retry_at: null })];
  const cases: readonly [readonly JournalRecord[], Steer, readonly unknown[]][] = [
    [[], 'pause', [undefined, 'pause']],
    [[steer('pause')], 'resume', [undefined, undefined]],
    [[claimed], 'pause', ['claimed', 'pause']],
    [[claimed, started()], 'pause', ['running', 'pause']],
    [[claimed, started()], 'cancel', ['running', 'cancel']],
    [[claimed, started(), steer('pause')], 'cancel', ['running', 'cancel']],
    [failing, 'pause', ['retrying', 'pause']],
    [failing, 'cancel', ['cancelling', undefined]],
    [[...failing, steer('pause')], 'cancel', ['cancelling', undefined]],
    [failing, 'retry', ['retrying', undefined]],
    [asking, 'pause', ['asking', 'pause']],
    [asking, 'cancel', ['cancelling', undefined]],
    [asking, 'retry', ['retrying', undefined]],
    [[claimed, started(), ended({ next: 'publish', retry_at: null })], 'cancel', ['cancelling', undefined]],
    [[claimed, finished('failed')], 'retry', ['reviving', undefined]],
    [[claimed, finished('failed'), steer('retry')], 'cancel', ['cancelling', undefined]],
  ];
  for (const [before, command, expected] of cases)
    assert.deepEqual(shownOf(folded(...before, steer(command))), expected, `${before.length} ${command}`);
});

test('a command where it makes no sense changes nothing', () => {
  const publishing = [claimed, started(), ended({ next: 'publish', retry_at: null })];
  const cases: readonly [readonly JournalRecord[], Steer][] = [
    [[], 'cancel'],
    [[], 'retry'],
    [[claimed], 'resume'],
    [[claimed], 'retry'],
    [[claimed, started()], 'retry'],
    [publishing, 'pause'],
    [[claimed, started(), ended(), steer('pause')], 'retry'],
    [[claimed, started(), steer('cancel')], 'resume'],
    [[claimed, finished('done')], 'retry'],
    [[claimed, finished('failed')], 'cancel'],
  ];
  for (const [before, command] of cases) {
    const state = folded(...before);
    assert.equal(fold(state, { ...steer(command), v: 1, id: 'x', at: 1 }), state, `${before.length} ${command}`);
  }
});

test('the end of a paused attempt counts for nothing, that of a cancelled one leads to the end whatever it says', () => {
  const before = [claimed, started(), ended({ outcome: 'interrupted' }), started(2), steer('pause')];
  const paused = folded(...before, ended({ outcome: 'interrupted', paused: true })).entries.get(ISSUE);
  assert.deepEqual([paused?.phase, paused?.interruptions, paused?.failures], ['retrying', 1, 0]);
  const next = ['publish', 'retry', 'give_up', 'stop'] as const;
  for (const one of next)
    assert.deepEqual(shownOf(folded(claimed, started(), steer('cancel'), ended({ next: one }))), [
      'cancelling',
      undefined,
    ]);
});

test('a retry counts failures again from 0 and is due at once', () => {
  const entry = folded(claimed, started(), ended(), steer('retry')).entries.get(ISSUE);
  assert.deepEqual([entry?.failures, entry?.retryAt], [0, 4000]);
});

test('a step that failed before a cancellation does not undo it', () => {
  const before = [claimed, started(), ended({ next: 'publish', retry_at: null }), steer('cancel')];
  for (const next of ['again', 'retry', 'give_up'] as const) {
    const failed: JournalRecord = { type: 'publish_failed', issue: ISSUE, reason: 'why', next, retry_at: 9000 };
    assert.deepEqual(shownOf(folded(...before, failed)), ['cancelling', undefined]);
  }
});

test('an issue that is over is under no order', () => {
  for (const outcome of ['failed', 'done'] as const)
    assert.equal(folded(claimed, steer('pause'), finished(outcome)).orders.size, 0);
});
