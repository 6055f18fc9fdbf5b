// Over 400 lines: its cases share one played team.

import assert from 'node:assert/strict';
import test from 'node:test';
import { lineWithCode, refusal } from '../../../src/base/rules/codes.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import type { Merge, TeamWorktrees } from '../../../src/git/worktrees/team-worktrees-port.ts';
import type { LeadOutcome } from '../../../src/team/lead/lead-options.ts';
import { registration } from '../../../src/team/lead/member-session.ts';
import { resumeTeam, startTeam } from '../../../src/team/lead/start-team.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { codeIn, failsWith, wordsLike, wordsOf } from '../../support/codes.ts';
import {
  diligent,
  draft,
  GOOD,
  LeadPlay as Play,
  ROLES,
  type Turn,
  WORKTREES,
  workOf,
} from '../../support/lead-play.ts';
import { failing, TEAM } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

function statuses({ state }: LeadOutcome): readonly string[] {
  return [...state.tasks.values()].map(({ id, status }) => `${id} ${status}`);
}

const FOUR = [
  draft('api', 'backend-dev'),
  draft('ui', 'frontend-dev'),
  draft('tests', 'tester', ['api', 'ui']),
  draft('judge', 'quality', ['api', 'ui', 'tests']),
];

test('a team works side by side, is measured, judged and deleted', async (t) => {
  const play = new Play(t);
  const outcome = await play.lead(FOUR);
  assert.equal(outcome.kind, 'done');
  assert.deepEqual(statuses(outcome), ['1 completed', '2 completed', '3 completed', '4 completed']);
  assert.equal(play.most, 2, 'backend and frontend had no need to wait');
  assert.match(outcome.kind === 'done' ? outcome.archived : '', /archive/);
  assert.deepEqual(play.measuredFor, ['SPEC-AUTH-001'], 'commits are held against the SPEC');
  assert.deepEqual(
    play.runs.map(({ name, cwd, env }) => [name, cwd, env.PLACE]).sort(),
    [
      ['backend-dev', '/worktrees/backend-dev', 'backend-dev'],
      ['frontend-dev', '/worktrees/frontend-dev', 'frontend-dev'],
      ['quality', '/worktrees/@quality', undefined],
      ['tester', '/worktrees/tester', 'tester'],
    ],
    'who only reads has no branch',
  );
});

test('a lead that starts whoever is missing by itself is not told to', async (t) => {
  const play = new Play(t);
  const { state } = await play.lead([draft('api', 'backend-dev'), draft('tests', 'tester', ['api'])], async () => {
    // As nobody is there yet whose next call starts it.
    const as = { kind: 'environment', team: TEAM, teammate: 'backend-dev', epoch: 1, isServer: true } as const;
    await operate(play.world.context, 'Task', registration(TEAM, 'backend-dev'), { ...as, teammate: null });
    await operate(play.world.context, 'TaskUpdate', { taskId: '1', status: 'in_progress' }, as);
    await operate(play.world.context, 'TaskUpdate', { taskId: '1', status: 'completed' }, as);
  });
  const told = state.messages.filter(({ type, to }) => type === 'progress' && to === 'team-lead');
  assert.deepEqual(
    told.map(({ content }) => content),
    ['task 2 for tester can begin now'],
  );
});

test('who judges is asked when all was measured and found good, and not before', async (t) => {
  const play = new Play(t);
  play.gate = [failing('b'.repeat(40)), failing('c'.repeat(40))];
  const outcome = await play.lead(FOUR);
  assert.equal(outcome.kind, 'done');
  const judged = play.prompts.findIndex((prompt) => prompt.startsWith('quality:'));
  const mended = play.prompts.filter((prompt) => /Mend|failing|test/i.test(prompt) && !prompt.startsWith('quality:'));
  assert.ok(mended.length >= 2);
  assert.equal(judged, play.prompts.length - 1);
  assert.deepEqual([...new Set(statuses(outcome).map((one) => one.split(' ')[1]))], ['completed']);
});

test('what the gate finds goes to whose it is in the tree that was measured; unchanged, it goes to somebody else', async (t) => {
  const play = new Play(t);
  const finding = 'lists (tests/pages/list.test.ts:3:1)';
  play.gate = [1, 2].map((round) => failing(String(round).repeat(40), 'tests', finding));
  play.world.pretend({
    // What the team has built is not in the person's checkout.
    files: (place) => Promise.resolve(place === undefined ? [] : ['src/pages/list.ts', 'tests/pages/list.test.ts']),
  });
  const outcome = await play.lead(FOUR);
  assert.equal(outcome.kind, 'done', play.said.join('; '));
  const reports = outcome.state.messages.filter(({ type }) => type === 'bug_report');
  assert.deepEqual(
    reports.map(({ to }) => to),
    ['frontend-dev', 'tester'],
  );
});

test('what nobody wants measured is said to be unchecked, and not to have passed', async (t) => {
  const play = new Play(t);
  const { hooks } = play.world.settings;
  const taskCompleted = { enabled: true, requireQualityCheck: false };
  play.world.settings = { ...play.world.settings, hooks: { ...hooks, taskCompleted } };
  assert.equal((await play.lead(FOUR)).kind, 'done');
  assert.ok(play.said.includes('gate: nothing is measured, unchecked: require_quality_check is false'));
});

test('a change of what decides over the measures is told with them', async (t) => {
  const play = new Play(t);
  play.teamWorktrees = { changed: () => Promise.resolve([{ path: 'package.json', added: 1, removed: 0 }]) };
  assert.equal((await play.lead(FOUR)).kind, 'done');
  assert.ok(play.said.includes(`gate: ${wordsOf(GATE_CODES.gate_rules_changed, { files: ['package.json'] })}`));
});

test('what the gate rejects four times ends the run, with the reason; the team stands', async (t) => {
  const play = new Play(t);
  play.gate = Array.from({ length: 9 }, (_, index) => failing(String(index).repeat(40)));
  const outcome = await play.lead(FOUR);
  assert.ok(outcome.kind === 'failed');
  assert.match(
    outcome.why,
    wordsLike(LEAD_CODES.gate_rejected_too_often, {
      count: 4,
      why: wordsLike(GATE_CODES.gate_rejected, { checks: ['tests'], report: /[\s\S]*/ }),
    }),
  );
  assert.equal(outcome.state.session, 'working');
});

test('how a run has failed is told where nobody can look at its branches, once its teammates have ended', async (t) => {
  let living = 0;
  let whenLookedAt = -1;
  const play = new Play(t, {
    'backend-dev': async (_call, _prompt, _run, signal) => {
      living += 1;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      living -= 1;
    },
  });
  play.teamWorktrees = {
    putBack: () => {
      whenLookedAt = living;
      return Promise.reject(new Error('git failed'));
    },
  };
  const { settings } = play.world;
  play.world.settings = { ...settings, fallback: { ...settings.fallback, enabled: false } };
  play.world.pretend({ hostVersion: () => Promise.resolve(living > 0 ? '2.1.0' : '2.1.177') });
  const outcome = await play.lead([draft('api', 'backend-dev')]);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /2\.1\.0/);
  assert.equal(whenLookedAt, 0);
  const unknown = lineWithCode(refusal(LEAD_CODES.branches_unknown, { said: 'git failed' }));
  assert.ok(play.said.includes(unknown), play.said.join('; '));
});

test('what became of the branch while nobody led is asked for the members alone, and keeps no lead from starting', async (t) => {
  const play = new Play(t);
  const asked: (readonly string[])[] = [];
  play.teamWorktrees = {
    adoptChanges: (_team, members) => {
      asked.push(members);
      return Promise.reject(new Error('git failed'));
    },
  };
  const outcome = await play.lead([draft('api', 'backend-dev')], async () => {
    const as = { kind: 'environment', team: TEAM, teammate: null } as const;
    await operate(play.world.context, 'Task', registration(TEAM, 'backend-dev'), as);
  });
  assert.equal(outcome.kind, 'done');
  assert.deepEqual(asked, [['backend-dev']]);
  const words = lineWithCode(
    refusal(OPERATIONS_CODES.branch_not_adopted, { branch: `tool/${TEAM}`, said: 'git failed' }),
  );
  assert.ok(play.said.includes(words), play.said.join('; '));
});

test('who goes on after that has its rounds again: the same teammates are started anew and asked', async (t) => {
  const play = new Play(t);
  const bad = (round: number) => failing(String(round).repeat(40), 'tests', `test ${round} says 404`);
  play.gate = [1, 2, 3, 4].map(bad);
  assert.equal((await play.lead(FOUR)).kind, 'failed');
  const before = play.prompts.length;
  play.gate = [5, 6, 7].map(bad);
  assert.equal(await resumeTeam(play.world.context, TEAM, () => undefined), true);
  const outcome = await play.goOn(TEAM);
  assert.equal(outcome.kind, 'done', play.said.join('; '));
  const asked = play.prompts.slice(before).filter((prompt) => !prompt.startsWith('quality:'));
  assert.equal(asked.filter((prompt) => /^backend-dev: .*bug_report.*says 404/s.test(prompt)).length, 3);
  assert.deepEqual([...new Set(asked.map((prompt) => prompt.split(':')[0]))], ['backend-dev']);
  const { messages } = outcome.state;
  assert.equal(messages.filter(({ type, to }) => type === 'bug_report' && to === 'backend-dev').length, 6);
});

test('who has ended its work before a lead came is asked for what is its own, and nobody in its place', async (t) => {
  const play = new Play(t);
  const finding = { path: 'src/api/users.ts', line: 3, words: 'list takes 9 decisions' };
  const figures = ['complexity: 1 of 1 changed function above 3'];
  const complex = {
    dimension: 'readable',
    state: 'failed',
    score: 0,
    figures,
    source: 'it',
    findings: [finding],
  } as const;
  play.trust5 = [{ ...GOOD, dimensions: [complex], ok: false, score: 0 }, GOOD];
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('tests', 'tester')], async () => {
    const { context } = play.world;
    const as = { kind: 'environment', team: TEAM, teammate: null } as const;
    await operate(context, 'TaskUpdate', { taskId: '1', status: 'completed' }, as);
  });
  assert.equal(outcome.kind, 'done', play.said.join('; '));
  const [, , mended] = [...outcome.state.tasks.values()];
  assert.deepEqual([mended?.subject, mended?.claim?.member], ['Make functions simpler', 'backend-dev']);
});

test('what nobody of the team can mend ends the run at once', async (t) => {
  const play = new Play(t);
  const unmeasured = {
    dimension: 'unified',
    state: 'not_measured',
    score: null,
    figures: ['no formatter', 'quality.required names format'],
    source: 'nothing',
    findings: [],
  } as const;
  play.trust5 = [{ ...GOOD, dimensions: [unmeasured], ok: false, score: null }];
  const outcome = await play.lead(FOUR);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /unified/);
});

test('one at a time there is one turn at once, and no session to pass a gate of', async (t) => {
  const play = new Play(t);
  const outcome = await play.lead(FOUR, async (team) => {
    const log = play.world.teams.open(team);
    await log?.append({ type: 'fell_back', trigger: 'solo', reason: '--solo' });
    await log?.close();
  });
  assert.equal(outcome.kind, 'done');
  assert.equal(play.most, 1);
  assert.deepEqual([...new Set(statuses(outcome).map((one) => one.split(' ')[1]))], ['completed']);
});

test('a teammate that cannot be started three times: the same goes on one at a time', async (t) => {
  let failures = 0;
  const play = new Play(t, {
    'frontend-dev': async (call, ...rest) => {
      failures += 1;
      if (failures <= 3) throw new Error('no such program');
      await diligent(call, ...rest);
    },
  });
  const outcome = await play.lead(FOUR);
  assert.equal(outcome.kind, 'done');
  assert.equal(outcome.state.fallback?.trigger, 'spawn_failed');
  assert.match(
    outcome.state.fallback?.reason ?? '',
    wordsLike(LEAD_CODES.member_start_failed, { member: 'frontend-dev', count: 3 }),
  );
  assert.deepEqual([...new Set(statuses(outcome).map((one) => one.split(' ')[1]))], ['completed']);
});

test('without a fallback it ends there, and what was completed stays', async (t) => {
  const play = new Play(t, { 'frontend-dev': () => Promise.reject(new Error('no such program')) });
  play.world.settings = { ...play.world.settings, fallback: { ...play.world.settings.fallback, enabled: false } };
  const outcome = await play.lead(FOUR);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, / a teammate could not be started \(frontend-dev/);
  assert.deepEqual(statuses(outcome).slice(0, 2), ['1 completed', '2 pending']);
});

test('who ends its turns without finishing is told three times, and its task has failed then', async (t) => {
  const play = new Play(t, {
    tester: async (call) => {
      await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
    },
  });
  const outcome = await play.lead([draft('tests', 'tester')]);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /^failed: task 1 "Task of tests" \(tester ended its turn 4 times .*\)/);
});

/** A tester that completes its task once in each turn, with work that is there to be merged. */
function merging(t: Cleanup, merge: (now: number) => Merge) {
  const attempts: number[] = [];
  const play = new Play(t, {
    tester: async (call) => {
      attempts.push(play.world.clock.elapsed());
      await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
      await call('TaskUpdate', { taskId: '1', status: 'completed' }).catch(() => undefined);
    },
  });
  const commit = { sha: 'c'.repeat(40), subject: 'Test it', task: '1', files: ['tests/a.test.ts'] };
  const teamWorktrees: TeamWorktrees = {
    ...WORKTREES,
    commits: () => Promise.resolve({ tip: commit.sha, commits: [commit] }),
    merge: () => Promise.resolve(merge(play.world.clock.elapsed())),
  };
  Object.assign(play.world.context, { teamWorktrees: () => Promise.resolve(teamWorktrees) });
  return { play, attempts };
}

test('while a person has the branch checked out, finished work waits: nobody is told to go on, and nothing has failed', async (t) => {
  const words = wordsOf(WORK_CODES.team_branch_checked_out, { branch: 'tool/x', path: '/project' });
  const isFree = (now: number) => now >= 60_000;
  const { play, attempts } = merging(t, (now) =>
    isFree(now) ? { kind: 'merged', head: 'head' } : { kind: 'checked_out', words },
  );
  play.teamWorktrees = { checkedOut: () => Promise.resolve(isFree(play.world.clock.elapsed()) ? null : words) };
  const outcome = await play.lead([draft('tests', 'tester')]);
  assert.equal(outcome.kind, 'done');
  assert.equal(attempts.length, 2, attempts.join(' '));
  assert.equal(play.said.filter((line) => line === `tester waits: ${words}`).length, 1);
});

test('a task that was given back too often has failed with what its completion was rejected for', async (t) => {
  const { play } = merging(t, () => ({ kind: 'moved' }));
  const outcome = await play.lead([draft('tests', 'tester')]);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, wordsLike(WORK_CODES.team_branch_moving));
});

test('who never begins its work is not prompted for ever', async (t) => {
  const play = new Play(t, { tester: () => Promise.resolve() });
  const outcome = await play.lead([draft('tests', 'tester')]);
  assert.ok(outcome.kind === 'failed');
  assert.match(
    outcome.why,
    wordsLike(LEAD_CODES.member_start_failed, { member: 'tester', count: 3, said: /.* 4 times/ }),
  );
  assert.ok(play.prompts.length <= 24, `${play.prompts.length} prompts`);
});

test('who needs what is announced as ready begins on that, and completes its work after what it waits for', async (t) => {
  const seen: string[] = [];
  const play = new Play(t, {
    'backend-dev': async (call, prompt, run, signal) => {
      if (seen.length > 0) return;
      await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
      const content = { endpoint: 'POST /login', schema: { name: 'string' } };
      await call('SendMessage', { recipient: 'frontend-dev', type: 'api_ready', content });
      await play.world.clock.sleep(5_000, signal);
      await diligent(call, prompt, run, signal);
      seen.push('1 completed');
    },
    'frontend-dev': async (call) => {
      const finish = () => call('TaskUpdate', { taskId: '2', status: 'completed' });
      if (seen.length === 0) {
        await call('TaskUpdate', { taskId: '2', status: 'in_progress' });
        await failsWith(finish(), TASK_CODES.task_waits, { task: '2', before: ['task 1 "Task of api"'] });
        seen.push('2 begun');
      } else if (seen.length === 2) {
        await finish();
        seen.push('2 completed');
      }
    },
  });
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('ui', 'frontend-dev', ['api'])]);
  assert.equal(outcome.kind, 'done', play.said.join('; '));
  assert.deepEqual(seen, ['2 begun', '1 completed', '2 completed']);
  const begun = play.prompts.find((prompt) => /^frontend-dev: .*task 2 .* is yours now/s.test(prompt)) ?? '';
  assert.match(begun, /You can complete it only after task 1: until then end your turn; you are resumed\./);
});

/** Claims and completes all of its own in each turn, whatever is said to it. */
const stubborn: Turn = async (call, _prompt, { name }) => {
  const { tasks } = await call('TaskList', {});
  for (const { taskId, owner, status } of tasks as { taskId: string; owner: string; status: string }[]) {
    if (owner !== name || !/pending|in_progress/.test(status)) continue;
    for (const next of ['in_progress', 'completed'])
      await call('TaskUpdate', { taskId, status: next }).catch(() => undefined);
  }
};

function completions({ state }: LeadOutcome): readonly string[] {
  return state.decisions
    .filter(({ hook }) => hook === 'task_completed')
    .map(({ decision, about }) => `${about} ${decision}`);
}

test('of tasks that are tried by turns, each is let through after three rejections without change', async (t) => {
  const play = new Play(t, { 'backend-dev': stubborn });
  play.world.gate = [failing('b'.repeat(40), 'lint')];
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('more', 'backend-dev')]);
  assert.deepEqual(statuses(outcome), ['1 completed', '2 completed']);
  const both = (decision: string) => [`task 1 ${decision}`, `task 2 ${decision}`];
  assert.deepEqual(completions(outcome), [
    ...both('reject'),
    ...both('reject'),
    ...both('reject'),
    ...both('escalated'),
  ]);
  const told = outcome.state.messages.filter(({ content }) => codeIn(String(content)) === 'completion_escalated');
  assert.equal(told.length, 2);
});

test('what was begun ahead is let through after three rejections as well, since the turns before do not count', async (t) => {
  let isAnnounced = false;
  const play = new Play(t, {
    'backend-dev': async (call, prompt, run, signal) => {
      if (isAnnounced) return;
      isAnnounced = true;
      await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
      const content = { endpoint: 'POST /login', schema: { name: 'string' } };
      await call('SendMessage', { recipient: 'frontend-dev', type: 'api_ready', content });
      await play.world.clock.sleep(5_000, signal);
      await diligent(call, prompt, run, signal);
      play.world.gate = [failing('b'.repeat(40), 'lint')];
    },
    'frontend-dev': stubborn,
  });
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('ui', 'frontend-dev', ['api'])]);
  assert.deepEqual(statuses(outcome), ['1 completed', '2 completed']);
  const [first, ...others] = completions(outcome);
  assert.equal(first, 'task 1 accept');
  assert.deepEqual(others, ['task 2 reject', 'task 2 reject', 'task 2 reject', 'task 2 escalated']);
});

test('what is changed and rejected again and again is never let through, and has failed in the end', async (t) => {
  let tries = 0;
  const play = new Play(t, {
    'backend-dev': async (...all) => {
      tries += 1;
      play.world.gate = [failing(String(tries % 2).repeat(40), 'lint')];
      await stubborn(...all);
    },
  });
  const outcome = await play.lead([draft('api', 'backend-dev')]);
  assert.deepEqual(statuses(outcome), ['1 failed']);
  assert.equal(tries, 6);
  assert.ok(completions(outcome).every((one) => one === 'task 1 reject'));
});

test('who begins nothing more has not failed in what it cannot finish yet', async (t) => {
  let isBegun = false;
  let failed: readonly string[] = [];
  const play = new Play(t, {
    'backend-dev': async (call, prompt, run, signal) => {
      if (!isBegun) {
        isBegun = true;
        await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
        const content = { endpoint: 'POST /login', schema: { name: 'string' } };
        await call('SendMessage', { recipient: 'frontend-dev', type: 'api_ready', content });
        await play.world.clock.sleep(5_000, signal);
      }
      failed = [...play.world.state().tasks.values()].flatMap(({ id, status }) => (status === 'failed' ? id : []));
      await diligent(call, prompt, run, signal);
    },
    'frontend-dev': async (call, prompt) => {
      if (prompt.includes('task 2')) await call('TaskUpdate', { taskId: '2', status: 'in_progress' }).catch(() => null);
    },
  });
  await play.lead([draft('api', 'backend-dev'), draft('ui', 'frontend-dev', ['api']), draft('more', 'frontend-dev')]);
  assert.deepEqual(failed, []);
});

for (const isAsked of [true, false])
  test(`a SPEC whose very words are built already is said to be completed, approval ${isAsked ? 'asked for' : 'not asked for'}`, async (t) => {
    const play = new Play(t, Object.fromEntries(ROLES.map((role) => [role, workOf(role)])));
    play.world.settings = { ...play.world.settings, requirePlanApproval: isAsked };
    const decided = await play.decide('plan', 'team');
    assert.ok(decided.kind === 'decided');
    await startTeam(play.world.context, decided);
    play.world.pretend({ approval: () => Promise.resolve({ status: 'completed', counts: true, why: '' }) });
    const outcome = await play.goOn(decided.work.team);
    assert.equal(outcome.kind === 'done' && outcome.found?.phase === 'plan' ? outcome.found.status : '', 'completed');
  });
