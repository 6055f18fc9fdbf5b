// One teammate of a team whose lead is code: its process from the first prompt to the last, and what it is told in between.

import type { AgentEvent } from '../../agents/ports.ts';
import { Watchdog } from '../../agents/watchdog.ts';
import type { Clock } from '../../base/ports.ts';
import type { TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';
import type { MemberEnd, Members } from '../members/members-port.ts';
import type { TeamContext } from '../operations/context.ts';
import { noteDelivered } from '../operations/member-operations.ts';
import { isLeftToPerson } from '../operations/merge-work.ts';
import { assignNextTask, IDLE_HOOK, recordDecision } from '../operations/stop-decision.ts';
import type { TeamLog } from '../ports.ts';
import { memberBrief } from '../rules/brief.ts';
import { spawnParameters } from '../rules/calls.ts';
import { remainingBudget } from '../rules/cost.ts';
import { judgeIdle } from '../rules/idle.ts';
import { lockWords } from '../rules/lock-files.ts';
import { MAX_REJECTIONS, type Member } from '../rules/log/state.ts';
import { isHeldUp, type Task } from '../rules/task.ts';
import { causeWords, type EarlyEndCause, MemberLimits } from './member-limits.ts';
import type { MemberSessionEnd } from './member-session-end.ts';

/** How often a change of the log is looked for. */
const LOOK_MS = 50;
/** How often it is looked whether a person has left the team's branch. */
const REST_MS = 1_000;
/** A life sign is written down at most so often. */
const SIGN_MS = 30_000;
/** A runtime takes no limit of nothing. */
const LEAST_USD = 0.01;

export type MemberTimeouts = {
  /** So long after its start it has to be heard of, in words or in the team's log; 0: it is not waited for. */
  readonly startTimeoutMs: number;
  /** Without a life sign for so long it is ended; 0: never. */
  readonly stallTimeoutMs: number;
  /** A turn that takes longer is ended. */
  readonly turnTimeoutMs: number;
};

export type MemberSessionOptions = {
  readonly context: Pick<TeamContext, 'settings'>;
  readonly log: TeamLog;
  readonly members: Members;
  readonly teamWorktrees: TeamWorktrees;
  readonly clock: Clock;
  /** What a run may cost at most, whatever the budgets leave; null: no limit. */
  readonly budgetUsd: number | null;
  /** What whoever had the team work says to each of it, beside its tasks; null: nothing. */
  readonly instruction: string | null;
  readonly timeouts: MemberTimeouts;
  /** Holds a turn back until it may begin, and lets the next one in when it is over: how many work at once. */
  readonly turnLimiter: TurnLimiter;
  /** Why a member may not begin yet, whatever its tasks say; null: it may. */
  readonly holdsBack: (name: string) => boolean;
  /** Tells people what happens, one line each. */
  readonly say: (words: string) => void;
  readonly onEvent: (name: string, event: AgentEvent) => void;
  readonly output: (name: string, text: string) => void;
  /** A turn is over, however it ended. */
  readonly onTurnEnded?: (name: string) => void;
};

/** Lets so many turns run at a time. */
export class TurnLimiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  /** Resolves when a turn may begin; false when the signal came first. */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const let_in = () => {
        signal.removeEventListener('abort', give_up);
        resolve(true);
      };
      const give_up = () => {
        this.#waiting.splice(this.#waiting.indexOf(let_in), 1);
        resolve(false);
      };
      signal.addEventListener('abort', give_up, { once: true });
      this.#waiting.push(let_in);
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

export class MemberSession {
  readonly #options: MemberSessionOptions;
  readonly #name: string;
  readonly #epoch: number;
  #signedAt = 0;
  #isInTurn = false;
  /** Where it works, as of its latest prompt. */
  #place: { readonly path: string; readonly env: Readonly<Record<string, string>> } | null = null;
  /** Why it is no use to go on prompting it. */
  #idleWords: string | null = null;
  /** Of the turn under way; between turns it may be silent. */
  #watchdog: Watchdog | undefined;
  #watching: Promise<void> = Promise.resolve();
  readonly #expired = new AbortController();
  #cause: EarlyEndCause | null = null;
  #limits: MemberLimits | undefined;
  /** Its work waits for a person alone. */
  #isResting = false;

  constructor(options: MemberSessionOptions, name: string, epoch: number) {
    this.#options = options;
    this.#name = name;
    this.#epoch = epoch;
  }

  get #member(): Member | undefined {
    const member = this.#options.log.state.members.get(this.#name);
    return member?.epoch === this.#epoch ? member : undefined;
  }

  /** Runs until the team ends, the member is replaced, or its process fails. */
  async run(signal: AbortSignal): Promise<MemberSessionEnd> {
    try {
      return await this.#run(signal);
    } finally {
      // Whatever failed, and wherever: somebody may wait for the turn.
      this.#leaveTurn();
    }
  }

  async #run(signal: AbortSignal): Promise<MemberSessionEnd> {
    const { context, log, members, clock, timeouts, instruction, say } = this.#options;
    const first = await this.#next(signal);
    const member = this.#member;
    const place = this.#place;
    if (first === null || member === undefined || place === null) return { kind: 'quiet' };
    const { name, epoch, agent, readOnly, model } = member;
    const settings = await context.settings();
    const ending = AbortSignal.any([signal, this.#expired.signal]);
    const limits = new MemberLimits({
      log,
      clock,
      name,
      epoch,
      say,
      budgets: settings.budget,
      startTimeoutMs: timeouts.startTimeoutMs,
      onEnd: (cause) => this.#expire(cause),
    });
    limits.turnStarted();
    this.#limits = limits;
    let end: MemberEnd;
    try {
      end = await members.run(
        {
          team: log.state.team,
          name,
          epoch,
          agent,
          readOnly,
          model,
          cwd: place.path,
          env: place.env,
          prompt: [memberBrief(log.state, member, settings, null), instruction, first]
            .filter((part) => part !== null)
            .join('\n\n'),
          budgetUsd: this.#mayCost(remainingBudget(log.state, name, settings.budget)),
        },
        {
          onStarted: async (pid) => {
            await noteDelivered(log, name);
            if (this.#member?.phase === 'registered')
              await log.append({ type: 'member_spawned', name, epoch, key_hash: null, pid });
            limits.started();
          },
          onEvent: (event) => this.#hear(event),
          output: (text) => this.#options.output(name, text),
          nextTurn: () => this.#next(ending),
          signal: ending,
        },
      );
    } finally {
      this.#leaveTurn();
      await this.#watching;
      await limits.close();
    }
    await this.#stopped();
    if (this.#idleWords !== null && !signal.aborted) return { kind: 'failed', words: this.#idleWords, isIdle: true };
    if (this.#cause !== null && !signal.aborted) return { kind: 'failed', words: causeWords(this.#cause) };
    if (end.ok || signal.aborted) return { kind: 'quiet' };
    const { words, isNetwork, quotaAt } = end;
    // That service answers.
    if (quotaAt !== undefined) return { kind: 'failed', words, quotaAt };
    return { kind: 'failed', words, isNetwork: isNetwork === true };
  }

  #hear(event: AgentEvent): void {
    const { clock, log, onEvent } = this.#options;
    onEvent(this.#name, event);
    this.#limits?.hear(event);
    this.#watchdog?.sign(event);
    const now = clock.elapsed();
    if (now - this.#signedAt < SIGN_MS) return;
    this.#signedAt = now;
    void log
      .append({ type: 'member_seen', name: this.#name, epoch: this.#epoch }, { flush: false })
      .catch(() => undefined);
  }

  #leaveTurn(): void {
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    this.#watchdog?.close();
    this.#watchdog = undefined;
    this.#options.onTurnEnded?.(this.#name);
    this.#options.turnLimiter.leave();
  }

  /** Ends it when the turn that begins now is silent for too long, or takes too long. */
  #watch(): void {
    const { clock, timeouts } = this.#options;
    this.#watchdog = new Watchdog({
      clock,
      ...timeouts,
      onExpired: (cause) => {
        if (cause.kind === 'stalled' || cause.kind === 'turn_timeout') this.#expire(cause);
      },
    });
    this.#watching = this.#watchdog.watch();
  }

  #expire(cause: EarlyEndCause): void {
    this.#cause ??= cause;
    this.#expired.abort();
  }

  #mayCost(left: number | null): number | null {
    const { budgetUsd } = this.#options;
    if (left === null) return budgetUsd;
    return Math.max(LEAST_USD, budgetUsd === null ? left : Math.min(left, budgetUsd));
  }

  /** The next prompt: what it has not finished, its mail, or a task for it; null when it is to end. */
  async #next(signal: AbortSignal): Promise<string | null> {
    this.#leaveTurn();
    await this.#limits?.settled();
    const { clock, turnLimiter } = this.#options;
    for (;;) {
      const member = await this.#goingOn(signal);
      if (member === null) return null;
      if (await this.#hasWork(member)) {
        if (!(await turnLimiter.enter(signal))) return null;
        this.#isInTurn = true;
        // While others had their turns it may have been asked to end, or its work may have become of no use.
        const still = await this.#goingOn(signal);
        const words = still !== null && (await this.#hasWork(still)) ? await this.#takeWork() : null;
        if (words !== null) {
          this.#watch();
          this.#limits?.turnStarted();
          return `${this.#limits?.takeWords() ?? ''}${words}`;
        }
        this.#leaveTurn();
      }
      await clock.sleep(this.#isResting ? REST_MS : LOOK_MS, signal);
    }
  }

  /** As the log has it now; null when it is to end. */
  async #goingOn(signal: AbortSignal): Promise<Member | null> {
    if (signal.aborted || this.#idleWords !== null) return null;
    this.#options.log.refresh();
    const member = this.#member;
    if (member === undefined || member.phase === 'over') return null;
    if (member.shutdown === null) return member;
    await this.#readAll(member);
    return null;
  }

  async #hasWork(member: Member): Promise<boolean> {
    const { context, log, holdsBack } = this.#options;
    await this.#rest(member);
    if (holdsBack(member.name) || this.#isResting) return false;
    const verdict = judgeIdle(log.state, member, await context.settings());
    if (verdict.accept && member.phase === 'working')
      await log.append(
        { type: 'member_idle', name: member.name, epoch: member.epoch, stopped: false },
        { flush: false },
      );
    return !verdict.accept;
  }

  /** Nothing that it could do ends the wait for a person who has the team's branch checked out: it is not told to go on meanwhile. */
  async #rest(member: Member): Promise<void> {
    const { log, say, teamWorktrees } = this.#options;
    const isLeft = isLeftToPerson(log.state, member.name) && this.#held(member).length > 0;
    const words = isLeft ? await teamWorktrees.checkedOut(log.state.team) : null;
    if (words !== null && !this.#isResting) say(`${member.name} waits: ${words}`);
    this.#isResting = words !== null;
  }

  /** What it has begun and could finish. */
  #held({ name, epoch }: Member): readonly Task[] {
    const { tasks } = this.#options.log.state;
    return [...tasks.values()].filter((task) => {
      const { status, claim } = task;
      return status === 'in_progress' && claim?.member === name && claim.epoch === epoch && !isHeldUp(task, tasks);
    });
  }

  /** What it is told to do now, which is its with that; null when another was faster, or it was told too often. */
  async #takeWork(): Promise<string | null> {
    const { context, log } = this.#options;
    const member = this.#member;
    if (member === undefined) return null;
    const settings = await context.settings();
    const verdict = await assignNextTask(log, member.name, () =>
      judgeIdle(log.state, this.#member ?? member, settings),
    );
    if (verdict.accept) return null;
    const { refusal } = await recordDecision(log, IDLE_HOOK, member.name, verdict);
    if (refusal === null) {
      await this.#giveUp(member);
      return null;
    }
    return this.#upToDate(member, `toolcrew: ${verdict.reason}`);
  }

  /** Work that was given back three times without change is failed, with that as its reason. */
  async #giveUp(member: Member): Promise<void> {
    const { log } = this.#options;
    const { name, epoch } = member;
    const held = this.#held(member);
    // What it never began goes back to whoever is started next.
    if (held.length === 0) this.#idleWords = `it ended its turn ${MAX_REJECTIONS + 1} times without beginning its work`;
    for (const { id } of held) {
      const rejected = log.state.decisions.findLast(
        (one) => one.member === name && one.about === `task ${id}` && one.decision === 'reject',
      );
      const why = rejected === undefined ? '' : `; its completion was rejected: ${rejected.reason.split('\n')[0]}`;
      const result = `${name} ended its turn ${MAX_REJECTIONS + 1} times without finishing it${why}`;
      await log.append({ type: 'task_updated', task: id, status: 'failed', result, by: name, epoch });
    }
  }

  /** Others' finished work comes into its worktree before it goes on. */
  async #upToDate(member: Member, words: string): Promise<string> {
    const { log, teamWorktrees } = this.#options;
    const { team } = log.state;
    if (member.readOnly) {
      this.#place = { path: (await teamWorktrees.openReadOnly(team, member.name)).path, env: {} };
      return words;
    }
    // In one: whoever is started first need not wait until all others have their places.
    const { path, env, conflict } = await teamWorktrees.open(team, member.name, 'updated');
    this.#place = { path, env };
    return conflict.length > 0
      ? `${words}\nThe team's branch does not merge into yours: ${conflict.join(', ')} changed on both sides. Before anything else, run \`git merge tool/${team}\`, resolve the conflict and commit${lockWords(conflict)}.`
      : words;
  }

  async #readAll({ name }: Member): Promise<void> {
    const { log } = this.#options;
    const seqs = [...(log.state.unread.get(name) ?? [])];
    if (seqs.length > 0) await log.append({ type: 'mail_seen', member: name, seqs, how: 'read' }, { flush: false });
  }

  async #stopped(): Promise<void> {
    const { log } = this.#options;
    log.refresh();
    const member = this.#member;
    if (member !== undefined && member.phase !== 'over' && member.phase !== 'registered')
      await log.append({ type: 'member_idle', name: member.name, epoch: member.epoch, stopped: true });
  }
}

/** Registers a role anew, and gives the run that it is. */
export function registration(team: string, role: string): Readonly<Record<string, string>> {
  return spawnParameters(team, role, `Do the tasks that are meant for ${role}.`);
}
