import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentEvent } from '../../src/agents/ports.ts';
import { Watchdog } from '../../src/agents/watchdog.ts';
import { FakeClock } from '../support/fake-clock.ts';

const SECOND = 1_000;
/** What a tool call may take beyond the limit that it states. */
const GRACE = 30;

function watched(stallSeconds: number, turnSeconds = 3_600) {
  const clock = new FakeClock();
  const begin = clock.now();
  const ends: string[] = [];
  const dog = new Watchdog({
    clock,
    stallTimeoutMs: stallSeconds * SECOND,
    turnTimeoutMs: turnSeconds * SECOND,
    onExpired: (cause) => ends.push(`${cause.kind} at ${(clock.now() - begin) / SECOND}`),
  });
  const over = dog.watch();
  return { clock, dog, ends, over, pass: (seconds: number) => clock.pass(seconds * SECOND) };
}

const message: AgentEvent = { type: 'message', text: 'working' };
const started = (id: string, limit: number | null): AgentEvent => ({
  type: 'tool_started',
  id,
  name: 'Bash',
  limitMs: limit === null ? null : limit * SECOND,
});
const ended = (id: string): AgentEvent => ({ type: 'tool_ended', id });

test('without a sign of life the agent is ended, once, and at the very moment', async () => {
  const { ends, over, pass } = watched(60);
  await pass(600);
  assert.deepEqual(ends, ['stalled at 60']);
  await over;
});

test('time outside of the agent counts for neither limit', async () => {
  for (const [stall, end] of [
    [60, 'stalled at 660'],
    [0, 'turn_timeout at 800'],
  ] as const) {
    const { dog, ends, pass } = watched(stall, 200);
    await pass(10);
    let back: () => void = () => undefined;
    const away = dog.outside(
      () =>
        new Promise<void>((resolve) => {
          back = resolve;
        }),
    );
    await pass(300);
    const more = dog.outside(async () => undefined);
    await more;
    await pass(300);
    assert.deepEqual(ends, []);
    back();
    await away;
    await pass(600);
    assert.deepEqual(ends, [end]);
  }
});

test('every sign begins the time anew', async () => {
  const { dog, ends, pass } = watched(60);
  for (const event of [message, started('a', null), ended('a'), { type: 'activity', name: 'x' } as const]) {
    await pass(50);
    dog.sign(event);
  }
  await pass(600);
  assert.deepEqual(ends, ['stalled at 260']);
});

test('how long a tool call is a sign of life', async () => {
  const cases: readonly [string, readonly (readonly [number, AgentEvent])[], number][] = [
    ['one that states a limit, to its limit', [[10, started('a', 300)]], 310 + GRACE],
    ['one that states none', [[10, started('a', null)]], 70],
    ['one whose limit is short', [[10, started('a', 5)]], 70],
    [
      'of several, the longest',
      [
        [10, started('a', 300)],
        [0, started('b', 100)],
      ],
      310 + GRACE,
    ],
    [
      'one that is over is none any more',
      [
        [10, started('a', 300)],
        [20, ended('a')],
      ],
      90,
    ],
    [
      'one that ended late',
      [
        [10, started('a', 300)],
        [90, ended('a')],
      ],
      160,
    ],
    [
      'the end of another changes nothing',
      [
        [10, started('a', 300)],
        [20, ended('b')],
      ],
      310 + GRACE,
    ],
    [
      'the longer one is over',
      [
        [0, started('a', 300)],
        [0, started('b', 100)],
        [20, ended('a')],
      ],
      100 + GRACE,
    ],
  ];
  for (const [name, events, at] of cases) {
    const { dog, ends, pass } = watched(60);
    for (const [after, event] of events) {
      await pass(after);
      dog.sign(event);
    }
    await pass(1_000);
    assert.deepEqual(ends, [`stalled at ${at}`], name);
  }
});

test('a turn has its own limit, whatever is heard meanwhile', async () => {
  const { dog, ends, pass } = watched(60, 200);
  dog.sign(started('a', 1_000));
  for (let at = 0; at < 300; at += 50) {
    await pass(50);
    dog.sign(message);
  }
  assert.deepEqual(ends, ['turn_timeout at 200']);
});

test('a new turn begins both limits anew; a call of the last one counts no more', async () => {
  const { dog, ends, pass } = watched(60, 200);
  dog.sign(started('a', 300));
  await pass(70);
  dog.turnStarted();
  await pass(50);
  dog.sign(message);
  await pass(1_000);
  assert.deepEqual(ends, ['stalled at 180']);
});

test('a stall limit of 0 is none', async () => {
  const { ends, pass } = watched(0, 7_200);
  await pass(10_000);
  assert.deepEqual(ends, ['turn_timeout at 7200']);
});

test('closed, it ends nobody', async () => {
  const { dog, ends, over, pass } = watched(60);
  await pass(59);
  dog.close();
  await over;
  await pass(600);
  assert.deepEqual(ends, []);
  dog.close();
});

test('a daemon that was stopped hears its agent before it calls it stalled', async () => {
  const { clock, dog, ends, pass } = watched(600, 3_600);
  await pass(100);
  clock.stop(7_200 * SECOND);
  await clock.settle();
  dog.sign(message);
  await pass(599);
  assert.deepEqual(ends, []);
  await pass(2);
  assert.equal(ends.length, 1);
});

test('a stop right at the limit leaves time to read what was said', async () => {
  const { clock, dog, ends, pass } = watched(60);
  await pass(59);
  clock.stop(10 * SECOND);
  await clock.settle();
  assert.deepEqual(ends, []);
  dog.sign(message);
  await pass(59);
  assert.deepEqual(ends, []);
});

test('an agent that is silent after the stop as before is ended when its time is over', async () => {
  const { clock, ends, pass } = watched(60);
  await pass(20);
  clock.stop(3_600 * SECOND);
  await pass(60);
  assert.equal(ends.length, 1);
});
