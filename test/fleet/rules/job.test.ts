// Rules of jobs: their ids, the queues of labels, priorities, and when a worker is lost.

import assert from 'node:assert/strict';
import test from 'node:test';
import {
  isPlainHttp,
  neededLabels,
  type QueueUrlProblem,
  queueUrlProblem,
  shownQueueUrl,
  sslModeOf,
} from '../../../src/daemon/rules/queue-settings.ts';
import {
  attemptId,
  attemptName,
  isLost,
  priorityOf,
  queueName,
  queuesFor,
  renewalMs,
} from '../../../src/fleet/rules/job.ts';

test('an attempt has one id, whatever the spelling of its repository, and another one has another', () => {
  const one = { repository: 'github.com/Owner/Repo', issue: 7, life: 1, attempt: 2, fence: 5 };
  assert.equal(attemptId(one), 'github.com_2f_owner_2f_repo_7_1_2_5');
  assert.equal(attemptId({ ...one, repository: 'github.com/owner/repo' }), attemptId(one));
  const changes = [{ issue: 8 }, { life: 2 }, { attempt: 3 }, { fence: 6 }, { measurement: 0 }, { measurement: 1 }];
  const others = changes.map((change) => attemptId({ ...one, ...change }));
  assert.equal(new Set([attemptId(one), ...others]).size, 7);
  const alike = ['h/foo_bar/baz', 'h/foo/bar_baz', 'h/foo-bar/baz', 'h/foo_2f_bar/baz', 'h/foo//bar/baz'].map((name) =>
    attemptId({ ...one, repository: name }),
  );
  assert.equal(new Set(alike).size, 5);
  // The queue takes no colon in an id, and no whole number for one.
  assert.doesNotMatch(attemptId({ ...one, repository: 'host:8443/o/r' }), /:|^\d+$/);
});

test('people read which attempt an id stands for', () => {
  const one = { repository: 'host:8443/o/foo_bar', issue: 7, life: 1, attempt: 2, fence: 1_796_037_156_218 };
  for (const more of [{}, { measurement: 3 }])
    assert.equal(attemptName(attemptId({ ...one, ...more })), '2 of host:8443/o/foo_bar#7');
  assert.equal(attemptName('what else'), 'what else');
});

test('a worker looks at the queues whose labels it has, the most demanding first', () => {
  const names = [[], ['gpu'], ['big', 'gpu'], ['arm']].map(queueName);
  assert.deepEqual(names, ['attempts', 'attempts+gpu', 'attempts+big+gpu', 'attempts+arm']);
  assert.deepEqual(queuesFor(names, ['gpu', 'big']), ['attempts+big+gpu', 'attempts+gpu', 'attempts']);
  assert.deepEqual(queuesFor([...names, 'probe-1'], []), ['attempts']);
});

test('labels of an issue ask for a worker, each once and in order', () => {
  assert.deepEqual(neededLabels(['gpu'], ['worker:big', 'Worker: gpu', 'bug', 'worker:two words']), ['big', 'gpu']);
});

test('a label that comes earlier is more urgent, and an issue without one is last', () => {
  const order = ['urgent', 'soon'];
  assert.deepEqual(
    [['Soon'], ['bug', 'urgent'], ['bug'], ['soon', 'urgent']].map((labels) => priorityOf(order, labels)),
    [2, 1, 3, 1],
  );
});

test('a worker is lost when it is silent and its lock is gone', () => {
  const lost = (silentMs: number, isLocked: boolean | null) => isLost(silentMs, 1_000, isLocked);
  assert.deepEqual([lost(999, false), lost(1_001, true), lost(1_001, false)], [false, false, true]);
  // A worker without a way to the coordinator renews its lock for ever.
  assert.deepEqual([lost(9_999, true), lost(10_001, true)], [false, true]);
  // Without an answer of the store nobody knows of the lock.
  assert.deepEqual([lost(3_999, null), lost(4_001, null)], [false, true]);
  assert.ok(3 * renewalMs(1_000) < 1_000);
});

test('addresses of stores: Redis or PostgreSQL, with parameters that are known', () => {
  const redis = ['redis://host', 'rediss://u:p%40@host:6380/2', 'redis://[::1]:6379', 'redis://:p@10.0.0.1'];
  const postgres = [
    'postgres://host',
    'postgresql://u:p%40@host:5432/db?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    'postgres://u:p@[::1]/db',
    'postgres://%2Frun%2Fpostgresql/db?sslmode=disable',
  ];
  for (const good of [...redis, ...postgres]) assert.equal(queueUrlProblem(good), null, good);
  const wrong: Readonly<Record<string, QueueUrlProblem>> = {
    'host:6379': 'not_url',
    'http://host': 'scheme',
    'redis://': 'host',
    'redis://host:port': 'host',
    'redis://host/name': 'host',
    'redis://host?db=1': 'host',
    'postgres:///db': 'host',
    'postgres://host:port/db': 'host',
    'postgres://u:p@ss@host/db': 'user',
    'redis://:p@ss@host': 'user',
    'redis://:p?ss@host': 'user',
    'redis://:p/ss@host': 'user',
    'rediss://u:50%off@host': 'user',
    'redis://host:65536': 'port',
    'postgres://u:p@[::1]:70000/db': 'port',
    'postgres://host/db#part': 'host',
    'postgres://host/db?sslmode=prefer': 'parameter',
    'postgres://host/db?sslmode': 'parameter',
    'postgres://host/db?sslmode=require&options=-c%20search_path=x': 'parameter',
    'postgres://host/db?password=secret': 'parameter',
  };
  assert.deepEqual(Object.keys(wrong).map(queueUrlProblem), Object.values(wrong));
  const modes = ['postgres://h', 'postgres://h?sslrootcert=a&sslmode=require', 'postgres://h/db?sslmode=verify-ca'];
  assert.deepEqual(modes.map(sslModeOf), ['disable', 'require', 'verify-ca']);
});

test('a password in an address is never shown, wherever it stands', () => {
  const shown = {
    'rediss://user:pass@host:1/2': 'rediss://host:1/2',
    'postgres://user:secret@host/db?sslmode=require': 'postgres://host/db?sslmode=require',
    'postgres://user:se/cr@et@host/db': 'postgres://host/db',
    'redis://:se/cret@host': 'redis://host',
    'postgres://host/db?user=u&password=secret&sslmode=require': 'postgres://host/db?sslmode=require',
    'postgres://user:sec?ret@host/db?sslmode=require': 'postgres://host/db?sslmode=require',
    'postgres://host/db#secret': 'postgres://host/db',
  };
  assert.deepEqual(Object.keys(shown).map(shownQueueUrl), Object.values(shown));
});

test('plain http is for this machine', () => {
  const plain = ['http://host:8888', 'http://10.0.0.1', 'http://127.0.0.1.example.org'];
  const fine = ['https://host', 'http://localhost:8888', 'http://127.0.0.1:1', 'http://[::1]:1'];
  assert.deepEqual([...plain, ...fine].map(isPlainHttp), [true, true, true, false, false, false, false]);
});
