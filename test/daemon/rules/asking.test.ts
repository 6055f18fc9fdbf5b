// The fold of questions and messages, the verdict on an attempt that asked, and the steps that show a question.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_USAGE } from '../../../src/agents/rules/usage.ts';
import { messagesOf } from '../../../src/daemon/rules/asking.ts';
import { type AttemptEnd, judgeAttempt } from '../../../src/daemon/rules/attempt-end.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import { dropQuestion, nextStep, questionStep } from '../../../src/daemon/rules/next-step.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { type DaemonState, EMPTY_STATE, type Entry } from '../../../src/daemon/rules/state.ts';

const ISSUE = 7;
const STATES = { active: ['tool-todo'], done: 'tool-done', failed: 'tool-failed' };

function folded(...records: readonly JournalRecord[]): DaemonState {
  return records.reduce<DaemonState>(
    (state, one, index) => fold(state, { ...one, v: 1, id: String(index), at: 1000 * (index + 1) }),
    EMPTY_STATE,
  );
}

function entryOf(state: DaemonState): Entry {
  return state.entries.get(ISSUE) ?? assert.fail();
}

const CLAIMED: JournalRecord = {
  ...{ type: 'claimed', issue: ISSUE, title: 't', url: 'u', life: 1, branch: 'b' },
  ...{ state_labels: ['tool-todo'], label_event: null },
};
const started = (attempt = 1, version?: string): JournalRecord => ({
  ...{ type: 'attempt_started', issue: ISSUE, attempt, run: 'r', runtime: 'command', workspace: '/w', version },
});
const ended = (next: 'ask' | 'retry' | 'stop' | 'publish', head: string | null = null): JournalRecord => ({
  ...{ type: 'attempt_ended', issue: ISSUE, outcome: 'succeeded', reason: '', usage: NO_USAGE },
  ...{ head, next, retry_at: null },
});
const ASKED: JournalRecord = { type: 'asked_question', issue: ISSUE, text: 'Which one?', label: 'Tool-Question' };
const messages = (heard: number | null, ...texts: readonly string[]): JournalRecord => {
  const author = heard === null ? null : 'ann';
  return { type: 'messages', issue: ISSUE, messages: texts.map((text) => ({ author, text })), heard };
};
const effect = (key: string, type: 'effect_started' | 'effect_finished'): JournalRecord => {
  const of = { issue: ISSUE, effect: key.split(':')[0] === 'comment' ? 'comment' : 'label_add', key } as const;
  return type === 'effect_started' ? { type, ...of } : { type, ...of, result: {} };
};
const ASKING = [CLAIMED, started(), ASKED, ended('ask')];
const POSTED = [effect('comment:question:1', 'effect_finished'), effect('label_add:tool-question', 'effect_finished')];

test('a question is asked by an agent at work alone, takes back that it is done, and waits with its attempt', () => {
  assert.equal(entryOf(folded(CLAIMED, ASKED)).question, null);
  const asked = entryOf(folded(CLAIMED, started(), { type: 'asked_done', issue: ISSUE }, ASKED));
  assert.deepEqual([asked.askedDone, asked.question?.isOpen, asked.question?.at], [false, true, 4000]);
  const waiting = entryOf(folded(...ASKING));
  assert.deepEqual([waiting.phase, waiting.failures, waiting.retryAt, waiting.lastError], ['asking', 0, null, null]);
  assert.equal(entryOf(folded(CLAIMED, started(), ASKED, ended('retry'))).question?.isOpen, false);
});

test('messages wait until they are delivered, and answer what is open', () => {
  const answered = folded(...ASKING, messages(12, 'Red', 'Or blue'));
  const entry = entryOf(answered);
  assert.deepEqual([entry.phase, entry.retryAt, entry.heard, entry.question?.isOpen], ['retrying', 5000, 12, false]);
  assert.deepEqual(messagesOf(answered, ISSUE), [
    { key: '4:0', author: 'ann', text: 'Red', question: 'Which one?' },
    { key: '4:1', author: 'ann', text: 'Or blue', question: 'Which one?' },
  ]);
  const left = folded(...ASKING, messages(12, 'Red', 'Or blue'), { type: 'delivered', issue: ISSUE, keys: ['4:0'] });
  assert.deepEqual(
    messagesOf(left, ISSUE).map(({ key }) => key),
    ['4:1'],
  );
  const running = folded(CLAIMED, started(), messages(null, 'Go on'), messages(3, 'Or not'));
  assert.deepEqual([entryOf(running).phase, entryOf(running).heard], ['running', 3]);
  assert.equal(messagesOf(running, ISSUE)[0]?.question, null);
  assert.equal(messagesOf(folded(messages(null, 'Early')), ISSUE).length, 1);
});

test('a text for the agent of a followed pull request begins a round, of which people are told anew', () => {
  const effectOf = (
    name: 'push' | 'pull_request',
    result: Readonly<Record<string, string | number>>,
  ): JournalRecord => ({
    ...{ type: 'effect_finished', issue: ISSUE, effect: name, key: name, result },
  });
  const following = folded(
    ...[CLAIMED, started(1, 'v1'), ended('publish', 'sha')],
    ...[effectOf('push', { sha: 'sha' }), effectOf('pull_request', { number: 8, url: 'u' })],
    { type: 'following', issue: ISSUE, updated_at: '' },
    { type: 'awaits_person', issue: ISSUE, cause: 'merge', reason: null },
  );
  assert.deepEqual([entryOf(following).phase, entryOf(following).follow?.noticed], ['following', 'merge']);
  const told = entryOf(fold(following, { ...messages(null, 'Use a map'), v: 1, id: 'x', at: 1 }));
  assert.deepEqual([told.phase, told.follow?.noticed, told.version], ['retrying', null, '']);
});

test('what is over keeps no messages; what is parked does', () => {
  const end = (outcome: 'closed' | 'failed') =>
    folded(...ASKING, messages(1, 'Red'), { type: 'finished', issue: ISSUE, outcome, updated_at: '' });
  assert.equal(end('closed').messages.size, 0);
  assert.equal(messagesOf(end('failed'), ISSUE).length, 1);
  assert.equal(entryOf(end('failed')).question, null);
});

test('the version of the first attempt since the claim holds', () => {
  const again = folded(CLAIMED, started(1, 'v1'), ended('retry'), started(2, 'v2'));
  assert.equal(entryOf(again).version, 'v1');
  assert.equal(entryOf(folded(CLAIMED, started())).version, '');
});

test('an unanswered question ends the issue; one that is not open ends nothing', () => {
  const overdue: JournalRecord = { type: 'unanswered', issue: ISSUE, reason: 'nobody' };
  const over = entryOf(folded(...ASKING, overdue));
  assert.deepEqual([over.phase, over.lastError, over.question?.isOpen], ['giving_up', 'nobody', false]);
  const answered = folded(...ASKING, messages(1, 'Red'));
  assert.equal(fold(answered, { ...overdue, v: 1, id: 'x', at: 1 }), answered);
});

test('the comment comes before the label; the label comes off once, and only where it may be on', () => {
  assert.deepEqual(questionStep(entryOf(folded(...ASKING))), { kind: 'comment', key: 'comment:question:1' });
  const [comment, label] = POSTED;
  assert.ok(comment !== undefined && label !== undefined);
  assert.deepEqual(questionStep(entryOf(folded(...ASKING, comment))), {
    ...{ kind: 'label_add', key: 'label_add:tool-question', label: 'Tool-Question' },
  });
  assert.equal(questionStep(entryOf(folded(...ASKING, ...POSTED))), undefined);
  assert.equal(dropQuestion(entryOf(folded(...ASKING, ...POSTED))), undefined);
  const drop = { kind: 'label_remove', key: 'label_remove:tool-question', label: 'Tool-Question' };
  const answered = [...ASKING, ...POSTED, messages(1, 'Red')];
  assert.deepEqual(nextStep(entryOf(folded(...answered)), STATES, { mode: 'off' }), drop);
  assert.equal(nextStep(entryOf(folded(...ASKING, messages(1, 'Red'))), STATES, { mode: 'off' }), undefined);
  const dropped = folded(...answered, effect('label_remove:tool-question', 'effect_finished'));
  assert.equal(nextStep(entryOf(dropped), STATES, { mode: 'off' }), undefined);
  // The next question is posted anew.
  const again = [...answered, started(2), ASKED, ended('ask')];
  assert.deepEqual(questionStep(entryOf(folded(...again))), { kind: 'comment', key: 'comment:question:2' });
  const second = effect('comment:question:2', 'effect_finished');
  assert.equal(questionStep(entryOf(folded(...again, second)))?.kind, 'label_add');
});

test('an attempt that asked waits, however it ended; one with messages goes on before it is published', () => {
  const end: AttemptEnd = {
    ...{ cause: null, agent: { ok: true, words: 'w', fault: 'agent' }, quotaUntil: null, head: 'sha', isNewHead: true },
    ...{ unread: null, savedAs: null, askedDone: false, hasMessages: false, costUsd: 0, turns: 1 },
  };
  const limits = { maxAttempts: 1, maxTurns: 1, maxRetryBackoffMs: 1, maxCostUsd: null, onQuota: 'wait' } as const;
  const judge = (state: DaemonState, change: Partial<AttemptEnd> = {}) => {
    const { outcome, next, head } = judgeAttempt(entryOf(state), { ...end, ...change }, limits, 5, 0);
    return [outcome, next, head];
  };
  const asked = folded(CLAIMED, started(), ASKED);
  const broken = { ok: false, words: 'broke', fault: 'runtime' } as const;
  assert.deepEqual(judge(asked), ['succeeded', 'ask', null]);
  assert.deepEqual(judge(asked, { agent: broken }), ['succeeded', 'ask', null]);
  assert.deepEqual(judge(asked, { cause: { kind: 'shutdown' } }), ['succeeded', 'ask', null]);
  const cancelled = { kind: 'cancelled', outcome: 'closed', updatedAt: '' } as const;
  assert.deepEqual(judge(asked, { cause: cancelled }), ['cancelled', 'stop', null]);
  const running = folded(CLAIMED, started());
  assert.deepEqual(judge(running), ['succeeded', 'publish', 'sha']);
  assert.deepEqual(judge(running, { hasMessages: true }), ['succeeded', 'retry', null]);
  assert.deepEqual(judge(running, { hasMessages: true, agent: broken, head: null, isNewHead: false }), [
    'unavailable',
    'retry',
    null,
  ]);
});
