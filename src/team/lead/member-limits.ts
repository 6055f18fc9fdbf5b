// Limits of one run of a teammate: the time until its first sign of activity, and its cost, in total and by task.

import type { AgentEvent } from '../../agents/ports.ts';
import type { Expiry } from '../../agents/rules/expiry.ts';
import type { Clock } from '../../base/ports.ts';
import { refusal, textOf } from '../../base/rules/codes.ts';
import type { TeamLog } from '../ports.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import {
  BUDGET,
  type BudgetCrossing,
  type Budgets,
  costOfMember,
  costOfTask,
  crossingOf,
  overTaskBudget,
} from '../rules/cost.ts';
import { LEAD } from '../rules/message.ts';
import { beginsAfter } from '../rules/task.ts';
import { type TaskUsage, UsageMeter } from '../rules/usage-meter.ts';

/** Cause of the early end of a run. */
export type EarlyEndCause =
  | Expiry
  /** It started, but gave no output and made no call to the team. */
  | { readonly kind: 'not_heard'; readonly afterMs: number }
  | { readonly kind: 'budget'; readonly words: string };

/** The cause in words, with the setting behind it. */
export function causeWords(cause: EarlyEndCause): string {
  switch (cause.kind) {
    case 'stalled':
      return textOf(
        refusal(LEAD_CODES.agent_stalled, { seconds: cause.afterMs / 1000, setting: 'tool.stall_timeout_ms' }),
      );
    case 'turn_timeout':
      return textOf(refusal(LEAD_CODES.turn_timed_out, { seconds: cause.afterMs / 1000 }));
    case 'not_heard':
      return textOf(refusal(LEAD_CODES.member_start_timed_out, { seconds: cause.afterMs / 1000 }));
    case 'budget':
      return cause.words;
  }
}

export type LimitOptions = {
  readonly log: TeamLog;
  readonly clock: Clock;
  readonly name: string;
  readonly epoch: number;
  readonly budgets: Budgets;
  /** 0: no time-out. */
  readonly startTimeoutMs: number;
  readonly say: (words: string) => void;
  readonly onEnd: (cause: EarlyEndCause) => void;
};

export class MemberLimits {
  readonly #options: LimitOptions;
  readonly #meter = new UsageMeter();
  readonly #heard = new AbortController();
  readonly #told: string[] = [];
  #turnStartedAt = 0;
  #work: Promise<void> = Promise.resolve();
  #waiting: Promise<void> = Promise.resolve();

  constructor(options: LimitOptions) {
    this.#options = options;
  }

  /** Starts the time-out: the process runs. */
  started(): void {
    if (this.#options.startTimeoutMs > 0) this.#waiting = this.#awaitSign();
  }

  turnStarted(): void {
    this.#turnStartedAt = this.#options.clock.now();
  }

  hear(event: AgentEvent): void {
    this.#heard.abort();
    if (event.type !== 'usage') return;
    const uses = this.#meter.hear(event.usage, this.#task());
    if (uses.length > 0) this.#then(() => this.#note(uses));
  }

  /** Warnings for the next prompt; each is returned once. */
  takeWords(): string {
    const words = this.#told.splice(0);
    return words.map((one) => `${one}\n`).join('');
  }

  /** Resolves when the usage so far is in the log. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Call this when the run is over: it records the rest of the usage. */
  async close(): Promise<void> {
    this.#heard.abort();
    const rest = this.#meter.rest();
    if (rest.length > 0) this.#then(() => this.#note(rest));
    await Promise.all([this.#work, this.#waiting]);
  }

  #then(act: () => Promise<void>): void {
    // A log that cannot be written fails the calls that await it.
    this.#work = this.#work.then(act).catch(() => undefined);
  }

  /** Waits for the first output or the first call to the team. */
  async #awaitSign(): Promise<void> {
    const { clock, log, name, epoch, startTimeoutMs, onEnd } = this.#options;
    const seenAt = log.state.members.get(name)?.seenAt ?? 0;
    await clock.sleep(startTimeoutMs, this.#heard.signal);
    if (this.#heard.signal.aborted) return;
    log.refresh();
    const member = log.state.members.get(name);
    if (member?.epoch === epoch && member.seenAt <= seenAt) onEnd({ kind: 'not_heard', afterMs: startTimeoutMs });
  }

  /** Id of the task in work: its claim, else the one ended in this turn, else the next one to begin; null: none. */
  #task(): string | null {
    const { log, name, epoch } = this.#options;
    log.refresh();
    const { tasks } = log.state;
    const own = [...tasks.values()].filter(({ claim }) => claim?.member === name && claim.epoch === epoch);
    const [held] = own
      .filter(({ status }) => status === 'in_progress')
      .sort((one, other) => (other.claim?.at ?? 0) - (one.claim?.at ?? 0));
    const [ended] = own
      .filter(({ endedAt }) => endedAt !== null && endedAt >= this.#turnStartedAt)
      .sort((one, other) => (other.endedAt ?? 0) - (one.endedAt ?? 0));
    const next = [...tasks.values()].find(
      (task) => task.owner === name && task.status === 'pending' && beginsAfter(task, tasks).length === 0,
    );
    return (held ?? ended ?? next)?.id ?? null;
  }

  async #note(uses: readonly TaskUsage[]): Promise<void> {
    const { log, name, epoch, budgets } = this.#options;
    for (const use of uses) {
      const before = {
        teammate: costOfMember(log.state, name)?.cost_usd ?? 0,
        task: use.task === null ? 0 : (costOfTask(log.state, use.task)?.cost_usd ?? 0),
      };
      const { refusal } = await log.append({ type: 'member_used', name, epoch, ...use }, { flush: false });
      if (refusal !== null) continue;
      const after = before.teammate + use.cost_usd;
      const ofTask = use.task === null ? null : this.#crossingOf(use.task, before.task, before.task + use.cost_usd);
      if (use.task !== null && ofTask !== null) await this.#crossed(ofTask, use.task);
      const ofAll = crossingOf('teammate', before.teammate, after, budgets);
      if (ofAll !== null) await this.#crossed(ofAll, null);
    }
  }

  /** Limit of a task; reached again by a task over budget that was begun again. */
  #crossingOf(task: string, before: number, after: number): BudgetCrossing | null {
    const { log, budgets } = this.#options;
    const isBegun = log.state.tasks.get(task)?.status === 'in_progress';
    const words = isBegun ? overTaskBudget(log.state, task, budgets) : null;
    return crossingOf('task', before, after, budgets) ?? (words === null ? null : { kind: 'hard', of: 'task', words });
  }

  /** Reports a reached limit; a hard one ends the turn. */
  async #crossed({ kind, words }: BudgetCrossing, task: string | null): Promise<void> {
    const { log, name, say, onEnd } = this.#options;
    const about = task === null ? name : `task ${task}`;
    say(`${about}: ${words}`);
    const decision = kind === 'soft' ? 'accept' : 'reject';
    const record = { hook: BUDGET, decision, member: name, about, reason: words, fingerprint: words } as const;
    await log.append({ type: 'decision', ...record, paths: [] });
    if (kind === 'soft') {
      this.#told.push(
        `toolcrew: ${about}: ${words}. Come to an end soon: finish what you have begun, and begin no more.`,
      );
      return;
    }
    if (task === null) return onEnd({ kind: 'budget', words });
    log.refresh();
    const status = log.state.tasks.get(task)?.status;
    // A finished task stays finished.
    if (status === 'completed' || status === 'failed') return;
    await log.append({ type: 'task_updated', task, status: 'failed', result: words, by: LEAD, epoch: 0 });
    onEnd({ kind: 'budget', words: `task ${task}: ${words}` });
  }
}
