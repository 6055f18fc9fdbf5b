// The daemon's loop: polls, reconciles, starts agents while there are slots, sees each issue through to its end.

import { Listeners } from '../base/listeners.ts';
import { refusal } from '../base/rules/codes.ts';
import { ToolError } from '../base/rules/errors.ts';
import { Supervisor } from '../base/supervisor.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import type { AttemptStatus } from './attempt-status.ts';
import { untilRetry } from './candidates.ts';
import { CommentWatch } from './comment-watch.ts';
import { Dispatcher, type Waiting } from './dispatcher.ts';
import { Follower } from './follower.ts';
import { Intake } from './intake.ts';
import { Janitor } from './janitor.ts';
import { ListRest } from './list-rest.ts';
import { Looks } from './looks.ts';
import { Poller } from './poller.ts';
import type { PollInfo } from './ports.ts';
import { Finisher } from './publish/finisher.ts';
import { endInterruptedAttempt, type RecoveryOptions, readyToCarry } from './recovery.ts';
import { Reviewer, type ReviewerOptions } from './reviewer.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { Issue } from './rules/issue.ts';
import type { Look } from './rules/look.ts';
import type { IssueOutcome } from './rules/record.ts';
import { longestPauseMs } from './rules/retry.ts';
import type { Entry } from './rules/state.ts';
import { isSettling, mayStart } from './rules/steering.ts';
import { Serializer } from './serializer.ts';
import type { SlotShares } from './slot-shares.ts';
import { Slots } from './slots.ts';
import { SpareWorkspaces } from './spare-workspaces.ts';
import { Steering } from './steering.ts';
import { Stumbles } from './stumbles.ts';
import { type Worker, Workers } from './workers.ts';

export type OrchestratorOptions = Omit<AttemptOptions, 'onChange' | 'onSlotFree' | 'onQuota' | 'listen'> &
  Pick<RecoveryOptions, 'bringWork' | 'requireCarried'> & {
    readonly readRole: ReviewerOptions['readRole'];
    /** Poll once, finish what that started, then stop. */
    readonly once?: boolean;
    /** With other repositories: what all of them share. */
    readonly shares?: SlotShares;
  };

export class Orchestrator {
  readonly #options: AttemptOptions & OrchestratorOptions;
  readonly #supervisor: Supervisor;
  readonly #intake: Intake;
  readonly #serializer: Serializer;
  readonly #finisher: Finisher;
  readonly #listRest: ListRest;
  readonly steering: Steering;
  readonly #janitor: Janitor;
  readonly #spareWorkspaces: SpareWorkspaces;
  readonly follower: Follower;
  readonly #dispatcher: Dispatcher;
  readonly #comments: CommentWatch;
  readonly #slots: Slots;
  readonly #reviewer: Reviewer;
  readonly #stumbles: Stumbles;
  readonly #workers = new Workers();
  readonly #listeners = new Listeners();
  /** Calls a listener whenever something may have changed; gives the way to end that. */
  readonly onChange = this.#listeners.add;
  readonly #poller: Poller;
  /** Takes deliveries of webhooks. */
  readonly looks: Looks;
  #polling: Promise<void> | undefined;
  /** Why the daemon cannot go on. */
  #broken: ToolError | undefined;
  #asked = false;
  #wake = new AbortController();
  #stopping = false;

  constructor(options: OrchestratorOptions) {
    this.#options = {
      ...options,
      onChange: () => this.#changed(),
      onSlotFree: () => this.#wakeUp(),
      onQuota: (runtime, until) => this.#intake.pause(runtime, until),
      listen: (issue, signal) => this.#comments.look(issue, signal),
    };
    options.publisher.onChange(() => this.#changed());
    this.#intake = new Intake(options);
    this.#stumbles = new Stumbles(options);
    this.#supervisor = new Supervisor({
      clock: options.clock,
      onFailure: (task, said) =>
        this.#options.log.log('error', 'serve', refusal(WORK_CODES.background_task_failed, { task, said })),
    });
    const [finish, takeBack] = [this.#finish.bind(this), this.#takeBack.bind(this)];
    const settle = (issue: number) => {
      if (!this.#stopping && !this.#workers.has(issue)) this.#start(issue);
    };
    this.steering = new Steering({
      ...options,
      supervisor: this.#supervisor,
      intake: this.#intake,
      waiting: () => this.waiting,
      endWork: (issue, cause) => this.#workers.endWork(issue, cause),
      settle,
      poll: () => this.refresh(),
    });
    const onUnread = () => this.#poller.hurry(this.#wake);
    const held = (issue: number) => this.#dispatcher.held(issue);
    this.#serializer = new Serializer({ ...options, held, settle });
    const starting = () => this.#dispatcher.taking;
    this.#slots = new Slots({ ...options, workers: this.#workers, starting, wake: () => this.#wake.abort() });
    this.#reviewer = new Reviewer({ ...this.#options, intake: this.#intake, slots: this.#slots });
    const [{ claim }, { review }] = [this.steering, this.#reviewer];
    this.#finisher = new Finisher({ ...options, finish, claim, review, serializer: this.#serializer });
    this.#spareWorkspaces = new SpareWorkspaces(options, this.#supervisor);
    this.#dispatcher = new Dispatcher({
      ...options,
      intake: this.#intake,
      spareWorkspaces: this.#spareWorkspaces,
      signal: this.#signal,
      busy: () => this.#busy,
      freeSlots: () => this.#slots.free,
      onWaiting: (issues) => this.#slots.wants(issues),
      start: (issue) => {
        if (!this.#stopping && mayStart(options.journal.state, issue.number)) this.#startAttempt(issue);
      },
      takeBack,
      onUnread,
    });
    const later = (look: Look, ms: number) => this.looks.later(look, ms);
    const rivalsOf = this.#serializer.rivals.of.bind(this.#serializer.rivals);
    const onDue = () => this.#wakeUp();
    this.follower = new Follower({ ...options, finish, takeBack, settle, later, rivalsOf, onDue });
    this.#comments = new CommentWatch({ ...options, held, settle: this.steering.wake, onUnread });
    this.looks = new Looks({
      clock: options.clock,
      supervisor: this.#supervisor,
      watch: async (look, signal) => {
        const followed = this.#serializer.watch(look, signal).then(() => this.follower.watch(look, signal));
        await Promise.all([this.#comments.watchPulls(look, signal), followed]);
      },
      onDue,
    });
    this.#poller = new Poller({ ...options, looks: this.looks, follower: this.follower, slots: this.#slots });
    this.#listRest = new ListRest({
      ...options,
      freeSlots: () => this.#slots.free,
      take: async (listing) => {
        this.#dispatcher.listing = listing;
        this.#intake.listed(listing);
        if (options.once === true) await this.#dispatch();
        else this.#wakeUp();
      },
    });
    this.#janitor = new Janitor({ ...options, supervisor: this.#supervisor, finish, onRemoved: () => this.#wakeUp() });
  }

  get #signal(): AbortSignal {
    return this.#supervisor.signal;
  }

  get poll(): PollInfo {
    return this.#poller.info;
  }

  /** Issues that carry the label and are not worked on, with why. */
  get waiting(): readonly Waiting[] {
    return this.#dispatcher.waiting;
  }

  /** What the agents at work are doing, by issue. */
  get statuses(): ReadonlyMap<number, AttemptStatus> {
    return new Map([...this.#reviewer.statuses, ...this.#workers.statuses]);
  }

  #changed(): void {
    this.#slots.look();
    this.#listeners.tell();
  }

  /** Asks for a poll now. `coalesced`: one was already asked for or under way. */
  refresh(): { readonly coalesced: boolean } {
    const coalesced = this.#asked || this.#polling !== undefined;
    this.#intake.reconsider();
    this.#options.ownFile?.outdate();
    this.#asked = true;
    this.#wakeUp();
    return { coalesced };
  }

  #wakeUp(): void {
    this.#slots.freed();
    this.#wake.abort();
  }

  /** Ends what an earlier process left running and takes its attempts for interrupted. To be called once, before `run`. */
  async recover(): Promise<void> {
    for (const number of this.#options.journal.state.entries.keys()) await this.#interrupt(number);
  }

  async #interrupt(issue: number): Promise<void> {
    // As it stands now: its attempt may have ended in the meantime.
    const entry = this.#options.journal.state.entries.get(issue);
    if (entry === undefined || this.#workers.has(issue)) return;
    // Its work may have to come from a worker: the others do not wait for that.
    const isAwaited = entry.phase === 'running' && entry.askedDone && this.#options.bringWork !== undefined;
    if (isAwaited) return this.#start(issue);
    await endInterruptedAttempt(this.#options, entry, this.#signal);
  }

  /** Runs until `close`, or with `once` until what one poll started is finished. */
  async run(): Promise<void> {
    const { clock, once } = this.#options;
    this.#asked = true;
    await this.#poller.begin(this.#signal);
    while (!this.#signal.aborted) {
      if (this.#broken !== undefined) throw this.#broken;
      this.#wake = new AbortController();
      const look = this.looks.take();
      if (this.#asked || this.#poller.untilNext <= 0) await this.#tick(null);
      else if (look !== null) await this.#tick(look);
      else await this.#dispatch();
      if (once === true && this.#workers.size === 0) return;
      if (!this.#asked) await clock.sleep(this.#wait, AbortSignal.any([this.#signal, this.#wake.signal]));
    }
  }

  /** How long until there is something to do without anybody asking, ms. */
  get #wait(): number {
    const { once, clock, journal } = this.#options;
    if (once === true) return Number.MAX_SAFE_INTEGER;
    const now = clock.now();
    const longest = longestPauseMs(this.#options.workflow().agent.maxRetryBackoffMs);
    const retry = untilRetry(journal.state, this.#busy, this.#dispatcher.filledAt ?? now, now, longest);
    return Math.min(this.#poller.untilNext, this.looks.untilNext, retry);
  }

  get #busy(): ReadonlySet<number> {
    const stumbled = this.#options.once === true ? this.#stumbles.issues : [];
    return new Set([...this.#workers.keys(), ...this.#dispatcher.taking, ...this.#janitor.cleaning, ...stumbled]);
  }

  async #tick(look: Look | null): Promise<void> {
    if (look === null) this.#asked = false;
    this.#polling = this.#pollOnce(look);
    try {
      await this.#polling;
    } finally {
      this.#polling = undefined;
      this.#changed();
    }
  }

  /** @param look all that is to be read; null: everything */
  async #pollOnce(look: Look | null): Promise<void> {
    if (look === null || look.list) {
      const listing = await this.#poller.read(look === null, this.#signal);
      if (listing === null) return this.#dispatch();
      this.#dispatcher.listing = listing;
      this.#intake.newPoll(look === null || look.blockers);
      this.#intake.listed(listing);
    }
    if (look === null) await this.#reconcile();
    else await this.#dispatcher.verify(look.issues);
    await this.#dispatch();
    this.#dispatcher.pollIsOver();
    if (look !== null) {
      this.#supervisor.run('comments', (signal) => this.#comments.watchAll(signal));
      return;
    }
    if (this.#options.once === true) await this.#listRest.read(this.#signal);
    else this.#supervisor.run('the rest of the list', (signal) => this.#listRest.read(signal));
  }

  /** Takes note of what people changed: an issue closed, a label taken off. */
  async #reconcile(): Promise<void> {
    await this.#dispatcher.verifyAll();
    const { journal } = this.#options;
    for (const number of [...journal.state.entries.keys()]) {
      await this.#interrupt(number);
      const entry = journal.state.entries.get(number);
      if (entry !== undefined && isSettling(entry) && !this.#workers.has(number)) this.#start(number);
    }
    this.#janitor.cleanAll();
    await this.#janitor.sweep(this.#signal);
    const pulls = this.#serializer.watch(null, this.#signal).then(() => this.follower.watchAll(this.#signal));
    const watching = Promise.all([pulls, this.#comments.watchAll(this.#signal)]);
    if (this.#options.once === true) await watching;
    else this.#supervisor.run('pull requests and comments', () => watching.then(() => this.#changed()));
  }

  async #takeBack(entry: Entry, outcome: IssueOutcome, updatedAt: string): Promise<void> {
    const what = { closed: 'was closed', done: 'is not followed any more' }[String(outcome)] ?? 'lost its active label';
    this.#options.log.log('info', 'poller', `issue #${entry.number} ${what}; it is let go`, { issue: entry.number });
    if (!(await this.#workers.endWork(entry.number, { kind: 'cancelled', outcome, updatedAt })))
      await this.#finish(entry.number, outcome, updatedAt);
  }

  async #finish(issue: number, outcome: IssueOutcome, updatedAt: string): Promise<void> {
    const { journal, publisher } = this.#options;
    const entry = journal.state.entries.get(issue);
    if (entry !== undefined && !(await publisher.dropQuestion(entry, this.#signal))) return;
    await journal.append({ type: 'finished', issue, outcome, updated_at: updatedAt });
    this.#intake.forget(issue);
    this.#changed();
    if (outcome === 'done' || outcome === 'closed') {
      await this.#options.attemptOutputs.forget(issue);
      this.#janitor.clean(issue);
    }
  }

  /** Fills the free slots from the last listing, oldest issue first. */
  async #dispatch(): Promise<void> {
    const isAllowed = this.#poller.isAnswered && !this.#stopping;
    if (isAllowed) await this.#serializer.release();
    if (await this.#dispatcher.fill(isAllowed)) this.#changed();
  }

  #startAttempt(issue: Issue): void {
    const entry = this.#options.journal.state.entries.get(issue.number);
    if (entry === undefined || this.#workers.has(issue.number)) return;
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
          this.#stumbles.forget(number);
        } catch (error) {
          worker.attempt = undefined;
          await this.#stumble(worker, error);
        } finally {
          this.#workers.delete(number);
          resolve();
          this.#changed();
          this.#wakeUp();
        }
      });
    });
  }

  /** Without a journal nothing can go on. */
  async #stumble(worker: Worker, error: unknown): Promise<void> {
    if (this.#signal.aborted) return;
    if (error instanceof ToolError && error.kind === 'state_unusable') {
      this.#options.log.log('error', 'serve', refusal(WORK_CODES.daemon_stops, { said: error.message }));
      this.#broken ??= error;
      return;
    }
    if (this.#stopping) return;
    await this.#stumbles.pause(worker.number, error, AbortSignal.any([this.#signal, worker.abort.signal]));
  }

  async #work(worker: Worker): Promise<void> {
    const { journal } = this.#options;
    const { number, attempt } = worker;
    const signal = AbortSignal.any([this.#signal, worker.abort.signal]);
    if (attempt !== undefined) {
      const unstopped = await this.#finisher.takeSteps(number, signal);
      if (unstopped) await readyToCarry(this.#options, number, AbortSignal.any([signal, attempt.ending]));
      if (!unstopped || !mayStart(journal.state, number) || this.#stopping) return;
      try {
        await attempt.run();
      } finally {
        worker.attempt = undefined;
      }
      const { cause } = attempt;
      const entry = journal.state.entries.get(number);
      if (cause?.kind === 'cancelled' && !(entry !== undefined && isSettling(entry))) {
        await this.#finish(number, cause.outcome, cause.updatedAt);
        return;
      }
      // What is left to do is the next process's.
      if (this.#stopping) return;
    } else {
      const entry = journal.state.entries.get(number);
      if (entry !== undefined) await endInterruptedAttempt(this.#options, entry, signal);
    }
    await this.#finisher.takeSteps(number, signal);
  }

  /** Ends every agent, leaves everything to the next process to go on with, and waits. */
  async close(): Promise<void> {
    this.#stopping = true;
    this.#wakeUp();
    for (const { attempt } of this.#workers.attempting) attempt.stop({ kind: 'shutdown' });
    await Promise.allSettled(this.#workers.attempting.map((worker) => worker.done));
    await this.#supervisor.close();
    this.#slots.leave();
    await this.#spareWorkspaces.close();
  }
}
