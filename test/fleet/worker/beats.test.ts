// Beats of a worker over a long time: each sleep has a signal of its own, since Node 20 lets no combined one go.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Beats } from '../../../src/fleet/worker/beats.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('a sign of life is sent each second, what is said goes soon, and no signal is combined', async (t) => {
  const combined = t.mock.method(AbortSignal, 'any');
  const clock = new FakeClock();
  const sent: { readonly at: number; readonly output: string }[] = [];
  const beats = new Beats({
    ...{ clock, wantsWords: false, onStop: () => undefined, onFailure: (error) => assert.fail(String(error)) },
    client: {
      beat: async ({ output }) => {
        sent.push({ at: clock.elapsed(), output });
        return { stop: false, words: null };
      },
    },
  });
  beats.start();
  await clock.pass(60_000);
  const idle = sent.length;
  assert.ok(idle > 50 && idle < 62, String(idle));
  beats.write('said');
  await clock.pass(150);
  assert.equal(sent.at(-1)?.output, 'said');
  await beats.close();
  assert.equal(combined.mock.callCount(), 0);
});
