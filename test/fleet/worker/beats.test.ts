// Beats of a worker over a long time: each sleep has a signal of its own, since Node 20 lets no combined one go.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Beats } from '../../../src/fleet/worker/beats.ts';
import { LifeSigns, type Sign } from '../../../src/fleet/worker/life-signs.ts';
import { FakeClock } from '../../support/fake-clock.ts';

type BeatOf = Parameters<Sign['client']['beat']>[0];
type Sent = { readonly id: string; readonly output: string; readonly others: readonly string[] };

/** Attempts of one worker, with all requests that they send. */
function played(wantsWords = false) {
  const clock = new FakeClock();
  const signs = new LifeSigns(clock);
  const sent: Sent[] = [];
  const answers = { stop: [] as string[], over: [] as string[], refused: [] as string[] };
  const ended: string[] = [];
  /** Attempts with which the coordinator at that address goes on. */
  const successors = new Map<string, string>();
  const clients = new Map<string, Sign['client']>();
  const goOn = (id: string) => clients.get(id)?.goOn();
  const start = (id: string, address = 'http://one') => {
    const client = {
      ...{ id, address, token: `token of ${id}` },
      sign: (beat: BeatOf) => client.beat(beat),
      beat: async ({ output, others = [] }: BeatOf) => {
        if (answers.refused.includes(id)) throw new Error('refused');
        sent.push({ id: client.id, output, others: others.map((one) => `${one.id} with ${one.token}`) });
        const { stop, over } = answers;
        return { stop: stop.includes(id), words: null, others: { stop, over } };
      },
      goOn: async () => {
        const successor = successors.get(id);
        if (successor === undefined) return false;
        Object.assign(client, { id: `${id} again`, address: successor });
        return true;
      },
    };
    clients.set(id, client);
    const beats = new Beats({
      ...{ clock, signs, wantsWords },
      onStop: () => ended.push(`${id} stops`),
      onFailure: (error) => ended.push(`${id}: ${error instanceof Error ? error.message : error}`),
      client,
    });
    beats.start();
    return beats;
  };
  return { clock, sent, answers, ended, successors, goOn, start };
}

test('a sign of life is sent each second, what is said goes soon, and no signal is combined', async (t) => {
  const combined = t.mock.method(AbortSignal, 'any');
  const { clock, sent, start } = played();
  const beats = start('a');
  await clock.pass(60_000);
  const idle = sent.length;
  assert.ok(idle > 50 && idle < 62, String(idle));
  beats.write('said');
  await clock.pass(150);
  assert.equal(sent.at(-1)?.output, 'said');
  await beats.close();
  assert.equal(combined.mock.callCount(), 0);
});

test('one request a second tells of all attempts that a worker has of a coordinator', async () => {
  const { clock, sent, start } = played();
  const all = [start('a'), start('b'), start('c'), start('elsewhere', 'http://two')];
  await clock.pass(10_500);
  assert.equal(sent.length, 20);
  assert.deepEqual(sent.filter(({ id }) => id !== 'elsewhere').at(-1), {
    id: 'a',
    output: '',
    others: ['b with token of b', 'c with token of c'],
  });
  await all[0]?.close();
  await clock.pass(1_000);
  assert.deepEqual(sent.filter(({ id }) => id !== 'elsewhere').at(-1), {
    ...{ id: 'b', output: '', others: ['c with token of c'] },
  });
  for (const beats of all) await beats.close();
  const before = sent.length;
  await clock.pass(10_000);
  assert.equal(sent.length, before);
});

test('an answer says which agents are to end, and which attempts are over', async () => {
  const { clock, answers, ended, start } = played();
  const all = [start('a'), start('b'), start('c')];
  answers.stop.push('b');
  answers.over.push('c');
  await clock.pass(1_000);
  assert.equal(ended[0], 'b stops');
  assert.match(ended[1] ?? '', /^c: /);
  answers.stop.splice(0);
  await clock.pass(5_000);
  assert.equal(ended.length, 2);
  for (const beats of all) await beats.close();
});

test('an attempt that is over goes on where another coordinator takes it, and one request tells of both there', async () => {
  const { clock, sent, answers, ended, successors, start } = played();
  const all = [start('a'), start('b'), start('c')];
  successors.set('b', 'http://two').set('c', 'http://two');
  answers.over.push('b', 'c');
  await clock.pass(1_000);
  sent.splice(0);
  await clock.pass(1_500);
  assert.deepEqual(ended, []);
  const told = sent.map(({ id, others }) => [id, ...others].join(', '));
  assert.deepEqual(told.sort(), ['a', 'b again, c again with token of c']);
  for (const beats of all) await beats.close();
});

test('an attempt that another coordinator took meanwhile is told of to that one', async () => {
  const { clock, sent, successors, goOn, start } = played();
  const all = [start('a'), start('b')];
  successors.set('a', 'http://two');
  await clock.pass(1_000);
  sent.splice(0);
  await goOn('a');
  await clock.pass(2_100);
  const told = sent.map(({ id, others }) => [id, ...others].join(', '));
  assert.deepEqual([...new Set(told)].sort(), ['a again', 'b']);
  for (const beats of all) await beats.close();
});

test('where the attempt that sends is refused, the next one tells of the others', async () => {
  const { clock, sent, answers, ended, start } = played();
  const all = [start('a'), start('b'), start('c')];
  answers.refused.push('a');
  await clock.pass(2_000);
  assert.deepEqual(ended, ['a: refused']);
  assert.deepEqual(sent, [{ id: 'b', output: '', others: ['c with token of c'] }]);
  for (const beats of all) await beats.close();
});

test('a team at work asks for words with requests of its own', async () => {
  const { clock, sent, start } = played(true);
  const all = [start('a'), start('b')];
  await clock.pass(11_500);
  assert.deepEqual([...new Set(sent.map(({ id }) => id))].sort(), ['a', 'b']);
  assert.ok(sent.length >= 18 && sent.every(({ others }) => others.length === 0), String(sent.length));
  for (const beats of all) await beats.close();
});
