import assert from 'node:assert/strict';
import test from 'node:test';
import { Supervisor } from '../../src/base/supervisor.ts';
import { FakeClock } from '../support/fake-clock.ts';

function supervised() {
  const clock = new FakeClock();
  const failures: string[] = [];
  const supervisor = new Supervisor({ clock, onFailure: (task, message) => failures.push(`${task}: ${message}`) });
  return { clock, failures, supervisor };
}

/** A task under way until it is aborted; it takes its time to end. */
function untilAborted(ended: () => void) {
  return async (signal: AbortSignal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await new Promise((resolve) => setImmediate(resolve));
    ended();
  };
}

test('the failure of a task is heard by its name and ends no other', async () => {
  const { clock, failures, supervisor } = supervised();
  supervisor.run(
    'other',
    untilAborted(() => undefined),
  );
  supervisor.run('late', async () => {
    await clock.settle();
    throw new Error('it broke');
  });
  supervisor.run('at once', () => {
    throw new Error('it never began');
  });
  supervisor.run('good', async () => undefined);
  assert.deepEqual(supervisor.running, ['other', 'late', 'at once', 'good']);
  await clock.pass(3_600_000);
  assert.deepEqual(failures, ['at once: it never began', 'late: it broke'], 'a task that runs once is not repeated');
  assert.deepEqual(supervisor.running, ['other']);
  await supervisor.close();
  assert.deepEqual(supervisor.running, []);
});

test('a task that is kept is started again after pauses that grow to a minute', async () => {
  const { clock, failures, supervisor } = supervised();
  const starts: number[] = [];
  const begin = clock.now();
  supervisor.keep('kept', async () => {
    starts.push((clock.now() - begin) / 1000);
    throw new Error('again');
  });
  await clock.pass(200_000);
  assert.deepEqual(starts, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
  assert.equal(failures.length, starts.length);
  await supervisor.close();
});

test('one that worked for long before it failed is started again soon', async () => {
  const { clock, supervisor } = supervised();
  const starts: number[] = [];
  const begin = clock.now();
  supervisor.keep('kept', async (signal) => {
    starts.push((clock.now() - begin) / 1000);
    if (starts.length === 4) await clock.sleep(100_000, signal);
    throw new Error('again');
  });
  await clock.pass(112_000);
  assert.deepEqual(starts, [0, 1, 3, 7, 108, 110]);
  await supervisor.close();
});

test('one that ends well is over', async () => {
  const { clock, failures, supervisor } = supervised();
  let starts = 0;
  supervisor.keep('kept', async () => {
    starts += 1;
  });
  await clock.pass(600_000);
  assert.equal(starts, 1);
  assert.deepEqual(failures, []);
  assert.deepEqual(supervisor.running, []);
});

test('at the end every task is told why and waited for, also one that began meanwhile', async () => {
  const { failures, supervisor } = supervised();
  const ended: string[] = [];
  supervisor.run('first', async (signal) => {
    await untilAborted(() => ended.push('first'))(signal);
    supervisor.run('second', async (late) => {
      await new Promise((resolve) => setImmediate(resolve));
      ended.push(`second, ${late.aborted ? 'aborted' : 'not aborted'}`);
    });
    throw new Error('aborted');
  });
  supervisor.keep('kept', async (signal) => {
    await untilAborted(() => ended.push('kept'))(signal);
    throw signal.reason;
  });
  const reason = new Error('the daemon was stopped');
  const closing = supervisor.close(reason);
  await Promise.all([closing, supervisor.close()]);
  assert.deepEqual(ended.toSorted(), ['first', 'kept', 'second, aborted']);
  assert.equal(supervisor.signal.reason, reason);
  assert.deepEqual(failures, [], 'what fails because it is ended has not failed');
});

test('the end does not wait for the pause before a repetition', async () => {
  const { clock, supervisor } = supervised();
  supervisor.keep('kept', async () => {
    throw new Error('again');
  });
  await clock.settle();
  await supervisor.close();
  assert.deepEqual(supervisor.running, []);
});

test('any number of tasks may wait for the end: Node warns of none', async (t) => {
  const warnings: string[] = [];
  const hear = ({ name }: Error) => warnings.push(name);
  process.on('warning', hear);
  t.after(() => process.off('warning', hear));
  const { signal } = supervised().supervisor;
  for (let count = 0; count < 12; count++) signal.addEventListener('abort', () => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});
