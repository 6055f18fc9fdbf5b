// Comments that a daemon posted before it was gone: the next one finds each by its marker, and does not post it again.

import assert from 'node:assert/strict';
import test from 'node:test';
import { digest } from '../../src/base/rules/text.ts';
import type { RequestPlace } from '../../src/daemon/ports.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import type { JournalRecord } from '../../src/daemon/rules/record.ts';
import { isOf } from '../support/codes.ts';
import { fail, type Script, World, workflowWith } from '../support/world.ts';

const { signal } = new AbortController();
const WORDS = 'On it.';
const DAY = 24 * 3_600_000;

/** The daemon is gone at the first record of that kind. `isLost`: what it wrote of the effect is gone with it. */
function dieAt(world: World, type: JournalRecord['type'], key: string, isLost = false): void {
  const { journal } = world;
  const append = journal.append.bind(journal);
  journal.append = (record) => {
    if (!('key' in record) || !record.key.startsWith(key)) return append(record);
    if (record.type === type) {
      journal.append = append;
      world.kill();
      return new Promise(() => undefined);
    }
    return isLost ? Promise.resolve({ ...record, v: 1, id: 'lost', at: 0 }) : append(record);
  };
}

/** An agent that goes on under the next daemon, and repeats the request that got no answer. */
function commenting(then: (ask: (place: Omit<RequestPlace, 'attempt'>) => Promise<unknown>) => Promise<void>): Script {
  return async ({ ask, request: { attempt } }) => {
    const request = { type: 'comment', issue: 1, body: WORDS } as const;
    const place = { attempt: 1, number: 1, isRepeated: attempt > 1 };
    await ask(request, signal, place);
    await then((next) => ask({ type: 'done', issue: 1 }, signal, { attempt: 1, ...next }));
    return { ok: true, words: 'nothing to do' };
  };
}

for (const [moment, type, isLost] of [
  ['before it was posted', 'effect_started', false],
  ['after it was posted', 'effect_finished', false],
  ['after it was posted, and with its records', 'effect_finished', true],
] as const)
  test(`an agent's comment stands once where the daemon is gone ${moment}`, async () => {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    let isAccepted = false;
    world.script = commenting(async (done) => {
      await done({ number: 2, isRepeated: false });
      isAccepted = true;
    });
    dieAt(world, type, 'comment:1:', isLost);
    world.tracker.open(1);
    await world.start();
    await world.restart();
    await world.pass(60_000);
    const said = world.tracker.comments.filter(({ body }) => body === WORDS);
    assert.deepEqual(
      said.map(({ marker }) => marker),
      [`1-1-comment-1-1-${digest(WORDS)}`],
    );
    // What an earlier daemon posted for it counts.
    assert.equal(isAccepted, true);
    await world.stop();
  });

test('a comment whose answer alone was lost is not posted again', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = commenting(async () => {
    if (world.started.length > 1) return;
    world.kill();
    await new Promise(() => undefined);
  });
  world.tracker.open(1);
  await world.start();
  await world.restart();
  await world.pass(60_000);
  assert.equal(world.tracker.comments.filter(({ body }) => body === WORDS).length, 1);
  await world.stop();
});

test('words that the agent said again after a failure, and whose answer was lost, stand once', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const addComment = world.tracker.addComment.bind(world.tracker);
  let isFirst = true;
  world.tracker.addComment = async (...comment) => {
    await addComment(...comment);
    if (isFirst) {
      isFirst = false;
      throw new Error('the connection was cut');
    }
  };
  world.script = async ({ ask, request: { attempt } }) => {
    const say = (number: number, isRepeated: boolean) =>
      ask({ type: 'comment', issue: 1, body: WORDS }, signal, { attempt: 1, number, isRepeated });
    if (attempt === 1) await assert.rejects(say(1, false));
    await say(2, attempt > 1);
    if (attempt > 1) return { ok: true, words: '' };
    world.kill();
    return new Promise(() => undefined);
  };
  world.tracker.open(1);
  await world.start();
  await world.restart();
  await world.pass(60_000);
  assert.equal(world.started.length, 2);
  assert.equal(world.tracker.comments.filter(({ body }) => body === WORDS).length, 1);
  await world.stop();
});

test('an agent that says the same twice is heard twice, and has one limit under all daemons', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  let refused: unknown = null;
  world.script = async ({ ask, request: { attempt } }) => {
    const say = (number: number) =>
      ask({ type: 'comment', issue: 1, body: WORDS }, signal, { attempt: 1, number, isRepeated: false });
    const first = attempt === 1 ? 1 : 11;
    for (let number = first; number < first + 10; number++) await say(number);
    if (attempt === 1) {
      world.kill();
      await new Promise(() => undefined);
    }
    await say(21).catch((error: unknown) => {
      refused = error;
    });
    return { ok: true, words: '' };
  };
  world.tracker.open(1);
  await world.start();
  await world.restart();
  await world.pass(60_000);
  assert.equal(world.tracker.comments.filter(({ body }) => body === WORDS).length, 20);
  isOf(WORK_CODES.comment_limit, { limit: 20 })(refused);
  await world.stop();
});

for (const [what, key, script] of [
  ['says why an issue was given up', 'comment:gave_up:1', fail],
  [
    'asks a question',
    'comment:question:1',
    async ({ ask, hooks }) => {
      await ask({ type: 'ask', issue: 1, body: 'Which one?' }, hooks.signal);
      return { ok: true, words: '' };
    },
  ],
] as const satisfies readonly (readonly [string, string, Script])[])
  test(`the comment that ${what} stands once, although its records are lost with the daemon`, async () => {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    world.script = script;
    dieAt(world, 'effect_finished', key, true);
    world.tracker.open(1);
    await world.start();
    await world.restart();
    await world.pass(DAY);
    const markers = world.tracker.comments.map(({ marker }) => marker);
    assert.deepEqual(markers, [`1-1-${key.replaceAll(':', '-')}`]);
    await world.stop();
  });
