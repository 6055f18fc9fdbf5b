// The gate of the daemon in memory: measured before it is published, shown in the pull request, sent back where it is required.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { OrchestratorOptions } from '../../src/daemon/orchestrator.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { standingWords } from '../../src/daemon/rules/issue-standing.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { runningRow } from '../../src/daemon/view-rows.ts';
import { WaitingLine } from '../../src/daemon/waiting-line.ts';
import { noEvidence } from '../../src/gate/rules/evidence.ts';
import { saying } from '../support/codes.ts';
import type { Script } from '../support/world.ts';
import { commit, evidenceOf, fail, World, workflowWith } from '../support/world.ts';

function worldWith(mode: 'report' | 'required', maxRounds = 3, options: Partial<OrchestratorOptions> = {}): World {
  const world = new World(workflowWith({ gate: { mode, maxRounds } }), options);
  world.tracker.open(1);
  return world;
}

async function untilLabelled(world: World, label: string): Promise<void> {
  await world.start();
  await world.pass(5 * 60_000);
  assert.deepEqual(world.tracker.labelsOf(1), [label]);
}

test('the commit is measured before it is pushed, and the pull request shows what was found', async () => {
  const world = worldWith('report');
  await untilLabelled(world, 'tool-done');
  const story = world.journal.storyOf(1);
  const order = [
    'gate:sha-1-1',
    'push:sha-1-1',
    'pull_request:tool/issue-1',
    'evidence:sha-1-1',
    'label_add:tool-done',
  ];
  assert.deepEqual(
    story.filter((line) => order.some((key) => line === `< ${key}`)),
    order.map((key) => `< ${key}`),
  );
  const [pull] = world.tracker.pulls;
  assert.match(
    pull?.body ?? '',
    /### Checks\n\n[\s\S]*\| tests \| passed: 3 tests \|[\s\S]*\| `npm test` \| 0 \| 1\.5 \|/,
  );
  await world.stop();
});

test('checks that wait for others are told apart from those that run, on the page and by tool explain', async () => {
  const world = worldWith('report');
  const line = new WaitingLine<number>({ most: () => 1 });
  const leave = await line.enter(2, new AbortController().signal);
  world.measure = async ({ issue, commit: sha }, signal) => {
    (await line.enter(issue, signal))();
    return evidenceOf(sha);
  };
  await world.start();
  const entry = world.journal.state.entries.get(1);
  assert.ok(entry);
  const row = (gates: ReadonlySet<number>) => runningRow('o/r', entry, undefined, world.workflow.labels, gates);
  const none = { queued: null, asking: null, following: null, retrying: null };
  assert.equal(row(line.waiting).phase, 'gate_waits');
  assert.equal(
    standingWords({ ...none, running: row(line.waiting) }),
    'the checks on attempt 1 wait until those of other issues have ended',
  );
  leave();
  assert.equal(row(line.waiting).phase, 'gate');
  await world.pass(60_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('each line of a measurement is a change that the page hears of', async () => {
  const world = worldWith('report');
  let heard = 0;
  world.measure = async ({ commit: sha, output }) => {
    world.orchestrator.onChange(() => {
      heard += 1;
    });
    const before = heard;
    output('npm test');
    assert.equal(heard, before + 1);
    return evidenceOf(sha);
  };
  await untilLabelled(world, 'tool-done');
  assert.ok(heard > 0);
  await world.stop();
});

test('a failure is shown and holds nothing up where the gate only reports', async () => {
  const world = worldWith('report');
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: false });
  await untilLabelled(world, 'tool-done');
  assert.equal(world.started.length, 1);
  assert.match(world.tracker.pulls[0]?.body ?? '', /The agent handed this in as finished, and checks fail\./);
  await world.stop();
});

test('beside checks that fail stands what the agent claimed, as data; beside those that pass it does not', async () => {
  const claim = 'All 12 tests pass <!-- /toolcrew:checks -->\n```\n@everyone';
  for (const [ok, sha] of [
    [false, 'sha-1-1'],
    [true, 'sha-1-1'],
  ] as const) {
    const world = worldWith('report');
    world.script = async (agent) => {
      await commit(agent);
      await agent.ask({ type: 'pull_request', title: 'Mine', body: 'Words' }, agent.hooks.signal);
      await agent.ask({ type: 'done', issue: 1 }, agent.hooks.signal);
      return { ok: true, words: claim };
    };
    world.measure = async ({ commit: measured }) => evidenceOf(measured, { ok });
    await untilLabelled(world, 'tool-done');
    const body = world.tracker.pulls[0]?.body ?? '';
    assert.match(body, new RegExp(`on commit ${sha}`));
    const shown =
      'and checks fail. It ran `tool issue done`. The last words of its attempt, as data:\n\n' +
      '````text\nAll 12 tests pass <! -- /toolcrew:checks -->\n```\n@everyone\n````\n';
    assert.equal(body.includes(shown), !ok, body);
    assert.equal(body.split('toolcrew:checks -->').length, ok ? 3 : 4);
    assert.equal(body.includes('All 12 tests pass'), !ok);
    await world.stop();
  }
});

test('a failure goes back to the agent where the gate is required, in the same session, until it passes', async () => {
  const world = worldWith('required');
  const told: (string | null)[] = [];
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 'one' });
    told.push(world.journal.state.entries.get(1)?.lastError ?? null);
    return commit(agent);
  };
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: sha.endsWith('-3') });
  await untilLabelled(world, 'tool-done');
  assert.deepEqual(
    world.started.map(({ attempt, resume }) => [attempt, resume]),
    [
      [1, null],
      [2, 'one'],
      [3, 'one'],
    ],
  );
  assert.match(told[1] ?? '', /\(round 1 of 3\)\.\ntests: 1 test fails\n {2}- adds/);
  assert.match(told[2] ?? '', /\(round 2 of 3\)/);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-3']);
  assert.match(world.tracker.pulls[0]?.body ?? '', /passed: 3 tests/);
  await world.stop();
});

test('what failed is in the next prompt, once, whatever the prompt of WORKFLOW.md shows of it', async () => {
  const prompts = {
    shows: ({ lastError }: { lastError: string | null }) => `It ended so: ${lastError}`,
    hides: () => '',
  };
  for (const [name, prompt] of Object.entries(prompts)) {
    const world = worldWith('required', 3, { renderPrompt: (_workflow, _issue, attempt) => prompt(attempt) });
    const told: string[] = [];
    world.script = async (agent) => {
      told.push(agent.request.prompt);
      // Another failure comes between.
      return agent.request.attempt === 2 ? fail(agent) : commit(agent);
    };
    world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: sha.endsWith('-3') });
    await untilLabelled(world, 'tool-done');
    assert.deepEqual(
      told.map((text) => text.split('- adds').length - 1),
      [0, 1, 1],
      name,
    );
    await world.stop();
  }
});

test('a commit that is handed in again is measured again: what was missing may be there now', async () => {
  const world = worldWith('required');
  world.script = async ({ request }) => {
    world.workspaces.heads.set(request.issue, 'sha-same');
    return { ok: true, words: 'done' };
  };
  let measured = 0;
  world.measure = async ({ commit: sha }) => {
    measured += 1;
    return evidenceOf(sha, { ok: measured > 1 });
  };
  await untilLabelled(world, 'tool-done');
  assert.deepEqual([measured, world.started.length], [2, 2]);
  await world.stop();
});

test('what could not be measured is shown by a gate that reports, and goes back where it is required', async () => {
  const unmeasured = noEvidence('sha-1-1', 'base', 'ENOENT: no such file, open /home/me/state/issues/1/x.json');
  const reporting = worldWith('report');
  reporting.measure = async () => unmeasured;
  await untilLabelled(reporting, 'tool-done');
  assert.match(
    reporting.tracker.pulls[0]?.body ?? '',
    /Nothing was measured of commit sha-1-1: ENOENT: no such file, open …\/x\.json/,
  );
  await reporting.stop();

  const requiring = worldWith('required', 1);
  requiring.measure = async ({ commit: sha }) => ({ ...unmeasured, commit: sha });
  await untilLabelled(requiring, 'tool-failed');
  assert.equal(requiring.tracker.pulls.length, 0);
  await requiring.stop();
});

test('after the last round the issue fails with the figures, and no round counts as a failed attempt', async () => {
  const world = worldWith('required', 1);
  world.measure = async ({ commit: sha }) => evidenceOf(sha, { ok: false });
  await untilLabelled(world, 'tool-failed');
  assert.equal(world.started.length, 2);
  assert.equal(world.tracker.pulls.length, 0);
  assert.deepEqual(world.workspaces.pushed, []);
  assert.match(world.tracker.comments[0]?.body ?? '', /\(gate\.max_rounds: 1\)[\s\S]*1 test fails/);
  assert.equal(world.journal.state.entries.get(1)?.failures, 0);
  await world.stop();
});

test('an agent that asks for its pull request early gets it once the checks have passed, where they are required', async () => {
  const world = worldWith('required');
  let answer: unknown;
  const asks: Script = async (agent) => {
    await commit(agent);
    answer = await agent.ask({ type: 'pull_request', title: 'Mine', body: 'Words' }, agent.hooks.signal);
    assert.deepEqual(world.workspaces.pushed, []);
    return { ok: true, words: 'done' };
  };
  world.script = asks;
  await untilLabelled(world, 'tool-done');
  assert.deepEqual(answer, { number: null, url: null, branch: 'tool/issue-1' });
  assert.equal(world.tracker.pulls[0]?.title, 'Mine');
  await world.stop();
});

test('a pull request that was opened before is shown the figures of the last commit', async () => {
  const world = worldWith('report');
  world.script = async (agent) => {
    await commit(agent);
    await agent.ask({ type: 'pull_request', title: 'Mine', body: 'Words' }, agent.hooks.signal);
    world.workspaces.heads.set(1, 'sha-later');
    return { ok: true, words: 'done' };
  };
  await untilLabelled(world, 'tool-done');
  const body = world.tracker.pulls[0]?.body ?? '';
  assert.match(
    body,
    /^<!-- toolcrew:checks -->\n\n### Checks\n\n[\s\S]*sha-later[\s\S]*<!-- \/toolcrew:checks -->\n\nWords\n\nCloses #1$/,
  );
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1', 'tool/issue-1 sha-later']);
  await world.stop();
});

test('what is being measured takes no slot: the next issue begins', async () => {
  const world = worldWith('report');
  world.tracker.open(2);
  const labelsOf = (issue: number) => world.tracker.labelsOf(issue);
  let end: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  world.measure = async ({ issue, commit: sha }) => {
    if (issue === 1) await held;
    return evidenceOf(sha);
  };
  await world.start();
  await world.pass(60_000);
  assert.deepEqual([1, 2].map(labelsOf), [['tool-todo'], ['tool-done']]);
  end();
  await world.pass(60_000);
  assert.deepEqual([1, 2].map(labelsOf), [['tool-done'], ['tool-done']]);
  await world.stop();
});

test('figures that the service does not take are logged, and the issue is done', async () => {
  const world = worldWith('report');
  world.tracker.fault = (call) => {
    if (call.startsWith('rewrite')) throw new TrackerError('refused', saying('tracker', 'no'), { status: 422 });
  };
  await untilLabelled(world, 'tool-done');
  assert.equal(world.timesLogged(WORK_CODES.evidence_refused, { issue: 1, said: 'no' }), 1);
  await world.stop();
});
