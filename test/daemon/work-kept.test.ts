// Work that was handed in is published or kept, never lost: whatever fails between the agent's word and the label.
// Over 400 lines: one promise, with a case for each moment of a failure.

import assert from 'node:assert/strict';
import test from 'node:test';
import { converse } from '../../src/agents/claude-session.ts';
import type { RunEnd } from '../../src/agents/ports.ts';
import { AGENT_CODES } from '../../src/agents/rules/agent-codes.ts';
import { ToolError } from '../../src/base/rules/errors.ts';
import { digest } from '../../src/base/rules/text.ts';
import { collectWork } from '../../src/daemon/collect-work.ts';
import { MAX_OUTAGES } from '../../src/daemon/rules/attempt-end.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { summaryOf } from '../../src/daemon/rules/team-summary.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { isOf, saying, wordsLike, wordsOf } from '../support/codes.ts';
import { teamOf } from '../support/team.ts';
import { tempDir } from '../support/temp.ts';
import { commit, fail, hang, type Script, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const { signal } = new AbortController();

const handIn: Script = async (agent) => {
  await commit(agent);
  await agent.ask({ type: 'done', issue: agent.request.issue }, signal);
  return { ok: true, words: 'done' };
};

const handInAndStay: Script = async (agent) => {
  await handIn(agent);
  return hang(agent);
};

/** Fails the first `times` times that `call` is made. */
function failing(call: string, times: number, error: () => Error): (made: string) => void {
  let left = times;
  return (made) => {
    if (made.startsWith(call) && left-- > 0) throw error();
  };
}

const broken = () => new ToolError(saying('git', 'git status failed'));

test('work that cannot be read is neither published nor removed: the attempt failed', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = handIn;
  world.workspaces.fault = failing('collect', Number.POSITIVE_INFINITY, broken);
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.deepEqual(world.journal.storyOf(1).slice(-9), [
    'asked_done',
    'attempt_ended failed give_up',
    '> comment:gave_up:1',
    '< comment:gave_up:1',
    '> label_add:tool-failed',
    '< label_add:tool-failed',
    '> label_remove:tool-todo',
    '< label_remove:tool-todo',
    'finished failed',
  ]);
  assert.match(
    world.tracker.comments[0]?.body ?? '',
    wordsLike(WORK_CODES.work_uncollected, { said: /git status failed/ }),
  );
  assert.deepEqual(world.workspaces.removed, []);
  await world.stop();
});

test('why work cannot be collected stands once in the output, however often it is tried, and again when it changes', async () => {
  const world = new World();
  const written: string[] = [];
  const output = (text: string) => written.push(text);
  const task = { issue: 1, life: 1, attempt: 1, branch: 'tool/issue-1', env: {}, output };
  const words = ['first', 'first', 'second', 'second'];
  world.workspaces.fault = () => {
    throw new ToolError(saying('git', words.shift() ?? 'second'));
  };
  for (const expected of [['first', 'second'], ['second']]) {
    const collected = collectWork(world.workspaces, world.clock, task, signal);
    await world.pass(MINUTE);
    assert.match((await collected).unread ?? '', /second$/);
    assert.deepEqual(
      written.splice(0),
      expected.map((said) => `${wordsOf(WORK_CODES.work_uncollected, { said })}\n`),
    );
  }
});

test('the comment of an issue that is given up names its workspace, its branch and its saved refs', async () => {
  const ref = 'refs/toolcrew/saved/issue-1-1-1';
  for (const fault of [() => undefined, failing('kept', Number.POSITIVE_INFINITY, broken)]) {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    world.script = async (agent) => {
      await commit(agent);
      return fail(agent);
    };
    world.workspaces.savedRefs = [ref];
    world.workspaces.fault = fault;
    world.tracker.open(1);
    await world.start();
    await world.pass(MINUTE);
    const [{ body } = { body: '' }] = world.tracker.comments;
    assert.match(body, /^directory \/workspaces\/issue-1$/m);
    const isRead = !world.lines.some((line) => line.includes('kept work cannot be listed'));
    assert.equal(body.includes('\nbranch tool/issue-1 (in the workspace)\n'), isRead);
    assert.equal(body.includes(`\nref ${ref}\n`), isRead);
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
    await world.stop();
  }
});

test('work that can be read at the third try is published', async () => {
  const world = new World();
  world.script = handIn;
  world.workspaces.fault = failing('collect', 2, broken);
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.equal(world.started.length, 1);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1']);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('after a death, work that was handed in is read again before anything is decided', async () => {
  const world = new World();
  world.script = handInAndStay;
  world.tracker.open(1);
  await world.start();
  world.kill();
  world.workspaces.fault = failing('collect', 2, broken);
  await world.restart();
  assert.equal(world.started.length, 1);
  assert.equal(world.tracker.pulls.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('after a death, work that cannot be read is not taken for none', async () => {
  const world = new World();
  world.script = handInAndStay;
  world.tracker.open(1);
  await world.start();
  world.kill();
  world.workspaces.fault = failing('collect', 3, broken);
  world.script = commit;
  await world.restart();
  await world.pass(MINUTE);
  assert.ok(world.journal.storyOf(1).includes('attempt_ended interrupted retry'));
  assert.deepEqual(
    world.tracker.pulls.map(({ branch }) => branch),
    ['tool/issue-1'],
  );
  await world.stop();
});

test('a daemon that is stopped after the agent said it was done publishes at its next start, without another agent', async () => {
  const world = new World();
  world.script = handInAndStay;
  world.tracker.open(1);
  await world.start();
  await world.stop();
  assert.deepEqual(world.journal.storyOf(1).slice(-2), ['asked_done', 'attempt_ended succeeded publish']);
  await world.restart();
  assert.equal(world.started.length, 1);
  assert.deepEqual(world.workspaces.pushed, ['tool/issue-1 sha-1-1']);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('what an agent leaves unreadable counts as its failure', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2, maxRetryBackoffMs: 100 } }));
  world.workspaces.fault = failing('collect', Number.POSITIVE_INFINITY, broken);
  world.tracker.open(1);
  await world.start();
  await world.pass(10 * MINUTE);
  assert.equal(world.started.length, 2);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('a workspace that cannot be synced after an agent was in it counts as the agent’s; the network does not', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  world.script = fail;
  let call = 'refresh';
  world.workspaces.fault = (made) => {
    if (world.started.length > 0 && made === call) throw new ToolError(saying('git', `git ${made} failed`));
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(30 * MINUTE);
  assert.equal(world.journal.state.entries.get(1)?.failures, 1, 'an outage of the remote is nobody’s');
  assert.equal(world.journal.state.entries.get(1)?.phase, 'retrying');
  call = 'before_run';
  await world.pass(10 * MINUTE);
  assert.equal(world.started.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('outages in a row are tried with growing pauses of at least a minute, up to the cap', async () => {
  const world = new World(workflowWith({ agent: { maxRetryBackoffMs: 200_000 } }));
  world.script = async () => ({ ok: false, words: 'no login', fault: 'runtime', resumable: true });
  world.tracker.open(1);
  await world.start();
  await world.pass(11 * MINUTE);
  const at = world.started.map((one) => one.at);
  const pauses = at.slice(1).map((time, index) => (time - (at[index] ?? 0)) / 1000);
  assert.deepEqual(pauses, [60, 120, 200, 200]);
  await world.stop();
});

test('outages without end give the issue up, and say why', async () => {
  const world = new World(workflowWith({ agent: { maxRetryBackoffMs: 1_000 } }));
  world.script = async () => ({ ok: false, words: 'no login', fault: 'runtime', resumable: true });
  world.tracker.open(1);
  await world.start();
  await world.pass((MAX_OUTAGES + 1) * MINUTE);
  assert.equal(world.started.length, MAX_OUTAGES);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.match(world.tracker.comments[0]?.body ?? '', /no login/);
  await world.stop();
});

const SAVED = 'files of app saved as refs/toolcrew/saved/issue-1-1-0-app';
const told = (world: World) =>
  world.tracker.comments.filter(({ body }) => body.includes(SAVED)).map(({ issue }) => issue);
const timesAsked = (world: World) => world.tracker.calls.filter((call) => call === 'comment 1').length;

for (const [answer, tries] of [
  [() => new TrackerError('unavailable', saying('tracker', 'it answered 502')), 4],
  [() => new TrackerError('unauthorized', saying('tracker', 'it answered 401')), 4],
  [() => new TrackerError('paused', saying('tracker', 'a limit'), { retryAt: Date.UTC(2026, 0, 1) + 20 * MINUTE }), 1],
] as const) {
  const { failure } = answer();
  const oneThatWaits = async () => {
    const world = new World();
    world.workspaces.saves = [SAVED];
    world.tracker.fault = failing('comment 1', tries, answer);
    world.tracker.open(1);
    world.tracker.open(2);
    await world.start();
    return world;
  };

  test(`saved work is named on the issue when the service takes comments again, and no other issue waits: ${failure}`, async () => {
    const world = await oneThatWaits();
    await world.pass(MINUTE / 2);
    assert.deepEqual(told(world), [2]);
    assert.deepEqual(world.workspaces.removed.toSorted(), [1, 2]);
    assert.equal(world.journal.state.cleanups.size, 1);
    await world.pass(30 * MINUTE);
    assert.deepEqual(told(world), [2, 1]);
    assert.equal(timesAsked(world), tries + 1);
    assert.equal(world.journal.state.cleanups.size, 0);
    await world.stop();
  });

  for (const end of ['stop', 'kill'] as const)
    test(`a comment that names saved work is owed after a ${end} too, and comes once: ${failure}`, async () => {
      const world = await oneThatWaits();
      await world[end]();
      assert.deepEqual(told(world), [2]);
      // What the next process is told to keep it does not remove; what is gone is told all the same.
      world.workflow = workflowWith({ workspace: { keep: true } });
      await world.restart();
      await world.pass(30 * MINUTE);
      await world.restart();
      await world.pass(MINUTE);
      assert.deepEqual(told(world), [2, 1]);
      assert.equal(world.journal.state.cleanups.size, 0);
      await world.stop();
    });
}

for (const status of [400, 403, 404, 410, 422])
  test(`a comment on saved work that is refused with ${status} is tried again`, async () => {
    const world = new World();
    world.workspaces.saves = [SAVED];
    world.tracker.fault = failing(
      'comment 1',
      7,
      () => new TrackerError('refused', saying('tracker', 'no'), { status }),
    );
    world.tracker.open(1);
    await world.start();
    await world.pass(60 * MINUTE);
    assert.deepEqual([told(world), timesAsked(world), world.workspaces.removed], [[1], 8, [1]]);
    assert.equal(world.timesLogged(WORK_CODES.step_postponed, { issue: 1 }), 1);
    assert.equal(world.journal.state.cleanups.size, 0);
    await world.stop();
  });

test('a comment on saved work that the service never takes ends, and the log has named what was saved', async () => {
  const world = new World();
  world.workspaces.saves = [SAVED];
  world.tracker.fault = failing(
    'comment 1',
    100,
    () => new TrackerError('refused', saying('tracker', 'no'), { status: 422 }),
  );
  world.tracker.open(1);
  await world.start();
  await world.pass(60 * MINUTE);
  assert.deepEqual([told(world), timesAsked(world), world.workspaces.removed], [[], 8, [1]]);
  assert.equal(world.timesLogged(WORK_CODES.comment_refused, { issue: 1, said: 'no' }), 1);
  assert.ok(world.lines.some((line) => line.includes(SAVED)));
  assert.equal(world.journal.state.cleanups.size, 0);
  await world.stop();
});

test('a comment on saved work ends when its issue is gone', async () => {
  const world = new World();
  world.workspaces.saves = [SAVED];
  world.tracker.fault = (call) => {
    if (call !== 'comment 1') return;
    world.tracker.issues.delete(1);
    throw new TrackerError('refused', saying('tracker', 'gone'), { status: 410 });
  };
  world.tracker.open(1);
  await world.start();
  assert.equal(timesAsked(world), 1);
  assert.equal(world.journal.state.cleanups.size, 0);
  await world.stop();
});

test('why an issue failed is told although its comment is refused at first', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = fail;
  world.workspaces.savedRefs = ['refs/toolcrew/saved/issue-1-1-1'];
  const quick = () => new TrackerError('refused', saying('tracker', 'was submitted too quickly'), { status: 422 });
  world.tracker.fault = failing('comment 1', 7, quick);
  world.tracker.open(1);
  await world.start();
  await world.pass(60 * MINUTE);
  const [{ body } = { body: '' }] = world.tracker.comments;
  assert.match(body, /\nit broke\n/);
  assert.doesNotMatch(body, /too quickly/);
  assert.match(body, /\nref refs\/toolcrew\/saved\/issue-1-1-1\n/);
  assert.equal(world.journal.state.completed.at(-1)?.reason, 'it broke');
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('an issue whose comment is never taken gets its label, and the log says why it failed', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = fail;
  world.tracker.fault = failing(
    'comment 1',
    100,
    () => new TrackerError('refused', saying('tracker', 'no'), { status: 422 }),
  );
  world.tracker.open(1);
  await world.start();
  await world.pass(60 * MINUTE);
  assert.equal(timesAsked(world), 8);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.equal(world.timesLogged(WORK_CODES.comment_refused, { issue: 1, said: 'no', why: 'it broke' }), 1);
  await world.stop();
});

test('saved work is named also where the workspace cannot be removed', async () => {
  const world = new World();
  world.workspaces.saves = [SAVED];
  world.workspaces.beforeClear = failing('clear', 1, () => new ToolError(saying('workspace_root', 'busy')));
  world.tracker.open(1);
  await world.start();
  assert.deepEqual([told(world), world.workspaces.removed], [[1], []]);
  await world.pass(5 * MINUTE);
  assert.deepEqual([told(world), world.workspaces.removed], [[1], [1]]);
  await world.stop();
});

test('an agent that committed counts, whatever its program says at the end', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 3 } }));
  let commits = 0;
  world.script = async ({ request }) => {
    commits += 1;
    world.workspaces.heads.set(request.issue, `sha-${commits}`);
    return { ok: false, words: 'it ended with exit code 127', fault: 'runtime', resumable: true };
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(10 * MINUTE);
  assert.equal(world.started.length, 3);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.match(world.tracker.comments[0]?.body ?? '', /sha-3/);
  await world.stop();
});

for (const what of ['prepare', 'transcript', 'socket'] as const) {
  test(`a system fault costs the issue no attempt, and the attempt has an end: ${what}`, async () => {
    const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    const deny = (): never => {
      throw denied;
    };
    const world = new World(
      workflowWith({ agent: { maxAttempts: 1 } }),
      what === 'transcript'
        ? { attemptOutputs: { open: deny, forget: async () => undefined } }
        : what === 'socket'
          ? { agentSocket: { open: async () => deny() } }
          : {},
    );
    if (what === 'prepare') world.workspaces.fault = failing('prepare', 3, deny);
    world.tracker.open(1);
    await world.start();
    assert.equal(world.journal.storyOf(1).at(-1), 'attempt_ended unavailable retry');
    await world.pass(8 * MINUTE);
    assert.equal(world.started.length, what === 'prepare' ? 1 : 0);
    assert.deepEqual(world.tracker.labelsOf(1), [what === 'prepare' ? 'tool-done' : 'tool-todo']);
    await world.stop();
  });
}

test('a daemon that dies under its agents again and again gives the issue up', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  for (let deaths = 0; deaths < 14; deaths++) {
    await world.restart();
    await world.pass(6 * MINUTE);
  }
  assert.equal(world.started.length, 11);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.match(world.tracker.comments[0]?.body ?? '', wordsLike(WORK_CODES.daemon_died));
  await world.stop();
});

for (const end of ['stop', 'kill'] as const)
  test(`an agent that brings its daemon down is started again at once, then after a minute at least: ${end}`, async () => {
    const world = new World();
    world.script = hang;
    world.tracker.open(1);
    await world.start();
    for (let deaths = 0; deaths < 4 * 60; deaths++) {
      await world[end]();
      await world.restart();
      await world.pass(1_000);
    }
    const at = world.started.map((one) => one.at);
    const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    assert.equal(pauses[0], 0);
    assert.ok(pauses.length > 1 && pauses.slice(1).every((pause) => pause >= MINUTE), pauses.join());
    await world.stop();
  });

test('an agent that is killed in the middle of a line, after tokens used, counts: the starts are bounded', async (t) => {
  // The clock goes on while a real process is at work: its silence is no fault.
  const world = new World(workflowWith({ agent: { maxAttempts: 3 }, tool: { stallTimeoutMs: 0 } }));
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'I work.' }], usage };
  const line = JSON.stringify({ type: 'assistant', message, session_id: 's' });
  const ends: Promise<RunEnd>[] = [];
  world.script = ({ hooks }) => {
    const args = ['-c', `printf '%s\\n%s' '${line}' '{"type":"assis'; exit 137`];
    const place = { cwd: tempDir(t), env: {}, run: 'run', isIsolated: false };
    const end = converse({ file: '/bin/sh', args, ...place, prompt: 'work' }, hooks);
    ends.push(end);
    return end;
  };
  world.tracker.open(1);
  await world.start();
  // In steps below the limit of a stall: a real process starts within one.
  for (let minutes = 0; minutes < 120; minutes++) {
    await Promise.all(ends);
    await world.pass(MINUTE);
  }
  assert.equal(world.started.length, 3);
  assert.match(
    world.tracker.comments[0]?.body ?? '',
    wordsLike(AGENT_CODES.agent_ended_early, { how: 'ended with exit code 137' }),
  );
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.equal(world.journal.state.totals.output_tokens, 15);
  await world.stop();
});

test('an attempt that a death cut off counts against the issue’s cost limit', async () => {
  const world = new World(workflowWith({ agent: { maxCostUsd: 1 } }));
  world.script = async (agent) => {
    agent.hooks.onEvent({ type: 'usage', usage: { input_tokens: 1, output_tokens: 1, cost_usd: 2, turns: 1 } });
    agent.hooks.onEvent({ type: 'tool_started', id: 'a', name: 'Bash', limitMs: null });
    await agent.hooks.nextTurn();
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.restart();
  assert.equal(world.started.length, 1);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('a comment that was posted although no answer came is not posted again', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const addComment = world.tracker.addComment.bind(world.tracker);
  const lost = new Set<string>();
  world.tracker.addComment = async (issue, body, marker) => {
    await addComment(issue, body, marker);
    if (lost.has(marker)) return;
    lost.add(marker);
    throw new TrackerError('unavailable', saying('tracker', 'it answered 502'));
  };
  world.script = async ({ ask }) => {
    const say = () => ask({ type: 'comment', issue: 1, body: 'On it.' }, signal);
    await say().catch(() => undefined);
    await say();
    return { ok: false, words: 'no', fault: 'agent', resumable: true };
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.deepEqual(
    world.tracker.comments.map(({ marker }) => marker),
    [`1-1-comment-1-1-${digest('On it.')}`, '1-1-comment-gave_up-1'],
  );
  await world.stop();
});

test('a comment that was not posted is no reason to be done without a commit', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.tracker.fault = failing(
    'comment 1',
    1,
    () => new TrackerError('refused', saying('tracker', 'locked'), { status: 403 }),
  );
  let refused: unknown = null;
  world.script = async ({ ask }) => {
    await ask({ type: 'comment', issue: 1, body: 'Nothing to do.' }, signal).catch(() => undefined);
    await ask({ type: 'done', issue: 1 }, signal).catch((error: unknown) => {
      refused = error;
    });
    return { ok: true, words: '' };
  };
  world.tracker.open(1);
  await world.start();
  isOf(WORK_CODES.nothing_committed, { branch: 'tool/issue-1' })(refused);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  await world.stop();
});

test('a team is known until its issue is published, and after that; a daemon that comes later knows it too', async () => {
  const team = summaryOf(teamOf(['backend-dev'], 2).claim('1', 'backend-dev').state, 0);
  const one = new World();
  one.script = (agent) => {
    agent.hooks.onEvent({ type: 'team', team });
    return commit(agent);
  };
  let atPublishing: unknown;
  one.tracker.fault = (call) => {
    if (call.startsWith('create ')) atPublishing = one.journal.state.entries.get(1)?.team;
  };
  one.tracker.open(1);
  await one.start();
  await one.pass(60_000);
  assert.deepEqual(one.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(atPublishing, team);
  assert.deepEqual(one.journal.state.completed.at(-1)?.team, team);
  await one.restart();
  assert.deepEqual(one.journal.state.completed.at(-1)?.team, team);
});
