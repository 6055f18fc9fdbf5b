// Fallback from a team to sub-agent mode, for each trigger, phase and moment: the same tasks go on one at a time.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { ToolError } from '../../../src/base/rules/errors.ts';
import type { LeadOutcome } from '../../../src/team/lead/lead-options.ts';
import { startTeam } from '../../../src/team/lead/start-team.ts';
import { TeamHistory } from '../../../src/team/log/team-history.ts';
import { FALLBACK_TRIGGERS, type FallbackTrigger } from '../../../src/team/rules/fallback.ts';
import type { TeamSettings } from '../../../src/team/rules/settings.ts';
import { onlyRefusal } from '../../../src/team/select/work-decision.ts';
import {
  LeadPlay,
  PHASE_NAMES,
  PHASES,
  type PhaseName,
  ROLES,
  type Turn,
  Unreachable,
  WRITTEN,
  workOf,
} from '../../support/lead-play.ts';
import type { Cleanup } from '../../support/temp.ts';

const TRIGGERS: readonly FallbackTrigger[] = [
  'variable_unset',
  'not_enabled',
  'team_create_failed',
  'spawn_failed',
  'network_error',
  'host_version',
];

/** `first`: before anybody has done anything · `middle`: one task is finished, and others are at work. */
const MOMENTS = ['first', 'middle'] as const;
/** A failed program's output, with the cause at its end. */
const UNREACHED = `it ended with exit code 1: ${'reading files\n'.repeat(60)}API Error: Connection error.`;
type Moment = (typeof MOMENTS)[number];

/** One team with an injected fallback trigger, and its outcome. */
class Fall {
  readonly play: LeadPlay;
  readonly #phase: PhaseName;
  readonly #trigger: FallbackTrigger;
  readonly #moment: Moment;
  readonly #struck: Promise<void>;
  #strike = () => {};
  #isStruck = false;

  constructor(t: Cleanup, phase: PhaseName, trigger: FallbackTrigger, moment: Moment) {
    this.#phase = phase;
    this.#trigger = trigger;
    this.#moment = moment;
    this.#struck = new Promise((resolve) => {
      this.#strike = resolve;
    });
    this.play = new LeadPlay(t, Object.fromEntries(ROLES.map((role) => [role, this.#turn(role)])));
  }

  get team(): string {
    return PHASES[this.#phase].team;
  }

  set fallback(fallback: Partial<TeamSettings['fallback']>) {
    const { world } = this.play;
    world.settings = { ...world.settings, fallback: { ...world.settings.fallback, ...fallback } };
  }

  /** Makes the trigger's condition true. */
  #inject(): void {
    const { world } = this.play;
    this.#isStruck = true;
    if (this.#trigger === 'variable_unset') world.pretend({ variable: { value: undefined, source: null } });
    if (this.#trigger === 'not_enabled') world.settings = { ...world.settings, enabled: false };
    if (this.#trigger === 'host_version') world.pretend({ hostVersion: () => Promise.resolve('2.1.31') });
    if (this.#trigger === 'team_create_failed')
      world.context.workTree.tree = () => Promise.reject(new Error('the disk is full'));
    this.#strike();
  }

  /** In a team, the first role finishes its task and the others are at work; in sub-agent mode, each does its own. */
  #turn(role: string): Turn {
    const work = workOf(role);
    return async (call, prompt, run, signal) => {
      if (this.play.world.state(this.team).session === 'fallback') return work(call, prompt, run, signal);
      if (this.#moment === 'middle' && !this.#isStruck) {
        const { tasks } = this.play.world.state(this.team);
        if (tasks.get('1')?.owner === role) {
          await work(call, prompt, run, signal);
          this.#inject();
          return;
        }
        await this.#struck;
      }
      if (this.#trigger === 'network_error') throw new Unreachable(UNREACHED);
      if (this.#trigger === 'spawn_failed') throw new Error('no such program');
      await new Promise(() => undefined);
    };
  }

  /** Decides, creates the team and leads it to its end. Throws the refusal. */
  async fall(): Promise<LeadOutcome> {
    if (this.#moment === 'first') this.#inject();
    const decided = await this.play.decide(this.#phase, 'team');
    if (decided.kind === 'refused') throw onlyRefusal(decided);
    assert.equal(decided.work.team, this.team);
    await startTeam(this.play.world.context, decided);
    return this.play.goOn(this.team);
  }

  /** Completions of each task, and the maximum of tasks in progress at once after the fallback. */
  async told(outcome: LeadOutcome): Promise<{ completions: Readonly<Record<string, number>>; most: number }> {
    const completions: Record<string, number> = {};
    let most = 0;
    const history = new TeamHistory({
      directory: outcome.kind === 'done' ? outcome.archived : join(this.play.world.root, '.tool', 'teams', this.team),
      from: 'beginning',
      onRecord: (record, refusal, state) => {
        if (refusal !== null) return;
        if (record.type === 'task_updated' && record.status === 'completed')
          completions[record.task] = (completions[record.task] ?? 0) + 1;
        if (state.session !== 'fallback') return;
        const active = [...state.tasks.values()].filter(({ status }) => status === 'in_progress');
        most = Math.max(most, active.length);
      },
    });
    await history.close();
    return { completions, most };
  }
}

/** The creation of an existing team cannot fail. */
function isPossible(trigger: FallbackTrigger, moment: Moment): boolean {
  return trigger !== 'team_create_failed' || moment === 'first';
}

for (const trigger of TRIGGERS)
  for (const phase of PHASE_NAMES)
    for (const moment of MOMENTS.filter((one) => isPossible(trigger, one))) {
      const name = `${trigger}, ${phase}, ${moment}`;

      test(`${name}: the same tasks go on one at a time, and the reason is logged`, async (t) => {
        const fall = new Fall(t, phase, trigger, moment);
        fall.fallback = { logLevel: 'error' };
        const outcome = await fall.fall();
        assert.ok(outcome.kind === 'done', 'why' in outcome ? outcome.why : outcome.kind);
        assert.equal(outcome.state.fallback?.trigger, trigger);
        const { completions, most } = await fall.told(outcome);
        assert.ok(Object.keys(completions).length >= 3);
        assert.deepEqual(Object.keys(completions), [...outcome.state.tasks.keys()], 'in the order of the list');
        assert.deepEqual([...new Set(Object.values(completions))], [1], 'what was finished is not repeated');
        assert.equal(most, 1);
        const logged = fall.play.world.logged.filter((line) => line.includes(FALLBACK_TRIGGERS[trigger]));
        assert.equal(logged.length, 1, fall.play.world.logged.join('\n'));
        assert.match(logged[0] ?? '', /^error: sub-agents in place of/);
        if (trigger === 'network_error')
          assert.match(
            logged[0] ?? '',
            /: it ended with exit code 1: reading .* … .*API Error: Connection error\. \(fell_back\)$/,
          );
        if (phase === 'plan') assert.equal(outcome.found?.phase === 'plan' ? outcome.found.spec : '', WRITTEN);
        if (phase === 'build-fix')
          assert.equal(outcome.found?.phase === 'debug' ? outcome.found.tried.length : 0, 3, 'all were heard');
      });

      test(`${name}: without a fallback it ends there, with the reason, and nothing is lost`, async (t) => {
        const fall = new Fall(t, phase, trigger, moment);
        fall.fallback = { enabled: false };
        let why = '';
        try {
          const outcome = await fall.fall();
          assert.ok(outcome.kind === 'failed', outcome.kind);
          why = outcome.why;
          const { completions } = await fall.told(outcome);
          assert.deepEqual(completions, moment === 'first' ? {} : { 1: 1 });
        } catch (error) {
          assert.ok(error instanceof ToolError, String(error));
          why = error.message;
          assert.equal(moment, 'first');
        }
        assert.ok(why.includes(FALLBACK_TRIGGERS[trigger]), why);
        assert.match(why, /workflow\.team\.fallback\.enabled is false/);
        assert.deepEqual(fall.play.world.logged, []);
      });
    }

for (const trigger of TRIGGERS.filter((one) => isPossible(one, 'middle')))
  test(`${trigger}: with preserve_progress false every task starts over`, async (t) => {
    const fall = new Fall(t, 'run', trigger, 'middle');
    fall.fallback = { preserveProgress: false };
    const outcome = await fall.fall();
    assert.equal(outcome.kind, 'done');
    const { completions } = await fall.told(outcome);
    const [first, ...others] = Object.values(completions);
    assert.equal(first, 2);
    assert.deepEqual([...new Set(others)], [1]);
  });

for (const logLevel of ['debug', 'info', 'warn', 'error'] as const)
  test(`the reason is logged at the level ${logLevel}`, async (t) => {
    const fall = new Fall(t, 'run', 'variable_unset', 'middle');
    fall.fallback = { logLevel };
    await fall.fall();
    assert.equal(fall.play.world.logged.filter((line) => line.startsWith(`${logLevel}: sub-agents`)).length, 1);
  });

for (const [how, ms] of [
  ['before the lead has looked', 0],
  ['after it has', 500],
] as const)
  test(`alone, nobody else is started once a cause is proven, by who ends its turn ${how}`, async (t) => {
    const proving: Turn = async (call, _prompt, _run, signal) => {
      await call('TaskUpdate', { taskId: '1', status: 'in_progress' });
      await call('TaskUpdate', { taskId: '1', status: 'completed', result: 'proven: too old\n$ node -v\nv20' });
      await play.world.clock.sleep(ms, signal);
    };
    const play = new LeadPlay(t, { 'hypothesis-1': proving });
    const decided = await play.decide('build-fix', 'solo');
    assert.ok(decided.kind === 'decided');
    await startTeam(play.world.context, decided);
    const outcome = await play.goOn(decided.work.team);
    assert.equal(outcome.kind === 'done' && outcome.found?.phase === 'debug' ? outcome.found.cause : null, 'too old');
    assert.deepEqual(
      play.runs.map(({ name }) => name),
      ['hypothesis-1'],
    );
  });
