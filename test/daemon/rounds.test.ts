// The rounds of an issue in memory: each runner is told the number of its round, and what came since the last one.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Round } from '../../src/agents/rules/round.ts';
import { failure } from '../../src/base/rules/errors.ts';
import { decodeState } from '../../src/daemon/journal/journal-decoder.ts';
import { WORKSPACES_CODES } from '../../src/daemon/rules/codes/workspaces-codes.ts';
import { freezeState } from '../../src/daemon/rules/snapshot.ts';
import { check, followed, worldWith as followedWorld, PULL, polls } from '../support/followed-world.ts';
import { worldWith as serializedWorld } from '../support/serialized-world.ts';
import { commit, evidenceOf, fail, hang, type Script, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

/** The rounds of all attempts from now on; a script may follow. */
function rounds(world: World, script: Script = world.script): Round[] {
  const seen: Round[] = [];
  world.script = (agent) => {
    if (agent.request.round !== undefined) seen.push(agent.request.round);
    return script(agent);
  };
  return seen;
}

function worldWith(change: Parameters<typeof workflowWith>[0] = {}): World {
  const world = new World(workflowWith(change));
  world.tracker.open(1);
  return world;
}

const numbers = (all: readonly Round[]) => all.map(({ number }) => number);

test('a red check begins a round, which each of its attempts has, also after a crash', async () => {
  const world = followedWorld();
  let work = world.script;
  const seen = rounds(world, (agent) => work(agent));
  await followed(world);
  assert.deepEqual(seen, [{ number: 1, words: null, isMerge: false }]);
  work = hang;
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  await polls(world, 1);
  world.kill();
  work = commit;
  await world.restart();
  await polls(world, 2);
  assert.deepEqual(numbers(seen.slice(1, 3)), [2, 2]);
  for (const { words, isMerge } of seen.slice(1, 3)) {
    assert.match(words ?? '', /The check "build" failed/);
    assert.equal(isMerge, false);
  }
  await world.stop();
});

test('a pull request that conflicts with its base is to be merged with it', async () => {
  const world = followedWorld();
  const seen = rounds(world);
  await followed(world);
  world.tracker.seen.set(PULL, { conflicts: true });
  await polls(world);
  assert.deepEqual([seen[1]?.number, seen[1]?.isMerge], [2, true]);
  await world.stop();
});

test('so is work that waited for another change', async () => {
  const world = serializedWorld();
  const seen = rounds(world);
  await world.start();
  await polls(world, 3);
  world.workspaces.baseConflicts.set(2, ['db/2.sql']);
  world.tracker.seen.set(1000, { state: 'merged' });
  await polls(world, 2);
  assert.deepEqual([seen[2]?.number, seen[2]?.isMerge], [2, true]);
  assert.match(seen[2]?.words ?? '', /db\/2\.sql/);
  await world.stop();
});

test('so is a pull request that stays behind its base', async () => {
  const world = followedWorld();
  const seen = rounds(world);
  await followed(world);
  world.workspaces.takeBase = async () => ({ head: 'sha-1-1', conflicts: [] });
  world.tracker.seen.set(PULL, { checks: [check('build', 'passed')], merge: 'behind' });
  await polls(world, 4);
  assert.deepEqual([seen[1]?.number, seen[1]?.isMerge], [2, true]);
  await world.stop();
});

/** Others push while the agent of a round works, which has `build` to mend; `then` follows before it ends. */
async function pushedMeanwhile(then: (world: World) => void) {
  const world = followedWorld('approved');
  let work = world.script;
  const seen = rounds(world, (agent) => work(agent));
  await followed(world);
  const red = { checks: [check('build', 'failed')] };
  world.tracker.seen.set(PULL, red);
  work = (agent) => {
    work = commit;
    world.workspaces.joins.set('sha-1-1 theirs', true);
    world.tracker.seen.set(PULL, { ...red, head: 'theirs' });
    then(world);
    return commit(agent);
  };
  await polls(world, 2);
  await world.stop();
  return seen;
}

test('a conflict with the base in a round on a pull request is told alone, and is to be merged', async () => {
  const seen = await pushedMeanwhile(({ workspaces }) => workspaces.baseConflicts.set(1, ['db/1.sql']));
  assert.match(seen[1]?.words ?? '', /"build" failed/);
  assert.deepEqual([seen[2]?.number, seen[2]?.isMerge], [3, true]);
  assert.match(seen[2]?.words ?? '', /db\/1\.sql/);
  assert.doesNotMatch(seen[2]?.words ?? '', /"build" failed/);
});

test('so is work that lacks a commit of others', async () => {
  const values = { branch: 'tool/issue-1', commit: 'theirs' };
  const seen = await pushedMeanwhile(({ workspaces }) => {
    workspaces.fault = (call) => {
      if (call === 'push') throw failure(WORKSPACES_CODES.branch_has_foreign_commits, values);
    };
  });
  assert.deepEqual([seen[1]?.isMerge, seen[2]?.isMerge], [false, true]);
});

test('what kept earlier work from being published is no news of its pull request', async () => {
  const change = { review: { agent: 'team-quality' }, gate: { mode: 'required', maxRounds: 0 } } as const;
  const world = followedWorld('approved', 3, change);
  const seen = rounds(world);
  world.reviewer = async () => ({ ok: true, words: '{"findings":[{"text":"The sum is wrong"}]}' });
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: !sha.endsWith('-2') });
  await followed(world);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1']);
  world.tracker.seen.set(PULL, { checks: [check('build', 'failed')] });
  await polls(world, 2);
  assert.match(seen[2]?.words ?? '', /"build" failed/);
  assert.doesNotMatch(seen[2]?.words ?? '', /is not published/);
  await world.stop();
});

test('work that an earlier program pushed was handed in', async () => {
  const world = followedWorld();
  await followed(world);
  const frozen = JSON.parse(JSON.stringify(freezeState(world.journal.state)), (key, value: unknown) =>
    key === 'handedIn' ? undefined : value,
  );
  const decoded = decodeState(frozen) ?? assert.fail();
  assert.equal(decoded.entries.get(1)?.handedIn, 1);
  await world.stop();
});

test('what fails in a required gate begins a round, and stays its words whatever its attempts end with', async () => {
  const world = worldWith({ gate: { mode: 'required' } });
  const seen = rounds(world, (agent) => (agent.request.attempt === 2 ? fail(agent) : commit(agent)));
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: !sha.endsWith('-1') });
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(numbers(seen), [1, 2, 2]);
  for (const { words } of seen.slice(1)) assert.match(words ?? '', /is not published[\s\S]*tests: 1 test fails/);
  assert.notEqual(decodeState(JSON.parse(JSON.stringify(freezeState(world.journal.state)))), undefined);
  await world.stop();
});

test('after the last round, the label put back goes on with what failed', async () => {
  const world = worldWith({ gate: { mode: 'required', maxRounds: 1 } });
  const seen = rounds(world);
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: false });
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  world.tracker.label(1, 'tool-todo');
  await world.pass(2 * MINUTE);
  assert.deepEqual(numbers(seen), [1, 2, 3, 4]);
  assert.match(seen[2]?.words ?? '', /tests: 1 test fails/);
  await world.stop();
});

test('the findings of a reviewer begin a round', async () => {
  const world = worldWith({ review: { agent: 'team-quality' } });
  const seen = rounds(world);
  world.reviewer = async () => ({ ok: true, words: '{"findings":[{"text":"The sum is wrong"}]}' });
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(numbers(seen), [1, 2]);
  assert.match(seen[1]?.words ?? '', /The sum is wrong/);
  await world.stop();
});

test('a text that came after the work was handed in begins a round; one before it belongs to the first', async () => {
  const world = worldWith();
  const tell = (text: string) => world.orchestrator.steering.tell(1, text);
  const seen = rounds(world, (agent) => (agent.request.attempt === 1 ? fail(agent) : commit(agent)));
  await world.start();
  await tell('Before');
  world.workspaces.beforeCollect = async () => {
    world.workspaces.beforeCollect = async () => undefined;
    await tell('After');
  };
  await world.pass(5 * MINUTE);
  assert.deepEqual(numbers(seen), [1, 1, 2]);
  assert.match(seen[1]?.words ?? '', /Before/);
  assert.match(seen[2]?.words ?? '', /After/);
  assert.doesNotMatch(seen[2]?.words ?? '', /Before/);
  await world.stop();
});

test('an answer begins a round', async () => {
  const world = worldWith();
  const seen = rounds(world, async (agent) => {
    const { signal } = agent.hooks;
    if (agent.request.attempt === 1) await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, signal);
    return commit(agent);
  });
  await world.start();
  await world.pass(MINUTE);
  world.tracker.say(1, 'The second one');
  await world.pass(3 * MINUTE);
  assert.deepEqual(numbers(seen), [1, 2]);
  assert.match(seen[1]?.words ?? '', /Which one\?[\s\S]*The second one/);
  await world.stop();
});

test('work that was handed in again without anybody being told leaves the texts for the next round', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 1 } }));
  for (const issue of [1, 2]) world.tracker.open(issue);
  const seen: Round[] = [];
  world.script = async (agent) => {
    const { issue, attempt, round } = agent.request;
    if (issue === 1) await world.orchestrator.steering.tell(2, 'Mind the tests');
    if (issue === 2 && round !== undefined) seen.push(round);
    await commit(agent);
    return { ok: true, words: 'done', ...(issue === 2 && attempt === 1 ? { isUnheard: true } : {}) };
  };
  await world.start();
  await world.pass(5 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  assert.deepEqual(numbers(seen), [1, 2]);
  for (const { words } of seen) assert.match(words ?? '', /Mind the tests/);
  await world.stop();
});
