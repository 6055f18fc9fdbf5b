// Texts of people while finished work is measured and published: they go into it until its branch is pushed.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { failsWith, saying } from '../support/codes.ts';
import { commit, evidenceOf, type Script, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

/** An issue whose first measurement lasts until it is aborted. */
function measuring(change: Parameters<typeof workflowWith>[0] = {}) {
  const world = new World(workflowWith({ gate: { mode: 'report' }, ...change }));
  const prompts: string[] = [];
  const script: Script = async (agent) => {
    prompts.push(agent.request.prompt);
    await commit(agent);
    await agent.ask({ type: 'pull_request', title: 'Mine', body: 'Words' }, agent.hooks.signal);
    return { ok: true, words: 'done' };
  };
  world.script = script;
  let aborted = 0;
  world.measure = ({ commit: sha }, signal) =>
    sha !== 'sha-1-1'
      ? Promise.resolve(evidenceOf(sha))
      : new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(signal.reason);
          });
        });
  world.tracker.open(1);
  return { world, prompts, aborted: () => aborted };
}

const told = (prompts: readonly string[], text: string) => prompts.map((prompt) => prompt.includes(text));

test('a text goes into work that is measured: the measurement ends, and the next attempt gets it', async () => {
  const { world, prompts, aborted } = measuring();
  await world.start();
  assert.equal(world.journal.state.entries.get(1)?.phase, 'publishing');
  const steered = await world.orchestrator.steering.tell(1, 'Use a map');
  assert.deepEqual(steered, { issue: 1, command: 'tell', standing: 'retrying' });
  await world.pass(MINUTE);
  assert.deepEqual(told(prompts, 'Use a map'), [false, true]);
  assert.equal(aborted(), 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.tracker.pulls.length, 1);
  assert.match(world.tracker.pulls[0]?.body ?? '', /on commit sha-1-2/);
  assert.equal(world.journal.state.messages.size, 0);
  await world.stop();
});

test('so does a comment of somebody who may write', async () => {
  const { world, prompts } = measuring();
  await world.start();
  world.tracker.say(1, 'Use a set');
  await world.pass(2 * MINUTE);
  assert.deepEqual(told(prompts, 'Use a set'), [false, true]);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a daemon that dies after the text gives it to the next attempt', async () => {
  const { world, prompts } = measuring();
  await world.start();
  await world.orchestrator.steering.tell(1, 'Use a map');
  world.kill();
  await world.restart();
  await world.pass(MINUTE);
  assert.deepEqual(told(prompts, 'Use a map').at(-1), true);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a text goes into work whose push fails, and is refused with what to do once the push is under way', async () => {
  const { world, prompts } = measuring({ gate: { mode: 'off' } });
  world.workspaces.fault = (call) => {
    if (call === 'push') throw new TrackerError('unavailable', saying('tracker', 'HTTP 502'));
  };
  world.script = async (agent) => {
    prompts.push(agent.request.prompt);
    return commit(agent);
  };
  await world.start();
  const { steering } = world.orchestrator;
  let isPushed: () => void = () => undefined;
  world.workspaces.push = () =>
    new Promise<void>((resolve) => {
      isPushed = resolve;
    });
  assert.equal((await steering.tell(1, 'Use a map')).standing, 'retrying');
  await world.pass(MINUTE);
  assert.deepEqual(told(prompts, 'Use a map'), [false, true]);
  await failsWith(steering.tell(1, 'Use a set'), WORK_CODES.issue_not_steerable, {
    standing: 'publishing',
    next: 'When the issue is done, put its active label back on, then give the text again',
  });
  isPushed();
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});
