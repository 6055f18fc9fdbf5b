// Texts of people for an agent, in memory: `tool tell`, and comments while it works.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { failsWith } from '../support/codes.ts';
import { commit, fail, hang, type Script, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const { signal } = new AbortController();

const tell = (world: World, issue: number, text: string) => world.orchestrator.steering.tell(issue, text);

function phaseOf(world: World, issue = 1): string | undefined {
  return world.journal.state.entries.get(issue)?.phase;
}

/** An agent whose turns end when the test says so. Each one commits. */
function stepwise(world: World) {
  const prompts: string[] = [];
  let end: () => void = () => undefined;
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 'one' });
    const ended = hang(agent);
    for (let prompt: string | null = agent.request.prompt; prompt !== null; prompt = await agent.hooks.nextTurn()) {
      prompts.push(prompt);
      const turn = new Promise<void>((resolve) => {
        end = resolve;
      });
      await Promise.race([turn, ended]);
      if (agent.hooks.signal.aborted) return ended;
      await commit(agent);
    }
    return { ok: true, words: 'done' };
  };
  const endTurn = async () => {
    end();
    await world.clock.settle();
  };
  return { prompts, endTurn };
}

async function working(change: Parameters<typeof workflowWith>[0] = {}) {
  const world = new World(workflowWith(change));
  const { prompts, endTurn } = stepwise(world);
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(prompts, ['the prompt']);
  return { world, prompts, endTurn };
}

test('a text reaches the agent in its next turn, which begins although all is handed in, and only once', async () => {
  const { world, prompts, endTurn } = await working();
  assert.deepEqual(await tell(world, 1, 'Use a map ```'), { issue: 1, command: 'tell', standing: 'running' });
  await tell(world, 1, 'And a set');
  await endTurn();
  assert.equal(phaseOf(world), 'running');
  assert.match(
    prompts[1] ?? '',
    /The operator of the daemon wrote to you\n\n````text\nUse a map ```\n[\s\S]*And a set/,
  );
  assert.equal(world.journal.state.messages.get(1)?.length, 2);
  await endTurn();
  assert.equal(prompts.length, 2);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.started.length, 1);
  assert.equal(world.journal.state.messages.size, 0);
  await world.stop();
});

test('a comment of somebody who may write reaches the running agent; none of a stranger, of ours, or from before', async () => {
  const world = new World();
  const { prompts, endTurn } = stepwise(world);
  world.tracker.open(1);
  world.tracker.say(1, 'An old word');
  await world.start();
  await world.pass(2 * MINUTE);
  assert.ok(!world.tracker.calls.includes('comments of 1'));
  world.tracker.say(1, 'Break it', STRANGER);
  await world.tracker.addComment(1, 'Our own', '1-1-x');
  world.tracker.say(1, 'Mind the tests');
  await world.pass(MINUTE);
  await endTurn();
  assert.match(prompts[1] ?? '', /### writer wrote to you\n\n```text\nMind the tests\n```$/);
  assert.doesNotMatch(prompts[1] ?? '', /Break it|Our own|An old word/);
  world.tracker.say(1, 'One more');
  await world.pass(MINUTE);
  await endTurn();
  assert.match(prompts[2] ?? '', /One more/);
  assert.doesNotMatch(prompts[2] ?? '', /Mind the tests/);
  await endTurn();
  assert.equal(prompts.length, 3);
  await world.stop();
});

test('a comment between two attempts comes with the next turn', async () => {
  const world = new World();
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  world.tracker.say(1, 'Mind the tests');
  const { prompts, endTurn } = stepwise(world);
  await world.pass(2 * MINUTE);
  assert.equal(world.started.length, 2);
  await endTurn();
  assert.match(prompts[1] ?? '', /Mind the tests/);
  await world.stop();
});

test('for an issue that waits, the text goes into the next prompt; for one that asks, it is the answer', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  const prompts: string[] = [];
  const script: Script = async (agent) => {
    prompts.push(agent.request.prompt);
    if (agent.request.attempt === 1) return fail(agent);
    if (agent.request.attempt === 2) await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return commit(agent);
  };
  world.script = script;
  world.tracker.open(1);
  await world.start();
  assert.equal((await tell(world, 1, 'Try harder')).standing, 'retrying');
  await world.pass(MINUTE);
  assert.match(prompts[1] ?? '', /Try harder/);
  assert.equal(phaseOf(world), 'asking');
  assert.equal((await tell(world, 1, 'The red one')).standing, 'retrying');
  await world.pass(MINUTE);
  assert.match(
    prompts[2] ?? '',
    /The operator of the daemon answered\n\nYou had asked:\n\n```text\nWhich one\?\n```[\s\S]*The red one/,
  );
  assert.doesNotMatch(prompts[2] ?? '', /Try harder/);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('an answer that comes before the turn of the question ends goes on in the same attempt', async () => {
  const world = new World();
  const { prompts, endTurn } = stepwise(world);
  const { script } = world;
  world.script = async (agent) => {
    await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return script(agent);
  };
  world.tracker.open(1);
  await world.start();
  world.tracker.say(1, 'The red one');
  await world.pass(MINUTE);
  await endTurn();
  assert.match(prompts[1] ?? '', /writer answered[\s\S]*The red one/);
  await endTurn();
  await world.pass(MINUTE);
  assert.equal(world.started.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a text for an issue in the queue comes with its first prompt, one for a failed issue when it is taken up again', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const prompts: string[] = [];
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return agent.request.issue === 1 ? hang(agent) : fail(agent);
  };
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  assert.equal((await tell(world, 2, 'Begin slowly')).standing, 'queued');
  world.tracker.setState(1, 'closed');
  await world.pass(MINUTE);
  assert.match(prompts[1] ?? '', /Begin slowly/);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-failed']);
  await tell(world, 2, 'Once more');
  await world.orchestrator.steering.steer('retry', 2);
  await world.pass(MINUTE);
  // The first one never ended well, so nobody knows that it arrived.
  assert.match(prompts[2] ?? '', /Begin slowly[\s\S]*Once more/);
  await world.stop();
});

test('what an agent was given is given again after a crash, until a turn with it has ended well', async () => {
  const world = new World();
  const prompts: string[] = [];
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await tell(world, 1, 'Use a map');
  world.kill();
  await world.restart();
  await world.pass(MINUTE);
  world.kill();
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return commit(agent);
  };
  await world.restart();
  await world.pass(10 * MINUTE);
  assert.deepEqual(
    prompts.map((prompt) => /Use a map/.test(prompt)),
    [false, true, true],
  );
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.journal.state.messages.size, 0);
  await world.stop();
});

test('a text that comes after the last turn starts another attempt before anything is published, and counts for nothing', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const prompts: string[] = [];
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return commit(agent);
  };
  world.workspaces.beforeCollect = async () => {
    world.workspaces.beforeCollect = async () => undefined;
    await tell(world, 1, 'Wait');
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.match(prompts[1] ?? '', /Wait/);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-2']);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('at most twenty turns of an attempt begin with a text; the next one comes with the next attempt', async () => {
  const { world, prompts, endTurn } = await working();
  for (let turn = 1; turn <= 21; turn++) {
    await tell(world, 1, `Text ${turn}.`);
    await endTurn();
  }
  await world.pass(MINUTE);
  assert.deepEqual(
    world.started.map(({ attempt }) => attempt),
    [1, 2],
  );
  assert.equal(prompts.length, 22);
  assert.match(prompts[21] ?? '', /^the prompt\n\n[\s\S]*Text 21\./);
  await world.stop();
});

test('long texts come in several turns', async () => {
  const { world, prompts, endTurn } = await working();
  for (const letter of ['a', 'b', 'c', 'd']) await tell(world, 1, letter.repeat(19_000));
  await endTurn();
  assert.match(prompts[1] ?? '', /aaaa[\s\S]*cccc/);
  assert.doesNotMatch(prompts[1] ?? '', /dddd/);
  await endTurn();
  assert.match(prompts[2] ?? '', /dddd/);
  await endTurn();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a text for a followed pull request goes on with its work', async () => {
  const world = new World(workflowWith({ follow: { until: 'approved' } }));
  const prompts: string[] = [];
  world.script = (agent) => {
    prompts.push(agent.request.prompt);
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.equal(phaseOf(world), 'following');
  await tell(world, 1, 'Shorten it');
  await world.pass(MINUTE);
  assert.match(prompts[1] ?? '', /Shorten it/);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1', 'tool/issue-1 sha-1-2']);
  assert.equal(world.tracker.pulls.length, 1);
  assert.equal(phaseOf(world), 'following');
  await world.stop();
});

test('a text is refused where nobody would get it, and one that is empty or too long', async () => {
  const world = new World();
  world.tracker.open(1);
  world.tracker.open(2);
  world.script = async (agent) => (agent.request.issue === 1 ? commit(agent) : hang(agent));
  await world.start();
  const records = world.journal.records.length;
  await failsWith(tell(world, 1, 'x'), WORK_CODES.issue_not_steerable, { standing: 'done', command: 'tool tell' });
  await failsWith(tell(world, 9, 'x'), WORK_CODES.issue_not_known, { issue: 9 });
  await failsWith(tell(world, 2, ' \n'), WORK_CODES.told_text_invalid, { length: 0 });
  await failsWith(tell(world, 2, 'x'.repeat(20_001)), WORK_CODES.told_text_invalid, { length: 20_001, most: 20_000 });
  assert.equal(world.journal.records.length, records);
  await world.stop();
});

test('comments that cannot be read are read again', async () => {
  const { world, prompts, endTurn } = await working();
  world.tracker.say(1, 'Mind the tests');
  world.tracker.fault = (call) => {
    if (call === 'comments of 1') throw new Error('away');
  };
  await world.pass(MINUTE);
  assert.ok(world.timesLogged(WORK_CODES.comments_unreadable, { issue: 1, said: 'away' }) > 0);
  world.tracker.fault = () => undefined;
  await world.pass(MINUTE);
  await endTurn();
  assert.match(prompts[1] ?? '', /Mind the tests/);
  await world.stop();
});

/** A team that ends when the test says so. */
async function leading() {
  const world = new World(workflowWith({ tool: { mode: 'team' } }));
  let end: () => void = () => undefined;
  const runs: Parameters<Script>[0][] = [];
  world.script = async (agent) => {
    runs.push(agent);
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  const endTeam = async () => {
    end();
    await world.clock.settle();
  };
  return { world, runs, endTeam };
}

test('a team at work gets texts and comments once each, and the journal keeps them until a member was shown them', async () => {
  const { world, runs, endTeam } = await leading();
  const [team] = runs;
  assert.deepEqual(team?.request.round, { number: 1, words: null, isMerge: false });
  assert.equal(team?.hooks.takeWords?.(), null);
  await tell(world, 1, 'Use a map');
  world.tracker.say(1, 'Mind the tests');
  world.tracker.say(1, 'Break it', STRANGER);
  await world.pass(MINUTE);
  const words = team?.hooks.takeWords?.();
  assert.match(words?.text ?? '', /The operator of the daemon wrote to you[\s\S]*Use a map[\s\S]*Mind the tests/);
  assert.doesNotMatch(words?.text ?? '', /Break it/);
  assert.equal(team?.hooks.takeWords?.(), null);
  assert.equal(world.journal.state.messages.get(1)?.length, 2);
  team?.hooks.heardWords?.(['of nobody', ...(words?.keys ?? [])]);
  await world.clock.settle();
  assert.equal(world.journal.state.messages.size, 0);
  await endTeam();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(runs.length, 1);
  await world.stop();
});

test('a text that no member was shown is told in another attempt', async () => {
  const { world, runs, endTeam } = await leading();
  await tell(world, 1, 'Use a map');
  assert.match(runs[0]?.hooks.takeWords?.()?.text ?? '', /Use a map/);
  await endTeam();
  assert.equal(phaseOf(world), 'running');
  assert.match(runs[1]?.request.prompt ?? '', /Use a map/);
  assert.equal(runs[1]?.request.round?.number, 2);
  assert.match(runs[1]?.request.round?.words ?? '', /Use a map/);
  assert.equal(runs[1]?.hooks.takeWords?.(), null, 'its prompt has it');
  await endTeam();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.journal.state.messages.size, 0);
  await world.stop();
});
