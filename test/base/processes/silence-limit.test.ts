import assert from 'node:assert/strict';
import test from 'node:test';
import { runProgram } from '../../../src/base/processes/program.ts';
import { SilenceLimit } from '../../../src/base/processes/silence-limit.ts';

test('a limit on silence counts from what was heard last', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let times = 0;
  const limit = new SilenceLimit(1_000, () => times++);
  for (let round = 0; round < 5; round++) {
    t.mock.timers.tick(999);
    limit.heard();
  }
  assert.equal(times, 0);
  t.mock.timers.tick(1_000);
  assert.equal(times, 1);
  const ended = new SilenceLimit(1_000, () => times++);
  ended.end();
  t.mock.timers.tick(1_000);
  assert.equal(times, 1);
});

test('a program that is silent is ended, whatever it said before', async () => {
  const options = { cwd: '/', env: { PATH: process.env.PATH ?? '' }, timeoutMs: 300, countsSilence: true };
  const { timedOut, stdout } = await runProgram('sh', ['-c', 'echo heard; exec sleep 60'], options);
  assert.deepEqual([timedOut, stdout], [true, 'heard\n']);
});
