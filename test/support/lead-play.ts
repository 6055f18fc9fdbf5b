// The lead that is code, with teammates that are functions: they call the operations as their processes would.

import assert from 'node:assert/strict';
import type { AgentEvent, RunHooks } from '../../src/agents/ports.ts';
import { NO_FLAGS } from '../../src/claude-code/rules/arguments.ts';
import type { GateResult } from '../../src/gate/rules/quality.ts';
import type { Trust5 } from '../../src/gate/rules/trust5.ts';
import type { TeamWorktrees } from '../../src/git/worktrees/team-worktrees-port.ts';
import { Lead } from '../../src/team/lead/lead.ts';
import type { LeadOutcome } from '../../src/team/lead/lead-options.ts';
import type { MemberEnd, MemberRequest } from '../../src/team/members/members-port.ts';
import { operate } from '../../src/team/operations/operations.ts';
import type { NewSpec } from '../../src/team/rules/spec-documents/new-spec.ts';
import type { TaskDraft } from '../../src/team/rules/task-draft.ts';
import { type Decided, decideWork } from '../../src/team/select/work-decision.ts';
import { ANALYST, ARCHITECT, RESEARCHER } from './plan-results.ts';
import { type Answer, failing, TEAM, TeamWorld } from './team-world.ts';
import type { Cleanup } from './temp.ts';

export type Call = (name: string, input: Answer) => Promise<Answer>;
/** One turn of a teammate; the signal ends its process. */
export type Turn = (call: Call, prompt: string, run: PlayedRun, signal: AbortSignal) => Promise<void>;
/** `report`: what its runtime says that it has used, on top of what it said before. */
export type PlayedRun = MemberRequest & { readonly report: (usage: Usage) => void };
type Usage = Extract<AgentEvent, { type: 'usage' }>['usage'];

/** Thrown in a turn: the teammate's process ends since it does not reach its model. */
export class Unreachable extends Error {}

export const GOOD: Trust5 = { dimensions: [], score: 5, ok: true, securityIssues: 0 };

/** The id under which a planned SPEC is written. */
export const WRITTEN = 'SPEC-WRITTEN-001';

/** Where the team began: nothing fails there. */
const BASE = '/worktrees/@base';

const OUTPUT = '$ node --version\nv20';

/** One piece of work for each phase. */
export const PHASES = {
  plan: { words: 'Users can log out of their account', team: 'tool-plan-users-can-log-out-of-their-account' },
  run: { words: 'SPEC-AUTH-001', team: TEAM },
  'build-fix': { words: 'TypeError in session', team: 'tool-debug-typeerror-in-session' },
} as const;
export type PhaseName = keyof typeof PHASES;
export const PHASE_NAMES: readonly PhaseName[] = ['plan', 'run', 'build-fix'];

const RESULTS: Readonly<Record<string, string>> = {
  researcher: RESEARCHER,
  analyst: ANALYST,
  architect: ARCHITECT,
  'hypothesis-1': `refuted: it was never otherwise\n${OUTPUT}`,
  'hypothesis-2': `refuted: it was never otherwise\n${OUTPUT}`,
  'hypothesis-3': `refuted: it was never otherwise\n${OUTPUT}`,
};

/** Whoever takes part in one of the phases. */
export const ROLES = [...Object.keys(RESULTS), 'backend-dev', 'frontend-dev', 'tester', 'quality'];

/** Nothing is merged: what comes together is tried elsewhere, with real repositories. */
export const WORKTREES: TeamWorktrees = {
  begin: (team) => Promise.resolve({ branch: `tool/${team}`, base: 'base', head: 'head' }),
  open: (_team, member) =>
    Promise.resolve({ path: `/worktrees/${member}`, branch: member, env: { PLACE: member }, conflict: [] }),
  openReadOnly: (_team, name) => Promise.resolve({ path: `/worktrees/@${name}`, head: 'head' }),
  update: () => Promise.resolve({ kind: 'nothing' }),
  astray: () => Promise.resolve(null),
  leftOut: () => Promise.resolve({ repositories: [], ignored: [], inSubmodules: [] }),
  keep: () => Promise.resolve('ref'),
  save: () => Promise.resolve(null),
  commits: () => Promise.resolve({ tip: null, commits: [] }),
  unmerged: () => Promise.resolve([]),
  unsettled: () => Promise.resolve([]),
  settled: () => Promise.resolve([]),
  kept: () => Promise.resolve([]),
  merge: () => Promise.resolve({ kind: 'nothing' }),
  checkedOut: () => Promise.resolve(null),
  refuse: () => Promise.resolve('ref'),
  adoptChanges: () => Promise.resolve([]),
  tips: () => Promise.resolve(new Map()),
  putBack: () => Promise.resolve(null),
  tasks: () => Promise.resolve([]),
  changed: () => Promise.resolve([]),
  close: () => Promise.resolve(null),
  end: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

export function draft(key: string, owner: string, blockedBy: readonly string[] = []): TaskDraft {
  return { key, subject: `Task of ${key}`, description: 'do it', owner, files: [], blockedBy };
}

/** The first task of its own that is open, claimed and completed with a result. */
function doing(result: string): Turn {
  return async (call, _prompt, { name }) => {
    const { tasks } = await call('TaskList', {});
    assert.ok(Array.isArray(tasks));
    const mine: { taskId: string } | undefined = tasks.find(
      (task: { owner: string; status: string }) => task.owner === name && /pending|in_progress/.test(task.status),
    );
    if (mine === undefined) return;
    await call('TaskUpdate', { taskId: mine.taskId, status: 'in_progress' });
    await call('TaskUpdate', { taskId: mine.taskId, status: 'completed', result });
  };
}

export const diligent = doing('done');

const judging: Turn = async (call, ...rest) => {
  const content = { trust5Score: 5, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' };
  await call('SendMessage', { recipient: 'team-lead', type: 'quality_gate_passed', content });
  await diligent(call, ...rest);
};

/** What a role does of a phase's work. */
export function workOf(role: string): Turn {
  return role === 'quality' ? judging : doing(RESULTS[role] ?? 'done');
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export class LeadPlay {
  readonly world: TeamWorld;
  readonly said: string[] = [];
  readonly prompts: string[] = [];
  readonly runs: MemberRequest[] = [];
  /** How many turns were under way at once, at most. */
  most = 0;
  trust5: Trust5[] = [GOOD];
  gate: GateResult[] = [];
  /** For which SPEC TRUST 5 was measured, each time. */
  readonly measuredFor: (string | null)[] = [];
  /** What does otherwise than worktrees in which nothing happens. */
  teamWorktrees: Partial<TeamWorktrees> = {};
  /** What was planned. */
  readonly specs: NewSpec[] = [];
  #active = 0;
  readonly #turns: Readonly<Record<string, Turn>>;

  constructor(t: Cleanup, turns: Readonly<Record<string, Turn>> = {}) {
    this.world = new TeamWorld(t);
    this.#turns = turns;
  }

  async #turn(run: PlayedRun, prompt: string, signal: AbortSignal): Promise<void> {
    const { team, name: teammate, epoch } = run;
    this.prompts.push(`${teammate}: ${prompt}`);
    this.#active += 1;
    this.most = Math.max(this.most, this.#active);
    try {
      const turn = this.#turns[teammate] ?? (teammate === 'quality' ? judging : diligent);
      const call: Call = (name, input) =>
        operate(this.world.context, name, input, { kind: 'environment', team, teammate, epoch, isServer: true });
      await turn(call, prompt, run, signal);
      await this.world.clock.sleep(10, signal);
    } finally {
      this.#active -= 1;
    }
  }

  async #member(run: MemberRequest, hooks: RunHooks): Promise<MemberEnd> {
    this.runs.push(run);
    await hooks.onStarted(7);
    const played = { ...run, report: (usage: Usage) => hooks.onEvent({ type: 'usage', usage }) };
    try {
      for (let prompt: string | null = run.prompt; prompt !== null; prompt = await hooks.nextTurn())
        await Promise.race([this.#turn(played, prompt, hooks.signal), untilAborted(hooks.signal)]);
      return { ok: true, words: '' };
    } catch (error) {
      const words = error instanceof Error ? error.message : '';
      return { ok: false, words, fault: 'agent', resumable: true, isNetwork: error instanceof Unreachable };
    }
  }

  /** What a command comes to, in a project that has the SPEC and a few files. */
  async decide(phase: PhaseName, wish: 'team' | 'solo' | null, force = false): Promise<Decided> {
    const { context, settings } = this.world;
    this.world.pretend({
      spec: () => 'Visitors are greeted by the API in src/api/greeting.ts and by the page in src/pages/greeting.ts.',
      approval: () => Promise.resolve({ status: 'approved', counts: true, why: '' }),
      files: () => Promise.resolve(['src/api/greeting.ts', 'src/pages/greeting.ts', 'package.json']),
    });
    const flags = { ...NO_FLAGS, wish, force };
    return decideWork(context, { command: phase, words: PHASES[phase].words, flags }, settings);
  }

  /** Creates a team that builds, with these tasks, and leads it to its end. */
  async lead(
    drafts: readonly TaskDraft[],
    before: (team: string) => Promise<void> = () => Promise.resolve(),
    roles: readonly string[] = [...new Set(drafts.map(({ owner }) => owner))],
  ): Promise<LeadOutcome> {
    const { context, teams } = this.world;
    const proposing = teams.begin(TEAM);
    const purpose = { phase: 'run', pattern: 'quality_gate', roles, subject: 'SPEC-AUTH-001' } as const;
    await proposing.append({ type: 'proposed', ...purpose, reasons: [], drafts });
    await proposing.close();
    await operate(context, 'TeamCreate', { team_name: TEAM }, { kind: 'environment', team: null, teammate: null });
    await before(TEAM);
    return this.goOn(TEAM);
  }

  /** Leads a team that stands to its end. */
  async goOn(team: string): Promise<LeadOutcome> {
    const { context, clock, teams } = this.world;
    const log = teams.open(team);
    assert.ok(log !== undefined);
    const lead = new Lead(
      {
        context,
        clock,
        teamWorktrees: { ...WORKTREES, ...this.teamWorktrees },
        members: { run: (run, hooks) => this.#member(run, hooks) },
        checksAt: (root) => ({
          missing: () => Promise.resolve([]),
          run: () =>
            Promise.resolve(
              (root === BASE ? undefined : this.gate.shift()) ?? { ...failing('a'.repeat(40)), ok: true, checks: [] },
            ),
        }),
        trust5At: ({ spec }) => {
          this.measuredFor.push(spec);
          return Promise.resolve(this.trust5.length > 1 ? (this.trust5.shift() ?? GOOD) : (this.trust5[0] ?? GOOD));
        },
        planCallbacks: {
          writeSpec: (spec) => {
            this.specs.push(spec);
            return { ok: true, id: WRITTEN };
          },
          askApproval: null,
        },
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
    let outcome: LeadOutcome | undefined;
    const leading = lead.lead(new AbortController().signal).then((end) => {
      outcome = end;
    });
    for (let moments = 0; outcome === undefined && moments < 5_000; moments++) await clock.step();
    assert.ok(outcome !== undefined, `it never ends: ${this.said.join('; ')}`);
    await leading;
    await log.close();
    return outcome;
  }
}
