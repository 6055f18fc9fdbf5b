import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { stateLabelsOf } from '../../src/daemon/rules/issue.ts';
import { commit, fail, type Script, World, workflowWith } from '../support/world.ts';

const STATES = { active: ['tool-todo'], done: 'tool-done', failed: 'tool-failed' };

/** Works for a while, then does as it is told for this issue and attempt. */
const asTold =
  (ends: (issue: number, attempt: number) => boolean): Script =>
  async (agent) => {
    await agent.world.clock.sleep(5_000, agent.hooks.signal);
    return ends(agent.request.issue, agent.request.attempt) ? commit(agent) : fail(agent);
  };

test('fairness: of any number of issues each gets done, the 3rd, the 31st, the 51st and the 101st too', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 3 } }));
  world.script = asTold(() => true);
  for (let number = 1; number <= 130; number++) world.tracker.open(number);
  await world.start();
  await world.pass(20 * 60_000);
  for (const number of [1, 2, 3, 31, 51, 101, 130])
    assert.deepEqual(world.tracker.labelsOf(number), ['tool-done'], `issue ${number}`);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    Array.from({ length: 130 }, (_, index) => index + 1),
    'oldest first',
  );
  assert.equal(world.mostAtOnce, 3);
  await world.stop();
});

test('fairness: however often older issues fail, none that can be done is starved', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 30 }),
      async (slots, goodAt) => {
        const world = new World(workflowWith({ agent: { maxConcurrent: slots, maxAttempts: 3 } }));
        world.script = asTold((issue, attempt) => attempt >= (goodAt[issue - 1] ?? 1));
        goodAt.forEach((_, index) => void world.tracker.open(index + 1));
        await world.start();
        await world.pass(60 * 60_000);
        goodAt.forEach((attempt, index) => {
          assert.deepEqual(
            world.tracker.labelsOf(index + 1),
            [attempt <= 3 ? 'tool-done' : 'tool-failed'],
            `issue ${index + 1} of ${goodAt.length}`,
          );
        });
        assert.ok(world.mostAtOnce <= slots);
        await world.stop();
      },
    ),
    { numRuns: 15 },
  );
});

type Deed = {
  readonly issue: number;
  readonly what: 'label' | 'unlabel' | 'close' | 'reopen' | 'open' | 'outage' | 'back' | 'restart' | 'answer';
  readonly wait: number;
};

const deeds = fc.array(
  fc.record<Deed>({
    issue: fc.integer({ min: 1, max: 4 }),
    what: fc.constantFrom('label', 'unlabel', 'close', 'reopen', 'open', 'outage', 'back', 'restart', 'answer'),
    wait: fc.integer({ min: 0, max: 60_000 }),
  }),
  { maxLength: 25 },
);

test('exactly one state label: whatever people, the service and the daemon’s own deaths do, when it is quiet each labelled issue carries one', async () => {
  await fc.assert(
    fc.asyncProperty(deeds, fc.integer({ min: 0, max: 3 }), async (sequence, badness) => {
      const follow = { answerTimeoutMs: 10 * 60_000 };
      const world = new World(workflowWith({ agent: { maxConcurrent: 2, maxAttempts: 2 }, follow }));
      const ends = asTold((issue, attempt) => (issue + attempt) % 4 >= badness);
      world.script = async (agent) => {
        const { issue, attempt } = agent.request;
        if ((issue + attempt) % 3 === 0)
          await agent.ask({ type: 'ask', issue, body: 'Which one?' }, agent.hooks.signal);
        return ends(agent);
      };
      await world.start();
      for (const { issue, what, wait } of sequence) {
        if (what === 'open' && !world.tracker.issues.has(issue)) world.tracker.open(issue);
        if (what === 'label') world.tracker.label(issue, 'tool-todo');
        if (what === 'unlabel') world.tracker.unlabel(issue, 'tool-todo');
        if (what === 'close') world.tracker.setState(issue, 'closed');
        if (what === 'reopen') world.tracker.setState(issue, 'open');
        if (what === 'outage') {
          world.tracker.fault = () => {
            throw new Error('the network is down');
          };
        }
        if (what === 'answer') world.tracker.say(issue, 'That one.');
        if (what === 'back') world.tracker.fault = () => undefined;
        if (what === 'restart') {
          await world.stop();
          await world.restart();
        }
        await world.pass(wait);
      }
      world.tracker.fault = () => undefined;
      await world.pass(3 * 60 * 60_000);
      for (const issue of world.tracker.issues.values()) {
        const labels = stateLabelsOf(issue.labels, STATES);
        assert.ok(!issue.labels.includes('tool-question'), `issue ${issue.number} still shows a question`);
        if (issue.state === 'open') assert.ok(labels.length <= 1, `issue ${issue.number} carries ${labels.join(', ')}`);
        if (issue.state === 'open') assert.ok(!labels.includes('tool-todo'), `issue ${issue.number} is still to do`);
      }
      const branches = world.tracker.pulls.map(({ branch }) => branch);
      assert.deepEqual(branches, [...new Set(branches)], 'one pull request a branch');
      const runs = world.started.map(({ issue, attempt, at }) => `${issue} ${attempt} ${at}`);
      assert.deepEqual(runs, [...new Set(runs)]);
      await world.stop();
    }),
    { numRuns: 60 },
  );
});

type Turn = { readonly what: 'merge' | 'kill' | 'pause' | 'resume' | 'conflict' | 'wait'; readonly issue: number };

const turns = fc.array(
  fc.record<Turn>({
    what: fc.constantFrom('merge', 'kill', 'pause', 'resume', 'conflict', 'wait'),
    issue: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 30 },
);
const globsOfIssues = fc.array(fc.subarray(['a', 'b', 'c']), { minLength: 6, maxLength: 6 });

test('serialized paths: never two open pull requests with the same glob, and once all are merged every issue is done', async () => {
  await fc.assert(
    fc.asyncProperty(globsOfIssues, turns, async (globs, sequence) => {
      const follow = { maxRounds: 40 };
      const world = new World(workflowWith({ agent: { maxConcurrent: 3, serializePaths: ['a', 'b', 'c'] }, follow }));
      const { workspaces, tracker } = world;
      world.script = (agent) => {
        workspaces.baseConflicts.delete(agent.request.issue);
        return asTold(() => true)(agent);
      };
      globs.forEach((some, index) => {
        tracker.open(index + 1);
        workspaces.touches.set(
          index + 1,
          some.map((glob) => `${glob}/${index + 1}`),
        );
      });
      const openIssues = () =>
        tracker.pulls
          .filter(({ number }) => !tracker.closedPulls.has(number))
          .map(({ branch }) => Number(branch.replace('tool/issue-', '')));
      const merge = () => {
        const open = tracker.pulls.find(({ number }) => !tracker.closedPulls.has(number));
        if (open !== undefined) tracker.closedPulls.add(open.number);
      };
      const assertApart = () => {
        const taken = openIssues().flatMap((issue) => globs[issue - 1] ?? []);
        assert.deepEqual(taken, [...new Set(taken)], `open: ${openIssues().join(', ')}`);
      };
      await world.start();
      for (const { what, issue } of sequence) {
        if (what === 'merge') merge();
        if (what === 'conflict') workspaces.baseConflicts.set(issue, ['x']);
        if (what === 'pause' || what === 'resume')
          await world.orchestrator.steering.steer(what, issue).catch(() => undefined);
        if (what === 'kill') {
          world.kill();
          await world.restart();
        }
        await world.pass(20_000);
        assertApart();
      }
      for (const issue of world.journal.state.orders.keys()) await world.orchestrator.steering.steer('resume', issue);
      for (let i = 0; i < 20; i++) {
        merge();
        await world.pass(90_000);
        assertApart();
      }
      for (const [index] of globs.entries())
        assert.deepEqual(tracker.labelsOf(index + 1), ['tool-done'], `issue ${index + 1}`);
      await world.stop();
    }),
    { numRuns: 30 },
  );
});
