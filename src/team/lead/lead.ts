// The lead of a team as code: it starts teammates, has finished work measured, asks for what is missing, and ends the team.

import { lineWithCode, refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { headAndTail } from '../../base/rules/text.ts';
import type { RefTips } from '../../git/worktrees/team-worktrees-port.ts';
import type { Ownership } from '../../guard/rules/ownership.ts';
import { adoptBranchChanges, reportMovedRefs, restoreBranch } from '../operations/moved-branch.ts';
import { operate } from '../operations/operations.ts';
import { type StepResult, takeSteps } from '../phases/lead-steps.ts';
import type { PlanEnd } from '../phases/plan.ts';
import { requestFixes } from '../phases/run.ts';
import type { TeamLog } from '../ports.ts';
import type { Evidence } from '../rules/caller.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { FALLBACK_TRIGGERS, type FallbackTrigger } from '../rules/fallback.ts';
import { GATE_ROUNDS, isFinished, isMeasured, type LeadStep, leadStep } from '../rules/lead-step.ts';
import { isActive, type TeamState } from '../rules/log/state.ts';
import { PLAN_ROUNDS } from '../rules/planning.ts';
import { UNCHECKED } from '../rules/quality-verdict.ts';
import { lostPrerequisite, prerequisitesOf } from '../rules/select/activation.ts';
import type { TeamSettings } from '../rules/settings.ts';
import { taskIndexOf } from '../rules/task-index.ts';
import { measureBase } from './baseline-failures.ts';
import type { LeadOptions, LeadOutcome, PhaseResult } from './lead-options.ts';
import { endGone, failTask, giveTask, limitsOf } from './left-over.ts';
import { measureBranch } from './measure-branch.ts';
import { MemberSession, registration, TurnLimiter } from './member-session.ts';
import type { MemberSessionEnd } from './member-session-end.ts';
import { assignRequests, assignStrayChanges } from './requested-work.ts';

/** How often a change of the log is looked for. */
const LOOK_MS = 50;
/** So often a role's process is started anew after it failed. */
const STARTS = 3;
/** So long a teammate may take to end after it was asked to. */
const GRACE_MS = 10_000;
/** The same where nothing that it still does is of use. */
const SHORT_GRACE_MS = 1_000;
/** How often it is looked whether a team may still be. */
const PREREQUISITES_MS = 1_000;
/** So long nobody is started after one did not reach its model. */
const NETWORK_PAUSE_MS = 2_000;
/** So much of a failed program's words says why. */
const REASON_MAX = 300;

/** Sessions in which a task is still begun. */
const MAY_ADD: ReadonlySet<string> = new Set(['assigned', 'spawned', 'working', 'fallback']);

/** Why it cannot go on as a team. */
type Trouble = { readonly trigger: FallbackTrigger; readonly reason: string; readonly isIdle?: true };

type OpenSession = { readonly ended: Promise<MemberSessionEnd>; readonly stop: AbortController };

export class Lead {
  readonly #options: LeadOptions;
  readonly #team: string;
  readonly #log: TeamLog;
  #turnLimiter: TurnLimiter;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #starts = new Map<string, number>();
  readonly #as: Evidence;
  /** By role, how its latest process failed. */
  readonly #failures = new Map<string, Extract<MemberSessionEnd, { kind: 'failed' }>>();
  #rounds = 0;
  /** Whether finished work is measured at all. */
  #isChecked = true;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #found: PhaseResult | null = null;
  /** When the quota that is used up is there again, ms since the epoch; null: none is used up. */
  #quotaAt: number | null = null;
  #hasFallenBack: boolean;
  #tips: RefTips = new Map();
  /** Where the branch stood at first, until it is measured: somebody may have moved it since the last lead measured it. */
  #head: string | null = null;
  /** Ends when it is known what fails where the team began. */
  #base = Promise.resolve();
  /** Writers that may have changed something since it was looked whether the team's branch has it. */
  readonly #unasked = new Set<string>();

  constructor(options: LeadOptions, log: TeamLog) {
    this.#options = options;
    this.#log = log;
    this.#team = log.state.team;
    this.#hasFallenBack = log.state.session === 'fallback';
    this.#turnLimiter = new TurnLimiter(this.#hasFallenBack ? 1 : options.width);
    this.#as = { kind: 'environment', team: this.#team, teammate: null };
  }

  /** Leads until the team is gone, cannot go on, or the signal comes; its processes have ended then. */
  async lead(signal: AbortSignal): Promise<LeadOutcome> {
    const { context, planCallbacks, teamWorktrees, say } = this.#options;
    await teamWorktrees.begin(this.#team);
    await adoptBranchChanges(teamWorktrees, this.#log, say);
    this.#tips = await teamWorktrees.tips();
    if (this.#log.state.gate?.head !== undefined) ({ head: this.#head } = await teamWorktrees.begin(this.#team));
    const measuring = new AbortController();
    const settings = await context.settings();
    this.#isChecked = settings.hooks.taskCompleted.requireQualityCheck;
    if (this.#isChecked && this.#log.state.purpose?.phase === 'run')
      this.#base = measureBase(this.#options, this.#log, AbortSignal.any([signal, measuring.signal]));
    const mayMend = () => this.#rounds < PLAN_ROUNDS;
    try {
      const end = await takeSteps(
        { context, log: this.#log, as: this.#as, planCallbacks, mayMend, signal },
        () => this.#next(settings),
        (step) => this.#take(step, signal),
      );
      if (end === null) return { kind: 'interrupted', state: this.#log.state };
      if (typeof end !== 'string') return end;
      // Who lives could still move them.
      await this.#endSessions(0);
      await this.#lookAtBranches();
      const quota = this.#quotaAt === null ? {} : { quotaAt: this.#quotaAt };
      return { kind: 'failed', state: this.#log.state, why: end, ...quota };
    } finally {
      measuring.abort();
      await this.#endSessions(0);
      await this.#base;
    }
  }

  /** What was moved past the rules is put back, or named. What the run has come to does not depend on it. */
  async #lookAtBranches(): Promise<void> {
    const { teamWorktrees, say } = this.#options;
    try {
      await restoreBranch(teamWorktrees, this.#log, say);
      await reportMovedRefs(teamWorktrees, this.#log, this.#tips, say);
    } catch (error) {
      say(lineWithCode(refusal(LEAD_CODES.branches_unknown, { said: messageOf(error) })));
    }
  }

  /** The next step; null: something was done that comes before it. */
  async #next({ budget, ownership, maxTeammates }: TeamSettings): Promise<LeadStep | null> {
    const { state } = this.#log;
    const trouble = await this.#trouble(state);
    if (trouble !== null) {
      const why = await this.#fallBack(trouble);
      return why === null ? null : { kind: 'stuck', why };
    }
    const limits = limitsOf(state, budget);
    if (await assignRequests(this.#log, ownership, limits.spent, this.#options.say)) return null;
    const seen = { running: new Set(this.#sessions.keys()), isClosed: this.#found !== null, head: this.#head };
    const step = leadStep(state, { ...seen, ...limits, isChecked: this.#isChecked, ownership, maxTeammates });
    return (await this.#takeBeside(step, ownership)) ? null : step;
  }

  /** Takes a step; gives how the work ends with it, as words where it cannot go on. */
  async #take(step: StepResult, signal: AbortSignal): Promise<LeadOutcome | string | null> {
    const { clock, context, say } = this.#options;
    switch (step.kind) {
      case 'start': {
        const spent = this.#quotaSpent(step.roles);
        if (spent !== null) return spent;
        const trouble = await this.#start(step.roles, signal);
        return trouble === null ? null : this.#fallBack(trouble);
      }
      case 'give':
        await giveTask(this.#log, step.task, step.role, say);
        break;
      case 'fail':
        await failTask(this.#log, step.task, step.why, say);
        break;
      case 'measure':
        return this.#measure(signal);
      case 'pass':
        if (!step.isChecked) say(`gate: nothing is measured, ${UNCHECKED}`);
        break;
      case 'ask_to_end':
        await this.#askToEnd();
        break;
      case 'delete':
        return this.#delete();
      case 'write_spec':
        return this.#takePlan(step.end);
      case 'prove':
        if (step.result !== null) this.#found = { phase: 'debug', ...step.result };
        break;
      case 'stuck':
        return step.why;
      case 'over': {
        const { state } = this.#log;
        // Who led before was killed when all was done.
        if (isFinished(state) && context.teams.list().includes(this.#team))
          return this.#putAway(state, context.teams.archive(this.#team));
        return `team ${this.#team} is ${state.session}`;
      }
      case 'wait':
      case 'hear_judge':
        await clock.sleep(LOOK_MS, signal);
    }
    return null;
  }

  /** What was changed beside the tasks is completed before it counts as built; gives whether there is any. */
  async #takeBeside({ kind }: LeadStep, ownership: readonly Ownership[]): Promise<boolean> {
    const { members, purpose, session } = this.#log.state;
    if (purpose?.phase !== 'run' || !MAY_ADD.has(session)) return false;
    const names = kind === 'measure' ? [...members.keys()] : [...this.#unasked];
    // Who is in a turn is not done with it.
    const still = names.filter((name) => !(this.#sessions.has(name) && members.get(name)?.phase === 'working'));
    for (const name of still) this.#unasked.delete(name);
    return assignStrayChanges(this.#options.teamWorktrees, this.#log, ownership, still, this.#options.say);
  }

  /** What has come about that a team cannot go on with; null: nothing, or it is none any more. */
  async #trouble(state: TeamState): Promise<Trouble | null> {
    const isDone = [...state.tasks.values()].every(({ status }) => status === 'completed');
    if (this.#hasFallenBack || isDone || this.#found !== null || !isActive(state)) return null;
    for (const [role, { isNetwork, words }] of this.#failures)
      if (isNetwork === true) return { trigger: 'network_error', reason: `${role}: ${headAndTail(words, REASON_MAX)}` };
    const { clock, context } = this.#options;
    if (clock.elapsed() - this.#lookedAt < PREREQUISITES_MS) return null;
    this.#lookedAt = clock.elapsed();
    const { project } = context;
    const settings = await context.settings();
    const [problem] = context.problems();
    const prerequisites = prerequisitesOf(settings, await project.hostVersion(), project.variable, problem);
    const lost = lostPrerequisite(prerequisites, state.proposal?.forced === true);
    return lost === null ? null : { trigger: lost.trigger, reason: lost.why };
  }

  /** When the quota that a role's last process found used up is there again, ms since the epoch; null: it is. */
  #untilQuota(role: string): number | null {
    const { quotaAt } = this.#failures.get(role) ?? {};
    return quotaAt === undefined || quotaAt <= this.#options.clock.now() ? null : quotaAt;
  }

  /** Why none of them can be started: sub-agents would find the same quota. Null: it is there. */
  #quotaSpent(roles: readonly string[]): string | null {
    for (const role of roles) {
      this.#quotaAt = this.#untilQuota(role);
      if (this.#quotaAt === null) continue;
      const said = headAndTail(this.#failures.get(role)?.words ?? '', REASON_MAX);
      const until = new Date(this.#quotaAt).toISOString();
      return textOf(refusal(LEAD_CODES.member_quota_spent, { member: role, until, said }));
    }
    return null;
  }

  /** Starts who is missing; gives why one of them cannot be. */
  async #start(roles: readonly string[], signal: AbortSignal): Promise<Trouble | null> {
    if (roles.some((role) => this.#failures.get(role)?.isNetwork === true))
      await this.#options.clock.sleep(NETWORK_PAUSE_MS, signal);
    for (const role of roles) {
      const count = (this.#starts.get(role) ?? 0) + 1;
      this.#starts.set(role, count);
      try {
        const failure = this.#failures.get(role);
        const trigger = failure?.isNetwork === true ? 'network_error' : 'spawn_failed';
        const idle = failure?.isIdle === true ? ({ isIdle: true } as const) : {};
        const said = failure === undefined ? {} : { said: headAndTail(failure.words, REASON_MAX) };
        const why = refusal(LEAD_CODES.member_start_failed, { member: role, count: STARTS, ...said });
        if (count > STARTS) return { trigger, ...idle, reason: textOf(why) };
        await operate(this.#options.context, 'Task', registration(this.#team, role), this.#as);
      } catch (error) {
        return { trigger: 'spawn_failed', reason: `${role}: ${messageOf(error)}` };
      }
      this.#runMember(role, signal);
    }
    return null;
  }

  #runMember(role: string, signal: AbortSignal): void {
    this.#log.refresh();
    const epoch = this.#log.state.members.get(role)?.epoch ?? 0;
    const stop = new AbortController();
    const session = new MemberSession(
      {
        ...this.#options,
        log: this.#log,
        turnLimiter: this.#turnLimiter,
        onTurnEnded: (name) => this.#unasked.add(name),
        holdsBack: (name) => this.#holdsBack(name),
      },
      role,
      epoch,
    );
    this.#options.say(`${role} is there (run ${epoch})`);
    const ended = session.run(AbortSignal.any([signal, stop.signal])).catch(
      (error: unknown): MemberSessionEnd => ({
        kind: 'failed',
        words: messageOf(error),
      }),
    );
    this.#options.onPresence?.(role, true);
    this.#sessions.set(role, { ended, stop });
    void ended.then((end) => {
      const current = this.#sessions.get(role);
      if (current?.stop === stop) this.#sessions.delete(role);
      if (current === undefined || current.stop === stop) this.#options.onPresence?.(role, false);
      if (end.kind !== 'failed') return;
      this.#failures.set(role, end);
      this.#options.say(lineWithCode(refusal(LEAD_CODES.member_failed, { member: role, said: end.words })));
    });
  }

  #holdsBack(name: string): boolean {
    const { state } = this.#log;
    // Nobody searches for a cause that is proven.
    if (state.purpose?.phase === 'debug' && taskIndexOf(state.tasks).isProven) return true;
    // Judged is what was measured, and nothing before.
    return name === 'quality' && this.#isChecked && !isMeasured(state, this.#head);
  }

  /** The finished work of all as one: what is missing is asked for; gives why it is no use to go on. */
  async #measure(signal: AbortSignal): Promise<string | null> {
    const { context, say } = this.#options;
    await this.#base;
    const rejected = await measureBranch(this.#options, this.#log, signal);
    this.#head = null;
    if (rejected === null) return null;
    this.#rounds += 1;
    if (this.#rounds > GATE_ROUNDS)
      return textOf(refusal(LEAD_CODES.gate_rejected_too_often, { count: this.#rounds, why: rejected.why }));
    return requestFixes(context, this.#log, this.#as, rejected, {
      say: (words) => say(`gate: ${words}`),
      wake: async (names) => {
        // Whoever cannot be started is started again for its task.
        const away = names.filter((name) => !this.#sessions.has(name));
        await this.#start(away, signal);
      },
    });
  }

  /** The results of all as a SPEC, with the user's word for it; gives why there is none. */
  #takePlan(end: PlanEnd): string | null {
    if (end.kind === 'written') this.#found = { phase: 'plan', spec: end.spec, status: end.status };
    if (end.kind === 'asked') {
      this.#rounds = end.problems.length === 0 ? 0 : this.#rounds + 1;
      for (const { role, words } of end.problems) this.#options.say(`given back to ${role}: ${words}`);
    }
    return end.kind === 'failed' ? end.why : null;
  }

  async #askToEnd(): Promise<void> {
    const content = 'The work is done.';
    await operate(
      this.#options.context,
      'SendMessage',
      { recipient: 'all', type: 'shutdown_request', content },
      this.#as,
    );
    await this.#endSessions(this.#found === null ? GRACE_MS : SHORT_GRACE_MS);
    await endGone(this.#log);
  }

  async #delete(): Promise<LeadOutcome> {
    await this.#lookAtBranches();
    const { state } = this.#log;
    const { context, teamWorktrees } = this.#options;
    // First what would be left lying by who is killed in between: nobody looks for the team any more then.
    const members = [...state.members.values()].filter(({ readOnly }) => !readOnly).map(({ name }) => name);
    await (state.purpose?.phase === 'run'
      ? teamWorktrees.end(this.#team, members)
      : teamWorktrees.forget(this.#team, members));
    this.#options.onEnding?.(this.#team, this.#found);
    // The log is put away with that, and read no more.
    const answer = await operate(context, 'TeamDelete', { team_name: this.#team }, this.#as);
    return this.#putAway(state, String(answer.archived ?? ''));
  }

  #putAway(state: TeamState, archived: string): LeadOutcome {
    return { kind: 'done', state, archived, found: this.#found };
  }

  /** The same tasks, one at a time, from here on; gives why not. */
  async #fallBack({ trigger, reason, isIdle }: Trouble): Promise<string | null> {
    const { context } = this.#options;
    const { fallback } = await context.settings();
    // What was started and begins nothing is not to be looked for in how it is started.
    const cause = isIdle === true ? 'a teammate begins none of its work' : FALLBACK_TRIGGERS[trigger];
    const why = `${cause}: ${reason}`;
    if (this.#hasFallenBack) return why;
    if (!fallback.enabled)
      return textOf(refusal(LEAD_CODES.fallback_disabled, { trigger, why: cause, causes: reason }));
    context.log(fallback.logLevel, lineWithCode(refusal(LEAD_CODES.fell_back, { team: this.#team, trigger, why })));
    this.#hasFallenBack = true;
    await this.#endSessions(0);
    this.#starts.clear();
    this.#turnLimiter = new TurnLimiter(1);
    if (!fallback.preserveProgress)
      await this.#log.append({ type: 'restarted', session: null, key_hash: null, keep: false });
    await this.#log.append({ type: 'fell_back', trigger, reason });
    return null;
  }

  /** Waits for what was asked to end, and ends the rest. */
  async #endSessions(graceMs: number): Promise<void> {
    const sessions = [...this.#sessions.values()];
    const grace = new AbortController();
    const all = Promise.all(sessions.map(({ ended }) => ended)).then(() => grace.abort());
    if (sessions.length > 0 && graceMs > 0) await this.#options.clock.sleep(graceMs, grace.signal);
    for (const { stop } of sessions) stop.abort();
    await all;
    this.#sessions.clear();
  }
}
