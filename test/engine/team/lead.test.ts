// The lead that is code, with teammates that are functions: they call the operations as their processes would.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { GateResult } from '../../../src/domain/quality.ts';
import type { TaskDraft } from '../../../src/domain/team/task-draft.ts';
import type { Trust5 } from '../../../src/domain/trust5.ts';
import type { RunEnd, RunHooks } from '../../../src/engine/ports.ts';
import { Lead, type Outcome } from '../../../src/engine/team/lead/lead.ts';
import type { MemberRun } from '../../../src/engine/team/members-port.ts';
import { operate } from '../../../src/engine/team/operations.ts';
import type { Workshop } from '../../../src/engine/team/workshop-port.ts';
import { type Answer, failing, TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

type Call = (name: string, input: Answer) => Promise<Answer>;
/** One turn of a teammate. */
type Turn = (call: Call, prompt: string, run: MemberRun) => Promise<void>;

const GOOD: Trust5 = { dimensions: [], score: 5, ok: true, securityIssues: 0 };

/** Nothing is merged: what comes together is tried elsewhere, with real repositories. */
const WORKSHOP: Workshop = {
  begin: () => Promise.resolve({ branch: `tool/${TEAM}`, base: 'base', head: 'head' }),
  open: (_team, member) => Promise.resolve({ path: `/worktrees/${member}`, branch: member, env: { PLACE: member } }),
  view: (_team, name) => Promise.resolve({ path: `/worktrees/@${name}`, head: 'head' }),
  update: () => Promise.resolve({ kind: 'nothing' }),
  save: () => Promise.resolve(null),
  commits: () => Promise.resolve({ tip: null, commits: [] }),
  merge: () => Promise.resolve({ kind: 'nothing' }),
  refuse: () => Promise.resolve('ref'),
  changed: () => Promise.resolve([]),
  close: () => Promise.resolve(null),
  end: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

function draft(key: string, owner: string, blockedBy: readonly string[] = []): TaskDraft {
  return { key, subject: `Task of ${key}`, description: 'do it', owner, files: [], blockedBy };
}

/** The first task of its own that is open, claimed and completed. */
const diligent: Turn = async (call, _prompt, { name }) => {
  const { tasks } = await call('TaskList', {});
  assert.ok(Array.isArray(tasks));
  const mine: { taskId: string } | undefined = tasks.find(
    (task: { owner: string; status: string }) => task.owner === name && /pending|in_progress/.test(task.status),
  );
  if (mine === undefined) return;
  await call('TaskUpdate', { taskId: mine.taskId, status: 'in_progress' });
  await call('TaskUpdate', { taskId: mine.taskId, status: 'completed', result: 'done' });
};

const judging: Turn = async (call, prompt, run) => {
  const content = { trust5Score: 5, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };
  await call('SendMessage', { recipient: 'team-lead', type: 'quality_gate_passed', content });
  await diligent(call, prompt, run);
};

class Play {
  readonly world: TeamWorld;
  readonly said: string[] = [];
  readonly prompts: string[] = [];
  readonly runs: MemberRun[] = [];
  /** How many turns were under way at once, at most. */
  most = 0;
  trust5: Trust5[] = [GOOD];
  gate: GateResult[] = [];
  #active = 0;
  readonly #turns: Readonly<Record<string, Turn>>;

  constructor(t: Cleanup, turns: Readonly<Record<string, Turn>> = {}) {
    this.world = new TeamWorld(t);
    this.#turns = turns;
  }

  async #turn(run: MemberRun, prompt: string): Promise<void> {
    const { team, name: teammate, epoch } = run;
    this.prompts.push(`${teammate}: ${prompt}`);
    this.#active += 1;
    this.most = Math.max(this.most, this.#active);
    try {
      const turn = this.#turns[teammate] ?? (teammate === 'quality' ? judging : diligent);
      const call: Call = (name, input) =>
        operate(this.world.context, name, input, { kind: 'environment', team, teammate, epoch, isServer: true });
      await turn(call, prompt, run);
      await this.world.clock.sleep(10, new AbortController().signal);
    } finally {
      this.#active -= 1;
    }
  }

  async #member(run: MemberRun, hooks: RunHooks): Promise<RunEnd> {
    this.runs.push(run);
    await hooks.onStarted(7);
    try {
      for (let prompt: string | null = run.prompt; prompt !== null; prompt = await hooks.nextTurn())
        await this.#turn(run, prompt);
      return { ok: true, words: '' };
    } catch (error) {
      return { ok: false, words: error instanceof Error ? error.message : '', fault: 'agent', resumable: true };
    }
  }

  /** Creates the team with these tasks and leads it to its end. */
  async lead(
    drafts: readonly TaskDraft[],
    before: (team: string) => Promise<void> = () => Promise.resolve(),
  ): Promise<Outcome> {
    const { context, clock, teams } = this.world;
    const roles = [...new Set(drafts.map(({ owner }) => owner))];
    const proposing = teams.begin(TEAM);
    const purpose = { phase: 'run', pattern: 'quality_gate', roles, subject: 'SPEC-AUTH-001' } as const;
    await proposing.append({ type: 'proposed', ...purpose, reasons: [], drafts });
    await proposing.close();
    await operate(context, 'TeamCreate', { team_name: TEAM }, { kind: 'environment', team: null, teammate: null });
    await before(TEAM);
    const log = teams.open(TEAM);
    assert.ok(log !== undefined);
    const lead = new Lead(
      {
        context,
        clock,
        workshop: WORKSHOP,
        members: { run: (run, hooks) => this.#member(run, hooks) },
        checksAt: () => ({
          run: () => Promise.resolve(this.gate.shift() ?? { ...failing('a'.repeat(40)), ok: true, checks: [] }),
        }),
        trust5At: () =>
          Promise.resolve(this.trust5.length > 1 ? (this.trust5.shift() ?? GOOD) : (this.trust5[0] ?? GOOD)),
        desk: { writeSpec: () => assert.fail('nothing is planned here'), askApproval: null },
        budgetUsd: null,
        instruction: null,
        timeouts: { startTimeoutMs: 0, stallTimeoutMs: 0, turnTimeoutMs: 3_600_000 },
        width: Number.POSITIVE_INFINITY,
        say: (words) => this.said.push(words),
        onEvent: () => undefined,
        output: () => undefined,
      },
      log,
    );
    let outcome: Outcome | undefined;
    const leading = lead.lead(new AbortController().signal).then((end) => {
      outcome = end;
    });
    for (let moments = 0; outcome === undefined && moments < 5_000; moments++) await clock.step();
    assert.ok(outcome !== undefined, `it never ends: ${this.said.join('; ')}`);
    await leading;
    return outcome;
  }
}

function statuses({ state }: Outcome): readonly string[] {
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

test('what the gate rejects four times ends the run, with the reason; the team stands', async (t) => {
  const play = new Play(t);
  play.gate = Array.from({ length: 9 }, (_, index) => failing(String(index).repeat(40)));
  const outcome = await play.lead(FOUR);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /^the gate has rejected the work 4 times: Not accepted: tests failed/);
  assert.equal(outcome.state.session, 'working');
});

test('what nobody of the team can mend ends the run at once', async (t) => {
  const play = new Play(t);
  const unmeasured = {
    dimension: 'unified',
    state: 'not_measured',
    score: null,
    figures: ['no formatter'],
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
    'frontend-dev': async (call, prompt, run) => {
      failures += 1;
      if (failures <= 3) throw new Error('no such program');
      await diligent(call, prompt, run);
    },
  });
  const outcome = await play.lead(FOUR);
  assert.equal(outcome.kind, 'done');
  assert.equal(outcome.state.fallback?.trigger, 'spawn_failed');
  assert.match(outcome.state.fallback?.reason ?? '', /frontend-dev ended 3 times without finishing/);
  assert.deepEqual([...new Set(statuses(outcome).map((one) => one.split(' ')[1]))], ['completed']);
});

test('without a fallback it ends there, and what was completed stays', async (t) => {
  const play = new Play(t, { 'frontend-dev': () => Promise.reject(new Error('no such program')) });
  play.world.settings = { ...play.world.settings, fallback: { ...play.world.settings.fallback, enabled: false } };
  const outcome = await play.lead(FOUR);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /^a teammate could not be started: frontend-dev/);
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
  assert.match(outcome.why, /^failed: task 1 "Task of tests" \(tester ended its turn 4 times without finishing it\)/);
});

test('who never begins its work is not prompted for ever', async (t) => {
  const play = new Play(t, { tester: () => Promise.resolve() });
  const outcome = await play.lead([draft('tests', 'tester')]);
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.why, /^a teammate could not be started: tester: tester ended 3 times without finishing/);
  assert.ok(play.prompts.length <= 24, `${play.prompts.length} prompts`);
});
