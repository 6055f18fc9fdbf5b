import assert from 'node:assert/strict';
import test from 'node:test';
import { commit, fail, hang, type Script, World, workflowWith } from '../support/world.ts';

const askForEverything: Script = async (agent) => {
  const { signal } = new AbortController();
  world(agent).workspaces.heads.set(1, `sha-${agent.request.attempt}`);
  await agent.ask({ type: 'comment', issue: 1, body: 'Working on it.' }, signal);
  await agent.ask({ type: 'pull_request', title: 'A title', body: 'A body' }, signal);
  await agent.ask({ type: 'done', issue: 1 }, signal);
  return { ok: true, words: 'done' };
};

function world(agent: Parameters<Script>[0]): World {
  return agent.world;
}

const failsTwice: Script = (agent) => (agent.request.attempt <= 2 ? fail(agent) : commit(agent));

const scripts: Readonly<Record<string, Script>> = { commit, askForEverything, failsTwice };

/** Runs until the n-th record, dies there, and lets a new process go on. `counts`: whether that record still stands in the journal. */
async function dieAt(
  script: Script,
  n: number,
  counts: boolean,
): Promise<{ readonly world: World; readonly reached: boolean }> {
  const one = new World(workflowWith({ agent: { maxAttempts: 5 }, hooks: { afterRun: 'x', beforeRemove: 'x' } }));
  one.script = script;
  one.workspaces.saves = ['files saved as refs/toolcrew/saved/issue-1-1-0'];
  one.tracker.open(1);
  let appended = 0;
  const { journal } = one;
  const append = journal.append.bind(journal);
  journal.append = (record) => {
    appended += 1;
    if (appended !== n) return append(record);
    if (counts) void append(record);
    one.kill();
    // A killed process returns from nothing.
    return new Promise(() => undefined);
  };
  await one.start();
  for (let minute = 0; minute < 10 && appended < n; minute++) await one.pass(60_000);
  journal.append = append;
  await one.restart();
  await one.pass(10 * 60_000);
  return { world: one, reached: appended >= n };
}

for (const [name, script] of Object.entries(scripts)) {
  test(`${name}: killed at any record, before or after it is on disk, the next process finishes the issue once`, async () => {
    let deaths = 0;
    for (const counts of [true, false]) {
      for (let n = 1; ; n++) {
        const { world: one, reached } = await dieAt(script, n, counts);
        if (!reached) break;
        deaths += 1;
        const where = `${name}, record ${n}, ${counts ? 'written' : 'not written'}`;
        assert.deepEqual(one.tracker.labelsOf(1), ['tool-done'], where);
        assert.equal(one.tracker.pulls.length, 1, `${where}: one pull request`);
        const attempts = one.started.map(({ attempt }) => attempt);
        assert.deepEqual(attempts, [...new Set(attempts)], `${where}: no agent twice for one attempt`);
        assert.deepEqual(
          one.tracker.comments.map(({ marker }) => marker),
          [...new Set(one.tracker.comments.map(({ marker }) => marker))],
          `${where}: no comment twice`,
        );
        const saved = one.tracker.comments.filter(({ marker }) => marker === '1-1-saved');
        assert.equal(saved.length, 1, `${where}: saved work is named`);
        assert.equal(one.workspaces.removed.at(-1), 1, `${where}: the workspace is gone`);
        assert.equal(one.journal.state.cleanups.size, 0, where);
        assert.equal(one.journal.state.counts.done, 1, where);
      }
    }
    assert.ok(deaths > 40, `${deaths} deaths`);
  });
}

test('what an agent of a dead daemon left is ended before anything else, and its attempt counts as interrupted', async () => {
  const one = new World();
  one.script = hang;
  one.tracker.open(1);
  await one.start();
  const run = one.journal.state.entries.get(1)?.run?.id;
  one.script = commit;
  await one.restart();
  assert.deepEqual(one.leftovers, [run]);
  assert.ok(one.journal.storyOf(1).includes('attempt_ended interrupted retry'));
  assert.equal(one.journal.state.completed[0]?.attempts, 2);
});

test('an issue that was given up meanwhile is not taken up by a restart', async () => {
  const one = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  one.script = fail;
  one.tracker.open(1);
  await one.start();
  const started = one.started.length;
  await one.restart();
  await one.pass(10 * 60_000);
  assert.equal(one.started.length, started);
  assert.equal(one.tracker.comments.length, 1);
});

test('a label taken off while no daemon ran is seen before anything is published', async () => {
  const one = new World();
  one.tracker.open(1);
  one.tracker.fault = (call) => {
    if (call.startsWith('find')) throw new Error('no answer');
  };
  await one.start();
  assert.equal(one.journal.state.entries.get(1)?.phase, 'publishing');
  one.tracker.unlabel(1, 'tool-todo');
  one.tracker.fault = () => undefined;
  await one.restart();
  assert.equal(one.tracker.pulls.length, 0);
  assert.equal(one.journal.storyOf(1).at(-1), 'finished label_removed');
});
