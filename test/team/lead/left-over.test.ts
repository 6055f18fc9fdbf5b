// Work that nobody would do of themselves: it comes to its end, or the run does, with words.

import assert from 'node:assert/strict';
import test from 'node:test';
import { lineWithCode, refusal } from '../../../src/base/rules/codes.ts';
import type { LeadOutcome } from '../../../src/team/lead/lead-options.ts';
import { resumeTeam } from '../../../src/team/lead/start-team.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { LEAD } from '../../../src/team/rules/message.ts';
import { wordsLike, wordsOf } from '../../support/codes.ts';
import { type Call, diligent, draft, LeadPlay, PHASES, type Turn } from '../../support/lead-play.ts';
import type { Cleanup } from '../../support/temp.ts';

const { team: TEAM } = PHASES.run;

/** Adds a task that is nobody's. */
function unowned(play: LeadPlay, files: readonly string[] = []): (team: string) => Promise<void> {
  return async (team) => {
    const log = play.world.teams.open(team);
    const words = { subject: 'Loose end', description: 'tie it', owner: null, blocked_by: [] };
    await log?.append({ type: 'task_created', ...words, files, by: LEAD });
    await log?.close();
  };
}

function shown({ state }: LeadOutcome): readonly string[] {
  return [...state.tasks.values()].map(({ id, status, owner }) => `${id} ${status} ${owner}`);
}

/** What a task has cost is reported while it is claimed; then the turn goes on for ever. */
function costly(usd: number): Turn {
  return async (call, _prompt, run, signal) => {
    await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
    run.report({ cost_usd: usd, input_tokens: 1, output_tokens: 1, turns: 1 });
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
}

function within(t: Cleanup, hardUsd: number, turns: Readonly<Record<string, Turn>>): LeadPlay {
  const play = new LeadPlay(t, turns);
  allow(play, hardUsd);
  return play;
}

function allow(play: LeadPlay, hardUsd: number): void {
  const { budget } = play.world.settings;
  play.world.settings = { ...play.world.settings, budget: { ...budget, task: { softUsd: null, hardUsd } } };
}

test('a task that is nobody\u2019s, with nobody there, is given to whose role fits, who is started', async (t) => {
  const play = new LeadPlay(t);
  const outcome = await play.lead([], unowned(play, ['src/api/a.ts']), ['tester', 'backend-dev']);
  assert.equal(outcome.kind, 'done');
  assert.deepEqual(shown(outcome), ['1 completed backend-dev']);
  assert.ok(play.said.includes('task 1 had no owner: it is given to backend-dev'), play.said.join('; '));
});

test('a task that is made without an owner by the last who works is done too', async (t) => {
  let isMade = false;
  const play = new LeadPlay(t, {
    tester: async (call, ...rest) => {
      if (!isMade) await call('TaskCreate', { subject: 'More', description: 'do it', files: ['src/api/b.ts'] });
      isMade = true;
      await diligent(call, ...rest);
    },
  });
  const outcome = await play.lead([draft('tests', 'tester')], undefined, ['backend-dev', 'tester']);
  assert.equal(outcome.kind, 'done');
  assert.deepEqual(shown(outcome), ['1 completed tester', '2 completed backend-dev']);
});

test('a task that is nobody\u2019s, of which nobody may write all files, ends the run with that', async (t) => {
  const play = new LeadPlay(t);
  const files = ['src/api/a.ts', 'tests/a.test.ts'];
  const outcome = await play.lead([draft('api', 'backend-dev')], unowned(play, files));
  assert.ok(outcome.kind === 'failed');
  const loose = wordsLike(LEAD_CODES.task_unclaimable, { why: /.* backend-dev and tester.*/ });
  assert.match(outcome.why, new RegExp(`^failed: task 2 "Loose end" \\(${loose.source}`));
  assert.deepEqual(shown(outcome), ['1 completed backend-dev', '2 failed null']);
});

test('what is nobody\u2019s and given to who fails for good ends the run with that', async (t) => {
  const play = new LeadPlay(t, { 'backend-dev': () => Promise.reject(new Error('no such program')) });
  const outcome = await play.lead([], unowned(play), ['backend-dev']);
  assert.ok(outcome.kind === 'failed');
  assert.match(
    outcome.why,
    wordsLike(LEAD_CODES.member_start_failed, { member: 'backend-dev', count: 3, said: /no such/ }),
  );
});

test('who judges and ends its work without a word is asked for it, and the run ends if none comes', async (t) => {
  const play = new LeadPlay(t, { quality: diligent });
  const outcome = await play.lead([draft('api', 'backend-dev'), draft('judge', 'quality', ['api'])]);
  assert.ok(outcome.kind === 'failed');
  assert.equal(outcome.why, wordsOf(LEAD_CODES.verdict_missing, { judge: 'quality', asked: 2, why: 'done' }));
});

test('after a restart who judges is asked anew, and what somebody has changed meanwhile is measured before that', async (t) => {
  let isAgreed = false;
  const play = new LeadPlay(t, {
    quality: async (call, ...rest) => {
      const content = { trust5Score: 5, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };
      if (isAgreed) await call('SendMessage', { recipient: 'team-lead', type: 'quality_gate_passed', content });
      await diligent(call, ...rest);
    },
  });
  const first = await play.lead([draft('api', 'backend-dev'), draft('judge', 'quality', ['api'])]);
  assert.equal(first.kind, 'failed');
  const asked = () => play.prompts.filter((prompt) => /^quality: .*Give your verdict on the gate/s.test(prompt)).length;
  assert.deepEqual([asked(), play.measuredFor.length], [2, 1]);
  assert.equal(await resumeTeam(play.world.context, TEAM, () => undefined), true);
  assert.equal((await play.goOn(TEAM)).kind, 'failed');
  assert.deepEqual([asked(), play.measuredFor.length], [4, 1], 'the branch stands where it stood');
  isAgreed = true;
  const moved = { branch: `tool/${TEAM}`, base: 'base', head: 'moved' };
  play.teamWorktrees = {
    begin: () => Promise.resolve(moved),
    openReadOnly: (_team, name) => Promise.resolve({ path: `/worktrees/@${name}`, head: 'moved' }),
  };
  assert.equal(await resumeTeam(play.world.context, TEAM, () => undefined), true);
  const last = await play.goOn(TEAM);
  assert.equal(last.kind, 'done', play.said.join('; '));
  assert.deepEqual([asked(), play.measuredFor.length], [5, 2]);
});

test('a task over its hard budget is not run again after a restart; when more is allowed, it is', async (t) => {
  let isPlayed = false;
  const dear = costly(0.7);
  const play = within(t, 0.6, {
    tester: (call, ...rest) => {
      if (isPlayed) return diligent(call, ...rest);
      isPlayed = true;
      return dear(call, ...rest);
    },
  });
  const words = '$0.70 used, of a hard budget of $0.60 (workflow.team.budget.task.hard_usd)';
  const first = await play.lead([draft('tests', 'tester')]);
  assert.ok(first.kind === 'failed');
  assert.equal(first.why, `failed: task 1 "Task of tests" (${words})`);

  const starts = play.runs.length;
  const said: string[] = [];
  assert.equal(await resumeTeam(play.world.context, TEAM, (line) => said.push(line)), true);
  const again = `${words}: it is begun again when more is allowed there`;
  assert.deepEqual(said, [
    lineWithCode(refusal(LEAD_CODES.task_not_retried, { task: '1', subject: 'Task of tests', why: again })),
  ]);
  const second = await play.goOn(TEAM);
  assert.ok(second.kind === 'failed');
  assert.equal(second.why, `failed: task 1 "Task of tests" (${again})`);
  assert.equal(play.runs.length, starts, 'nobody was started for it');

  allow(play, 2);
  said.length = 0;
  assert.equal(await resumeTeam(play.world.context, TEAM, (line) => said.push(line)), true);
  assert.deepEqual(said, [`task 1 "Task of tests" is tried again; it had failed: ${again}`]);
  assert.equal((await play.goOn(TEAM)).kind, 'done');
});

test('a lead that was killed before it could end a task that is too dear leaves that to the next one', async (t) => {
  const play = within(t, 0.6, {});
  const outcome = await play.lead([draft('tests', 'tester')], async (team) => {
    const log = play.world.teams.open(team);
    const used = { cost_usd: 0.7, input_tokens: 1, output_tokens: 1, turns: 1 };
    await log?.append({ type: 'member_registered', name: 'tester', agent: 'team-tester', ...TESTER });
    await log?.append({ type: 'member_used', name: 'tester', epoch: 1, task: '1', ...used });
    await log?.append({ type: 'member_idle', name: 'tester', epoch: 1, stopped: true });
    await log?.close();
  });
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /^failed: task 1 "Task of tests" \(\$0\.70 used, of a hard budget/);
  assert.deepEqual(play.runs, []);
});

const TESTER = { read_only: false, model: 'inherit', prompt: '', max: 10 } as const;

test('a teammate over its hard budget is not started after a restart either', async (t) => {
  let isPlayed = false;
  const play = new LeadPlay(t, {
    tester: (...args) => {
      isPlayed = true;
      return costly(0.7)(...args);
    },
  });
  const budget = { teammate: { softUsd: null, hardUsd: 0.6 }, task: { softUsd: null, hardUsd: null } };
  play.world.settings = { ...play.world.settings, budget };
  const words =
    'task 1 "Task of tests" is open, and tester begins no more tasks: $0.70 used, of a hard budget of $0.60';
  const first = await play.lead([draft('tests', 'tester')]);
  assert.ok(isPlayed && first.kind === 'failed');
  assert.ok(first.why.startsWith(words), first.why);
  const starts = play.runs.length;
  assert.equal(await resumeTeam(play.world.context, TEAM, () => undefined), true);
  const second = await play.goOn(TEAM);
  assert.ok(second.kind === 'failed');
  assert.ok(second.why.startsWith(words), second.why);
  assert.equal(play.runs.length, starts);
});

test('a teammate that begins again what is over its hard budget is ended again', async (t) => {
  let count = 0;
  const play = within(t, 0.6, {
    tester: async (call, ...rest) => {
      count += 1;
      // Nobody but itself begins what has failed.
      await costly(0.7)(call, ...rest);
    },
  });
  const outcome = await play.lead([draft('tests', 'tester'), draft('more', 'tester')]);
  assert.ok(outcome.kind === 'failed');
  assert.ok(count > 1, 'it was started for the other task');
  const said = play.said.filter((one) => one.startsWith('tester failed: task 1: '));
  assert.deepEqual(
    said.map((one) => /\$\d\.\d\d used/.exec(one)?.[0]),
    Array.from({ length: count }, (_, index) => `$${(0.7 * (index + 1)).toFixed(2)} used`),
  );
});

test('who calls once more after its process has ended does not hold up the end of the team', async (t) => {
  let late: Call | undefined;
  const play = new LeadPlay(t, {
    tester: async (call, ...rest) => {
      late = call;
      await costly(0.7)(call, ...rest);
    },
    'backend-dev': async (call, prompt, run, signal) => {
      while (!play.said.some((words) => words.startsWith('tester failed'))) await play.world.clock.sleep(10, signal);
      await late?.('TaskUpdate', { taskId: '1', status: 'completed' });
      await diligent(call, prompt, run, signal);
    },
  });
  const budget = { teammate: { softUsd: null, hardUsd: 0.6 }, task: { softUsd: null, hardUsd: null } };
  play.world.settings = { ...play.world.settings, budget };
  const outcome = await play.lead([draft('tests', 'tester'), draft('api', 'backend-dev')]);
  assert.equal(outcome.kind, 'done');
  assert.deepEqual(shown(outcome), ['1 completed tester', '2 completed backend-dev']);
});
