// The daemon's loop: polls, reconciles, starts agents while there are slots, sees each issue through to its end.

import type { EndCause } from '../../domain/attempt.ts';
import type { IssueOutcome } from '../../domain/daemon/record.ts';
import type { Entry } from '../../domain/daemon/state.ts';
import { utcDay } from '../../domain/daemon/state.ts';
import { messageOf } from '../../domain/errors.ts';
import { activeLabelsOf, type Issue } from '../../domain/issue.ts';
import { oneLine } from '../../domain/text.ts';
import { TrackerError } from '../../domain/tracker-error.ts';
import type { Workflow } from '../../domain/workflow.ts';
import type { Leftovers } from '../ports.ts';
import { Supervisor } from '../supervisor.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import { candidates, claimOf, nextDue } from './candidates.ts';
import { Finisher } from './finisher.ts';
import { Gatekeeper } from './gatekeeper.ts';
import { Janitor } from './janitor.ts';
import type { Live } from './live.ts';
import { quietTask } from './publish.ts';

export type OrchestratorOptions = Omit<AttemptOptions, 'onChange'> & {
  readonly leftovers: Leftovers;
  /** Poll once, finish what that started, then stop. */
  readonly once?: boolean;
};

/** One issue that something is being done for. */
type Worker = {
  readonly number: number;
  attempt: Attempt | undefined;
  readonly abort: AbortController;
  done: Promise<void>;
};

export type Waiting = { readonly issue: Issue; readonly reason: string };

export type PollInfo = {
  readonly lastAt: number | null;
  readonly nextAt: number | null;
  readonly lastError: string | null;
};

/** So many of the issues that wait for a slot are looked at in one poll. */
const LOOK_AHEAD = 20;

export class Orchestrator {
  readonly #options: AttemptOptions & OrchestratorOptions;
  readonly #supervisor: Supervisor;
  readonly #gatekeeper: Gatekeeper;
  readonly #finisher: Finisher;
  readonly #janitor: Janitor;
  readonly #workers = new Map<number, Worker>();
  readonly #listeners = new Set<() => void>();
  readonly #announced = new Map<number, string>();
  #listing: readonly Issue[] = [];
  #waiting: readonly Waiting[] = [];
  #poll: PollInfo = { lastAt: null, nextAt: null, lastError: null };
  #polling: Promise<void> | undefined;
  #polledAt = Number.NEGATIVE_INFINITY;
  #asked = false;
  #wake = new AbortController();
  #capSaid = '';
  #stopping = false;

  constructor(options: OrchestratorOptions) {
    this.#options = { ...options, onChange: () => this.#changed() };
    this.#gatekeeper = new Gatekeeper(options.tracker);
    this.#supervisor = new Supervisor({
      clock: options.clock,
      onFailure: (task, message) => this.#options.log.log('error', 'serve', `${task} failed: ${message}`),
    });
    const finish = (issue: number, outcome: IssueOutcome, updatedAt: string) => this.#finish(issue, outcome, updatedAt);
    this.#finisher = new Finisher({ ...options, finish });
    this.#janitor = new Janitor({ ...options, supervisor: this.#supervisor, finish, onRemoved: () => this.#wakeUp() });
  }

  get #workflow(): Workflow {
    return this.#options.workflow();
  }

  get #signal(): AbortSignal {
    return this.#supervisor.signal;
  }

  get poll(): PollInfo {
    return this.#poll;
  }

  /** Issues that carry the label and are not worked on, with why. */
  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  /** What the agents at work are doing, by issue. */
  get live(): ReadonlyMap<number, Live> {
    const live = new Map<number, Live>();
    for (const worker of this.#workers.values())
      if (worker.attempt !== undefined) live.set(worker.number, worker.attempt.live);
    return live;
  }

  /** Calls `listener` whenever something may have changed; gives the way to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Asks for a poll now. `coalesced`: one was already asked for or under way. */
  refresh(): { readonly coalesced: boolean } {
    const coalesced = this.#asked || this.#polling !== undefined;
    this.#gatekeeper.reconsider();
    this.#asked = true;
    this.#wakeUp();
    return { coalesced };
  }

  #wakeUp(): void {
    this.#wake.abort();
  }

  /** Ends what an earlier process left running and takes its attempts for interrupted. To be called once, before `run`. */
  async recover(): Promise<void> {
    for (const entry of this.#options.journal.state.entries.values()) await this.#interrupt(entry);
  }

  async #interrupt(entry: Entry): Promise<void> {
    if (entry.phase !== 'running' || entry.run === null || this.#workers.has(entry.number)) return;
    const { leftovers, log, journal, clock, workspaces } = this.#options;
    const ended = await leftovers.end(entry.run.id);
    const what = ended === 0 ? '' : `; ended ${ended} of its processes`;
    log.log('warn', 'agent', `attempt ${entry.attempt} on issue #${entry.number} was cut off${what}`, {
      issue: entry.number,
      attempt: entry.attempt,
    });
    // An agent that said it was done had nothing left to do: its work is published, not done again.
    const head = entry.askedDone ? await workspaces.peek(quietTask(entry), this.#signal).catch(() => null) : null;
    await journal.append({
      type: 'attempt_ended',
      issue: entry.number,
      outcome: entry.askedDone ? 'succeeded' : 'interrupted',
      reason: 'the daemon ended while the agent worked',
      usage: entry.running,
      head,
      next: entry.askedDone ? 'publish' : 'retry',
      retry_at: entry.askedDone ? null : clock.now(),
    });
  }

  /** Runs until `close`, or with `once` until what one poll started is finished. */
  async run(): Promise<void> {
    const { clock, once } = this.#options;
    this.#asked = true;
    while (!this.#signal.aborted) {
      this.#wake = new AbortController();
      if (this.#asked || clock.now() >= this.#due) await this.#tick();
      else await this.#dispatch();
      if (once === true && this.#workers.size === 0) return;
      if (!this.#asked) await clock.sleep(this.#due - clock.now(), AbortSignal.any([this.#signal, this.#wake.signal]));
    }
  }

  /** When the next poll is due, ms since the epoch. */
  get #due(): number {
    if (this.#options.once === true) return Number.MAX_SAFE_INTEGER;
    return nextDue(this.#options.journal.state, this.#busy, this.#polledAt, this.#poll.nextAt ?? 0);
  }

  get #busy(): ReadonlySet<number> {
    return new Set([...this.#workers.keys(), ...this.#janitor.cleaning]);
  }

  async #tick(): Promise<void> {
    this.#asked = false;
    this.#polling = this.#pollOnce();
    try {
      await this.#polling;
    } finally {
      this.#polling = undefined;
      this.#changed();
    }
  }

  async #pollOnce(): Promise<void> {
    const { tracker, clock, log, journal } = this.#options;
    const { polling, labels } = this.#workflow;
    this.#polledAt = clock.now();
    try {
      this.#listing = await tracker.listActive(labels.active, this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return;
      const message = messageOf(error);
      if (message !== this.#poll.lastError) log.log('warn', 'poller', `this poll is skipped: ${message}`);
      const retryAt = error instanceof TrackerError ? error.retryAt : null;
      this.#poll = {
        lastAt: this.#poll.lastAt,
        nextAt: retryAt ?? clock.now() + polling.intervalMs,
        lastError: message,
      };
      return;
    }
    if (this.#poll.lastError !== null) log.log('info', 'poller', 'the tracker answers again');
    const now = clock.now();
    this.#poll = { lastAt: now, nextAt: now + polling.intervalMs, lastError: null };
    this.#gatekeeper.keepOnly(new Set(this.#listing.map((issue) => issue.number)));
    await this.#reconcile();
    await this.#dispatch();
    // What waits for a slot is looked at as well, so that the page says at once why it would not be taken.
    const unknown = this.#waiting.filter(
      ({ issue }) => this.#gatekeeper.known(issue) === undefined && !journal.state.entries.has(issue.number),
    );
    if (unknown.length > 0) {
      await this.#admitAhead(unknown.slice(0, LOOK_AHEAD).map(({ issue }) => issue));
      await this.#dispatch();
    }
  }

  /** Takes note of what people changed: an issue closed, a label taken off. Nothing is stopped on the listing's word alone. */
  async #reconcile(): Promise<void> {
    const listed = new Set(this.#listing.map((issue) => issue.number));
    for (const entry of [...this.#options.journal.state.entries.values()]) {
      if (entry.phase === 'parked' || listed.has(entry.number)) continue;
      // The daemon itself is taking the label off.
      const settling =
        entry.phase === 'publishing' || entry.phase === 'giving_up'
          ? Object.keys(entry.effects).some((key) => key.startsWith('label_'))
          : false;
      if (!settling) await this.#verify(entry);
    }
    for (const entry of [...this.#options.journal.state.entries.values()]) {
      await this.#interrupt(entry);
      const settled = entry.phase === 'publishing' || entry.phase === 'giving_up';
      if (settled && !this.#workers.has(entry.number)) this.#start(entry.number);
    }
    this.#janitor.cleanAll();
    await this.#janitor.sweep(this.#signal);
  }

  async #verify(entry: Entry): Promise<void> {
    const { tracker, log } = this.#options;
    let issue: Issue | null;
    try {
      issue = await tracker.readIssue(entry.number, this.#signal);
    } catch (error) {
      log.log(
        'warn',
        'poller',
        `issue #${entry.number} is missing from the listing and cannot be read: ${messageOf(error)}`,
        { issue: entry.number },
      );
      return;
    }
    if (issue !== null && issue.state === 'open' && activeLabelsOf(issue.labels, this.#workflow.labels).length > 0)
      return;
    const outcome: IssueOutcome = issue === null || issue.state === 'closed' ? 'closed' : 'label_removed';
    await this.#takeBack(entry, outcome, issue?.updatedAt ?? '');
  }

  async #takeBack(entry: Entry, outcome: IssueOutcome, updatedAt: string): Promise<void> {
    const worker = this.#workers.get(entry.number);
    const what = outcome === 'closed' ? 'was closed' : 'lost its active label';
    this.#options.log.log('info', 'poller', `issue #${entry.number} ${what}; it is let go`, { issue: entry.number });
    const cause: EndCause = { kind: 'cancelled', outcome, updatedAt };
    if (worker?.attempt !== undefined) {
      worker.attempt.stop(cause);
      return;
    }
    worker?.abort.abort(cause);
    await worker?.done;
    await this.#finish(entry.number, outcome, updatedAt);
  }

  async #finish(issue: number, outcome: IssueOutcome, updatedAt: string): Promise<void> {
    await this.#options.journal.append({ type: 'finished', issue, outcome, updated_at: updatedAt });
    this.#announced.delete(issue);
    this.#changed();
    if (outcome === 'done' || outcome === 'closed') {
      await this.#options.transcripts.forget(issue);
      this.#janitor.clean(issue);
    }
  }

  get #freeSlots(): number {
    const running = [...this.#workers.values()].filter((worker) => worker.attempt !== undefined).length;
    return this.#workflow.agent.maxConcurrent - running;
  }

  /** Fills the free slots from the last listing, oldest issue first. */
  async #dispatch(): Promise<void> {
    if (this.#poll.lastError !== null || this.#stopping || this.#poll.lastAt === null) return;
    const { journal, clock } = this.#options;
    const capped = this.#costCap();
    const waiting: Waiting[] = [];
    const open = candidates(this.#listing, journal.state, this.#busy, clock.now());
    for (let index = 0; index < open.length; index++) {
      const candidate = open[index];
      if (candidate === undefined) break;
      const { issue } = candidate;
      if (candidate.kind === 'due') {
        if (this.#freeSlots > 0 && capped === null) this.#startAttempt(issue);
        else waiting.push({ issue, reason: capped ?? 'waits for a slot' });
        continue;
      }
      if (this.#freeSlots > 0)
        await this.#admitAhead(
          open.slice(index, index + Math.max(4, this.#freeSlots)).map(({ issue: ahead }) => ahead),
        );
      const admission = this.#gatekeeper.known(issue);
      if (admission?.admitted === false) {
        this.#announce(issue, `issue #${issue.number} "${oneLine(issue.title, 120)}" waits: ${admission.reason}`);
        waiting.push({ issue, reason: admission.reason });
      } else if (admission === undefined || this.#freeSlots <= 0 || capped !== null) {
        waiting.push({ issue, reason: capped ?? 'waits for a slot' });
      } else {
        await this.#claim(issue, admission.labelEvent);
      }
    }
    this.#waiting = waiting;
    this.#changed();
  }

  /** Asks for several issues at once whether they may be worked on. */
  async #admitAhead(issues: readonly Issue[]): Promise<void> {
    const { tracker, labels } = this.#workflow;
    const unknown = issues.filter((issue) => this.#gatekeeper.known(issue) === undefined);
    const results = await Promise.allSettled(
      unknown.map((issue) => this.#gatekeeper.admit(issue, tracker.trust, labels, this.#signal)),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined && !this.#signal.aborted) {
      const message = `cannot tell who may set work going: ${messageOf(failed.reason)}`;
      if (this.#announced.get(0) !== message) this.#options.log.log('warn', 'poller', message);
      this.#announced.set(0, message);
    }
  }

  #announce(issue: Issue, line: string): void {
    if (this.#announced.get(issue.number) === line) return;
    this.#announced.set(issue.number, line);
    this.#options.log.log('info', 'poller', line, { issue: issue.number });
  }

  /** Why nothing may be started for its cost; null when something may. */
  #costCap(): string | null {
    const { maxCostPerDayUsd } = this.#workflow.agent;
    const { today } = this.#options.journal.state;
    const day = utcDay(this.#options.clock.now());
    if (maxCostPerDayUsd === null || today.day !== day || today.cost_usd < maxCostPerDayUsd) return null;
    const reason = `the day's limit of $${maxCostPerDayUsd.toFixed(2)} is reached (agent.max_cost_usd_per_day)`;
    if (this.#capSaid !== day)
      this.#options.log.log('warn', 'poller', `no agent is started before tomorrow (UTC): ${reason}`);
    this.#capSaid = day;
    return reason;
  }

  async #claim(issue: Issue, labelEvent: number | null): Promise<void> {
    const { journal } = this.#options;
    const { labels } = this.#workflow;
    const [label] = activeLabelsOf(issue.labels, labels);
    this.#announce(issue, `found issue #${issue.number} "${oneLine(issue.title, 120)}" [${label ?? ''}]`);
    await journal.append(claimOf(issue, journal.state, labels, labelEvent));
    this.#startAttempt(issue);
  }

  #startAttempt(issue: Issue): void {
    const entry = this.#options.journal.state.entries.get(issue.number);
    if (entry === undefined) return;
    this.#start(issue.number, new Attempt(this.#options, entry, issue));
  }

  /** Sees one issue through: the steps before the attempt, the attempt, the steps after it. */
  #start(number: number, attempt?: Attempt): void {
    const worker: Worker = { number, attempt, abort: new AbortController(), done: Promise.resolve() };
    this.#workers.set(number, worker);
    worker.done = new Promise((resolve) => {
      this.#supervisor.run(`issue #${number}`, async () => {
        try {
          await this.#work(worker);
        } finally {
          this.#workers.delete(number);
          resolve();
          this.#changed();
          this.#wakeUp();
        }
      });
    });
  }

  async #work(worker: Worker): Promise<void> {
    const { journal } = this.#options;
    const { number, attempt } = worker;
    const signal = AbortSignal.any([this.#signal, worker.abort.signal]);
    if (attempt !== undefined) {
      const unstopped = await this.#finisher.takeSteps(number, signal);
      const entry = journal.state.entries.get(number);
      if (!unstopped || entry === undefined || this.#stopping) return;
      try {
        await attempt.run();
      } finally {
        // The slot is free: what follows needs no agent.
        worker.attempt = undefined;
        this.#wakeUp();
      }
      const cause = attempt.cause;
      if (cause?.kind === 'cancelled') {
        await this.#finish(number, cause.outcome, cause.updatedAt);
        return;
      }
    }
    await this.#finisher.takeSteps(number, signal);
  }

  /** Ends every agent, leaves everything to the next process to go on with, and waits. */
  async close(): Promise<void> {
    this.#stopping = true;
    this.#wakeUp();
    for (const worker of this.#workers.values()) worker.attempt?.stop({ kind: 'shutdown' });
    await Promise.allSettled(
      [...this.#workers.values()].filter((worker) => worker.attempt !== undefined).map((worker) => worker.done),
    );
    await this.#supervisor.close();
  }
}
